//! The event of `audit.k8s.io/v1`, as far as the gate fills it.

use std::{borrow::Cow, io, net::IpAddr, sync::Arc};

use jiff::Timestamp;

use super::{Record, line::Object};
use crate::{
    caller::User,
    request::{RequestInfo, Target},
};

/// At level Metadata: who asked what when, and how it ended. Never a body, never a credential.
#[derive(Clone, Debug)]
pub struct Event {
    pub audit_id: String,
    pub stage: Stage,
    pub request_uri: String,
    pub verb: Cow<'static, str>,
    pub user: UserInfo,
    /// As whom the user acted, if it acted as somebody else.
    pub impersonated_user: Option<UserInfo>,
    pub source_ip: Option<IpAddr>,
    pub user_agent: String,
    pub object_ref: Option<ObjectReference>,
    pub response_status: ResponseStatus,
    pub request_received_timestamp: Timestamp,
    pub stage_timestamp: Timestamp,
    pub annotations: Annotations,
}

impl Record for Event {
    fn into_event(self: Box<Self>) -> Self {
        *self
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    Panic,
    ResponseComplete,
}

/// In the order in which they were found out.
pub type Annotations = Vec<(&'static str, Cow<'static, str>)>;

/// A user, as events have it. Shared with the request, and written down by the thread that writes.
#[derive(Clone, Debug, Default)]
pub struct UserInfo(pub Arc<User>);

/// What was asked for, unless that is no resource.
#[derive(Clone, Debug)]
pub struct ObjectReference(Arc<RequestInfo>);

#[derive(Clone, Debug)]
pub struct ResponseStatus {
    pub status: &'static str,
    pub message: String,
    pub reason: &'static str,
    pub code: u16,
}

impl ObjectReference {
    pub fn of(info: &Arc<RequestInfo>) -> Option<Self> {
        matches!(info.target, Target::Resource(_)).then(|| Self(Arc::clone(info)))
    }
}

impl Event {
    /// As JSON. What is empty is left out where upstream leaves it out.
    pub(super) fn write(&self, line: &mut Vec<u8>) -> io::Result<()> {
        let mut event = Object::begin(line);
        event.text("kind", "Event")?;
        event.text("apiVersion", "audit.k8s.io/v1")?;
        event.text("level", "Metadata")?;
        event.text("auditID", &self.audit_id)?;
        event.text("stage", self.stage.name())?;
        event.text("requestURI", &self.request_uri)?;
        event.text("verb", &self.verb)?;
        self.user.write(event.object("user"))?;
        if let Some(user) = &self.impersonated_user {
            user.write(event.object("impersonatedUser"))?;
        }
        if let Some(address) = self.source_ip {
            event.texts("sourceIPs", &[address.to_string()])?;
        }
        event.some_text("userAgent", &self.user_agent)?;
        if let Some(reference) = &self.object_ref {
            reference.write(event.object("objectRef"))?;
        }
        self.response_status.write(event.object("responseStatus"))?;
        // `metav1.MicroTime`: RFC 3339 with exactly six digits.
        event.plain(
            "requestReceivedTimestamp",
            format_args!("{:.6}", self.request_received_timestamp),
        )?;
        event.plain("stageTimestamp", format_args!("{:.6}", self.stage_timestamp))?;
        if !self.annotations.is_empty() {
            let mut annotations = event.object("annotations");
            for (name, value) in &self.annotations {
                annotations.text(name, value)?;
            }
        }
        Ok(())
    }
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Panic => "Panic",
            Self::ResponseComplete => "ResponseComplete",
        }
    }
}

impl UserInfo {
    fn write(&self, mut user: Object<'_>) -> io::Result<()> {
        let User {
            name,
            uid,
            groups,
            extra,
        } = &*self.0;
        user.some_text("username", name)?;
        if let Some(uid) = uid {
            user.text("uid", uid)?;
        }
        if !groups.is_empty() {
            user.texts("groups", groups)?;
        }
        if !extra.is_empty() {
            let mut extras = user.object("extra");
            for (key, values) in extra {
                extras.member(key, values)?;
            }
        }
        Ok(())
    }
}

impl ObjectReference {
    fn write(&self, mut object: Object<'_>) -> io::Result<()> {
        let Target::Resource(request) = &self.0.target else {
            return Ok(());
        };
        object.text("resource", &request.resource.resource)?;
        object.some_text("namespace", &request.namespace)?;
        object.some_text("name", &request.name)?;
        object.some_text("apiGroup", &request.resource.group)?;
        object.text("apiVersion", &request.version)?;
        object.some_text("subresource", &request.subresource)
    }
}

impl ResponseStatus {
    fn write(&self, mut status: Object<'_>) -> io::Result<()> {
        drop(status.object("metadata"));
        status.some_text("status", self.status)?;
        status.some_text("message", &self.message)?;
        status.some_text("reason", self.reason)?;
        status.number("code", self.code)
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
    use serde_json::{Value, json};

    use super::*;
    use crate::request::Query;

    const HOSTILE: &str = "\"},\n\u{0}\\\u{7f}\u{2028}{\u{1f980}";

    fn user(name: &str) -> UserInfo {
        UserInfo(Arc::new(User {
            name: name.to_owned(),
            uid: Some(HOSTILE.to_owned()),
            groups: vec!["a".to_owned(), HOSTILE.to_owned()],
            extra: vec![(HOSTILE.to_owned(), vec![HOSTILE.to_owned(), String::new()])],
        }))
    }

    /// Whatever a client has put into it, in an object of Kubernetes' form.
    #[test]
    fn an_event_with_everything_in_it_is_one_line_of_json() {
        let query = Query::parse("").unwrap();
        let info = RequestInfo::read(&Method::PATCH, "/apis/apps/v1/namespaces/n/deployments/d/scale", &query).unwrap();
        let event = Event {
            audit_id: "id".to_owned(),
            stage: Stage::Panic,
            request_uri: HOSTILE.to_owned(),
            verb: HOSTILE.into(),
            user: user("actor"),
            impersonated_user: Some(user(HOSTILE)),
            source_ip: Some([127, 0, 0, 1].into()),
            user_agent: HOSTILE.to_owned(),
            object_ref: ObjectReference::of(&Arc::new(info)),
            response_status: ResponseStatus {
                status: "Failure",
                message: HOSTILE.to_owned(),
                reason: "Forbidden",
                code: 403,
            },
            request_received_timestamp: Timestamp::UNIX_EPOCH,
            stage_timestamp: Timestamp::from_millisecond(1_234).unwrap(),
            annotations: vec![("first", HOSTILE.into()), ("second", "".into())],
        };
        let mut line = Vec::new();
        event.write(&mut line).unwrap();
        assert!(line.iter().all(|byte| *byte != b'\n'));
        let told = |name: &str| json!({"username": name, "uid": HOSTILE, "groups": ["a", HOSTILE], "extra": {HOSTILE: [HOSTILE, ""]}});
        let written: Value = serde_json::from_slice(&line).unwrap();
        let expected = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "id", "stage": "Panic",
            "requestURI": HOSTILE, "verb": HOSTILE, "user": told("actor"), "impersonatedUser": told(HOSTILE),
            "sourceIPs": ["127.0.0.1"], "userAgent": HOSTILE,
            "objectRef": {
                "resource": "deployments", "namespace": "n", "name": "d", "apiGroup": "apps", "apiVersion": "v1",
                "subresource": "scale",
            },
            "responseStatus": {
                "metadata": {}, "status": "Failure", "message": HOSTILE, "reason": "Forbidden", "code": 403,
            },
            "requestReceivedTimestamp": "1970-01-01T00:00:00.000000Z",
            "stageTimestamp": "1970-01-01T00:00:01.234000Z",
            "annotations": {"first": HOSTILE, "second": ""},
        });
        assert_eq!(written, expected);
        let again = serde_json::to_string(&written).unwrap();
        assert_eq!(again.len(), line.len(), "nothing is written twice");
    }
}
