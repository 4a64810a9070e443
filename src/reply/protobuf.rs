//! `metav1.Status` in Kubernetes' protobuf, byte for byte: text fields are written even if they are empty.

use prost::Message;

use super::status::Status;
use crate::protobuf::envelope;

#[derive(Clone, PartialEq, Message)]
struct StatusMessage {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
    #[prost(string, optional, tag = "2")]
    status: Option<String>,
    #[prost(string, optional, tag = "3")]
    message: Option<String>,
    #[prost(string, optional, tag = "4")]
    reason: Option<String>,
    #[prost(message, optional, tag = "5")]
    details: Option<DetailsMessage>,
    #[prost(int32, optional, tag = "6")]
    code: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct ListMeta {
    #[prost(string, optional, tag = "1")]
    self_link: Option<String>,
    #[prost(string, optional, tag = "2")]
    resource_version: Option<String>,
    #[prost(string, optional, tag = "3")]
    r#continue: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct DetailsMessage {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    group: Option<String>,
    #[prost(string, optional, tag = "3")]
    kind: Option<String>,
    #[prost(message, repeated, tag = "4")]
    causes: Vec<CauseMessage>,
    #[prost(int32, optional, tag = "5")]
    retry_after_seconds: Option<i32>,
    #[prost(string, optional, tag = "6")]
    uid: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct CauseMessage {
    #[prost(string, optional, tag = "1")]
    reason: Option<String>,
    #[prost(string, optional, tag = "2")]
    message: Option<String>,
    #[prost(string, optional, tag = "3")]
    field: Option<String>,
}

pub(super) fn encode(status: &Status<'_>) -> Vec<u8> {
    let text = |text: &str| Some(text.to_owned());
    let details = status.details.as_ref().map(|details| DetailsMessage {
        name: text(details.name),
        group: text(details.group),
        kind: text(details.kind),
        causes: details
            .causes
            .iter()
            .map(|cause| CauseMessage {
                reason: text(cause.reason),
                message: text(cause.message),
                field: text(cause.field),
            })
            .collect(),
        retry_after_seconds: Some(
            details
                .retry_after_seconds
                .map_or(0, |seconds| i32::try_from(seconds).unwrap_or(i32::MAX)),
        ),
        uid: text(""),
    });
    let message = StatusMessage {
        metadata: Some(ListMeta {
            self_link: text(""),
            resource_version: text(""),
            r#continue: text(""),
        }),
        status: text(status.status),
        message: text(status.message),
        reason: text(status.reason),
        details,
        code: Some(status.code.into()),
    };
    envelope(status.api_version, status.kind, &[&message.encode_to_vec()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejection::{Cause, Details, Rejection};

    /// As kube-apiserver 1.36 writes it.
    #[test]
    fn unauthorized() {
        let expected = b"k8s\0\n\x0c\n\x02v1\x12\x06Status\x120\n\x06\n\0\x12\0\x1a\0\x12\x07Failure\x1a\x0cUnauthorized\"\x0cUnauthorized0\x91\x03\x1a\0\"\0";
        assert_eq!(encode(&Status::from(&Rejection::unauthorized(""))), expected);
    }

    #[test]
    fn forbidden_has_details() {
        let details = Details {
            kind: "secrets".into(),
            ..Details::default()
        };
        let encoded = encode(&Status::from(&Rejection::forbidden("m".into(), details)));
        let details = b"\"\tForbidden*\x11\n\0\x12\0\x1a\x07secrets(\x002\0";
        assert!(
            encoded.windows(details.len()).any(|window| window == details),
            "{encoded:?}"
        );
    }

    #[test]
    fn invalid_has_its_cause() {
        let cause = Cause::forbidden("f", "why");
        let encoded = encode(&Status::from(&Rejection::invalid("Pod", "p", cause, 1)));
        let cause = b"\"(\n\x13FieldValueForbidden\x12\x0eForbidden: why\x1a\x01f";
        assert!(
            encoded.windows(cause.len()).any(|window| window == cause),
            "{}",
            encoded.escape_ascii()
        );
    }
}
