use test_case::test_case;

use super::*;

const SHAPE: Shape = Shape::Struct(&[
    ("any", Shape::Any),
    ("default", Shape::Default("d")),
    ("list", Shape::List(&Shape::Plain)),
    ("map", Shape::TEXTS),
    ("plain", Shape::Plain),
    ("pointer", Shape::Pointer(&Shape::Plain)),
    ("quantity", Shape::Quantity),
    ("struct", Shape::Pointer(&Shape::Struct(&[("a", Shape::Plain)]))),
    ("time", Shape::Time),
    ("until", Shape::Pointer(&Shape::Time)),
]);

#[test_case("{}", "{}" => ""; "nothing")]
#[test_case("{}", r#"{"any": 1}"# => ""; "not compared")]
#[test_case("{}", r#"{"plain": ""}"# => ""; "empty text")]
#[test_case("{}", r#"{"plain": 0}"# => ""; "zero")]
#[test_case("{}", r#"{"plain": null}"# => ""; "null")]
#[test_case("{}", r#"{"plain": {}}"# => "plain"; "something else than a text")]
#[test_case(r#"{"plain": "a"}"#, r#"{"plain": "b"}"# => "plain"; "other text")]
#[test_case(r#"{"plain": "a"}"#, "{}" => "plain"; "text gone")]
#[test_case("{}", r#"{"default": "d"}"# => ""; "default")]
#[test_case("{}", r#"{"default": ""}"# => "default"; "not the default")]
#[test_case("{}", r#"{"default": 1}"# => "default"; "no text for the default")]
#[test_case("{}", r#"{"list": []}"# => ""; "empty list")]
#[test_case("{}", r#"{"list": [""]}"# => "list"; "list of an empty text")]
#[test_case(r#"{"list": ["a", "b"]}"#, r#"{"list": ["b", "a"]}"# => "list, list"; "order")]
#[test_case("{}", r#"{"map": {}}"# => ""; "empty map")]
#[test_case("{}", r#"{"map": {"a": ""}}"# => "map.a"; "map with an empty text")]
#[test_case(r#"{"map": {"a": ""}}"#, r#"{"map": {"a": null}}"# => ""; "null in a map is an empty text")]
#[test_case(r#"{"map": {"a": "", "b": "1"}}"#, r#"{"map": {"b": "2"}}"# => "map.a, map.b"; "map changed")]
#[test_case("{}", r#"{"pointer": null}"# => ""; "null pointer")]
#[test_case("{}", r#"{"pointer": ""}"# => "pointer"; "pointer to an empty text")]
#[test_case("{}", r#"{"pointer": false}"# => "pointer"; "pointer to false")]
#[test_case(r#"{"pointer": ""}"#, r#"{"pointer": ""}"# => ""; "same pointer")]
#[test_case("{}", r#"{"struct": {}}"# => "struct"; "pointer to an empty struct")]
#[test_case(r#"{"struct": {}}"#, r#"{"struct": {"a": "b", "new": 1}}"# => "struct.a, struct.new"; "struct changed")]
#[test_case(r#"{"quantity": "1Gi"}"#, r#"{"quantity": "1024Mi"}"# => ""; "same quantity")]
#[test_case(r#"{"quantity": "1Gi"}"#, r#"{"quantity": "1G"}"# => "quantity"; "other quantity")]
#[test_case(r#"{"time": "2024-01-01T00:00:00Z"}"#, r#"{"time": "2024-01-01T01:00:00+01:00"}"# => ""; "same instant")]
#[test_case(r#"{"time": "2024-01-01T00:00:00Z"}"#, r#"{"time": "2024-01-01T00:00:00.5Z"}"# => "time"; "other instant")]
#[test_case("{}", r#"{"time": null}"# => ""; "no time")]
#[test_case("{}", r#"{"until": null}"# => "until"; "pointer to no time")]
#[test_case(r#"{"x": [1]}"#, r#"{"x": [1]}"# => ""; "unknown field")]
#[test_case(r#"{"x": ""}"#, r#"{"x": 0}"# => "x"; "unknown field changed")]
#[test_case("{}", r#"{"x": null}"# => ""; "unknown field that is null")]
#[test_case("{}", r#"{"x": {}}"# => "x"; "new unknown field")]
#[test_case("{}", "[]" => "."; "something else altogether")]
fn differ(old: &str, new: &str) -> String {
    let (old, new) = (
        Json::parse(old.as_bytes()).unwrap(),
        Json::parse(new.as_bytes()).unwrap(),
    );
    differences(&SHAPE, Some(&old), Some(&new)).to_string()
}

#[test]
fn few_differences_are_told_of_and_little_of_each() {
    let key = "k".repeat(1_000_000);
    let new = format!(
        r#"{{"map": {{{}, "{key}": "1"}}}}"#,
        (0..100).map(|i| format!(r#""{i}": """#)).collect::<Vec<_>>().join(",")
    );
    let new = Json::parse(new.as_bytes()).unwrap();
    let found = differences(&SHAPE, None, Some(&new));
    assert_eq!(found.0.len(), MAX_DIFFERENCES);
    assert!(found.to_string().len() < 2 * MAX_DIFFERENCES * MAX_PATH);
}
