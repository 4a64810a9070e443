//! Objects made of the fields that their types have.

use serde_json::{Map, Value, json};

use super::theirs::{Field, Type};
use crate::random::Random;

const WORDS: &[&str] = &["", "a", "n1", "kubernetes.io/config.mirror", "v1", "Node", "ü", "?"];
/// Fields that are seldom left out however deep they are: what the gate looks for in templates, and the way to it.
const WANTED: &[&str] = &["annotations", "jobTemplate", "template"];
const BYTES: &[&str] = &["", "AA==", "/////w=="];
const QUANTITIES: &[&str] = &["0", "1Gi", "100m", "5", "1500M", "3k"];
const TIMES: &[&str] = &[
    "2023-11-14T22:13:20Z",
    "1970-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "9999-12-30T22:00:00Z",
];

pub(super) fn object(random: &mut Random, root: &Type, api_version: &str, kind: &str) -> Value {
    let mut object = message(random, root, 0);
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.into());
    Value::Object(object)
}

fn message(random: &mut Random, message_type: &Type, depth: usize) -> Map<String, Value> {
    let fields = message_type.fields();
    let mut object = Map::new();
    // Every field of a large message would make bodies of hundreds of kilobytes.
    let rarely = if depth < 2 { 2 } else { fields.len() / 3 + 1 };
    for field in fields {
        let skip = if WANTED.contains(&field.name.as_str()) {
            random.one_in(5)
        } else {
            !random.one_in(rarely)
        };
        if depth > 0 && field.kind != "inline" && skip {
            continue;
        }
        if field.kind == "inline" {
            object.extend(message(random, &message_type.of(field), depth));
        } else if let Some(value) = value(random, message_type, field, depth) {
            object.insert(field.name.clone(), value);
        }
    }
    object
}

fn value(random: &mut Random, parent: &Type, field: &Field, depth: usize) -> Option<Value> {
    let many = random.below(3);
    Some(match field.kind.as_str() {
        "text" => random.pick(WORDS).into(),
        "texts" => (0..many).map(|_| Value::from(random.pick(WORDS))).collect(),
        "bytes" => random.pick(BYTES).into(),
        "bool" => random.one_in(2).into(),
        "int32" => random.pick(&[0, 1, -1, i32::MAX, i32::MIN]).into(),
        "int64" => random.pick(&[0, 1, -1, i64::MAX, i64::MIN]).into(),
        "time" => random.pick(TIMES).into(),
        "message" => message(random, &parent.of(field), depth + 1).into(),
        "messages" => (0..many)
            .map(|_| Value::from(message(random, &parent.of(field), depth + 1)))
            .collect(),
        "textMap" => map(random, many, WORDS),
        "bytesMap" => map(random, many, BYTES),
        "quantityMap" => map(random, many, QUANTITIES),
        "other" => return None,
        kind => panic!("there is no kind {kind}"),
    })
}

fn map(random: &mut Random, many: usize, values: &[&str]) -> Value {
    let entries = (0..many).map(|_| (random.pick(WORDS).to_owned(), json!(random.pick(values))));
    Value::Object(entries.collect())
}
