use proptest::prelude::*;
use test_case::test_case;

use super::*;

/// The new object, or the code and the text, for a pod.
pub(super) fn outcome(kind: Type, old: &str, patch: &str) -> String {
    let old = Json::parse(old.as_bytes()).unwrap();
    let new = Patch::read(kind, patch.as_bytes()).and_then(|patch| patch.apply(&POD, old));
    match new {
        Ok(new) => String::from_utf8(new.to_vec()).unwrap(),
        Err(error) => {
            let code = match error {
                Error::Malformed(_) => 400,
                Error::Rejected(_) => 422,
                Error::TooLarge(_) => 413,
                Error::Untyped(_) => 500,
            };
            format!("{code} {error}")
        }
    }
}

#[test]
fn texts_are_not_as_long_as_the_patch() {
    let patch = format!(r#"[{{"op":"remove","path":"/{}"}}]"#, "ä".repeat(100_000));
    let text = outcome(Type::Json, "{}", &patch);
    assert!(text.starts_with("422 error in remove for path: '/ää") && text.ends_with("ä…"));
    assert!(text.len() < 1100);
}

fn read(kind: Type, patch: &str) -> Patch<'_> {
    Patch::read(kind, patch.as_bytes()).unwrap()
}

const LABELS: &[&str] = &["metadata", "labels"];

#[test_case(Type::Merge, r#"{"metadata":{"labels":{"a":"b"}}}"# => true; "below")]
#[test_case(Type::Merge, r#"{"metadata":{"labels":{}}}"# => true; "at")]
#[test_case(Type::Merge, r#"{"metadata":null}"# => true; "above, null")]
#[test_case(Type::Merge, r#"{"metadata":[]}"# => true; "above, a list")]
#[test_case(Type::Merge, r#"{"metadata":{},"spec":{"labels":1}}"# => false; "beside")]
#[test_case(Type::Merge, r#"{"metadata":{"$patch":"delete"}}"# => false; "a merge patch has no directives")]
#[test_case(Type::Strategic, r#"{"metadata":{"annotations":{"$patch":"delete"}}}"# => false; "directive beside")]
#[test_case(Type::Strategic, r#"{"$patch":"replace"}"# => true; "directive at the top")]
#[test_case(Type::Strategic, r#"{"metadata":{"$patch":"delete"}}"# => true; "directive above")]
#[test_case(Type::Strategic, r#"{"$retainKeys":["metadata"]}"# => true; "retained keys")]
#[test_case(Type::Strategic, r#"{"$deleteFromPrimitiveList/metadata":{"labels":{}}}"# => true; "merged by a deletion")]
#[test_case(Type::Strategic, r#"{"metadata":{"$setElementOrder/labels":[]}}"# => true; "order")]
#[test_case(Type::Strategic, r#"{"metadata":{"$setElementOrder/finalizers":[]}}"# => false; "order beside")]
#[test_case(Type::Json, r#"[{"op":"add","path":"/metadata/labels/a","value":1}]"# => true; "add below")]
#[test_case(Type::Json, r#"[{"op":"add","path":"x/metadata/labels/a","value":1}]"# => true; "add below without a slash")]
#[test_case(Type::Json, r#"[{"op":"replace","path":"","value":{}}]"# => true; "replace of everything")]
#[test_case(Type::Json, r#"[{"op":"move","path":"/x","from":"/metadata"}]"# => true; "move away")]
#[test_case(Type::Json, r#"[{"op":"copy","path":"/x","from":"/metadata"}]"# => false; "copy")]
#[test_case(Type::Json, r#"[{"op":"test","path":"/metadata/labels","value":{}}]"# => false; "test")]
#[test_case(Type::Json, r#"[{"op":"add","path":"/metadata/label~1s","value":{}}]"# => false; "add beside")]
fn touches_labels(kind: Type, patch: &str) -> bool {
    read(kind, patch).touches(LABELS)
}

#[test_case(Type::Merge, "{}" => true; "nothing")]
#[test_case(Type::Merge, r#"{"status":{"a":{"b":1}},"x":null}"# => true; "below and at")]
#[test_case(Type::Merge, r#"{"status":{"a":1,"b":1}}"# => false; "beside")]
#[test_case(Type::Merge, r#"{"status":null}"# => false; "above, null")]
#[test_case(Type::Merge, r#"{"status":{},"y":{}}"# => false; "beside, at the top")]
#[test_case(Type::Merge, r#"{"status":{"$setElementOrder/a":[]}}"# => false; "a merge patch has no directives to be about something")]
#[test_case(Type::Strategic, r#"{"status":{"$setElementOrder/a":[],"a":[{"$patch":"replace"}]}}"# => true; "order")]
#[test_case(Type::Strategic, r#"{"status":{"$setElementOrder/b":[]}}"# => false; "order beside")]
#[test_case(Type::Strategic, r#"{"$deleteFromPrimitiveList/status":{"a":1}}"# => false; "deletion above")]
#[test_case(Type::Strategic, r#"{"status":{"$patch":"delete"}}"# => false; "directive above")]
#[test_case(Type::Strategic, r#"{"$retainKeys":["x"],"x":1}"# => false; "retained keys")]
#[test_case(Type::Json, r#"[{"op":"add","path":"/status/a/b","value":1},{"op":"test","path":"/y","value":1}]"# => true; "add and test")]
#[test_case(Type::Json, r#"[{"op":"add","path":"/status","value":1}]"# => false; "add above")]
#[test_case(Type::Json, r#"[{"op":"replace","path":"","value":{}}]"# => false; "replace of everything as if below")]
#[test_case(Type::Json, r#"[{"op":"move","path":"/x","from":"/y"}]"# => false; "move from beside")]
#[test_case(Type::Json, r#"[{"op":"copy","path":"/x","from":"/y"}]"# => true; "copy from beside")]
fn touches_only(kind: Type, patch: &str) -> bool {
    read(kind, patch).touches_only(&[&["status", "a"], &["x"]])
}

#[test_case(Type::Merge, r#"{"metadata":{"labels":{"a":"b","$patch":null}}}"# => true; "plain")]
#[test_case(Type::Strategic, r#"{"metadata":{"labels":{"a":"b","c":null}}}"# => true; "strategic")]
#[test_case(Type::Strategic, r#"{"metadata":{"labels":{"a":"b","$retainKeys":null}}}"# => false; "directive in it")]
#[test_case(Type::Strategic, r#"{"metadata":{"$deleteFromPrimitiveList/labels":{},"labels":{}}}"# => false; "directive for it")]
#[test_case(Type::Strategic, r#"{"$patch":"replace","metadata":{"labels":{}}}"# => false; "directive above")]
#[test_case(Type::Merge, r#"{"metadata":{"labels":{"a":{}}}}"# => false; "object in it")]
#[test_case(Type::Merge, r#"{"metadata":{"labels":null}}"# => false; "null")]
#[test_case(Type::Json, r#"[]"# => false; "JSON patch")]
fn merges_labels(kind: Type, patch: &str) -> bool {
    read(kind, patch).merged(LABELS).is_some()
}

#[test_case(Type::Merge, r#"{"metadata":{"uid":"u","labels":{}}}"# => Some("u".to_owned()); "set")]
#[test_case(Type::Strategic, r#"{"metadata":{"uid":"u"}}"# => Some("u".to_owned()); "strategic")]
#[test_case(Type::Strategic, r#"{"metadata":{"uid":"u","$retainKeys":["uid"]}}"# => None; "directive")]
#[test_case(Type::Merge, r#"{"metadata":{"uid":1}}"# => None; "number")]
#[test_case(Type::Json, r#"[]"# => None; "JSON patch")]
fn metadata(kind: Type, patch: &str) -> Option<String> {
    read(kind, patch).metadata("uid").map(str::to_owned)
}

#[test_case(Type::Merge, "{}" => r#"{"metadata":{"resourceVersion":"7","uid":"u"}}"#; "merge")]
#[test_case(Type::Merge, r#"{"metadata":{"uid":"u","resourceVersion":"0"}}"# => r#"{"metadata":{"resourceVersion":"7","uid":"u"}}"#; "what is there already")]
#[test_case(Type::Merge, r#"{"metadata":{"uid":"v"}}"# => "422"; "another object")]
#[test_case(Type::Merge, r#"{"metadata":{"resourceVersion":"6"}}"# => "422"; "another version")]
#[test_case(Type::Merge, r#"{"metadata":null}"# => "400"; "no metadata")]
#[test_case(Type::Strategic, r#"{"$retainKeys":["spec"],"spec":{}}"# => r#"{"$retainKeys":["spec","metadata"],"metadata":{"resourceVersion":"7","uid":"u"},"spec":{}}"#; "retained keys at the top")]
#[test_case(Type::Strategic, r#"{"metadata":{"$retainKeys":["name"]}}"# => r#"{"metadata":{"$retainKeys":["name","uid","resourceVersion"],"resourceVersion":"7","uid":"u"}}"#; "retained keys")]
#[test_case(Type::Strategic, r#"{"metadata":{"$patch":"delete"}}"# => "400"; "deleted metadata")]
#[test_case(Type::Strategic, r#"{"$deleteFromPrimitiveList/metadata":{}}"# => "400"; "metadata by a directive")]
#[test_case(Type::Strategic, r#"{"metadata":{"$deleteFromPrimitiveList/uid":"v"}}"# => "400"; "object by a directive")]
#[test_case(Type::Json, r#"[{"op":"remove","path":"/x"}]"# => r#"[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"remove","path":"/x"},{"op":"add","path":"/metadata/resourceVersion","value":"7"}]"#; "JSON patch")]
#[test_case(Type::Json, r#"[{"op":"add","path":"/metadata/resourceVersion","value":"6"}]"# => r#"[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"add","path":"/metadata/resourceVersion","value":"6"},{"op":"add","path":"/metadata/resourceVersion","value":"7"}]"#; "JSON patch that sets one")]
fn pinned(kind: Type, patch: &str) -> String {
    let mut patch = read(kind, patch);
    match patch.pin_uid("u").and_then(|()| patch.pin_version("7")) {
        Ok(()) => String::from_utf8(patch.to_vec()).unwrap(),
        Err(Error::Malformed(_)) => "400".to_owned(),
        Err(_) => "422".to_owned(),
    }
}

const KEYS: &[&str] = &[
    "metadata",
    "labels",
    "finalizers",
    "ownerReferences",
    "uid",
    "$patch",
    "$retainKeys",
    "$setElementOrder/finalizers",
    "$setElementOrder/ownerReferences",
    "$deleteFromPrimitiveList/finalizers",
    "$deleteFromPrimitiveList/metadata",
    "$deleteFromPrimitiveList/labels",
];

/// Values over a few keys, directives among them.
fn values() -> impl Strategy<Value = String> {
    let text = proptest::sample::select(vec!["uid", "labels", "metadata", "finalizers", "delete", "replace"]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1".to_owned()),
        text.prop_map(|text| format!("{text:?}"))
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let keys = proptest::sample::select(KEYS);
        let list = proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(","))),
            objects(keys, inner),
        ]
    })
}

fn objects(
    keys: impl Strategy<Value = &'static str>,
    values: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    proptest::collection::btree_map(keys, values, 0..5).prop_map(|entries| {
        let entries = entries.iter().map(|(key, value)| format!("{key:?}:{value}"));
        format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
    })
}

fn documents() -> impl Strategy<Value = String> {
    let metadata = objects(proptest::sample::select(KEYS), values());
    let whole = objects(proptest::sample::select(KEYS), values());
    prop_oneof![metadata.prop_map(|inner| format!(r#"{{"metadata":{inner}}}"#)), whole]
}

fn paths() -> impl Strategy<Value = Vec<&'static str>> {
    let keys = proptest::sample::select(KEYS);
    prop_oneof![
        proptest::collection::vec(keys.clone(), 0..4),
        keys.prop_map(|key| vec!["metadata", key]),
    ]
}

fn operations() -> impl Strategy<Value = String> {
    let op = proptest::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
    let path = || (paths(), proptest::sample::select(vec!["", "x", "/0", "/-"]));
    let path = || {
        path().prop_map(|(keys, odd)| match odd {
            "x" => format!("x/{}", keys.join("/")),
            odd => format!(
                "/{}{odd}",
                keys.join("/")
                    .replace("$deleteFromPrimitiveList/", "$deleteFromPrimitiveList~1")
            ),
        })
    };
    let operation = (op, path(), path(), values()).prop_map(|(op, path, from, value)| {
        format!(r#"{{"op":"{op}","path":"{path}","from":"{from}","value":{value}}}"#)
    });
    proptest::collection::vec(operation, 0..4).prop_map(|operations| format!("[{}]", operations.join(",")))
}

fn unchanged(kind: Type, old: &str, patch: &str, path: &[&str]) -> Result<(), TestCaseError> {
    let old = Json::parse(old.as_bytes()).unwrap();
    let patch = Patch::read(kind, patch.as_bytes()).unwrap();
    if !patch.touches(path)
        && let Ok(new) = patch.apply(&POD, old.clone())
    {
        prop_assert_eq!(old.at(path), new.at(path));
    }
    if !path.is_empty()
        && patch.touches_only(&[path])
        && let Ok(mut new) = patch.apply(&POD, old.clone())
    {
        let mut old = old;
        cut(&mut old, path);
        cut(&mut new, path);
        prop_assert_eq!(old, new);
    }
    Ok(())
}

/// Takes away what is at the path, and what is empty or no object above it: a patch may have made an object of that. Of a new
/// object the directives stay in it, as keys that nobody knows.
fn cut(json: &mut Json<'_>, path: &[&str]) {
    if let (Json::Object(object), [key, rest @ ..]) = (json, path) {
        if let Some(inner) = object.get_mut(key) {
            cut(inner, rest);
        }
        object.retain(|key, _| !key.starts_with('$'));
        let is_empty = |value: &Json<'_>| value.as_object().is_none_or(Object::is_empty);
        if rest.is_empty() || object.get(key).is_some_and(is_empty) {
            object.remove(key);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_not_touched_stays(old in documents(), patch in documents(), operations in operations(), path in paths()) {
        unchanged(Type::Merge, &old, &patch, &path)?;
        unchanged(Type::Strategic, &old, &patch, &path)?;
        unchanged(Type::Json, &old, &operations, &path)?;
    }
}
