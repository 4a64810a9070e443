use test_case::test_case;

use super::*;

/// A varint field.
fn number(number: u32, value: u64) -> Vec<u8> {
    let mut field = Vec::new();
    prost::encoding::encode_key(number, prost::encoding::WireType::Varint, &mut field);
    prost::encoding::encode_varint(value, &mut field);
    field
}

/// A field that is made of others.
fn nested(path: &[u32], parts: &[&[u8]]) -> Vec<u8> {
    path.iter().rev().fold(parts.concat(), |inner, number| {
        let mut field = Vec::new();
        put(&mut field, *number, &[&inner]);
        field
    })
}

fn read(message: &Message, object: &[u8]) -> Result<String, String> {
    let body = envelope("v1", "Any", &[object]);
    let envelope = Envelope::read(&body).unwrap();
    let json = envelope.object(message).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(json.to_vec()).unwrap())
}

/// Several parts, one behind the other.
macro_rules! parts {
    ($($part:expr),* ) => { [$(&$part[..]),*].concat() };
}

#[test_case(&POD, &[] => "{}"; "nothing")]
#[test_case(&POD, &text_field(&[2, 10], "n") => r#"{"spec":{"nodeName":"n"}}"#; "text")]
#[test_case(&POD, &text_field(&[2, 10], "") => r#"{"spec":{"nodeName":""}}"#; "empty text")]
#[test_case(&POD, &parts![text_field(&[2, 10], "a"), text_field(&[2, 10], "b")] => r#"{"spec":{"nodeName":"b"}}"#; "the last text counts")]
#[test_case(&POD, &parts![text_field(&[2, 10], "a"), text_field(&[2, 8], "b")] => r#"{"spec":{"nodeName":"a","serviceAccountName":"b"}}"#; "messages merge")]
#[test_case(&POD, &parts![text_field(&[2, 15, 1], "a"), text_field(&[1, 1], "p"), text_field(&[2, 15, 1], "b")]
    => r#"{"metadata":{"name":"p"},"spec":{"imagePullSecrets":[{"name":"a"},{"name":"b"}]}}"#; "lists go on")]
#[test_case(&POD, &nested(&[2, 1], &[&text_field(&[2, 6, 1], "s"), &text_field(&[1], "v"), &text_field(&[2, 26], "")])
    => r#"{"spec":{"volumes":[{"name":"v","projected":{},"secret":{"secretName":"s"}}]}}"#; "a volume and its sources, in two parts")]
#[test_case(&POD, &text_field(&[2, 1, 2, 99], "x") => r#"{"spec":{"volumes":[{"?99":true}]}}"#; "unknown volume")]
#[test_case(&POD, &text_field(&[2, 1, 2, 26, 1, 7], "x") => r#"{"spec":{"volumes":[{"projected":{"sources":[{"?7":true}]}}]}}"#; "unknown projection")]
#[test_case(&POD, &parts![text_field(&[2, 99], "x"), number(98, 1), b"\x95\x06abcd"] => r#"{"spec":{}}"#; "other unknown fields are skipped")]
#[test_case(&POD, &text_field(&[2, 34, 1, 7, 3, 4, 1, 1], "s")
    => r#"{"spec":{"ephemeralContainers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s"}}}]}]}}"#; "inlined messages")]
#[test_case(&POD, &nested(&[1], &[&nested(&[11], &[&text_field(&[2], "1"), &text_field(&[1], "a")]),
    &nested(&[11], &[&text_field(&[1], "a"), &text_field(&[2], "0"), &text_field(&[2], "2")]), &nested(&[11], &[])])
    => r#"{"metadata":{"labels":{"":"","a":"2"}}}"#; "maps")]
#[test_case(&POD, &nested(&[1, 13], &[&number(6, 0), &number(7, 256)]) => r#"{"metadata":{"ownerReferences":[{"blockOwnerDeletion":true,"controller":false}]}}"#; "booleans")]
#[test_case(&POD, &nested(&[1], &[&number(7, u64::MAX), &text_field(&[17, 7, 1], "{")]) => r#"{"metadata":{"generation":-1}}"#; "numbers; managedFields are no matter")]
#[test_case(&NODE, &nested(&[2, 5, 4], &[&number(1, 1_700_000_000), &number(2, 5)]) => r#"{"spec":{"taints":[{"timeAdded":"2023-11-14T22:13:20Z"}]}}"#; "time")]
#[test_case(&NODE, &nested(&[2, 5, 4], &[]) => r#"{"spec":{"taints":[{"timeAdded":null}]}}"#; "no time")]
#[test_case(&NODE, &nested(&[2, 5, 4], &[&number(2, 5)]) => r#"{"spec":{"taints":[{"timeAdded":"1970-01-01T00:00:00Z"}]}}"#; "time without seconds")]
#[test_case(&NODE, &nested(&[2, 5, 4], &[&number(1, (-62_135_596_800_i64) as u64)]) => r#"{"spec":{"taints":[{"timeAdded":null}]}}"#; "the time that is none")]
#[test_case(&NODE, &nested(&[2, 5], &[&nested(&[4], &[&number(1, 5)]), &nested(&[4], &[])]) => r#"{"spec":{"taints":[{"timeAdded":null}]}}"#; "times do not merge")]
#[test_case(&PERSISTENT_VOLUME_CLAIM, &nested(&[3, 3], &[&text_field(&[1], "storage"), &text_field(&[2, 1], "1Gi")])
    => r#"{"status":{"capacity":{"storage":"1Gi"}}}"#; "quantity")]
#[test_case(&PERSISTENT_VOLUME_CLAIM, &nested(&[3, 3], &[]) => r#"{"status":{"capacity":{"":"0"}}}"#; "no quantity")]
#[test_case(&PERSISTENT_VOLUME_CLAIM, &number(4, 1) => r#"{"?4":true}"#; "claims are closed")]
#[test_case(&BINDING, &parts![text_field(&[2, 1], "Node"), text_field(&[1, 1], "p"), text_field(&[2, 3], "n")]
    => r#"{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}"#; "binding")]
#[test_case(&CERTIFICATE_SIGNING_REQUEST, &nested(&[2, 1], &[b"\xff\xfe"]) => r#"{"spec":{"request":"//4="}}"#; "bytes")]
fn means(message: &Message, object: &[u8]) -> String {
    read(message, object).unwrap()
}

#[test_case(&POD, &[], &[]; "pod")]
#[test_case(&BINDING, &[], &[]; "binding")]
#[test_case(&POD_TEMPLATE, &[2], &["template"]; "pod template")]
#[test_case(&REPLICATION_CONTROLLER, &[2, 3], &["spec", "template"]; "replication controller")]
#[test_case(&REPLICA_SET, &[2, 3], &["spec", "template"]; "replica set")]
#[test_case(&DEPLOYMENT, &[2, 3], &["spec", "template"]; "deployment")]
#[test_case(&STATEFUL_SET, &[2, 3], &["spec", "template"]; "stateful set")]
#[test_case(&DAEMON_SET, &[2, 2], &["spec", "template"]; "daemon set")]
#[test_case(&JOB, &[2, 6], &["spec", "template"]; "job")]
#[test_case(&CRON_JOB, &[2, 5], &["spec", "jobTemplate"]; "jobs of a cron job")]
#[test_case(&CRON_JOB, &[2, 5, 2, 6], &["spec", "jobTemplate", "spec", "template"]; "cron job")]
fn annotations_are_read(message: &Message, numbers: &[u32], names: &[&str]) {
    let entry = parts![text_field(&[1], "a"), text_field(&[2], "b")];
    let object = nested(&[numbers, &[1, 12]].concat(), &[&entry]);
    let annotations = r#"{"metadata":{"annotations":{"a":"b"}}}"#.to_owned();
    let expected = names
        .iter()
        .rev()
        .fold(annotations, |inner, name| format!("{{\"{name}\":{inner}}}"));
    assert_eq!(read(message, &object), Ok(expected));
}

#[test_case(&number(2, 1) => "protobuf: field 2 has the wrong wire type"; "number for a message")]
#[test_case(&text_field(&[1, 7], "1") => "protobuf: field 7 has the wrong wire type"; "text for a number")]
#[test_case(b"\x0d1234" => "protobuf: field 1 has the wrong wire type"; "four bytes for a message")]
#[test_case(b"\x7b\x7c" => "protobuf: field 15 has the wrong wire type"; "group")]
#[test_case(b"\x7c" => "protobuf: field 15 has the wrong wire type"; "end of a group")]
#[test_case(b"\x0a\x05abcd" => "protobuf: a field is cut off"; "cut off")]
#[test_case(b"\x7a\x05abcd" => "protobuf: a field is cut off"; "unknown field cut off")]
#[test_case(b"\x7d123" => "protobuf: a field is cut off"; "four bytes cut off")]
#[test_case(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" => "protobuf: a field is cut off"; "negative length")]
#[test_case(&text_field(&[1, 11, 1], "k")[..4] => "protobuf: a field is cut off"; "message cut off")]
#[test_case(&nested(&[1], &[b"\x5a\x02\x0a\x05", b"\x12\x03abc"]) => "protobuf: a field is cut off"; "key that leaves its entry")]
#[test_case(&nested(&[1, 11], &[&number(1, 1), b"a"]) => "protobuf: field 1 has the wrong wire type"; "number for a key")]
#[test_case(&nested(&[1, 1], &[b"\xff"]) => "protobuf: a text is not UTF-8"; "no text")]
#[test_case(&nested(&[1, 12, 1], &[b"\xff"]) => "protobuf: a text is not UTF-8"; "key that is no text")]
#[test_case(&nested(&[1, 9], &[&number(1, u64::MAX / 2)]) => "protobuf: a time is out of range"; "late")]
#[test_case(&nested(&[1, 9], &[&number(1, (-62_135_596_801_i64) as u64)]) => "protobuf: a time is out of range"; "early")]
fn refused(object: &[u8]) -> String {
    read(&POD, object).unwrap_err()
}

#[test_case(b"\x02\0"; "field 0")]
#[test_case(b"\x8a\x80\x80\x80\x80\x01\0"; "field beyond 32 bits")]
#[test_case(b"\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"; "number beyond 64 bits")]
#[test_case(b"\x78\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"; "number of eleven bytes")]
#[test_case(b"\x78\x80"; "number cut off")]
#[test_case(b"\x7e"; "wire type 6")]
fn refused_by_its_key(object: &[u8]) {
    assert!(read(&POD, object).unwrap_err().starts_with("protobuf: "));
}

#[test_case(b"" => None; "nothing")]
#[test_case(b"k8s\x01" => None; "other magic")]
#[test_case(b"{}" => None; "JSON")]
#[test_case(b"k8s\0\x0a\x06\x0a\x01a\x12\x01b\x12\x02\x0a\0" => Some(("a", "b", 2)); "ordinary")]
#[test_case(b"k8s\0\x0a\x06\x0a\x01a\x12\x01b\x12\x02\x0a\0\x12\0\x0a\x03\x12\x01c" => Some(("a", "c", 0)); "typeMeta merges, raw does not")]
#[test_case(b"k8s\0\x1a\x01x\x22\x01y\x28\x01" => Some(("", "", 0)); "encoding, type and the unknown")]
#[test_case(b"k8s\0\x08\x01" => None; "number for typeMeta")]
#[test_case(b"k8s\0\x0a\x02\x08\x01" => None; "number for apiVersion")]
#[test_case(b"k8s\0\x20\x01" => None; "number for contentType")]
fn envelopes(body: &'static [u8]) -> Option<(&'static str, &'static str, usize)> {
    let envelope = Envelope::read(body).ok()?;
    Some((envelope.api_version, envelope.kind, envelope.raw.len()))
}

#[test]
fn what_is_appended_is_merged() {
    let raw = nested(
        &[2],
        &[&text_field(&[1, 6], "1"), &text_field(&[1, 1], "n"), b"\x42\x03abc"],
    );
    let body = parts![MAGIC, raw, b"\x0a\x04\x12\x02No\x1a\x04gzip"];
    let appended = Envelope::read(&body).unwrap().append(&text_field(&[1, 6], "25"));
    let again = Envelope::read(&appended).unwrap();
    assert_eq!((again.api_version, again.kind), ("", "No"));
    let json = again.object(&NODE).unwrap();
    assert_eq!(json.to_vec(), br#"{"metadata":{"name":"n","resourceVersion":"25"}}"#);
    // What nobody here knows stays.
    assert!(appended.windows(5).any(|window| window == b"\x42\x03abc"));
    assert!(!appended.windows(4).any(|window| window == b"gzip"));
}

#[test_case(&nested(&[2, 1], &[]), 2; "empty messages")]
#[test_case(&text_field(&[1, 14], ""), 2; "texts")]
#[test_case(&number(1, 1), 1; "unknown fields of a closed message")]
fn the_number_of_values_is_limited(field: &[u8], each: usize) {
    let message = if each == 1 { &NESTED_CLOSED } else { &POD };
    let most = crate::json::MAX_VALUES / each;
    assert!(read(message, &field.repeat(most)).is_ok());
    assert!(read(message, &field.repeat(most + 1)).unwrap_err().ends_with("values"));
}

static NESTED_CLOSED: Message = Message {
    fields: &[],
    closed: true,
};

/// An entry among many costs what it costs alone.
#[test]
fn maps_are_not_quadratic() {
    let mut labels = Vec::new();
    for label in (0..120_000).rev() {
        put(&mut labels, 11, &[&text_field(&[1], &label.to_string())]);
    }
    let body = envelope("v1", "Pod", &[&nested(&[1], &[&labels])]);
    let json = Envelope::read(&body).unwrap().object(&POD).unwrap();
    let labels = json.at(&["metadata", "labels"]).and_then(Json::as_object).unwrap();
    assert_eq!(labels.len(), 120_000);
}

fn every_message(message: &'static Message, visit: &mut impl FnMut(&'static Message)) {
    visit(message);
    for field in message.fields {
        if let Kind::Message(inner) | Kind::Messages(inner) | Kind::Inline(inner) = field.kind {
            every_message(inner, visit);
        }
    }
}

#[test]
fn tables_are_in_order_and_name_nothing_twice() {
    let roots = [
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
        &CORE_EVENT,
        &EVENT,
        &BINDING,
        &POD_TEMPLATE,
        &REPLICATION_CONTROLLER,
        &REPLICA_SET,
        &DEPLOYMENT,
        &STATEFUL_SET,
        &DAEMON_SET,
        &JOB,
        &CRON_JOB,
    ];
    for root in roots {
        every_message(root, &mut |message| {
            assert!(message.fields.is_sorted_by(|a, b| a.number < b.number), "{message:?}");
            let mut names = names(message);
            names.sort_unstable();
            assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        });
    }
}

/// With those of inlined messages.
fn names(message: &Message) -> Vec<&'static str> {
    let names = message.fields.iter().flat_map(|field| match field.kind {
        Kind::Inline(inner) => names(inner),
        _ => vec![field.name],
    });
    names.collect()
}

proptest::proptest! {
    #[test]
    fn nothing_panics(bytes: Vec<u8>, mut fields: Vec<(u8, Vec<u8>)>) {
        let _ = Envelope::read(&[MAGIC, &bytes].concat());
        let _ = read(&POD, &bytes);
        fields.truncate(20);
        let object: Vec<u8> = fields.iter().flat_map(|(number, bytes)| nested(&[u32::from(number % 8) + 1], &[bytes])).collect();
        let _ = read(&PERSISTENT_VOLUME_CLAIM, &object);
        let _ = read(&POD, &nested(&[2, 1, 2], &[&object]));
    }
}
