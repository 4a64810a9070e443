//! Objects and patches, likely to meet and often odd.

use serde_json::{Map, Value, json};

use super::shapes::{Shape, UNORDERED, fields};
use crate::random::Random;

const WORDS: &[&str] = &["a", "b", "c", "d"];

/// Keys of documents that have no type, and pieces of paths through them.
const KEYS: &[&str] = &["a", "b", "c", "m/n", "t~u", ""];

/// An object of a kind, and a strategic merge patch for it.
pub(super) fn strategic(random: &mut Random, kind: &str) -> (Value, Value) {
    let fields = fields(kind);
    let old = object(random, fields);
    let patch = match random.below(60) {
        0 => anything(random, 2),
        _ => object_patch(random, fields),
    };
    (old, patch)
}

/// A document, and a merge patch for it.
pub(super) fn merge(random: &mut Random) -> (Value, Value) {
    let patch = if random.one_in(40) {
        anything(random, 3)
    } else {
        document(random, 3)
    };
    (document(random, 4), patch)
}

/// A document, and a JSON patch for it.
pub(super) fn json(random: &mut Random) -> (Value, Value) {
    let mut old = document(random, 4);
    // Lists are what most operations go wrong at.
    old["a"] = json!({"b": [1, {"a": null}, "x"], "c": {"a": 1}, "m/n": 1.5});
    let operations = (0..=random.below(4)).map(|_| operation(random)).collect();
    let patch = match random.below(40) {
        0 => anything(random, 2),
        _ => Value::Array(operations),
    };
    (old, patch)
}

fn operation(random: &mut Random) -> Value {
    // Most of what is drawn fails, and behind it nothing is looked at.
    if random.one_in(2) {
        return match random.below(9) {
            0 => json!({"op": "test", "path": "/a/b/0", "value": 1}),
            1 => json!({"op": "test", "path": "/a/c", "value": {"a": 1}}),
            2 => json!({"op": "test", "path": "/x", "value": null}),
            3 => json!({"op": "test", "path": "/x"}),
            4 => json!({"op": "add", "path": random.pick(&["/x", "/x/y", "/a/c/x", "/a/b/-"]), "value": null}),
            5 => json!({"op": "copy", "path": "/x", "from": random.pick(&["/a", "/x", "/x/y", "/a/b/1", "/a/c/x"])}),
            6 => json!({"op": "move", "path": "/x", "from": random.pick(&["/a/b", "/a/c", "/x/c", "/x"])}),
            7 => {
                json!({"op": "replace", "path": random.pick(&["/a/c/a", "/a/b/-1", "/y"]), "value": anything(random, 3)})
            }
            _ => {
                json!({"op": "add", "path": random.pick(&["/a/b/0", "a/x", "/x", "/a/c"]), "value": anything(random, 3)})
            }
        };
    }
    let mut operation = Map::new();
    if !random.one_in(60) {
        let op = random.pick(&[
            "add", "remove", "replace", "move", "copy", "test", "test", "add", "copy",
        ]);
        let op = if random.one_in(40) {
            random.pick(&["ADD", "", "unknown"])
        } else {
            op
        };
        operation.insert("op".to_owned(), op.into());
    }
    for key in ["path", "from"] {
        match random.below(60) {
            0 => {}
            1 => drop(operation.insert(key.to_owned(), anything(random, 1))),
            _ => drop(operation.insert(key.to_owned(), path(random).into())),
        }
    }
    if !random.one_in(6) {
        let value = if random.one_in(3) {
            Value::Null
        } else {
            anything(random, 2)
        };
        operation.insert("value".to_owned(), value);
    }
    if random.one_in(40) {
        operation.insert("extra".to_owned(), 1.into());
    }
    if random.one_in(80) {
        Value::Null
    } else {
        operation.into()
    }
}

fn path(random: &mut Random) -> String {
    const COMMON: &[&str] = &[
        "/a", "/a/b", "/a/b/0", "/a/b/1/a", "/a/c", "/a/c/a", "/a/m~1n", "/x", "/x/y", "", "/b",
    ];
    const PIECES: &[&str] = &[
        "a", "b", "c", "m~1n", "t~0u", "~2", "", "0", "1", "-", "-1", "+1", "01", "-9", "9", "x",
    ];
    if !random.one_in(3) {
        let end = if random.one_in(4) {
            random.pick(&["/-", "/-1", "/0", "/3", "/a"])
        } else {
            ""
        };
        return format!("{}{end}", random.pick(COMMON));
    }
    let start = if random.one_in(10) {
        random.pick(&["a", "x"])
    } else {
        ""
    };
    let pieces = (0..random.below(4)).map(|_| format!("/{}", random.pick(PIECES)));
    format!("{start}{}", pieces.collect::<String>())
}

fn document(random: &mut Random, depth: usize) -> Value {
    let entries = (0..random.below(4)).map(|_| (random.pick(KEYS).to_owned(), anything(random, depth)));
    Value::Object(entries.collect())
}

fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => random.pick(WORDS).into(),
        2 => random.below(3).into(),
        3 => 1.5.into(),
        4 => random.one_in(2).into(),
        5 => (0..random.below(4)).map(|_| anything(random, depth - 1)).collect(),
        _ => document(random, depth - 1),
    }
}

fn object(random: &mut Random, fields: &[(&str, Shape)]) -> Value {
    let mut object = Map::new();
    for (name, shape) in fields {
        let seldom = if let Shape::Way(_) = shape { 20 } else { 3 };
        if !random.one_in(seldom) {
            object.insert((*name).to_owned(), value(random, shape));
        }
    }
    object.into()
}

fn value(random: &mut Random, shape: &Shape) -> Value {
    match shape {
        Shape::Flag => random.one_in(2).into(),
        Shape::Integer => random.below(4).into(),
        Shape::Text => random.pick(WORDS).into(),
        Shape::Texts => (0..random.below(4))
            .map(|_| random.pick(WORDS))
            .collect::<Vec<_>>()
            .into(),
        Shape::Labels => (0..random.below(4))
            .map(|_| (random.pick(WORDS).to_owned(), random.pick(WORDS).into()))
            .collect::<Map<_, _>>()
            .into(),
        Shape::Object(fields) | Shape::Way(fields) => object(random, fields),
        Shape::Items(key, fields) => (0..random.below(4)).map(|_| item(random, key, fields)).collect(),
    }
}

fn item(random: &mut Random, key: &str, fields: &[(&str, Shape)]) -> Value {
    let mut item = object(random, fields);
    item[key] = key_value(random, key, fields);
    item
}

fn key_value(random: &mut Random, key: &str, fields: &[(&str, Shape)]) -> Value {
    let shape = fields.iter().find(|(name, _)| *name == key).map(|(_, shape)| shape);
    value(random, shape.unwrap_or(&Shape::Text))
}

fn object_patch(random: &mut Random, fields: &[(&str, Shape)]) -> Value {
    let mut patch = Map::new();
    for (name, shape) in fields {
        let seldom = if let Shape::Way(_) = shape { 20 } else { 2 };
        if !random.one_in(seldom) {
            patch.insert((*name).to_owned(), value_patch(random, shape));
        }
        if random.one_in(if patch.contains_key(*name) { 60 } else { 8 }) {
            let list = if random.one_in(4) {
                anything(random, 2)
            } else {
                value(random, shape)
            };
            patch.insert(format!("$deleteFromPrimitiveList/{name}"), list);
        }
        if let Shape::Items(..) | Shape::Texts = shape
            && random.one_in(if UNORDERED.contains(name) { 80 } else { 5 })
        {
            let order = order(random, shape, patch.get(*name));
            patch.insert(format!("$setElementOrder/{name}"), order);
        }
    }
    if random.one_in(25) {
        let directive = random.pick(&["replace", "delete", "replace", "merge", "x"]);
        patch.insert("$patch".to_owned(), directive.into());
    }
    if random.one_in(15) {
        let keys = fields.iter().map(|(name, _)| *name);
        let keys = keys
            .filter(|name| patch.contains_key(*name) || random.one_in(3))
            .collect::<Vec<_>>();
        let keys = if random.one_in(8) {
            anything(random, 2)
        } else {
            keys.into()
        };
        patch.insert("$retainKeys".to_owned(), keys);
    }
    if random.one_in(60) {
        let key = random.pick(&[
            "$setElementOrder",
            "$deleteFromPrimitiveList/",
            "$deleteFromPrimitiveListx/a",
            "$x",
            "$",
        ]);
        patch.insert(key.to_owned(), anything(random, 1));
    }
    patch.into()
}

fn value_patch(random: &mut Random, shape: &Shape) -> Value {
    match (random.below(20), shape) {
        (0, _) => Value::Null,
        (1, _) => anything(random, 2),
        (2, _) => value(random, shape),
        (_, Shape::Object(fields) | Shape::Way(fields)) => object_patch(random, fields),
        (_, Shape::Labels) => (0..random.below(4))
            .map(|_| {
                let value = if random.one_in(3) {
                    Value::Null
                } else {
                    random.pick(WORDS).into()
                };
                (random.pick(WORDS).to_owned(), value)
            })
            .collect::<Map<_, _>>()
            .into(),
        (_, Shape::Items(key, fields)) => (0..random.below(4)).map(|_| item_patch(random, key, fields)).collect(),
        _ => value(random, shape),
    }
}

fn item_patch(random: &mut Random, key: &str, fields: &[(&str, Shape)]) -> Value {
    if random.one_in(80) {
        return anything(random, 1);
    }
    let mut item = object_patch(random, fields);
    if random.one_in(60) {
        item.as_object_mut().unwrap().remove(key);
    } else if random.one_in(60) {
        item[key] = anything(random, 1);
    } else {
        item[key] = key_value(random, key, fields);
    }
    if random.one_in(8) {
        item["$patch"] = random
            .pick(&["delete", "delete", "delete", "replace", "merge", "x"])
            .into();
    }
    item
}

/// Mostly what goes with the list of the patch, with others between.
fn order(random: &mut Random, shape: &Shape, list: Option<&Value>) -> Value {
    if random.one_in(20) {
        return anything(random, 2);
    }
    let mut order = Vec::new();
    for wanted in list.and_then(Value::as_array).into_iter().flatten() {
        order.extend(value(random, shape).as_array().unwrap().iter().take(1).cloned());
        if !random.one_in(12) {
            order.push(wanted.clone());
        }
    }
    order.extend(value(random, shape).as_array().unwrap().iter().cloned());
    if let Shape::Items(key, _) = shape {
        for item in &mut order {
            *item = json!({ *key: item[key] });
        }
    }
    order.into()
}
