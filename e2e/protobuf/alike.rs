//! Whether two readings of a body are the same to a rule.

use scopegate::protobuf::{Kind, Message};
use serde_json::{Map, Value};

use super::theirs::Type;

/// Compares what the table of the message names. What is empty is the same as what is not there, except where Go's type is a
/// pointer and tells the two apart.
pub(super) fn check(message: &Message, theirs_type: &Type, ours: &Value, theirs: &Value) -> Result<(), String> {
    let simplify = |reading: &Value| {
        let mut object = project(message, theirs_type, reading);
        object.extend(["apiVersion", "kind"].map(|key| (key.to_owned(), reading[key].clone())));
        object
    };
    let (ours, theirs) = (simplify(ours), simplify(theirs));
    if ours == theirs {
        return Ok(());
    }
    Err(format!(
        "\nours   {}\ntheirs {}",
        Value::Object(ours),
        Value::Object(theirs)
    ))
}

fn project(message: &Message, theirs: &Type, object: &Value) -> Map<String, Value> {
    let mut result = Map::new();
    for field in message.fields {
        let their = theirs.field(field.number).unwrap();
        let value = &object[field.name];
        let value = match field.kind {
            Kind::Ignored => continue,
            Kind::Inline(inner) => {
                result.extend(project(inner, &theirs.of(their), object));
                continue;
            }
            _ if value.is_null() => continue,
            Kind::Message(inner) => project(inner, &theirs.of(their), value).into(),
            Kind::Messages(inner) => {
                let items = value.as_array().unwrap().iter();
                items
                    .map(|item| Value::from(project(inner, &theirs.of(their), item)))
                    .collect()
            }
            Kind::QuantityMap => {
                let entries = value.as_object().unwrap().iter();
                let entries = entries.map(|(key, text)| (key.clone(), quantity(text.as_str().unwrap()).into()));
                Value::Object(entries.collect())
            }
            _ => value.clone(),
        };
        if their.pointer || !is_empty(&value) {
            result.insert(field.name.to_owned(), value);
        }
    }
    result
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

/// Upstream writes a quantity anew, the gate as it was sent; both are the same number.
fn quantity(text: &str) -> String {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let decimal = |power: &str| format!("{number}e{power}").parse::<f64>();
    let binary = |power: i32| number.parse::<f64>().map(|number| number * 1024_f64.powi(power));
    let number = match suffix {
        "" => decimal("0"),
        "n" => decimal("-9"),
        "u" => decimal("-6"),
        "m" => decimal("-3"),
        "k" => decimal("3"),
        "M" => decimal("6"),
        "G" => decimal("9"),
        "T" => decimal("12"),
        "P" => decimal("15"),
        "E" => decimal("18"),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        power => decimal(&power[1..]),
    };
    number.map_or_else(|_| text.to_owned(), |number| format!("{number:.9e}"))
}
