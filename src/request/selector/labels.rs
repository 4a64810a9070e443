//! Label selectors, with the grammar of `k8s.io/apimachinery/pkg/labels/selector.go` (1.36).
//!
//! In some places upstream's scanner takes a NUL for the end of the text; a query with one does not get this far.

use std::iter::Peekable;

use super::{LabelOperator, LabelRequirement};

/// The longest name of a label, without its prefix, and the longest value.
const MAX_NAME: usize = 63;
/// The longest prefix of a label key.
const MAX_PREFIX: usize = 253;

/// `in` and `notin` are words: whether they are operators depends on where they stand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Close,
    Comma,
    DoubleEquals,
    Equals,
    GreaterThan,
    LessThan,
    Not,
    NotEquals,
    Open,
}

struct Tokens<'a>(&'a str);

/// The terms sorted by key, or nothing if any of them is malformed.
pub(super) fn parse(selector: &str) -> Option<Vec<LabelRequirement>> {
    let mut tokens = Tokens(selector).peekable();
    let mut requirements = Vec::new();
    while tokens.peek().is_some() {
        requirements.push(requirement(&mut tokens)?);
        match tokens.next() {
            None => break,
            // Something has to follow a comma.
            Some(Token::Comma) if tokens.peek().is_some() => {}
            Some(_) => return None,
        }
    }
    requirements.sort_by(|a, b| a.key.cmp(&b.key));
    Some(requirements)
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        const SPECIAL: [char; 7] = ['=', '!', '(', ')', ',', '>', '<'];
        const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
        let text = self.0.trim_start_matches(SPACE);
        let word = text.find(|c| SPECIAL.contains(&c) || SPACE.contains(&c));
        let (token, length) = match text.get(..2).unwrap_or(text) {
            "" => return None,
            "==" => (Token::DoubleEquals, 2),
            "!=" => (Token::NotEquals, 2),
            start => match start.chars().next()? {
                '=' => (Token::Equals, 1),
                '!' => (Token::Not, 1),
                '(' => (Token::Open, 1),
                ')' => (Token::Close, 1),
                ',' => (Token::Comma, 1),
                '>' => (Token::GreaterThan, 1),
                '<' => (Token::LessThan, 1),
                _ => {
                    let length = word.unwrap_or(text.len());
                    (Token::Word(text.get(..length)?), length)
                }
            },
        };
        self.0 = text.get(length..)?;
        Some(token)
    }
}

fn requirement<'a>(tokens: &mut Peekable<Tokens<'a>>) -> Option<LabelRequirement> {
    let absent = tokens.next_if_eq(&Token::Not).is_some();
    let Some(Token::Word(key)) = tokens.next() else {
        return None;
    };
    let operator = match tokens.peek() {
        _ if absent => LabelOperator::DoesNotExist,
        None | Some(Token::Comma) => LabelOperator::Exists,
        Some(_) => operator(tokens.next()?)?,
    };
    let mut values = match operator {
        LabelOperator::DoesNotExist | LabelOperator::Exists => Vec::new(),
        LabelOperator::In | LabelOperator::NotIn => value_set(tokens)?,
        _ => vec![exact_value(tokens)?],
    };
    values.sort_unstable();
    values.dedup();
    let integer = |value: &&str| value.parse::<i64>().is_ok();
    let sound = match operator {
        LabelOperator::GreaterThan | LabelOperator::LessThan => values.iter().all(integer),
        _ => true,
    };
    (sound && is_key(key) && values.iter().copied().all(is_value)).then(|| LabelRequirement {
        key: key.to_owned(),
        operator,
        values: values.into_iter().map(str::to_owned).collect(),
    })
}

fn operator(token: Token<'_>) -> Option<LabelOperator> {
    Some(match token {
        Token::DoubleEquals => LabelOperator::DoubleEquals,
        Token::Equals => LabelOperator::Equals,
        Token::GreaterThan => LabelOperator::GreaterThan,
        Token::LessThan => LabelOperator::LessThan,
        Token::NotEquals => LabelOperator::NotEquals,
        Token::Word("in") => LabelOperator::In,
        Token::Word("notin") => LabelOperator::NotIn,
        _ => return None,
    })
}

/// One value, which may be left out.
fn exact_value<'a>(tokens: &mut Peekable<Tokens<'a>>) -> Option<&'a str> {
    match tokens.peek() {
        None | Some(Token::Comma) => Some(""),
        Some(_) => match tokens.next() {
            Some(Token::Word(value)) => Some(value),
            _ => None,
        },
    }
}

/// Values in parentheses. Where one is left out, before, behind or between commas, it is the empty value.
fn value_set<'a>(tokens: &mut Peekable<Tokens<'a>>) -> Option<Vec<&'a str>> {
    tokens.next_if_eq(&Token::Open)?;
    let mut values = Vec::new();
    loop {
        match tokens.next()? {
            Token::Word(value) => {
                values.push(value);
                match tokens.next()? {
                    Token::Comma => {}
                    Token::Close => return Some(values),
                    _ => return None,
                }
            }
            Token::Comma => values.push(""),
            Token::Close => {
                values.push("");
                return Some(values);
            }
            _ => return None,
        }
    }
}

/// `[prefix/]name`, the prefix a DNS subdomain.
fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
        None => is_name(key),
    }
}

fn is_value(value: &str) -> bool {
    value.is_empty() || is_name(value)
}

fn is_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.len() <= MAX_NAME && bounded(name, inner, |byte| byte.is_ascii_alphanumeric())
}

/// Unlike DNS, Kubernetes does not bound the length of one label of a subdomain.
fn is_subdomain(prefix: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label| bounded(label, |byte| letter(byte) || byte == b'-', letter);
    prefix.len() <= MAX_PREFIX && prefix.split('.').all(label)
}

/// At least one byte, all of them of one kind, the first and the last of another.
fn bounded(text: &str, inner: impl Fn(u8) -> bool, outer: impl Fn(u8) -> bool) -> bool {
    let ends = [text.bytes().next(), text.bytes().next_back()];
    text.bytes().all(inner) && ends.into_iter().all(|end| end.is_some_and(&outer))
}
