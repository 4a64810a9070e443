//! The event of `audit.k8s.io/v1`, as far as the gate fills it.

use std::{borrow::Cow, collections::BTreeMap, net::IpAddr, sync::Arc};

use jiff::Timestamp;
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{
    caller::User,
    request::{RequestInfo, Target},
};

/// At level Metadata: who asked what when, and how it ended. Never a body, never a credential.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub kind: &'static str,
    pub api_version: &'static str,
    pub level: &'static str,
    #[serde(rename = "auditID")]
    pub audit_id: String,
    pub stage: Stage,
    #[serde(rename = "requestURI")]
    pub request_uri: String,
    pub verb: Cow<'static, str>,
    pub user: UserInfo,
    /// As whom the user acted, if it acted as somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impersonated_user: Option<UserInfo>,
    #[serde(rename = "sourceIPs", skip_serializing_if = "Option::is_none")]
    pub source_ips: Option<[IpAddr; 1]>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_ref: Option<ObjectReference>,
    pub response_status: ResponseStatus,
    #[serde(serialize_with = "micros")]
    pub request_received_timestamp: Timestamp,
    #[serde(serialize_with = "micros")]
    pub stage_timestamp: Timestamp,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "pairs")]
    pub annotations: Annotations,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
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

#[derive(Clone, Debug, Serialize)]
pub struct ResponseStatus {
    pub metadata: BTreeMap<(), ()>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    pub code: u16,
}

impl ObjectReference {
    pub fn of(info: &Arc<RequestInfo>) -> Option<Self> {
        matches!(info.target, Target::Resource(_)).then(|| Self(Arc::clone(info)))
    }
}

impl Serialize for UserInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let User {
            name,
            uid,
            groups,
            extra,
        } = &*self.0;
        let mut user = serializer.serialize_struct("UserInfo", 4)?;
        if !name.is_empty() {
            user.serialize_field("username", name)?;
        }
        if let Some(uid) = uid {
            user.serialize_field("uid", uid)?;
        }
        if !groups.is_empty() {
            user.serialize_field("groups", groups)?;
        }
        if !extra.is_empty() {
            user.serialize_field("extra", &Pairs(extra))?;
        }
        user.end()
    }
}

impl Serialize for ObjectReference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ObjectReference", 6)?;
        if let Target::Resource(request) = &self.0.target {
            object.serialize_field("resource", &request.resource.resource)?;
            for (key, value) in [
                ("namespace", &request.namespace),
                ("name", &request.name),
                ("apiGroup", &request.resource.group),
            ] {
                if !value.is_empty() {
                    object.serialize_field(key, value)?;
                }
            }
            object.serialize_field("apiVersion", &request.version)?;
            if !request.subresource.is_empty() {
                object.serialize_field("subresource", &request.subresource)?;
            }
        }
        object.end()
    }
}

/// A map that is kept as a list.
struct Pairs<'a, K, V>(&'a [(K, V)]);

impl<K: Serialize, V: Serialize> Serialize for Pairs<'_, K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

fn pairs<S: Serializer>(annotations: &Annotations, serializer: S) -> Result<S::Ok, S::Error> {
    Pairs(annotations).serialize(serializer)
}

/// `metav1.MicroTime`: RFC 3339 with exactly six digits.
fn micros<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{time:.6}"))
}
