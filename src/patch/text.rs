//! Values as Go prints them in messages.

use std::fmt::{self, Write as _};

use crate::json::Json;

/// A value printed with `%v`.
pub(super) struct Go<'v, 'a>(pub(super) &'v Json<'a>);

impl fmt::Display for Go<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Json::Null => f.write_str("<nil>"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => write!(f, "{number}"),
            Json::String(text) => f.write_str(text),
            Json::Array(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    let space = if at > 0 { " " } else { "" };
                    write!(f, "{space}{}", Self(item))?;
                }
                f.write_char(']')
            }
            Json::Object(object) => {
                f.write_str("map[")?;
                for (at, (key, value)) in object.iter().enumerate() {
                    let space = if at > 0 { " " } else { "" };
                    write!(f, "{space}{key}:{}", Self(value))?;
                }
                f.write_char(']')
            }
        }
    }
}

/// The Go type of a value that was read without one.
pub(super) fn go_type(value: &Json<'_>) -> &'static str {
    match value {
        Json::Null => "%!s(<nil>)",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}
