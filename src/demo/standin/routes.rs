//! From a path and a query to what they name. The method plays no part here.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::{answer::Refusal, kinds::Kind, store::Key};

/// What a path names.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) kind: &'static Kind,
    /// `None` for a cluster-scoped kind, or for all namespaces.
    pub(super) namespace: Option<String>,
    pub(super) target: Target,
}

/// How deep into a kind a path goes.
#[derive(Debug)]
pub(super) enum Target {
    Collection,
    Object(Key),
    Subresource(Key, &'static str),
}

/// A decoded query.
#[derive(Debug)]
pub(super) struct Query(Vec<(String, String)>);

impl Route {
    pub(super) fn parse(path: &str) -> Result<Self, Refusal> {
        let parts = segments(path)?;
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        let route = match parts.as_slice() {
            ["api", version, rest @ ..] => Self::within("", version, rest),
            ["apis", group, version, rest @ ..] => Self::within(group, version, rest),
            _ => None,
        };
        route.ok_or_else(Refusal::no_such_path)
    }

    fn within(group: &str, version: &str, rest: &[&str]) -> Option<Self> {
        // `namespaces/x/status` is a subresource of the namespace x, `namespaces/x/pods` is what
        // x holds: the kinds table tells them apart.
        match rest {
            ["namespaces", ns, plural, rest @ ..] if Kind::at(group, version, plural).is_some_and(Kind::namespaced) => {
                Self::new(group, version, Some(ns), plural, rest)
            }
            [plural, rest @ ..] => Self::new(group, version, None, plural, rest),
            [] => None,
        }
    }

    fn new(group: &str, version: &str, namespace: Option<&str>, plural: &str, rest: &[&str]) -> Option<Self> {
        let kind = Kind::at(group, version, plural)?;
        let key = |name: &str| {
            (namespace.is_some() == kind.namespaced()).then(|| Key {
                kind,
                namespace: namespace.unwrap_or_default().to_owned(),
                name: name.to_owned(),
            })
        };
        let target = match rest {
            [] => Target::Collection,
            [name] => Target::Object(key(name)?),
            [name, sub] => {
                let sub = kind.subresources.iter().find(|known| *known == sub)?;
                Target::Subresource(key(name)?, sub)
            }
            _ => return None,
        };
        Some(Self {
            kind,
            namespace: namespace.map(str::to_owned),
            target,
        })
    }
}

impl Query {
    pub(super) fn parse(query: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decode(name), decode(value)))
                .collect(),
        )
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// A flag, read as Kubernetes does: there, and neither `false` nor `0`.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| !matches!(value, "false" | "0"))
    }

    /// A number; absent and empty are alike.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let value = self.get(name).unwrap_or_default();
        if value.is_empty() {
            return Ok(None);
        }
        let number = value.parse();
        number
            .map(Some)
            .map_err(|error| Refusal::bad_request(format!("{name}={value}: {error}")))
    }
}

/// A path's segments, each decoded on its own, so that an escaped `/` separates nothing.
fn segments(path: &str) -> Result<Vec<Cow<'_, str>>, Refusal> {
    path.trim_matches('/')
        .split('/')
        .map(|part| percent_decode_str(part).decode_utf8())
        .collect::<Result<_, _>>()
        .map_err(|error| Refusal::bad_request(format!("path: {error}")))
}
