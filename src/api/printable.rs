//! Texts for a terminal.

/// A text that clients or nodes have chosen, for a terminal: what would steer it, turn the text around it about, or not be seen
/// at all is shown as an escape and not sent.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            // Control and format characters, separators but the space, marks that change their neighbour, what is not assigned.
            _ if c.escape_debug().len() > 1 => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("node \"n1\" ← pod 'a\\b' Zürich" => "node \"n1\" ← pod 'a\\b' Zürich"; "what can be read stays")]
    #[test_case("\u{1b}[31mred\r\n" => "\\u{1b}[31mred\\u{d}\\u{a}"; "control characters")]
    #[test_case("\u{9b}2J" => "\\u{9b}2J"; "control character beyond ASCII")]
    #[test_case("a\u{202e}b\u{2066}c\u{200f}" => "a\\u{202e}b\\u{2066}c\\u{200f}"; "direction")]
    #[test_case("a\u{200b}b\u{feff}\u{e0041}" => "a\\u{200b}b\\u{feff}\\u{e0041}"; "not seen")]
    #[test_case("a\u{2028}b\u{85}" => "a\\u{2028}b\\u{85}"; "line ends of Unicode")]
    #[test_case("e\u{301}" => "e\\u{301}"; "marks that change their neighbour")]
    fn printable(text: &str) -> String {
        super::printable(text)
    }
}
