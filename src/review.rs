//! What is asked of upstream's authorizers: may this user do that? The words are those of a SubjectAccessReview.

use std::{collections::BTreeMap, fmt, sync::Arc};

use aws_lc_rs::digest;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::{Verb, quote},
    caller::User,
    request::{FieldOperator, LabelOperator, RequestInfo, ResourceRequest, Selectors, Target},
};

/// A question that has one answer, yes or no.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Review {
    pub user: Arc<User>,
    pub action: Action,
}

/// What the user would do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    Path { verb: String, path: String },
    Resource(Box<ResourceAction>),
}

/// Absent parts are empty, as they are in a request.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceAction {
    pub verb: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    pub resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "Terms::is_empty")]
    pub field_selector: Terms,
    #[serde(skip_serializing_if = "Terms::is_empty")]
    pub label_selector: Terms,
}

/// A selector as a review has it.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Terms {
    requirements: Vec<Term>,
}

#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
struct Term {
    key: String,
    operator: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<String>,
}

/// As upstream reads it, in the order in which it is compared.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    user: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    groups: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<&'a str, &'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_attributes: Option<&'a ResourceAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_resource_attributes: Option<Value>,
}

/// Tells reviews apart: what is the same question has the same key, and nothing else has.
pub type Key = [u8; 32];

impl Review {
    pub fn new(user: &Arc<User>, action: ResourceAction) -> Self {
        Self {
            user: Arc::clone(user),
            action: Action::Resource(Box::new(action)),
        }
    }

    /// Whether the user may make a request, told by another verb than its own if one is given.
    pub fn of_request(user: &Arc<User>, info: &RequestInfo, verb: Option<&Verb>) -> Self {
        let verb = verb.unwrap_or(&info.verb).to_string();
        let action = match &info.target {
            Target::Path(path) => Action::Path {
                verb,
                path: path.clone(),
            },
            Target::Resource(request) => Action::Resource(Box::new(ResourceAction::of(request, verb))),
        };
        let user = Arc::clone(user);
        Self { user, action }
    }

    /// The same with a verb that no request has.
    pub fn with_verb(mut self, wanted: String) -> Self {
        match &mut self.action {
            Action::Path { verb, .. } => *verb = wanted,
            Action::Resource(action) => action.verb = wanted,
        }
        self
    }

    /// The object that is sent.
    pub fn to_json(&self) -> Value {
        json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": self.spec(),
        })
    }

    pub fn key(&self) -> Key {
        let spec = serde_json::to_vec(&self.spec()).unwrap_or_default();
        let mut key = [0; 32];
        key.copy_from_slice(digest::digest(&digest::SHA256, &spec).as_ref());
        key
    }

    fn spec(&self) -> Spec<'_> {
        let User {
            name,
            uid,
            groups,
            extra,
        } = &*self.user;
        let (resource_attributes, non_resource_attributes) = match &self.action {
            Action::Resource(action) => (Some(&**action), None),
            Action::Path { verb, path } => (None, Some(json!({"verb": verb, "path": path}))),
        };
        Spec {
            user: name,
            groups,
            uid: uid.as_deref(),
            extra: extra
                .iter()
                .map(|(key, values)| (key.as_str(), values.as_slice()))
                .collect(),
            resource_attributes,
            non_resource_attributes,
        }
    }
}

/// What the user would do, in words: `impersonate serviceaccounts "ns/default"`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self {
            Self::Path { verb, path } => return write!(f, "{verb} {path}"),
            Self::Resource(action) => action,
        };
        write!(f, "{} {}", action.verb, action.resource)?;
        if !action.subresource.is_empty() {
            write!(f, "/{}", action.subresource)?;
        }
        if !action.group.is_empty() {
            write!(f, " in {}", action.group)?;
        }
        match (action.namespace.as_str(), action.name.as_str()) {
            ("", "") => Ok(()),
            ("", name) => write!(f, " {}", quote(name)),
            (namespace, "") => write!(f, " in namespace {}", quote(namespace)),
            (namespace, name) => write!(f, " {}", quote(&format!("{namespace}/{name}"))),
        }
    }
}

impl ResourceAction {
    fn of(request: &ResourceRequest, verb: String) -> Self {
        let Selectors { fields, labels } = &request.selectors;
        let fields = fields.iter().map(|term| Term {
            key: term.field.clone(),
            operator: match term.operator {
                FieldOperator::Equals => "In",
                FieldOperator::NotEquals => "NotIn",
            },
            values: vec![term.value.clone()],
        });
        let labels = labels.iter().filter_map(|term| {
            Some(Term {
                key: term.key.clone(),
                operator: match term.operator {
                    LabelOperator::DoubleEquals | LabelOperator::Equals | LabelOperator::In => "In",
                    LabelOperator::NotEquals | LabelOperator::NotIn => "NotIn",
                    LabelOperator::Exists => "Exists",
                    LabelOperator::DoesNotExist => "DoesNotExist",
                    // A review has no words for them. Without them it asks for more, which is never granted sooner.
                    LabelOperator::GreaterThan | LabelOperator::LessThan => return None,
                },
                values: term.values.clone(),
            })
        });
        Self {
            verb,
            group: request.resource.group.clone(),
            version: request.version.clone(),
            resource: request.resource.resource.clone(),
            subresource: request.subresource.clone(),
            namespace: request.namespace.clone(),
            name: request.name.clone(),
            field_selector: Terms {
                requirements: fields.collect(),
            },
            label_selector: Terms {
                requirements: labels.collect(),
            },
        }
    }
}

impl Terms {
    fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
    use test_case::test_case;

    use super::*;
    use crate::request::Query;

    fn info(method: &Method, target: &str) -> RequestInfo {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        RequestInfo::read(method, path, &Query::parse(query).unwrap()).unwrap()
    }

    fn review(method: &Method, target: &str) -> Review {
        let user = User {
            name: "ann".to_owned(),
            uid: Some("7".to_owned()),
            groups: vec!["a".to_owned(), "b".to_owned()],
            extra: vec![("k".to_owned(), vec!["v".to_owned()])],
        };
        Review::of_request(&Arc::new(user), &info(method, target), None)
    }

    #[test]
    fn everything_a_user_is_stands_in_it() {
        let review = review(&Method::GET, "/apis/apps/v1/namespaces/n/deployments/d/scale").to_json();
        let expected = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": "ann", "uid": "7", "groups": ["a", "b"], "extra": {"k": ["v"]},
                "resourceAttributes": {
                    "verb": "get", "group": "apps", "version": "v1", "resource": "deployments", "subresource": "scale",
                    "namespace": "n", "name": "d",
                },
            },
        });
        assert_eq!(review, expected);
    }

    #[test]
    fn paths_have_attributes_of_their_own() {
        let review = review(&Method::GET, "/metrics").to_json();
        assert_eq!(
            review["spec"]["nonResourceAttributes"],
            json!({"verb": "get", "path": "/metrics"})
        );
        assert_eq!(review["spec"].get("resourceAttributes"), None);
    }

    #[test_case("fieldSelector=a%3Db,c!%3Dd" => json!({"fieldSelector": {"requirements": [
        {"key": "a", "operator": "In", "values": ["b"]}, {"key": "c", "operator": "NotIn", "values": ["d"]}]}}); "fields")]
    #[test_case("labelSelector=a,!b,c%3Dd,e+notin+(f,g)" => json!({"labelSelector": {"requirements": [
        {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "DoesNotExist"},
        {"key": "c", "operator": "In", "values": ["d"]}, {"key": "e", "operator": "NotIn", "values": ["f", "g"]}]}}); "labels")]
    #[test_case("labelSelector=a%3E1" => json!({}); "what a review has no words for")]
    fn selectors(query: &str) -> Value {
        let review = review(&Method::GET, &format!("/api/v1/pods?{query}")).to_json();
        let attributes = review["spec"]["resourceAttributes"].as_object().unwrap().clone();
        let selectors = attributes.into_iter().filter(|(key, _)| key.ends_with("Selector"));
        Value::Object(selectors.collect())
    }

    #[test]
    fn keys_tell_questions_apart() {
        let get = review(&Method::GET, "/api/v1/namespaces/n/pods/p");
        assert_eq!(get.key(), get.clone().key());
        let mut others = vec![
            review(&Method::GET, "/api/v1/namespaces/n/pods/q"),
            review(&Method::GET, "/api/v1/namespaces/m/pods/p"),
            review(&Method::DELETE, "/api/v1/namespaces/n/pods/p"),
            review(&Method::GET, "/api/v1/namespaces/n/pods/p/log"),
        ];
        let changes: [fn(&mut User); 4] = [
            |user| user.name.push('a'),
            |user| user.uid = None,
            |user| user.groups = vec!["ab".to_owned()],
            |user| user.extra = vec![],
        ];
        for change in changes {
            let mut other = get.clone();
            change(Arc::make_mut(&mut other.user));
            others.push(other);
        }
        for other in others {
            assert_ne!(other.key(), get.key(), "{other:?}");
        }
    }
}
