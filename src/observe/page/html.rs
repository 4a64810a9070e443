//! HTML by hand. What is not written in this program can only get in as text.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::api::printable;

/// A page in the making.
#[derive(Debug, Default)]
pub(super) struct Html(String);

/// Where a link leads.
#[derive(Clone, Debug)]
pub(super) struct Href(String);

/// Left as it is in a query: what names are made of.
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Html {
    /// Markup, which stands in the source of this program: no name or parameter can be `'static`.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text of anybody's, for people: what cannot be seen, or would turn other text about, is shown as an escape.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.escape(&printable(text))
    }

    /// The value of an attribute, with its quotes; a browser gives it back as it is.
    pub(super) fn value(&mut self, value: &str) -> &mut Self {
        self.raw("\"").escape(value).raw("\"")
    }

    pub(super) fn number(&mut self, number: usize) -> &mut Self {
        let _ = write!(self.0, "{number}");
        self
    }

    /// With a comma before each thousand.
    pub(super) fn count(&mut self, number: usize) -> &mut Self {
        let digits = number.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }

    pub(super) fn link(&mut self, href: &Href, text: &str) -> &mut Self {
        self.raw("<a href=").value(&href.0).raw(">").text(text).raw("</a>")
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    fn escape(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }
}

impl Href {
    pub(super) fn to(path: &'static str) -> Self {
        Self(path.to_owned())
    }

    /// With another parameter, unless it is empty.
    pub(super) fn with(mut self, key: &'static str, value: &str) -> Self {
        if !value.is_empty() {
            self.0.push(if self.0.contains('?') { '&' } else { '?' });
            self.0.extend([key, "="]);
            self.0.extend(utf8_percent_encode(value, IN_QUERY));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "<b>\"'&\u{202e}\n";

    #[test]
    fn nothing_gets_out_of_text_or_an_attribute() {
        let mut html = Html::default();
        html.raw("<p>")
            .text(NASTY)
            .raw("</p><input value=")
            .value(NASTY)
            .raw(">");
        assert_eq!(
            html.into_string(),
            "<p>&lt;b&gt;&quot;&#39;&amp;\\u{202e}\\u{a}</p><input value=\"&lt;b&gt;&quot;&#39;&amp;\u{202e}\n\">"
        );
    }

    #[test]
    fn links_are_encoded() {
        let mut html = Html::default();
        let href = Href::to("/x")
            .with("kind", "")
            .with("name", NASTY)
            .with("namespace", "a-b.c");
        html.link(&href, "a<b");
        assert_eq!(
            html.into_string(),
            "<a href=\"/x?name=%3Cb%3E%22%27%26%E2%80%AE%0A&amp;namespace=a-b.c\">a&lt;b</a>"
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        let mut html = Html::default();
        for number in [0, 999, 1000, 1_234_567] {
            html.count(number).raw(" ");
        }
        assert_eq!(html.into_string(), "0 999 1,000 1,234,567 ");
    }
}
