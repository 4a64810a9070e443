//! Objects in protobuf, which kubelets write all but patches in. Texts are there even if they are empty, as Kubernetes has them.

use prost::Message;
use scopegate::protobuf::envelope;

pub(crate) const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";

#[derive(Clone, PartialEq, Message)]
struct ObjectMeta {
    #[prost(string, required, tag = "1")]
    name: String,
    #[prost(string, required, tag = "2")]
    generate_name: String,
    #[prost(string, required, tag = "3")]
    namespace: String,
    #[prost(string, required, tag = "4")]
    self_link: String,
    #[prost(string, required, tag = "5")]
    uid: String,
    #[prost(string, required, tag = "6")]
    resource_version: String,
    #[prost(int64, required, tag = "7")]
    generation: i64,
    #[prost(message, required, tag = "8")]
    creation_timestamp: Time,
}

#[derive(Clone, PartialEq, Message)]
struct Time {
    #[prost(int64, optional, tag = "1")]
    seconds: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct TokenRequest {
    #[prost(message, required, tag = "1")]
    metadata: ObjectMeta,
    #[prost(message, required, tag = "2")]
    spec: TokenRequestSpec,
    #[prost(message, required, tag = "3")]
    status: TokenRequestStatus,
}

#[derive(Clone, PartialEq, Message)]
struct TokenRequestStatus {
    #[prost(string, required, tag = "1")]
    token: String,
    #[prost(message, required, tag = "2")]
    expiration_timestamp: Time,
}

#[derive(Clone, PartialEq, Message)]
struct TokenRequestSpec {
    #[prost(string, repeated, tag = "1")]
    audiences: Vec<String>,
    #[prost(message, required, tag = "3")]
    bound_object_ref: BoundObjectReference,
    #[prost(int64, required, tag = "4")]
    expiration_seconds: i64,
}

#[derive(Clone, PartialEq, Message)]
struct BoundObjectReference {
    #[prost(string, required, tag = "1")]
    kind: String,
    #[prost(string, required, tag = "2")]
    api_version: String,
    #[prost(string, required, tag = "3")]
    name: String,
    #[prost(string, required, tag = "4")]
    uid: String,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(message, required, tag = "1")]
    metadata: ObjectMeta,
    #[prost(message, required, tag = "2")]
    involved_object: ObjectReference,
    #[prost(string, required, tag = "3")]
    reason: String,
    #[prost(string, required, tag = "4")]
    message: String,
    #[prost(message, required, tag = "5")]
    source: EventSource,
    #[prost(message, required, tag = "6")]
    first_timestamp: Time,
    #[prost(message, required, tag = "7")]
    last_timestamp: Time,
    #[prost(int32, required, tag = "8")]
    count: i32,
    #[prost(string, required, tag = "9")]
    r#type: String,
    #[prost(message, required, tag = "10")]
    event_time: Time,
    #[prost(string, required, tag = "12")]
    action: String,
    #[prost(string, required, tag = "14")]
    reporting_component: String,
    #[prost(string, required, tag = "15")]
    reporting_instance: String,
}

#[derive(Clone, PartialEq, Message)]
struct ObjectReference {
    #[prost(string, required, tag = "1")]
    kind: String,
    #[prost(string, required, tag = "2")]
    namespace: String,
    #[prost(string, required, tag = "3")]
    name: String,
    #[prost(string, required, tag = "4")]
    uid: String,
    #[prost(string, required, tag = "5")]
    api_version: String,
    #[prost(string, required, tag = "6")]
    resource_version: String,
    #[prost(string, required, tag = "7")]
    field_path: String,
}

#[derive(Clone, PartialEq, Message)]
struct EventSource {
    #[prost(string, required, tag = "1")]
    component: String,
    #[prost(string, required, tag = "2")]
    host: String,
}

/// For a pod, to talk to the API server.
pub(super) fn token(pod: &str, uid: &str) -> Vec<u8> {
    let request = TokenRequest {
        spec: TokenRequestSpec {
            bound_object_ref: BoundObjectReference {
                kind: "Pod".to_owned(),
                api_version: "v1".to_owned(),
                name: pod.to_owned(),
                uid: uid.to_owned(),
            },
            expiration_seconds: 3607,
            ..TokenRequestSpec::default()
        },
        ..TokenRequest::default()
    };
    envelope("authentication.k8s.io/v1", "TokenRequest", &[&request.encode_to_vec()])
}

/// What a node has to say about one of its pods.
#[allow(dead_code, reason = "only the training sends events")]
pub(crate) fn event(node: &str, pod: &str, uid: &str) -> Vec<u8> {
    let text = str::to_owned;
    let now = Time {
        seconds: Some(1_767_323_045),
    };
    let event = Event {
        metadata: ObjectMeta {
            name: format!("{pod}.18a1b2c3d4e5f607"),
            namespace: text("ns"),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            kind: text("Pod"),
            namespace: text("ns"),
            name: text(pod),
            uid: text(uid),
            api_version: text("v1"),
            resource_version: text("4711"),
            field_path: text("spec.containers{c0}"),
        },
        reason: text("Pulled"),
        message: text("Container image \"registry.example.com/team/image:1.0.0\" already present on machine"),
        source: EventSource {
            component: text("kubelet"),
            host: text(node),
        },
        first_timestamp: now.clone(),
        last_timestamp: now,
        count: 1,
        r#type: text("Normal"),
        event_time: Time::default(),
        action: String::new(),
        reporting_component: text("kubelet"),
        reporting_instance: text(node),
    };
    envelope("v1", "Event", &[&event.encode_to_vec()])
}
