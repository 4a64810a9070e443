//! Bytes for a body, and for an object of any kind: nothing panics, nothing grows beyond bounds, and what goes on says the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate::{
    json::{Json, MAX_VALUES},
    protobuf::{
        CERTIFICATE_SIGNING_REQUEST, CSI_NODE, DELETE_OPTIONS, EVICTION, Envelope, LEASE, Message, NODE,
        PERSISTENT_VOLUME_CLAIM, POD, POD_CERTIFICATE_REQUEST, RESOURCE_SLICE, TOKEN_REQUEST, envelope, text_field,
    },
};

static MESSAGES: &[&Message] = &[
    &POD,
    &NODE,
    &PERSISTENT_VOLUME_CLAIM,
    &LEASE,
    &CSI_NODE,
    &RESOURCE_SLICE,
    &CERTIFICATE_SIGNING_REQUEST,
    &POD_CERTIFICATE_REQUEST,
    &TOKEN_REQUEST,
    &EVICTION,
    &DELETE_OPTIONS,
];

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&envelope("v1", "Pod", &[bytes]));
});

fn read(body: &[u8]) {
    let Ok(envelope) = Envelope::read(body) else { return };
    for message in MESSAGES {
        let Ok(object) = envelope.object(message) else { continue };
        // Every field makes one value, the first of a list or map one more; and there is the object itself.
        assert!(count(&object) <= 2 * MAX_VALUES + 1);
        let again = envelope.append(&[]);
        assert_eq!(Envelope::read(&again).unwrap().object(message), Ok(object));
        let pinned = envelope.append(&text_field(&[1, 6], "25"));
        if let Ok(pinned) = Envelope::read(&pinned).unwrap().object(message)
            && !std::ptr::eq(*message, &DELETE_OPTIONS)
        {
            assert_eq!(pinned.at(&["metadata", "resourceVersion"]), Some(&"25".into()));
        }
    }
}

fn count(value: &Json<'_>) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(count).sum(),
        Json::Object(object) => object.iter().map(|(_, value)| count(value)).sum(),
        _ => 0,
    }
}
