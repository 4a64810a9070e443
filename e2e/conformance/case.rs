//! One request, as data: so that it can be sent to several servers, be told, and be made smaller.

use std::fmt;

use http::Request;
use serde_json::{Map, Value, json};

use super::{encode::Encoder, mutation::Mutation};

/// Stands in paths, queries and bodies for what all names of a round begin with.
pub(super) const ROUND: &str = "ROUND";

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Who {
    N1,
    N2,
    /// A node without a Node object.
    N3,
    /// `system:node:n1`, but not of the group `system:nodes`.
    NoGroup,
    /// Of the group, but called `kubelet-n1`.
    NoPrefix,
    /// `system:node:`, with nothing behind it.
    Empty,
    /// `n1`, which is in `system:masters`, too.
    Master,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) who: Who,
    pub(super) verb: &'static str,
    /// With its group: `leases.coordination.k8s.io`. Empty where the path is none of a resource.
    pub(super) resource: &'static str,
    pub(super) sub: String,
    pub(super) path: String,
    /// As they stand in the query.
    pub(super) query: Vec<String>,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) body: Option<Body>,
    /// A write without `dryRun`.
    pub(super) stored: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) base: Base,
    pub(super) mutations: Vec<Mutation>,
    pub(super) form: Form,
}

#[derive(Clone, Debug)]
pub(super) enum Base {
    Value(Value),
    /// What is there now.
    Stored(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Protobuf,
    JsonPatch,
    MergePatch,
    Strategic,
    /// An object under a content type that does not fit.
    As(&'static str),
}

impl Who {
    /// Whose Node is its own; `n1` for those that are none.
    pub(super) fn node(self) -> &'static str {
        match self {
            Self::N2 => "n2",
            Self::N3 => "n3",
            _ => "n1",
        }
    }

    /// Whom the Node authorizer and NodeRestriction take for a node.
    pub(super) fn is_node(self) -> bool {
        !matches!(self, Self::NoGroup | Self::NoPrefix)
    }
}

impl Case {
    pub(super) fn method(&self) -> &'static str {
        match self.verb {
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" | "deletecollection" => "DELETE",
            _ => "GET",
        }
    }

    pub(super) fn is_write(&self) -> bool {
        self.method() != "GET"
    }

    pub(super) fn is_watch(&self) -> bool {
        self.verb == "watch"
    }

    pub(super) fn target(&self) -> String {
        let mut pieces = self.query.clone();
        if self.is_write() && !self.stored {
            pieces.push("dryRun=All".to_owned());
        }
        if pieces.is_empty() {
            return self.path.clone();
        }
        format!("{}?{}", self.path, pieces.join("&"))
    }

    pub(super) fn request(&self, target: &str, form: Option<Form>) -> http::request::Builder {
        let mut request = Request::builder().method(self.method()).uri(target);
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        if let Some(kind) = form.and_then(Form::content_type) {
            request = request.header("content-type", kind);
        }
        request
    }
}

impl Form {
    fn content_type(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("application/json"),
            Self::Protobuf => Some("application/vnd.kubernetes.protobuf"),
            Self::JsonPatch => Some("application/json-patch+json"),
            Self::MergePatch => Some("application/merge-patch+json"),
            Self::Strategic => Some("application/strategic-merge-patch+json"),
            Self::As("") => None,
            Self::As(kind) => Some(kind),
        }
    }

    pub(super) fn is_patch(self) -> bool {
        matches!(self, Self::JsonPatch | Self::MergePatch | Self::Strategic)
    }
}

impl Body {
    /// The document before it is written in some form.
    pub(super) fn document(&self, stored: Option<&Value>) -> Value {
        let mut document = match (&self.base, stored) {
            (Base::Value(value), _) => value.clone(),
            (Base::Stored(_), Some(stored)) => stored.clone(),
            (Base::Stored(_), None) => json!({}),
        };
        for mutation in &self.mutations {
            mutation.apply(&mut document, self.form.is_patch());
        }
        document
    }

    /// What is sent for a document in which everything has its name here. What cannot be written as protobuf is sent as JSON.
    pub(super) fn bytes(&self, document: &Value, encoder: &Encoder) -> (Form, Vec<u8>) {
        let encoded = match self.form {
            Form::Protobuf => encoder.encode(document),
            Form::JsonPatch => Some(text(&operations(document))),
            _ => Some(text(document)),
        };
        match encoded {
            Some(bytes) => (self.form, bytes),
            None => (Form::Json, text(document)),
        }
    }
}

/// JSON, in which keys that end in [`super::mutation::AGAIN`] stand a second time.
fn text(document: &Value) -> Vec<u8> {
    document.to_string().replace("\\u0000", "").into_bytes()
}

/// The operations that bring about what a merge patch says, as far as its maps go down to labels and the like.
fn operations(document: &Value) -> Value {
    let mut operations = Vec::new();
    add(&mut operations, "", document.as_object().unwrap_or(&Map::new()));
    Value::Array(operations)
}

fn add(operations: &mut Vec<Value>, parent: &str, object: &Map<String, Value>) {
    for (key, value) in object {
        let path = format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::Object(inner) if !inner.is_empty() && path.split('/').count() < 4 => add(operations, &path, inner),
            Value::Null => operations.push(json!({"op": "remove", "path": path})),
            value => operations.push(json!({"op": "add", "path": path, "value": value})),
        }
    }
}

/// Like a command line.
impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "as {:?}: curl -X {} '{}'", self.who, self.method(), self.target())?;
        for (name, value) in &self.headers {
            write!(out, " -H '{name}: {value}'")?;
        }
        let Some(body) = &self.body else { return Ok(()) };
        if let Some(kind) = body.form.content_type() {
            write!(out, " -H 'content-type: {kind}'")?;
        }
        match &body.base {
            Base::Value(_) => write!(out, " -d '{}'", body.document(None))?,
            Base::Stored(path) => write!(out, " -d \"what is at {path}\"")?,
        }
        for mutation in &body.mutations {
            write!(out, " [{mutation}]")?;
        }
        Ok(())
    }
}
