use test_case::test_case;

use super::{super::tests::outcome, *};
use crate::patch::Type;

fn applied(old: &str, patch: &str) -> String {
    outcome(Type::Json, old, patch)
}

const OLD: &str = r#"{"a":{"b":[1,2,3],"c":null},"m/n":1,"t~u":2,"":3}"#;

#[test_case(r#"[]"# => OLD; "no operation")]
#[test_case(r#"null"# => OLD; "no list")]
#[test_case(r#"[{"op":"add","path":"/x","value":1}]"# => r#"{"":3,"a":{"b":[1,2,3],"c":null},"m/n":1,"t~u":2,"x":1}"#; "add")]
#[test_case(r#"[{"op":"replace","path":"/a","value":1},{"op":"remove","path":"/m~1n"},{"op":"remove","path":"/t~0u"},{"op":"remove","path":"/"}]"# => r#"{"a":1}"#; "escapes and the empty key")]
#[test_case(r#"[{"op":"replace","path":"","value":{"x":{}}},{"op":"add","path":"a/x/y","value":1}]"# => r#"{"x":{"y":1}}"#; "what stands before the first slash is dropped")]
#[test_case(r#"[{"op":"replace","path":"","value":{}},{"op":"replace","path":"/x","value":1}]"# => r#"{"x":1}"#; "replace of a missing key adds it")]
#[test_case(r#"[{"op":"replace","path":"","value":[1]}]"# => "[1]"; "whole document, a list")]
#[test_case(r#"[{"op":"replace","path":"","value":{}},{"op":"add","path":"/x"}]"# => r#"{"x":null}"#; "no value is null")]
#[test_case(r#"[{"op":"replace","path":"","value":{}},{"op":"copy","from":"/y","path":"/x"}]"# => r#"{"x":null}"#; "copy of a missing key is null")]
#[test_case(r#"[{"op":"replace","path":"","value":{"~2":{}}},{"op":"add","path":"/~2/~01","value":1}]"# => r#"{"~2":{"~1":1}}"#; "tildes are read once")]
#[test_case(r#"[{"op":"add","path":"/x","value":1,"unknown":{}}]"# => r#"{"":3,"a":{"b":[1,2,3],"c":null},"m/n":1,"t~u":2,"x":1}"#; "extra keys")]
fn documents(patch: &str) -> String {
    let outcome = applied(OLD, patch);
    // As written above, keys sorted.
    if Json::parse(outcome.as_bytes()) == Json::parse(OLD.as_bytes()) {
        return OLD.to_owned();
    }
    outcome
}

#[test_case("add", "-", 9 => "[1,2,3,9]"; "add at the end")]
#[test_case("add", "3", 9 => "[1,2,3,9]"; "add behind the last")]
#[test_case("add", "0", 9 => "[9,1,2,3]"; "add first")]
#[test_case("add", "-1", 9 => "[1,2,3,9]"; "add from the end, where the new one counts")]
#[test_case("add", "-4", 9 => "[9,1,2,3]"; "add furthest from the end")]
#[test_case("add", "+1", 9 => "[1,9,2,3]"; "with a sign")]
#[test_case("add", "01", 9 => "[1,9,2,3]"; "with a zero")]
#[test_case("add", "4", 9 => "422 error in add for path: '/l/4': Unable to access invalid index: 4: invalid index referenced"; "add too far")]
#[test_case("add", "-5", 9 => "422 error in add for path: '/l/-5': Unable to access invalid index: -5: invalid index referenced"; "add too far back")]
#[test_case("add", "x", 9 => "422 error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax"; "add at no index")]
#[test_case("replace", "-1", 9 => "[1,2,9]"; "replace the last")]
#[test_case("replace", "3", 9 => "422 replace operation does not apply: doc is missing key: /l/3: missing value"; "replace too far")]
#[test_case("replace", "-", 9 => "422 replace operation does not apply: doc is missing key: /l/-: missing value"; "replace behind the last")]
#[test_case("remove", "-3", 9 => "[2,3]"; "remove from the end")]
#[test_case("remove", "3", 9 => "422 error in remove for path: '/l/3': Unable to access invalid index: 3: invalid index referenced"; "remove too far")]
#[test_case("test", "-2", 2 => "[1,2,3]"; "test from the end")]
fn lists(op: &str, index: &str, value: u8) -> String {
    let patch = format!(r#"[{{"op":"{op}","path":"/l/{index}","value":{value}}}]"#);
    let outcome = applied(r#"{"l":[1,2,3]}"#, &patch);
    match outcome.strip_prefix(r#"{"l":"#).and_then(|rest| rest.strip_suffix('}')) {
        Some(list) => list.to_owned(),
        None => outcome,
    }
}

#[test_case("/a", "{\"b\":[1,2,3],\"c\":null}" => true; "object")]
#[test_case("/a", "{\"b\":[1,2,3]}" => false; "object without a key that is null")]
#[test_case("/a/b", "[1,2,3]" => true; "list")]
#[test_case("/a/b", "[1,2]" => false; "shorter list")]
#[test_case("/a/b/0", "1" => true; "number")]
#[test_case("/a/b/0", "1.0" => false; "number with a fraction")]
#[test_case("/a/b/0", "\"1\"" => false; "text")]
#[test_case("/a/c", "null" => true; "null")]
#[test_case("/a/d", "null" => true; "missing is null")]
#[test_case("/a/d", "{}" => false; "missing is nothing else")]
#[test_case("/a/d/e", "null" => false; "below missing")]
#[test_case("/a/b/3", "null" => false; "index that is not there")]
#[test_case("", "{}" => false; "whole document")]
#[test_case("x", "null" => false; "no path")]
fn tests(path: &str, value: &str) -> bool {
    let patch = format!(r#"[{{"op":"test","path":"{path}","value":{value}}}]"#);
    !applied(OLD, &patch).starts_with("422")
}

// The library has three kinds of null.
#[test_case(r#"{"op":"add","path":"/x"}"#, r#"{"op":"test","path":"/x"}"# => true; "added without a value")]
#[test_case(r#"{"op":"add","path":"/x","value":null}"#, r#"{"op":"test","path":"/x"}"# => false; "given, tested without a value")]
#[test_case(r#"{"op":"add","path":"/x","value":null}"#, r#"{"op":"test","path":"/x","value":null}"# => true; "given")]
#[test_case(r#"{"op":"add","path":"/x","value":null},{"op":"copy","from":"/x","path":"/y"}"#, r#"{"op":"test","path":"/y","value":null}"# => false; "copied")]
#[test_case(r#"{"op":"add","path":"/x","value":null},{"op":"copy","from":"/x","path":"/y"}"#, r#"{"op":"test","path":"/y","value":{}}"# => true; "copied, and an object")]
#[test_case(r#"{"op":"add","path":"/x","value":null},{"op":"copy","from":"/x","path":"/y"}"#, r#"{"op":"add","path":"/y/z","value":1}"# => false; "copied, and written to")]
#[test_case(r#"{"op":"add","path":"/x","value":[null]}"#, r#"{"op":"test","path":"/x","value":[null]}"# => false; "in a list")]
#[test_case(r#"{"op":"add","path":"/a/d","value":null}"#, r#"{"op":"test","path":"/a","value":{"b":[1,2,3],"c":null,"d":null}}"# => false; "given, in an object")]
fn nulls(first: &str, then: &str) -> bool {
    applied(OLD, &format!("[{first},{then}]")).starts_with('{')
}

#[test_case(r#"{}"# => "400 error decoding patch: it is not a list"; "object")]
#[test_case(r#"[1]"# => "400 error decoding patch: an operation is not an object"; "number")]
#[test_case(r#"[{"op":"add","path":1,"value":1}]"# => "400 error decoding patch: path is not a string"; "path is a number")]
#[test_case(r#"[null]"# => "422 Unexpected kind: unknown"; "null")]
#[test_case(r#"[{"path":"/x"}]"# => "422 Unexpected kind: unknown"; "no op")]
#[test_case(r#"[{"op":"Add","path":"/x"}]"# => "422 Unexpected kind: Add"; "op in another case")]
#[test_case(r#"[{"op":"add","value":1}]"# => "422 add operation failed to decode path: missing value"; "no path")]
#[test_case(r#"[{"op":"move","path":"/x"}]"# => "422 move operation failed to decode from: operation, missing from field: missing value"; "no from")]
#[test_case(r#"[{"op":"add","path":"","value":{}}]"# => "422 add operation does not apply: doc is missing path: \"\": missing value"; "add of the whole document")]
#[test_case(r#"[{"op":"replace","path":"","value":1}]"# => "422 replace operation value must be object or array"; "whole document, a number")]
#[test_case(r#"[{"op":"replace","path":""}]"# => "500 the JSON patch cannot be applied"; "whole document, nothing")]
#[test_case(r#"[{"op":"add","path":"/x/y","value":1}]"# => "422 add operation does not apply: doc is missing path: \"/x/y\": missing value"; "no parent")]
#[test_case(r#"[{"op":"add","path":"/a/c/y","value":1}]"# => "422 add operation does not apply: doc is missing path: \"/a/c/y\": missing value"; "parent is null")]
#[test_case(r#"[{"op":"remove","path":"/x"}]"# => "422 error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"; "remove of a missing key")]
#[test_case(r#"[{"op":"move","from":"/a","path":"/a/b"}]"# => "422 move operation does not apply: doc is missing destination path: /a/b: missing value"; "move into itself")]
fn refused(patch: &str) -> String {
    applied(OLD, patch)
}

#[test]
fn work_is_limited() {
    let operations = |operation: &str, times: usize| format!("[{}]", vec![operation; times].join(","));
    let add = r#"{"op":"add","path":"/x","value":1}"#;
    assert!(applied("{}", &operations(add, 10_000)).starts_with('{'));
    assert_eq!(
        applied("{}", &operations(add, 10_001)),
        "413 The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
    let long = format!(r#"{{"l":[{}0]}}"#, "0,".repeat(10_000));
    let shift = operations(r#"{"op":"add","path":"/l/0","value":1}"#, 10_000);
    assert_eq!(applied(&long, &shift), "413 the patch takes too much work to apply");
    let keys: Vec<_> = (0..10_000).map(|key| format!(r#""k{key}":0"#)).collect();
    let turn = operations(
        r#"{"op":"add","path":"/a","value":1},{"op":"remove","path":"/a"}"#,
        1_000,
    );
    let keys = format!("{{{}}}", keys.join(","));
    assert_eq!(applied(&keys, &turn), "413 the patch takes too much work to apply");
    let double = operations(r#"{"op":"copy","from":"/l","path":"/l/-"}"#, 20);
    assert!(applied(&long, &double).starts_with("422 Unable to complete the copy, the accumulated size increase"));
    let nest = operations(r#"{"op":"copy","from":"/l","path":"/l/l"}"#, 1);
    let deep = format!(r#"{{"l":{}1{}}}"#, r#"{"l":"#.repeat(120), "}".repeat(120));
    assert!(applied(&deep, &nest).starts_with('{'));
    let path = "/l".repeat(60);
    let nest = operations(&format!(r#"{{"op":"copy","from":"/l","path":"{path}"}}"#), 1);
    assert!(applied(&deep, &nest).contains("too deep"));
}

#[test]
fn what_go_escapes_is_written_as_go_does() {
    let operations =
        read(Json::parse(r#"[{"op":"test","path":"/a","value":"<\u003c&"}]"#.as_bytes()).unwrap()).unwrap();
    let written = r#"[{"op":"test","path":"/a","value":"\u003c\u003c\u0026"}]"#;
    assert_eq!(to_vec(&operations), written.as_bytes());
}
