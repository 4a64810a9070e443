//! Which objects a list or a watch covers: a kind, perhaps a namespace, and selectors. Selectors
//! are `=`, `==` and `!=` only; a field selector may name any dotted path, where Kubernetes has a
//! list of them for each kind.

use serde_json::Value;

use super::{
    answer::Refusal,
    kinds::Kind,
    object::text,
    routes::{Query, Route},
    store::Key,
};

/// What a list or watch covers.
#[derive(Debug)]
pub(super) struct Cover {
    pub(super) kind: &'static Kind,
    namespace: Option<String>,
    terms: Vec<Term>,
}

/// One comma-separated part of a selector.
#[derive(Debug)]
struct Term {
    pointer: String,
    value: String,
    equal: bool,
}

impl Cover {
    pub(super) fn new(route: &Route, query: &Query) -> Result<Self, Refusal> {
        let mut terms = Vec::new();
        for (selector, pointer) in [
            ("fieldSelector", field_pointer as fn(&str) -> String),
            ("labelSelector", label_pointer),
        ] {
            let parts = query.get(selector).unwrap_or_default().split(',');
            for part in parts.filter(|part| !part.trim().is_empty()) {
                terms.push(Term::parse(part, pointer)?);
            }
        }
        Ok(Self {
            kind: route.kind,
            namespace: route.namespace.clone(),
            terms,
        })
    }

    pub(super) fn covers(&self, key: &Key, object: &Value) -> bool {
        key.kind == self.kind
            && self.namespace.as_ref().is_none_or(|ns| *ns == key.namespace)
            && self.terms.iter().all(|term| term.matches(object))
    }
}

impl Term {
    fn parse(part: &str, pointer: fn(&str) -> String) -> Result<Self, Refusal> {
        let (name, value, equal) = if let Some((name, value)) = part.split_once("!=") {
            (name, value, false)
        } else if let Some((name, value)) = part.split_once("==").or(part.split_once('=')) {
            (name, value, true)
        } else {
            let message = format!("selector {part:?}: the stand-in does =, == and != only");
            return Err(Refusal::bad_request(message));
        };
        Ok(Self {
            pointer: pointer(name.trim()),
            value: value.trim().to_owned(),
            equal,
        })
    }

    fn matches(&self, object: &Value) -> bool {
        (text(object, &self.pointer) == self.value) == self.equal
    }
}

fn field_pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

fn label_pointer(label: &str) -> String {
    // A label's `/` is part of its name, which a JSON pointer writes as `~1`.
    format!("/metadata/labels/{}", label.replace('/', "~1"))
}
