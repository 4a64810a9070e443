//! Requests: such as clients send, and such as nobody should.

use super::{
    Question, question,
    words::{
        BOOLEANS, FIELD_OPERATORS, FIELD_PIECES, FIELD_VALUES, FIELDS, LABEL_PIECES, LABEL_TERMS, METHODS, NAMES,
        NUMBERS, ODD, PATHS, PREFIXES, RESOURCES, SCOPES, TAILS, TEXTS, USUAL,
    },
};
use crate::random::Random;

/// What makes a value for an option.
type Value = fn(&mut Random) -> String;

/// Every combination of method and path, each with some query.
pub(super) fn walk(random: &mut Random) -> Vec<Question> {
    let mut questions = Vec::new();
    for method in METHODS {
        let all = product(PREFIXES, &product(SCOPES, &product(RESOURCES, NAMES)));
        for path in all.iter().map(String::as_str).chain(PATHS.iter().copied()) {
            questions.push(question(method, &format!("{path}{}", query(random))));
        }
    }
    questions
}

/// A request that some client could send.
pub(super) fn ordinary(random: &mut Random) -> Question {
    let path = if random.one_in(20) {
        random.pick(PATHS).to_owned()
    } else {
        let parts = [PREFIXES, SCOPES, RESOURCES, NAMES, TAILS].map(|parts| random.pick(parts));
        parts.concat().replace("//", "/")
    };
    let method = if random.one_in(3) {
        random.pick(METHODS)
    } else {
        random.pick(USUAL)
    };
    question(method, &format!("{path}{}", query(random)))
}

/// A request with something in it that should not be there, or too much of it.
pub(super) fn strange(random: &mut Random) -> Question {
    let mut question = ordinary(random);
    if random.one_in(500) {
        let length = random.pick(&[252, 253, 254, 2000, 9_998, 9_999, 10_000]);
        let piece = random.pick(&["n", "&", "/a", "a&"]).repeat(length);
        question.target.push_str(&piece);
        return question;
    }
    for _ in 0..=random.below(3) {
        let chars: Vec<char> = question.target.chars().collect();
        let at = random.below(chars.len() + 1);
        let to = (at + random.pick(&[0, 0, 0, 1, 2, 5])).min(chars.len());
        let odd = match random.below(6) {
            // Something that was there already, once more or elsewhere.
            0 => chars[to..].iter().take(random.below(12)).collect(),
            1 => String::new(),
            _ => random.pick(ODD).to_owned(),
        };
        question.target = chars[..at]
            .iter()
            .copied()
            .chain(odd.chars())
            .chain(chars[to..].iter().copied())
            .collect();
    }
    question
}

fn query(random: &mut Random) -> String {
    let mut pairs = Vec::new();
    let mut left: Vec<(&str, Value)> = vec![
        ("fieldSelector", fields),
        ("fieldSelector", fields),
        ("labelSelector", labels),
        ("watch", |random| random.pick(BOOLEANS).to_owned()),
        ("limit", |random| random.pick(NUMBERS).to_owned()),
        ("timeoutSeconds", |random| random.pick(NUMBERS).to_owned()),
        ("allowWatchBookmarks", |random| random.pick(BOOLEANS).to_owned()),
        ("sendInitialEvents", |random| random.pick(BOOLEANS).to_owned()),
        ("resourceVersion", |random| random.pick(TEXTS).to_owned()),
        ("resourceVersionMatch", |random| random.pick(TEXTS).to_owned()),
        ("shardSelector", |random| random.pick(TEXTS).to_owned()),
        ("continue", |random| random.pick(TEXTS).to_owned()),
        ("pretty", |random| random.pick(TEXTS).to_owned()),
    ];
    for _ in 0..random.below(5) {
        let (key, value) = left.swap_remove(random.below(left.len()));
        left.retain(|(other, _)| *other != key);
        // Booleans beyond ASCII are refused, so there must not be too many.
        let value = Some(value(random)).filter(|value| value.is_ascii() || random.one_in(20));
        pairs.push(match value {
            Some(value) => format!("{key}={}", encode(random, &value)),
            None => key.to_owned(),
        });
    }
    match pairs.as_slice() {
        [] => String::new(),
        pairs => format!("?{}", pairs.join("&")),
    }
}

fn fields(random: &mut Random) -> String {
    if random.one_in(3) {
        return random.some(8, FIELD_PIECES);
    }
    let terms = (0..random.below(4)).map(|_| {
        [FIELDS, FIELD_OPERATORS, FIELD_VALUES]
            .map(|parts| random.pick(parts))
            .concat()
    });
    terms.collect::<Vec<_>>().join(",")
}

fn labels(random: &mut Random) -> String {
    if random.one_in(2) {
        return random.some(10, LABEL_PIECES);
    }
    let terms: Vec<&str> = (0..random.below(4)).map(|_| random.pick(LABEL_TERMS)).collect();
    terms.join(",")
}

/// Escapes what has to be, and sometimes more.
fn encode(random: &mut Random, value: &str) -> String {
    let more = random.one_in(2);
    let mut encoded = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' if !random.one_in(50) => {
                encoded.push(char::from(byte));
            }
            b'=' | b',' | b'!' | b'(' | b')' | b'/' | b'<' | b'>' | b'\\' if !more => encoded.push(char::from(byte)),
            b' ' if !more => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn product(first: &[&str], second: &[impl AsRef<str>]) -> Vec<String> {
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| format!("{a}{}", b.as_ref())));
    pairs.collect()
}
