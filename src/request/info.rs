//! RequestInfo: what kube-apiserver takes a method, path and query to mean.
//!
//! Follows `k8s.io/apiserver/pkg/endpoints/request/requestinfo.go` (1.36).

use std::fmt;

use http::Method;

use super::{
    Malformed, Query,
    path::{MAX_NAME, Path},
    selector::Selectors,
};
use crate::api::{GroupResource, Verb};

/// A request in the terms authorization uses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RequestInfo {
    pub verb: Verb,
    pub target: Target,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// Anything that is not a resource, by its decoded path.
    Path(String),
    Resource(ResourceRequest),
}

/// Absent parts are empty strings, as they are upstream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ResourceRequest {
    pub resource: GroupResource,
    pub version: String,
    pub namespace: String,
    pub name: String,
    pub subresource: String,
    /// Of list, watch and deletecollection, unless the verb stands in the path.
    pub selectors: Selectors,
}

/// `resource[/subresource][.group] [namespace/]name`, for log lines.
impl fmt::Display for ResourceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource.resource)?;
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        if !self.resource.group.is_empty() {
            write!(f, ".{}", self.resource.group)?;
        }
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => Ok(()),
            ("", name) => write!(f, " {name}"),
            (namespace, name) => write!(f, " {namespace}/{name}"),
        }
    }
}

impl ResourceRequest {
    /// One object by its name: its group, version and resource, and where it is.
    pub fn object((group, version, resource): (&str, &str, &str), namespace: &str, name: &str) -> Self {
        Self {
            resource: GroupResource {
                group: group.to_owned(),
                resource: resource.to_owned(),
            },
            version: version.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: String::new(),
            selectors: Selectors::default(),
        }
    }
}

impl RequestInfo {
    pub fn read(method: &Method, path: &str, query: &Query) -> Result<Self, Malformed> {
        let path = Path::parse(path)?;
        let segments: Vec<&str> = path.segments.iter().map(AsRef::as_ref).collect();
        let Some((group, version, rest)) = split_version(&segments) else {
            return Ok(Self {
                verb: path_verb(method),
                target: Target::Path(path.decoded()),
            });
        };
        // The ancient form that names the verb in the path; method and selectors do not count there.
        let (mut verb, rest) = match rest {
            ["watch" | "proxy"] => {
                return Err(Malformed("unable to determine kind and namespace from url".to_owned()));
            }
            ["watch", rest @ ..] => (Verb::Watch, rest),
            ["proxy", rest @ ..] => (Verb::Proxy, rest),
            _ => (resource_verb(method), rest),
        };
        let (namespace, rest) = split_namespace(rest);
        let mut parts = rest.iter().copied();
        let resource = parts.next().unwrap_or_default();
        let mut name = parts.next().unwrap_or_default().to_owned();
        let subresource = parts.next().filter(|_| verb != Verb::Proxy).unwrap_or_default();

        let mut selectors = Selectors::default();
        if name.is_empty() && matches!(verb, Verb::Get | Verb::Delete) {
            let sound;
            (selectors, sound) = Selectors::read(query);
            (verb, name) = match verb {
                Verb::Get => collection_read(query, &selectors, sound)?,
                _ => (Verb::DeleteCollection, name),
            };
        }
        Ok(Self {
            verb,
            target: Target::Resource(ResourceRequest {
                resource: GroupResource {
                    group: group.to_owned(),
                    resource: resource.to_owned(),
                },
                version: version.to_owned(),
                namespace: namespace.to_owned(),
                name,
                subresource: subresource.to_owned(),
                selectors,
            }),
        })
    }

    /// Whether it is a subresource that a client may connect to and then speak something else than HTTP with.
    pub fn is_connection(&self) -> bool {
        let Target::Resource(request) = &self.target else {
            return false;
        };
        if !request.resource.group.is_empty() {
            return false;
        }
        match (request.resource.resource.as_str(), request.subresource.as_str()) {
            ("pods", "attach" | "exec" | "portforward" | "proxy") => true,
            ("nodes" | "services", "proxy") => true,
            _ => self.verb == Verb::Proxy,
        }
    }

    /// Whether it may stay open for as long as the client likes, as kube-apiserver sees it.
    pub fn is_long_running(&self) -> bool {
        let by_verb = matches!(self.verb, Verb::Watch | Verb::Proxy);
        let subresource = match &self.target {
            Target::Path(_) => "",
            Target::Resource(request) => request.subresource.as_str(),
        };
        by_verb || matches!(subresource, "attach" | "exec" | "log" | "portforward" | "proxy")
    }

    /// Metric labels: resource and subresource, bounded however inventive the client.
    pub fn labels(&self) -> (&'static str, &'static str) {
        match &self.target {
            Target::Path(_) => ("", ""),
            Target::Resource(request) => {
                let subresource = match request.subresource.as_str() {
                    "" => "",
                    "eviction" => "eviction",
                    "exec" => "exec",
                    "log" => "log",
                    "proxy" => "proxy",
                    "status" => "status",
                    "token" => "token",
                    _ => "other",
                };
                (request.resource.label(), subresource)
            }
        }
    }
}

/// Exact methods only: `get` in lower case has no meaning on resources.
fn resource_verb(method: &Method) -> Verb {
    match *method {
        Method::POST => Verb::Create,
        Method::GET | Method::HEAD => Verb::Get,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        _ => Verb::Unknown,
    }
}

/// Only an exact GET becomes [`Verb::Get`], so that rules which allow it cannot be met by an odd method.
fn path_verb(method: &Method) -> Verb {
    match *method {
        Method::GET => Verb::Get,
        _ => Verb::Method(method.as_str().to_ascii_lowercase()),
    }
}

/// The group, the version and what stands behind them; nothing if it is no resource.
fn split_version<'a, 'b>(segments: &'b [&'a str]) -> Option<(&'a str, &'a str, &'b [&'a str])> {
    match segments {
        ["api", version, rest @ ..] if !rest.is_empty() => Some(("", version, rest)),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => Some((group, version, rest)),
        _ => None,
    }
}

/// What stands behind the subresource in the path of a resource.
pub(super) fn behind_subresource(path: &str) -> Option<Vec<String>> {
    let path = Path::parse(path).ok()?;
    let segments: Vec<&str> = path.segments.iter().map(AsRef::as_ref).collect();
    let (_, _, rest) = split_version(&segments)?;
    let (_, rest) = split_namespace(rest);
    // A resource, its name, and the subresource.
    let behind = rest.get(3..).unwrap_or_default();
    Some(behind.iter().map(ToString::to_string).collect())
}

/// A namespace in front belongs to what follows it, except that the namespace itself is also a resource.
fn split_namespace<'a, 'b>(rest: &'b [&'a str]) -> (&'a str, &'b [&'a str]) {
    match rest {
        ["namespaces", namespace, "status" | "finalize", ..] | ["namespaces", namespace] => (namespace, rest),
        ["namespaces", namespace, inner @ ..] => (namespace, inner),
        _ => ("", rest),
    }
}

/// A GET without a name is a list or a watch, and its selector may pin the name. If any option cannot be
/// converted, kube-apiserver falls back to looking at `watch` alone.
fn collection_read(query: &Query, selectors: &Selectors, sound: bool) -> Result<(Verb, String), Malformed> {
    let verb = if query.is_true("watch") {
        Verb::Watch
    } else {
        Verb::List
    };
    let convertible = sound && query.is_number("limit") && query.is_number("timeoutSeconds");
    let name = selectors.pinned_name().filter(|_| convertible).unwrap_or_default();
    if name.len() > MAX_NAME || name.contains(char::is_control) {
        return Err(Malformed(
            "the field selector pins a name that nothing in Kubernetes can have".to_owned(),
        ));
    }
    Ok((verb, name.to_owned()))
}

#[cfg(test)]
mod tests;
