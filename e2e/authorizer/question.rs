//! Questions to both authorizers.

use scopegate::{
    api::{GroupResource, Verb},
    caller::{Caller, User},
    request::{FieldOperator, FieldRequirement, RequestInfo, ResourceRequest, Selectors, Target},
};
use serde::Serialize;

/// In the words of the oracle. With a path, the request is for no resource.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename = "authorize")]
pub(super) struct Question {
    pub(super) user: String,
    pub(super) groups: Vec<&'static str>,
    pub(super) verb: &'static str,
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) subresource: &'static str,
    pub(super) namespace: &'static str,
    pub(super) name: String,
    pub(super) path: &'static str,
    pub(super) fields: Vec<Term>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Term {
    pub(super) field: &'static str,
    pub(super) operator: &'static str,
    pub(super) value: &'static str,
}

impl Question {
    /// What the oracle is told.
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).unwrap()
    }

    pub(super) fn caller(&self) -> Caller {
        Caller::from(User {
            name: self.user.clone(),
            groups: self.groups.iter().map(ToString::to_string).collect(),
            ..User::default()
        })
    }

    pub(super) fn info(&self) -> RequestInfo {
        let target = match self.path {
            "" => Target::Resource(ResourceRequest {
                resource: GroupResource {
                    group: self.group.to_owned(),
                    resource: self.resource.to_owned(),
                },
                version: "v1".to_owned(),
                namespace: self.namespace.to_owned(),
                name: self.name.clone(),
                subresource: self.subresource.to_owned(),
                selectors: Selectors {
                    fields: self.fields.iter().map(Term::requirement).collect(),
                    labels: Vec::new(),
                },
            }),
            path => Target::Path(path.to_owned()),
        };
        let verb = self.verb();
        RequestInfo { verb, target }
    }

    fn verb(&self) -> Verb {
        match self.verb {
            method if !self.path.is_empty() && method != "get" => Verb::Method(method.to_owned()),
            "create" => Verb::Create,
            "delete" => Verb::Delete,
            "deletecollection" => Verb::DeleteCollection,
            "get" => Verb::Get,
            "list" => Verb::List,
            "patch" => Verb::Patch,
            "proxy" => Verb::Proxy,
            "update" => Verb::Update,
            "watch" => Verb::Watch,
            _ => Verb::Unknown,
        }
    }
}

impl Term {
    fn requirement(&self) -> FieldRequirement {
        FieldRequirement {
            field: self.field.to_owned(),
            operator: match self.operator {
                "=" => FieldOperator::Equals,
                _ => FieldOperator::NotEquals,
            },
            value: self.value.to_owned(),
        }
    }
}
