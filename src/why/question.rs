//! What is asked, made into the request that a kubelet or gardenlet would send.

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    asker::Asker,
    resource::{Resource, Scope},
};
use crate::{
    api::{GroupResource, Verb},
    graph::{Anchor, Kind},
    request::{Query, RequestInfo, Target},
};

/// May this caller do this? As it was typed; what is empty was not said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Question {
    /// A node by its name or user, or a seed as `seed/<name>` or by the user of its gardenlet or of an extension.
    pub caller: String,
    pub verb: String,
    /// `resource[.group][/subresource]`; short names will do.
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub field_selector: String,
    pub label_selector: String,
}

/// Who can read this? As it was typed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Object {
    pub resource: String,
    pub namespace: String,
    pub name: String,
}

/// A question that was understood.
#[derive(Clone, Debug)]
pub struct Asked {
    pub(super) asker: Asker,
    pub(super) info: RequestInfo,
}

/// An object that was understood, and the request that reads it.
#[derive(Clone, Debug)]
pub struct AskedObject {
    pub(super) kind: Kind,
    /// Whether it depends on the graph of nodes who can read it; on that of seeds it does.
    pub(super) for_nodes: bool,
    pub(super) info: RequestInfo,
}

/// A question that has no one meaning. The text is for whoever asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Unclear(pub(super) String);

const VERBS: &[Verb] = &[
    Verb::Get,
    Verb::List,
    Verb::Watch,
    Verb::Create,
    Verb::Update,
    Verb::Patch,
    Verb::Delete,
    Verb::DeleteCollection,
];

/// Where kubectl looks for what nobody says the namespace of.
const DEFAULT_NAMESPACE: &str = "default";

impl Question {
    /// The verbs it can be about.
    pub fn verbs() -> impl Iterator<Item = &'static str> {
        VERBS.iter().map(Verb::as_str)
    }

    /// Whether it can be about that caller.
    pub fn is_caller(text: &str) -> bool {
        Asker::parse(text).is_ok()
    }

    pub fn read(query: &Query) -> Self {
        let get = |key| query.get(key).unwrap_or_default().to_owned();
        // It was called after nodes when there were no other callers.
        let caller = query
            .get("caller")
            .unwrap_or_else(|| query.get("node").unwrap_or_default());
        Self {
            caller: caller.to_owned(),
            verb: get("verb"),
            resource: get("resource"),
            namespace: get("namespace"),
            name: get("name"),
            field_selector: get("fieldSelector"),
            label_selector: get("labelSelector"),
        }
    }

    /// What [`Self::read`] reads.
    pub fn query(&self) -> String {
        query(&[
            ("caller", &self.caller),
            ("verb", &self.verb),
            ("resource", &self.resource),
            ("namespace", &self.namespace),
            ("name", &self.name),
            ("fieldSelector", &self.field_selector),
            ("labelSelector", &self.label_selector),
        ])
    }

    pub fn parse(&self) -> Result<Asked, Unclear> {
        let asker = Asker::parse(&self.caller)?;
        let verb = VERBS.iter().find(|verb| verb.as_str() == self.verb).cloned();
        let Some(verb) = verb else {
            let all: Vec<&str> = VERBS.iter().map(Verb::as_str).collect();
            return unclear(format!("{:?} is no verb; one of {}", self.verb, all.join(", ")));
        };
        let wanted = Wanted {
            verb,
            resource: Resource::parse(&self.resource)?,
            namespace: &self.namespace,
            name: &self.name,
            field_selector: &self.field_selector,
            label_selector: &self.label_selector,
        };
        let info = wanted.info()?;
        Ok(Asked { asker, info })
    }
}

impl Object {
    pub fn read(query: &Query) -> Self {
        let Question {
            resource,
            namespace,
            name,
            ..
        } = Question::read(query);
        Self {
            resource,
            namespace,
            name,
        }
    }

    /// What [`Self::read`] reads.
    pub fn query(&self) -> String {
        query(&[
            ("resource", &self.resource),
            ("namespace", &self.namespace),
            ("name", &self.name),
        ])
    }

    pub fn parse(&self) -> Result<AskedObject, Unclear> {
        let resource = Resource::parse(&self.resource)?;
        let kind = resource.kind.filter(|_| resource.subresource.is_empty());
        let Some(kind) = kind else {
            let of_seeds: Vec<&str> = Resource::in_graph(Anchor::Seed).collect();
            return unclear(format!(
                "{}, or of seeds, {}",
                independent(&self.resource),
                of_seeds.join(", ")
            ));
        };
        let for_nodes = resource.for_nodes;
        let wanted = Wanted {
            verb: Verb::Get,
            resource,
            namespace: &self.namespace,
            name: &self.name,
            field_selector: "",
            label_selector: "",
        };
        let info = wanted.info()?;
        Ok(AskedObject { kind, for_nodes, info })
    }
}

impl AskedObject {
    /// What it is about, where no graph of this gate says who can read it.
    pub(super) fn independent(&self) -> Unclear {
        let resource = match &self.info.target {
            Target::Resource(request) => request.resource.to_string(),
            Target::Path(_) => String::new(),
        };
        let seeds = "; that of seeds would, and this gate has no rules for them (callers.seeds.enabled)";
        Unclear(independent(&resource) + seeds)
    }
}

fn independent(resource: &str) -> String {
    let all: Vec<&str> = Resource::in_graph(Anchor::Node).collect();
    format!(
        "who can read {resource} does not depend on what refers to it; ask about one of {}",
        all.join(", ")
    )
}

/// The parts of a request, before it is one.
struct Wanted<'a> {
    verb: Verb,
    resource: Resource,
    namespace: &'a str,
    name: &'a str,
    field_selector: &'a str,
    label_selector: &'a str,
}

impl Wanted<'_> {
    /// Goes through the reading that requests go through, so that nothing is judged which could not be asked for.
    fn info(&self) -> Result<RequestInfo, Unclear> {
        self.check()?;
        let namespace = self.namespace()?;
        let query = Query::parse(&self.selectors()).map_err(|malformed| Unclear(malformed.to_string()))?;
        let info = RequestInfo::read(&self.method(), &self.path(namespace), &query);
        let info = info.map_err(|malformed| Unclear(malformed.to_string()))?;
        let Target::Resource(read) = &info.target else {
            return unclear("no request says this");
        };
        if !self.field_selector.is_empty() && read.selectors.fields.is_empty() {
            return unclear(format!(
                "the field selector {:?} cannot be read; they are like spec.nodeName=node-a,metadata.name=web",
                self.field_selector
            ));
        }
        if !self.label_selector.is_empty() && read.selectors.labels.is_empty() {
            return unclear(format!(
                "the label selector {:?} cannot be read; they are like app=web,name.seed.gardener.cloud/seed-a=true",
                self.label_selector
            ));
        }
        // The name of what is created stands in the body, if it is not an object that is there already.
        let named = self.name.is_empty() || self.is_nameless_create() || read.name == self.name;
        let same = read.resource == self.resource.resource && read.subresource == self.resource.subresource;
        if info.verb != self.verb || !named || !same {
            return unclear("no request says this");
        }
        Ok(info)
    }

    fn check(&self) -> Result<(), Unclear> {
        let verb = &self.verb;
        let (named, sub) = (!self.name.is_empty(), !self.resource.subresource.is_empty());
        match verb {
            Verb::Get if !named => unclear("get is about one object and needs its name; list is about many"),
            Verb::Update | Verb::Patch | Verb::Delete if !named => unclear(format!("{verb} needs a name")),
            Verb::Create if sub && !named => unclear("create of a subresource needs the name of the object"),
            Verb::DeleteCollection if named => unclear("deletecollection takes no name; delete is about one object"),
            _ if self.is_collection() && sub => unclear(format!("{verb} is not for subresources")),
            _ if !self.is_collection() && !self.field_selector.is_empty() => {
                unclear("only list, watch and deletecollection take a field selector")
            }
            _ if !self.is_collection() && !self.label_selector.is_empty() => {
                unclear("only list, watch and deletecollection take a label selector")
            }
            _ => Ok(()),
        }
    }

    /// Of a collection, all namespaces if none is named.
    fn namespace(&self) -> Result<&str, Unclear> {
        let some = !self.name.is_empty() || !self.is_collection();
        match (self.resource.scope, self.namespace) {
            (Some(Scope::Cluster), namespace) if !namespace.is_empty() => {
                unclear(format!("{} have no namespace", self.resource.resource.resource))
            }
            (Some(Scope::Namespaced), "") if some => Ok(DEFAULT_NAMESPACE),
            (_, namespace) => Ok(namespace),
        }
    }

    fn method(&self) -> Method {
        match self.verb {
            Verb::Create => Method::POST,
            Verb::Update => Method::PUT,
            Verb::Patch => Method::PATCH,
            Verb::Delete | Verb::DeleteCollection => Method::DELETE,
            _ => Method::GET,
        }
    }

    /// In version v1, since rules do not depend on it.
    fn path(&self, namespace: &str) -> String {
        let GroupResource { group, resource } = &self.resource.resource;
        let mut segments = match group.as_str() {
            "" => vec!["api", "v1"],
            group => vec!["apis", group, "v1"],
        };
        if !namespace.is_empty() {
            segments.extend(["namespaces", namespace]);
        }
        segments.push(resource);
        if !self.is_collection() && !self.is_nameless_create() {
            segments.extend([self.name, self.resource.subresource.as_str()]);
        }
        let segments = segments.iter().filter(|segment| !segment.is_empty());
        segments.map(|segment| format!("/{}", encode(segment))).collect()
    }

    /// Lists and watches of one object name it in their field selector.
    fn selectors(&self) -> String {
        if !self.is_collection() {
            return String::new();
        }
        let name = Some(format!("metadata.name={}", self.name)).filter(|_| !self.name.is_empty());
        let given = Some(self.field_selector.to_owned()).filter(|given| !given.is_empty());
        let fields: Vec<String> = name.into_iter().chain(given).collect();
        let watch = if self.verb == Verb::Watch { "true" } else { "" };
        query(&[
            ("watch", watch),
            ("fieldSelector", &fields.join(",")),
            ("labelSelector", self.label_selector),
        ])
    }

    fn is_collection(&self) -> bool {
        matches!(self.verb, Verb::List | Verb::Watch | Verb::DeleteCollection)
    }

    fn is_nameless_create(&self) -> bool {
        self.verb == Verb::Create && self.resource.subresource.is_empty()
    }
}

/// Leaves out what is empty.
fn query(pairs: &[(&str, &str)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = given.map(|(key, value)| format!("{key}={}", encode(value))).collect();
    pairs.join("&")
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn unclear<T>(text: impl Into<String>) -> Result<T, Unclear> {
    Err(Unclear(text.into()))
}

#[cfg(test)]
mod tests;
