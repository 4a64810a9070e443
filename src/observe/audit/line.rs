//! JSON text, a member at a time.
//!
//! Events are most of what a gate writes, and what their members are called is known when it is built. serde_json looks at every byte of
//! every name and of every text, one by one, to see whether it must be escaped; here names are copied, and texts in which nothing is to
//! be escaped, which are nearly all, are looked through many bytes at a time.

use std::io::{self, Write as _};

/// An object that is being written. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Object<'a> {
    line: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn begin(line: &'a mut Vec<u8>) -> Self {
        line.push(b'{');
        Self { line, empty: true }
    }

    /// `name` has nothing in it that would have to be escaped.
    fn name(&mut self, name: &'static str) -> &mut Vec<u8> {
        self.separate();
        self.line.push(b'"');
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
        self.line
    }

    fn separate(&mut self) {
        if !self.empty {
            self.line.push(b',');
        }
        self.empty = false;
    }

    pub(super) fn text(&mut self, name: &'static str, value: &str) -> io::Result<()> {
        text(self.name(name), value)
    }

    /// Left out if there is nothing in it.
    pub(super) fn some_text(&mut self, name: &'static str, value: &str) -> io::Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        self.text(name, value)
    }

    /// What has nothing in it that would have to be escaped.
    pub(super) fn plain(&mut self, name: &'static str, value: std::fmt::Arguments<'_>) -> io::Result<()> {
        write!(self.name(name), "\"{value}\"")
    }

    pub(super) fn number(&mut self, name: &'static str, value: u16) -> io::Result<()> {
        write!(self.name(name), "{value}")
    }

    pub(super) fn texts(&mut self, name: &'static str, values: &[String]) -> io::Result<()> {
        texts(self.name(name), values)
    }

    /// A member whose name is not known beforehand.
    pub(super) fn member(&mut self, name: &str, values: &[String]) -> io::Result<()> {
        self.separate();
        text(self.line, name)?;
        self.line.push(b':');
        texts(self.line, values)
    }

    pub(super) fn object(&mut self, name: &'static str) -> Object<'_> {
        Object::begin(self.name(name))
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        self.line.push(b'}');
    }
}

fn texts(line: &mut Vec<u8>, values: &[String]) -> io::Result<()> {
    line.push(b'[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        text(line, value)?;
    }
    line.push(b']');
    Ok(())
}

fn text(line: &mut Vec<u8>, value: &str) -> io::Result<()> {
    if value.bytes().fold(false, |found, byte| found | is_escaped(byte)) {
        return Ok(serde_json::to_writer(line, value)?);
    }
    line.push(b'"');
    line.extend_from_slice(value.as_bytes());
    line.push(b'"');
    Ok(())
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_are_as_serde_json_has_them(value in any::<String>(), plain in "[ -~]*", name in "[\\PC\"\n]*") {
            let mut line = Vec::new();
            {
                let mut object = Object::begin(&mut line);
                object.text("a", &value).unwrap();
                object.some_text("nothing", "").unwrap();
                object.number("b", 7).unwrap();
                object.object("c").texts("d", &[value.clone(), plain.clone()]).unwrap();
                object.object("e").member(&name, &[]).unwrap();
                drop(object.object("f"));
                object.plain("g", format_args!("{}", 1)).unwrap();
            }
            let wanted = serde_json::json!({
                "a": value, "b": 7, "c": {"d": [value, plain]}, "e": {name: []}, "f": {}, "g": "1",
            });
            // In this order, too.
            prop_assert_eq!(String::from_utf8(line).unwrap(), wanted.to_string());
        }
    }
}
