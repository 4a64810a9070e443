//! NodeRestriction's rules, one row for each condition: what a node sends to kube-apiserver with NodeRestriction and, through the
//! gate alone, to one without, is answered alike. Nothing is stored, so that no row depends on another.

mod audiences;
mod bodies;
mod earlier;
mod form;
mod leaving;
mod mirror;
mod nodes;
mod owned;
mod patches;
mod pods;
mod references;
mod tokens;

use serde_json::{Value, json};

use self::{
    earlier::earlier,
    form::{Form, set},
};
use super::{Names, Sides};
use crate::{gate::Answer, report};

pub(super) struct Row {
    name: String,
    target: String,
    what: What,
    /// What kube-apiserver answers, and a part of its message.
    code: u16,
    text: &'static str,
}

pub(super) enum What {
    /// Sent as JSON and as protobuf.
    Object(&'static str, Value),
    /// Values at JSON pointers, null where there is to be none: as a whole object in JSON and protobuf, and as a patch of each type.
    Change(Vec<(&'static str, Value)>),
    /// As it stands.
    Bytes(&'static str, &'static str, Vec<u8>),
}

/// Where the gate answers otherwise, and means to: the row, the gate's code, and why.
const DIFFERENT: &[(&str, u16, &str)] = &[
    (
        "yaml is sent",
        415,
        "YAML readers disagree too much; no kubelet sends any",
    ),
    ("an object is applied", 415, "only upstream can tell what comes of it"),
    (
        "a key stands twice",
        400,
        "kube-apiserver merges what it finds under the two; readers disagree",
    ),
    ("a key stands twice in a patch", 400, "the same"),
    (
        "a text is not UTF-8",
        400,
        "kube-apiserver replaces what it cannot read",
    ),
    (
        "null is sent",
        400,
        "kube-apiserver takes it for an object without fields",
    ),
    (
        "nothing as protobuf",
        403,
        "the gate takes it for an object without fields",
    ),
    ("labels become a list", 400, "the gate does not repeat the whole object"),
    (
        "move of the taints",
        403,
        "the gate looks at taints only, kube-apiserver at what becomes of podCIDRs first",
    ),
    ("move of the taints at status", 403, "the same"),
    (
        "mirror: with claim statuses only",
        403,
        "kube-apiserver drops the status later; the gate need not rely on it",
    ),
    (
        "mirror: with a generated name",
        201,
        "the name is another one each time",
    ),
];

/// Where it is only the words that differ: a part of kube-apiserver's message, and why. The code is the same.
const OTHER_WORDS: &[(&str, &str)] = &[
    (
        "a mirror pod may not ",
        "its ServiceAccount plugin comes before NodeRestriction",
    ),
    (
        "is not allowed to update fields other than status.quantity",
        "it prints a diff of its internal type",
    ),
    ("415: Unsupported Media Type", "the gate says which types there are"),
    (
        "accepted media types include: application/json, application/yaml",
        "the gate takes no YAML",
    ),
    (
        "the object provided is unrecognized",
        "each reader has its own words for what it cannot read",
    ),
    ("cannot be handled as a", "the same, for kinds and fields"),
    ("error decoding patch", "the same, for patches"),
    ("json: cannot unmarshal", "the same"),
    ("unexpected end of JSON input", "the same"),
];

/// The test of one table.
async fn compare(names: Names, rows: Vec<Row>) {
    let Some(sides) = Sides::start(names).await else { return };
    let compared = compare_on(&sides, &rows).await;
    let table = names.namespace;
    report::compared(
        &format!("restriction-{table}"),
        &format!("writes, by the rules of NodeRestriction: {table}"),
        compared,
    );
}

/// How many requests there were.
pub(super) async fn compare_on(sides: &Sides, rows: &[Row]) -> usize {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in rows {
        for form in row.forms([&sides.guarded, &sides.gated]).await {
            compared += 1;
            if let Err(why) = row.compare(sides, &form).await {
                wrong.push(format!("{} ({}): {why}", row.name, form.name));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    compared
}

pub(super) fn row(name: &str, target: impl Into<String>, what: What, code: u16, text: &'static str) -> Row {
    Row {
        name: name.to_owned(),
        target: target.into(),
        what,
        code,
        text,
    }
}

pub(super) fn create(name: &str, target: impl Into<String>, object: Value, code: u16, text: &'static str) -> Row {
    row(name, target, What::Object("POST", object), code, text)
}

fn change<const N: usize>(
    name: &str,
    target: impl Into<String>,
    change: [(&'static str, Value); N],
    code: u16,
    text: &'static str,
) -> Row {
    row(name, target, What::Change(change.into()), code, text)
}

fn patch(
    name: &str,
    target: impl Into<String>,
    content_type: &'static str,
    patch: &Value,
    code: u16,
    text: &'static str,
) -> Row {
    let bytes = patch.to_string().into_bytes();
    row(name, target, What::Bytes("PATCH", content_type, bytes), code, text)
}

impl Row {
    /// The code that the gate is to give, if its answer is to be another one.
    fn different(&self, message: &str) -> Option<u16> {
        let found = DIFFERENT.iter().find(|(name, _, _)| *name == self.name);
        let other_words = || {
            OTHER_WORDS
                .iter()
                .any(|(part, _)| message.contains(part))
                .then_some(self.code)
        };
        found.map(|(_, code, _)| *code).or_else(other_words)
    }

    /// The name of the object comes before the query.
    fn target(&self) -> String {
        let and = if self.target.contains('?') { '&' } else { '?' };
        format!("{}{and}dryRun=All", self.target)
    }

    async fn compare(&self, sides: &Sides, form: &Form) -> Result<(), String> {
        let [direct_body, gated_body] = &form.bodies;
        let target = self.target();
        let direct = sides.guarded.send(form.method, &target, form.content_type, direct_body);
        let direct = direct.await;
        sides.between.take();
        let gated = sides
            .gated
            .send(form.method, &target, form.content_type, gated_body)
            .await;
        let writes = sides.between.take_writes();
        let told = |direct: &Answer, gated: &Answer| {
            format!(
                "\n  direct {} {}\n  gated  {} {}",
                direct.code, direct.body, gated.code, gated.body
            )
        };
        let (code, said) = sides.guarded.summary(&direct);
        let message = said["message"].as_str().unwrap_or_default();
        let earlier = earlier(&self.name);
        let (expected, text) = earlier.map_or((self.code, self.text), |earlier| (earlier.code, ""));
        if code != expected || !message.contains(text) {
            return Err(format!("expected {expected} {text}{}", told(&direct, &gated)));
        }
        if gated.code == 403 && !writes.is_empty() {
            return Err(format!("refused, but {writes:?} was sent on{}", told(&direct, &gated)));
        }
        let different = match earlier {
            Some(earlier) => earlier.gate,
            None => self.different(message),
        };
        match different {
            Some(code) if gated.code.as_u16() == code => Ok(()),
            Some(code) => Err(format!("not {code} as intended{}", told(&direct, &gated))),
            None if sides.guarded.summary(&direct) == sides.gated.summary(&gated) => Ok(()),
            None => Err(told(&direct, &gated)),
        }
    }
}

/// The operations that set the leaves of a document: maps are descended into, as far as objects have them anyway.
pub(super) fn operations(document: &Value) -> Value {
    let mut operations = Vec::new();
    for (key, value) in document.as_object().unwrap() {
        let inner = value
            .as_object()
            .filter(|_| matches!(key.as_str(), "metadata" | "spec"));
        for (field, value) in inner.into_iter().flatten() {
            match value.as_object().filter(|_| field == "labels") {
                Some(labels) => operations.extend(labels.iter().map(|(label, value)| {
                    let label = label.replace('/', "~1");
                    json!({"op": "add", "path": format!("/{key}/{field}/{label}"), "value": value})
                })),
                None => operations.push(json!({"op": "add", "path": format!("/{key}/{field}"), "value": value})),
            }
        }
        if inner.is_none() {
            operations.push(json!({"op": "add", "path": format!("/{key}"), "value": value}));
        }
    }
    json!(operations)
}
