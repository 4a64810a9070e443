//! Objects as protobuf, by the tables that the gate reads it by; these are held against Kubernetes' own types elsewhere.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::Value;

use super::*;
use crate::{
    admission::kinds::Endpoint,
    protobuf::{DELETE_OPTIONS, Kind, Message},
};

/// The body of a request, with the kind that it says it is.
pub(super) fn body(method: &str, uri: &str, json: &str) -> Vec<u8> {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let deletes = method == Method::DELETE;
    let request = Request::builder().method(method).uri(uri).body(()).unwrap();
    let head = Head::read(request.into_parts().0).unwrap();
    let Target::Resource(request) = &head.info().target else {
        panic!("{uri} is no resource");
    };
    let json: Value = serde_json::from_str(json).unwrap();
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    let object = object(message(request, deletes), &json);
    protobuf::envelope(text("apiVersion"), text("kind"), &[&object])
}

pub(super) fn message(request: &ResourceRequest, deletes: bool) -> &'static Message {
    match Endpoint::of(request) {
        Some(endpoint) if !deletes => endpoint.message.unwrap(),
        _ => &DELETE_OPTIONS,
    }
}

pub(in crate::admission) fn object(message: &Message, json: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in message.fields {
        let value = &json[field.name];
        let mut put = |inner: &[u8]| part(&mut bytes, field.number, inner);
        match field.kind {
            // What is empty tells nothing that its parent has not told.
            Kind::Inline(inner) => put(&object(inner, json)),
            _ if value.is_null() => {}
            Kind::Text => put(value.as_str().unwrap().as_bytes()),
            Kind::Texts => value
                .as_array()
                .unwrap()
                .iter()
                .for_each(|text| put(text.as_str().unwrap_or_default().as_bytes())),
            Kind::Bytes => put(&STANDARD.decode(value.as_str().unwrap()).unwrap()),
            Kind::Bool => number(&mut bytes, field.number, value.as_bool().unwrap().into()),
            Kind::Int32 | Kind::Int64 => number(&mut bytes, field.number, value.as_i64().unwrap() as u64),
            Kind::Time => {
                let time: jiff::Timestamp = value.as_str().unwrap().parse().unwrap();
                let mut seconds = Vec::new();
                number(&mut seconds, 1, time.as_second() as u64);
                put(&seconds);
            }
            Kind::Message(inner) => put(&object(inner, value)),
            Kind::Messages(inner) => value
                .as_array()
                .unwrap()
                .iter()
                .for_each(|item| put(&object(inner, item))),
            Kind::TextMap | Kind::BytesMap | Kind::QuantityMap => {
                for (key, value) in value.as_object().unwrap() {
                    let mut text = value.as_str().unwrap_or_default().as_bytes().to_vec();
                    if matches!(field.kind, Kind::BytesMap) {
                        text = STANDARD.decode(text).unwrap();
                    }
                    if matches!(field.kind, Kind::QuantityMap) {
                        text = field_of(1, &text);
                    }
                    put(&[field_of(1, key.as_bytes()), field_of(2, &text)].concat());
                }
            }
            Kind::Ignored => {}
        }
    }
    // As a newer client would write something that is not in the table.
    if message.closed
        && let Some(json) = json.as_object()
    {
        for key in json.keys().filter(|key| key.starts_with("new")) {
            assert!(message.fields.iter().all(|field| field.name != key));
            number(&mut bytes, 999, 1);
        }
    }
    bytes
}

fn field_of(number: u32, inner: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    part(&mut bytes, number, inner);
    bytes
}

fn part(bytes: &mut Vec<u8>, number: u32, inner: &[u8]) {
    encode_key(number, WireType::LengthDelimited, bytes);
    encode_varint(inner.len() as u64, bytes);
    bytes.extend_from_slice(inner);
}

fn number(bytes: &mut Vec<u8>, number: u32, value: u64) {
    encode_key(number, WireType::Varint, bytes);
    encode_varint(value, bytes);
}
