use test_case::test_case;

use super::super::tests::outcome;
use crate::patch::Type;

fn applied(old: &str, patch: &str) -> String {
    outcome(Type::Strategic, old, patch)
}

#[test_case(r#"{"a":1}"#, "null" => r#"{"a":1}"#; "no patch")]
#[test_case(r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"b":null,"d":{"e":null,"f":[null]}}}"# => r#"{"a":{"c":2,"d":{"f":[null]}}}"#; "nulls delete, and are not added")]
#[test_case(r#"{"a":{"b":1},"c":[1],"d":null}"#, r#"{"a":[{"x":null}],"c":{"x":null},"d":"x"}"# => r#"{"a":[{}],"c":{},"d":"x"}"#; "types change")]
#[test_case(r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":"replace","c":null,"d":{"$patch":"delete"}}}"# => r#"{"a":{"c":null,"d":{"$patch":"delete"}}}"#; "replace takes the patch as it is")]
#[test_case(r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":"delete","c":1}}"# => r#"{"a":{}}"#; "delete empties")]
#[test_case(r#"{"a":1}"#, r#"{"$patch":"delete"}"# => "{}"; "delete of everything")]
#[test_case(r#"{"a":1}"#, r#"{"$patch":"replace","b":2}"# => r#"{"b":2}"#; "replace of everything")]
#[test_case("{}", r#"{"a":{"$patch":"replace","b":1},"c":{"d":{"$patch":"x"},"e":[{"$patch":1},1]}}"# => r#"{"c":{"e":[1]}}"#; "directives for what is not there are dropped")]
#[test_case("{}", r#"{"a":{"$retainKeys":["b"],"$setElementOrder/x":1}}"# => r#"{"a":{"$retainKeys":["b"],"$setElementOrder/x":1}}"#; "other directives for what is not there stay")]
#[test_case(r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":"merge"}}"# => "500 unknown patch type: merge in map: map[$patch:merge]"; "no such directive")]
#[test_case(r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":null,"l":[1.5,true]}}"# => "500 unknown patch type: <nil> in map: map[$patch:<nil> l:[1.5 true]]"; "directive null")]
fn objects(old: &str, patch: &str) -> String {
    applied(old, patch)
}

#[test_case(r#"{"a":1,"b":2}"#, r#"{"$retainKeys":["a"]}"# => r#"{"a":1}"#; "others go")]
#[test_case(r#"{"a":1,"b":2}"#, r#"{"$retainKeys":["c",1,null],"c":3,"b":null}"# => r#"{"c":3}"#; "one comes")]
#[test_case(r#"{"a":1}"#, r#"{"$retainKeys":["a"],"b":1}"# => "400 invalid patch format of retainKeys"; "one that is not among them")]
#[test_case(r#"{"a":1}"#, r#"{"$retainKeys":"a"}"# => "400 invalid patch format of retainKeys"; "no list")]
#[test_case(r#"{"a":1}"#, r#"{"$retainKeys":[{}]}"# => "500 map[] is no key of a list item"; "an object")]
fn retain_keys(old: &str, patch: &str) -> String {
    applied(old, patch)
}

/// Lists of env variables by name, of the first container.
#[test_case(r#"[{"name":"a","value":"1"},{"name":"b"}]"#, r#"[{"name":"a","x":1},{"name":"c"}]"# => r#"[{"name":"a","value":"1","x":1},{"name":"c"},{"name":"b"}]"#; "merged by key")]
#[test_case(r#"[{"name":"a"},{"name":"b"},{"name":"a"}]"#, r#"[{"$patch":"delete","name":"a"}]"# => r#"[{"name":"b"}]"#; "delete takes all matches")]
#[test_case(r#"[{"name":"a"},{"name":"b"}]"#, r#"[{"name":"c"},{"$patch":"replace"},{"name":"d"},{"name":"c","x":1}]"# => r#"[{"name":"c"},{"name":"c","x":1},{"name":"d"}]"#; "replace")]
#[test_case(r#"[{"name":"a"}]"#, r#"[{"value":"1"}]"# => "500 map: map[value:1] does not contain declared merge key: name"; "no key")]
#[test_case(r#"[{"name":"a"}]"#, r#"[{"$patch":"delete"}]"# => "500 map: map[$patch:delete] does not contain declared merge key: name"; "delete without key")]
#[test_case(r#"[{"name":"a"}]"#, r#"[{"$patch":"merge","name":"a"}]"# => "500 merging lists cannot yet be specified in the patch"; "merge")]
#[test_case(r#"[{"name":"a"}]"#, r#"[{"$patch":"x","name":"a"}]"# => "500 unknown patch type: x in map: map[$patch:x name:a]"; "unknown directive")]
#[test_case(r#"[{"name":"a"}]"#, r#"[{"name":{}}]"# => "500 map[] is no key of a list item"; "key is an object")]
#[test_case(r#"[{"name":"a"}]"#, r#"["a"]"# => "500 list element types are not identical"; "text")]
#[test_case(r#"[]"#, r#"[[]]"# => "422 lists of lists are not supported"; "list")]
#[test_case(r#"[]"#, r#"[null]"# => "500 a list item is null"; "null")]
#[test_case(r#"[]"#, r#"[{"name":"a","x":null},{"name":"a","y":1}]"# => r#"[{"name":"a","x":null,"y":1}]"#; "twice in the patch, into one that is taken as it is")]
#[test_case(r#"[]"#, r#"[{"name":null}]"# => r#"[{"name":null}]"#; "null key, added")]
#[test_case(r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#, r#"[{"name":"c"},{"name":"a"}]"# => r#"[{"name":"b"},{"name":"c"},{"name":"a"}]"#; "in the order of the patch")]
fn lists_by_key(old: &str, patch: &str) -> String {
    let pod = |list: &str| format!(r#"{{"spec":{{"containers":[{{"name":"x","env":{list}}}]}}}}"#);
    let outcome = applied(&pod(old), &pod(patch));
    let (start, end) = (r#"{"spec":{"containers":[{"env":"#, r#","name":"x"}]}}"#);
    match outcome.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)) {
        Some(list) => list.to_owned(),
        None => outcome,
    }
}

#[test_case(r#"["a","b"]"#, r#"{"finalizers":["c","a"]}"# => r#"["c","a","b"]"#; "merged")]
#[test_case(r#"["a","b","a"]"#, r#"{"finalizers":["b"]}"# => r#"["a","b"]"#; "each once")]
#[test_case(r#"["a","b","a"]"#, r#"{"$deleteFromPrimitiveList/finalizers":["a","x"]}"# => r#"["b"]"#; "deleted from")]
#[test_case(r#"["a"]"#, r#"{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["b"]}"# => "500 the patch has more than one outcome: finalizers and the items to delete from it"; "merged and deleted from")]
#[test_case(r#"["a"]"#, r#"{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["b"],"$setElementOrder/finalizers":["b"]}"# => r#"["b"]"#; "merged in order and deleted from")]
#[test_case(r#"["a"]"#, r#"{"$deleteFromPrimitiveList/finalizers":[1]}"# => "500 list element types are not identical"; "deleted from, a number")]
#[test_case(r#"["a"]"#, r#"{"$deleteFromPrimitiveList":[1]}"# => "400 invalid patch format of primitive list"; "deleted from nothing")]
#[test_case(r#"["a"]"#, r#"{"$deleteFromPrimitiveList/finalizers":"a"}"# => r#"["a"]"#; "deleted from, a text")]
#[test_case(r#""a""#, r#"{"$deleteFromPrimitiveList/finalizers":"b"}"# => r#""b""#; "a text deleted from a text replaces it")]
#[test_case(r#"{"a":1}"#, r#"{"$deleteFromPrimitiveList/finalizers":{"b":2}}"# => r#"{"a":1,"b":2}"#; "an object deleted from an object is merged")]
#[test_case(r#"["a","b","c","d"]"#, r#"{"$setElementOrder/finalizers":["d","x","b"]}"# => r#"["a","c","d","b"]"#; "ordered, with others between")]
#[test_case(r#"["a"]"#, r#"{"$setElementOrder/finalizers":["a"],"finalizers":["b"]}"# => "500 The order in patch list doesn't match $setElementOrder list"; "out of order")]
#[test_case(r#"["a"]"#, r#"{"$setElementOrder/finalizers":{}}"# => "500 expected a []interface {}, but received a map[string]interface {}"; "order is no list")]
#[test_case(r#"["a"]"#, r#"{"$setElementOrder":null}"# => "500 expected a []interface {}, but received a %!s(<nil>)"; "order of nothing is no list")]
#[test_case(r#"["a"]"#, r#"{"$setElementOrder":[]}"# => "400 invalid patch format of setElementOrder list"; "order of nothing")]
#[test_case(r#"["a"]"#, r#"{"$setElementOrder/labels":[]}"# => "500 labels is no list that can be ordered"; "order of no list")]
#[test_case(r#"["a"]"#, r#"{"$setElementOrder/finalizers":[],"finalizers":["b","c"]}"# => "500 the patch has more than one outcome: the order of items that are nowhere in order"; "no order")]
fn scalars(old: &str, patch: &str) -> String {
    let outcome = applied(
        &format!(r#"{{"metadata":{{"finalizers":{old}}}}}"#),
        &format!(r#"{{"metadata":{patch}}}"#),
    );
    let start = r#"{"metadata":{"finalizers":"#;
    match outcome.strip_prefix(start).and_then(|rest| rest.strip_suffix("}}")) {
        Some(list) => list.to_owned(),
        None => outcome,
    }
}

#[test_case("abc", "cb", "+c+b" => "acb"; "of what there is")]
#[test_case("abc", "ca", "+c+d+a" => "500 The order in patch list doesn't match $setElementOrder list"; "one is missing")]
#[test_case("abc", "cda", "+c+d+a" => "bcda"; "with one that comes")]
#[test_case("abc", "cb", "-a+c" => "cb"; "with one that goes")]
#[test_case("ab", "ba", "-a+a" => "ba"; "with one that goes and comes")]
#[test_case("abc", "ca", "-a+a" => "bca"; "with one that goes and comes, behind what stood before it")]
#[test_case("", "ab", "+a+b" => "ab"; "into an empty list")]
fn order_by_key(old: &str, order: &str, patch: &str) -> String {
    let list = |types: &str| {
        let items = types.chars().map(|c| format!(r#"{{"type":"{c}"}}"#));
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    };
    let signs = patch.chars().step_by(2).zip(patch.chars().skip(1).step_by(2));
    let items = signs.map(|(sign, c)| match sign {
        '-' => format!(r#"{{"type":"{c}","$patch":"delete"}}"#),
        _ => format!(r#"{{"type":"{c}"}}"#),
    });
    let items = items.collect::<Vec<_>>().join(",");
    let outcome = applied(
        &format!(r#"{{"status":{{"conditions":{}}}}}"#, list(old)),
        &format!(
            r#"{{"status":{{"$setElementOrder/conditions":{},"conditions":[{items}]}}}}"#,
            list(order)
        ),
    );
    match outcome.strip_prefix(r#"{"status":"#) {
        Some(rest) => rest
            .split(r#""type":""#)
            .skip(1)
            .filter_map(|rest| rest.chars().next())
            .collect(),
        None => outcome,
    }
}

// Found by comparing with upstream's own code.
#[test_case(
    r#"{"status":{"conditions":[{"type":"a"}]}}"#,
    r#"{"status":{"conditions":null,"$deleteFromPrimitiveList/conditions":["x"]}}"#
    => "500 the patch has more than one outcome: conditions and the items to delete from it";
    "null and a deletion"
)]
#[test_case(
    r#"{"spec":{"containers":[]}}"#,
    r#"{"spec":{"containers":[{"name":"x","env":[{"name":"a","$patch":"delete"},{"name":"b"}]},{"name":"x","env":[{"name":"c"}]}]}}"#
    => r#"{"spec":{"containers":[{"env":[{"name":"c"},{"name":"b"},{"$patch":"delete","name":"a"}],"name":"x"}]}}"#;
    "a deletion that was added as it is comes last"
)]
fn differences(old: &str, patch: &str) -> String {
    applied(old, patch)
}

#[test]
fn work_is_limited() {
    let env: Vec<_> = (0..2_000).map(|name| format!(r#"{{"name":"n{name}"}}"#)).collect();
    let old = format!(
        r#"{{"spec":{{"containers":[{{"name":"x","env":[{}]}}]}}}}"#,
        env.join(",")
    );
    let again = vec![r#"{"name":"x","env":[{"name":"n0"}]}"#; 5_000].join(",");
    let patch = format!(r#"{{"spec":{{"containers":[{again}]}}}}"#);
    assert_eq!(applied(&old, &patch), "413 the patch takes too much work to apply");
    let keys: Vec<_> = (0..50_000).map(|key| format!(r#""k{key}":"v""#)).collect();
    let labels = format!(r#"{{"metadata":{{"labels":{{{}}}}}}}"#, keys.join(","));
    assert!(applied(&labels, &labels).starts_with('{'));
}
