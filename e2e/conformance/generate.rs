//! Makes cases: what a kubelet sends, mostly, with something changed in about every second request.

mod actions;
pub(super) mod bodies;
mod changes;
mod resources;
mod words;

use serde_json::Value;

use self::{
    changes::{ODD, of},
    resources::{RESOURCES, Resource, SUBRESOURCES},
    words::{ACCEPTS, NAMESPACES, PATHS, PIECES, TYPES, VERBS},
};
use super::{
    case::{Body, Case, Form, Who},
    mutation::{At, Change, Mutation},
};
use crate::random::Random;

/// What a path and the rest are made of.
#[derive(Clone)]
struct Parts {
    who: Who,
    verb: &'static str,
    resource: &'static Resource,
    namespace: &'static str,
    name: String,
    sub: String,
    query: Vec<String>,
    body: Option<Body>,
}

pub(super) struct Generator {
    random: Random,
    protobuf: bool,
}

impl Generator {
    pub(super) fn new(seed: u64, round: u64, protobuf: bool) -> Self {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        let mut random = Random::new(seed);
        // The first numbers of neighbouring seeds are alike.
        for _ in 0..8 {
            random.below(2);
        }
        Self { random, protobuf }
    }

    pub(super) fn case(&mut self) -> Case {
        if self.random.one_in(40) {
            return self.path();
        }
        let mut parts = if self.random.one_in(10) {
            self.anything()
        } else {
            self.action()
        };
        self.mutate(&mut parts);
        if self.random.one_in(9) {
            self.perturb(&mut parts);
        }
        self.finish(parts)
    }

    fn who(&mut self) -> Who {
        match self.random.below(40) {
            0..27 => Who::N1,
            27..32 => Who::N2,
            32..36 => Who::N3,
            36 => Who::NoGroup,
            37 => Who::NoPrefix,
            38 => Who::Empty,
            _ => Who::Master,
        }
    }

    fn path(&mut self) -> Case {
        Case {
            who: self.who(),
            verb: self.random.pick(&["get", "get", "get", "create", "delete"]),
            resource: "",
            sub: String::new(),
            path: self.random.pick(PATHS).to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            stored: false,
        }
    }

    /// Some verb on some resource.
    fn anything(&mut self) -> Parts {
        let resource = &RESOURCES[self.random.below(RESOURCES.len())];
        let verb = self.random.pick(VERBS);
        let named = !matches!(verb, "list" | "watch" | "create" | "deletecollection") || self.random.one_in(10);
        let mut parts = Parts {
            who: self.who(),
            verb,
            resource,
            namespace: if resource.namespaced {
                self.random.pick(NAMESPACES)
            } else {
                ""
            },
            name: if named {
                self.random.pick(resource.names).to_owned()
            } else {
                String::new()
            },
            sub: String::new(),
            query: Vec::new(),
            body: None,
        };
        if !parts.name.is_empty() && self.random.one_in(5) {
            parts.sub = self.random.pick(SUBRESOURCES).to_owned();
        }
        if matches!(verb, "list" | "watch" | "deletecollection") && self.random.one_in(2) {
            parts.query.push(self.random.pick(PIECES).to_owned());
        }
        if matches!(verb, "create" | "update" | "patch") {
            let form = if verb == "patch" { Form::MergePatch } else { Form::Json };
            let value = serde_json::json!({"metadata": {"name": parts.name}});
            parts.body = Some(bodies::body(value, form));
        }
        parts
    }

    /// Up to four changes of the body, mostly such that the rules speak of.
    fn mutate(&mut self, parts: &mut Parts) {
        let known = of(parts.resource.name, &parts.sub);
        let count = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 4][self.random.below(11)];
        let Some(body) = &mut parts.body else { return };
        for _ in 0..count {
            let (pointer, values) = match self.random.below(10) {
                0 => self.random.pick(ODD),
                1 => {
                    let change = match self.random.below(4) {
                        0 | 1 => Change::Remove,
                        _ => {
                            Change::Set(self.value(&["\"x\"", "\"\"", "null", "1", "true", "[]", "{}", "\"ROUND-n2\""]))
                        }
                    };
                    let at = At::Nth(self.random.below(1000));
                    body.mutations.push(Mutation { at, change });
                    continue;
                }
                _ => self.random.pick(known),
            };
            let change = match self.random.pick(values) {
                "-" => Change::Remove,
                _ if self.random.one_in(60) => Change::Again(self.value(values)),
                value => Change::Set(serde_json::from_str(value).unwrap()),
            };
            let at = At::Pointer(pointer.to_owned());
            body.mutations.push(Mutation { at, change });
        }
    }

    fn value(&mut self, from: &[&str]) -> Value {
        serde_json::from_str(self.random.pick(from)).unwrap_or(Value::Null)
    }

    /// Changes what is asked for, or who asks.
    fn perturb(&mut self, parts: &mut Parts) {
        match self.random.below(7) {
            0 => parts.who = self.who(),
            1 if !parts.name.is_empty() => parts.name = self.random.pick(parts.resource.names).to_owned(),
            2 if parts.resource.namespaced => parts.namespace = self.random.pick(NAMESPACES),
            3 if !parts.name.is_empty() => parts.sub = self.random.pick(SUBRESOURCES).to_owned(),
            4 => parts.query.push(self.random.pick(PIECES).to_owned()),
            5 => parts.query.clear(),
            _ => {
                if let Some(body) = &mut parts.body {
                    body.form = Form::As(self.random.pick(TYPES));
                } else {
                    parts.query.push(self.random.pick(PIECES).to_owned());
                }
            }
        }
    }

    fn finish(&mut self, parts: Parts) -> Case {
        let mut path = parts.resource.path(parts.namespace);
        if !parts.name.is_empty() {
            path += &format!("/{}", parts.name);
            if !parts.sub.is_empty() {
                path += &format!("/{}", parts.sub);
            }
        }
        let mut query = parts.query;
        let mut verb = parts.verb;
        if verb == "watch" {
            query.push(format!("watch={}", self.random.pick(&["true", "1", "", "yes"])));
        }
        if !parts.name.is_empty() && matches!(verb, "list" | "watch") {
            // With a name in the path, that is all that is asked for.
            verb = "get";
        }
        if !parts.name.is_empty() && verb == "deletecollection" {
            verb = "delete";
        }
        let writes = !matches!(verb, "get" | "list" | "watch");
        let odd_dry_run = query.iter().any(|piece| piece.starts_with("dryRun"));
        // What only one side lets a master do would end the round.
        let stored = writes && !odd_dry_run && parts.who != Who::Master && self.random.one_in(3);
        let mut body = parts.body;
        if let Some(options) = body.as_mut().filter(|_| verb == "delete" && !stored) {
            // With options in the body, those of the query do not count.
            let (at, change) = (
                At::Pointer("/dryRun".to_owned()),
                Change::Set(serde_json::json!(["All"])),
            );
            options.mutations.push(Mutation { at, change });
        }
        let mut headers = Vec::new();
        // What was stored is found by the name in the answer.
        if self.random.one_in(12) && verb != "watch" && !stored {
            headers.push(("accept", self.random.pick(ACCEPTS)));
        }
        Case {
            who: parts.who,
            verb,
            resource: parts.resource.name,
            sub: if parts.name.is_empty() {
                String::new()
            } else {
                parts.sub
            },
            path,
            query,
            headers,
            body,
            stored,
        }
    }
}
