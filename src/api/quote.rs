//! Texts as Go writes them.

use std::fmt::Write as _;

/// A string as Go's `%q` writes it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\x07' => write!(quoted, "\\a"),
            '\x08' => write!(quoted, "\\b"),
            '\x0c' => write!(quoted, "\\f"),
            '\n' => write!(quoted, "\\n"),
            '\r' => write!(quoted, "\\r"),
            '\t' => write!(quoted, "\\t"),
            '\x0b' => write!(quoted, "\\v"),
            c if c.is_ascii_control() => write!(quoted, "\\x{:02x}", u32::from(c)),
            c if c.is_control() => write!(quoted, "\\u{:04x}", u32::from(c)),
            c => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("plain" => r#""plain""#)]
    #[test_case("a\"b\\c" => r#""a\"b\\c""#)]
    #[test_case("line\nbreak\u{1b}[31m" => r#""line\nbreak\x1b[31m""#; "control characters")]
    #[test_case("\u{85}" => r#""\u0085""#; "control character beyond ASCII")]
    #[test_case("Zürich" => r#""Zürich""#)]
    fn quote(text: &str) -> String {
        super::quote(text)
    }
}
