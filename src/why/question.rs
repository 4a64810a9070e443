//! What is asked, made into the request that a kubelet would send.

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::resource::{Resource, Scope};
use crate::{
    api::{GroupResource, Verb, names},
    caller::{Caller, User},
    graph::Kind,
    request::{Query, RequestInfo, Target},
};

/// May this node do this? As it was typed; what is empty was not said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Question {
    pub node: String,
    pub verb: String,
    /// `resource[.group][/subresource]`; short names will do.
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub field_selector: String,
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
    pub(super) node: String,
    pub(super) caller: Caller,
    pub(super) info: RequestInfo,
}

/// An object that was understood, and the request that reads it.
#[derive(Clone, Debug)]
pub struct AskedObject {
    pub(super) kind: Kind,
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
/// Nothing in Kubernetes has a longer name.
const MAX_NAME: usize = 253;

impl Question {
    pub fn read(query: &Query) -> Self {
        let get = |key| query.get(key).unwrap_or_default().to_owned();
        Self {
            node: get("node"),
            verb: get("verb"),
            resource: get("resource"),
            namespace: get("namespace"),
            name: get("name"),
            field_selector: get("fieldSelector"),
        }
    }

    /// What [`Self::read`] reads.
    pub fn query(&self) -> String {
        query(&[
            ("node", &self.node),
            ("verb", &self.verb),
            ("resource", &self.resource),
            ("namespace", &self.namespace),
            ("name", &self.name),
            ("fieldSelector", &self.field_selector),
        ])
    }

    pub fn parse(&self) -> Result<Asked, Unclear> {
        // It may have been copied from a log, which has the user and not the node.
        let node = self.node.strip_prefix(names::NODE_USER_PREFIX).unwrap_or(&self.node);
        if node.is_empty() {
            return unclear("no node is named");
        }
        if node.len() > MAX_NAME || node.contains(char::is_control) {
            return unclear("nothing in Kubernetes can have the name of that node");
        }
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
        };
        let caller = caller(node);
        let node = node.to_owned();
        let info = wanted.info()?;
        Ok(Asked { node, caller, info })
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
        let kind = match resource.kind {
            Some(kind) if resource.subresource.is_empty() => kind,
            _ => {
                let all: Vec<&str> = Resource::in_graph().collect();
                return unclear(format!(
                    "who can read {} does not depend on what refers to it; ask about one of {}",
                    self.resource,
                    all.join(", ")
                ));
            }
        };
        let wanted = Wanted {
            verb: Verb::Get,
            resource,
            namespace: &self.namespace,
            name: &self.name,
            field_selector: "",
        };
        let info = wanted.info()?;
        Ok(AskedObject { kind, info })
    }
}

/// The user that a node's certificate is for.
pub(super) fn caller(node: &str) -> Caller {
    let user = User {
        name: format!("{}{node}", names::NODE_USER_PREFIX),
        groups: vec![names::NODES_GROUP.to_owned()],
        ..User::default()
    };
    Caller::from(user.authenticated())
}

/// The parts of a request, before it is one.
struct Wanted<'a> {
    verb: Verb,
    resource: Resource,
    namespace: &'a str,
    name: &'a str,
    field_selector: &'a str,
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
        query(&[("watch", watch), ("fieldSelector", &fields.join(","))])
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
