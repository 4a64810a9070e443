use test_case::test_case;

use super::*;

#[test_case(r#"{"a":1,"b":[true,null,"x"],"c":{"d":-2}}"#; "all kinds")]
#[test_case("[]"; "empty")]
#[test_case(r#""\u00e9\n""#; "escapes")]
#[test_case("1.5"; "fraction")]
fn what_is_written_means_what_was_read(text: &str) {
    let value = Json::parse(text.as_bytes()).unwrap();
    let written = value.to_vec();
    assert_eq!(Json::parse(&written).unwrap(), value);
    let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), theirs);
}

#[test_case(r#"{"a":1,"a":1}"# => "key \"a\" stands twice in one object at line 1 column 13"; "key twice")]
#[test_case(r#"[{"x":{"a":1,"b":2,"\u0061":3}}]"# => "key \"a\" stands twice in one object at line 1 column 30"; "key twice, once escaped")]
#[test_case(r#"{} {}"# => "trailing characters at line 1 column 4"; "something behind it")]
#[test_case("" => "EOF while parsing a value at line 1 column 0"; "nothing")]
#[test_case(r#""\ud800""# => "unexpected end of hex escape at line 1 column 8"; "half a surrogate")]
#[test_case("1e999" => "number out of range at line 1 column 5"; "no such number")]
fn refused(text: &str) -> String {
    Json::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn one_key_can_be_left_out() {
    let value = Json::parse_without(br#"{"a":{"b":[1,{}],"b":2},"c":{"a":3}}"#, "a").unwrap();
    assert_eq!(value.to_vec(), br#"{"c":{"a":3}}"#);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert!(Json::parse(b"\"\xff\"").is_err());
}

#[test]
fn depth_and_number_of_values_are_limited() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(
        Json::parse(deep.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("recursion")
    );
    let wide = format!("[{}0]", "0,".repeat(300_000));
    assert!(Json::parse(wide.as_bytes()).unwrap_err().to_string().contains("values"));
}

#[test_case(r#"{"a":1}"#, &[] => r#"{"a":1,"t":"x","u":"y"}"#; "on top")]
#[test_case(r#"{"a":1,"t":2}"#, &[] => r#"{"a":1,"t":"x","u":"y"}"#; "in place of others")]
#[test_case(r#"{"a":{"b":1},"c":2}"#, &["a"] => r#"{"a":{"b":1,"t":"x","u":"y"},"c":2}"#; "below")]
#[test_case(r#"{"c":2}"#, &["a", "b"] => r#"{"a":{"b":{"t":"x","u":"y"}},"c":2}"#; "where there is nothing")]
#[test_case(r#"{"a":null}"#, &["a"] => r#"{"a":{"t":"x","u":"y"}}"#; "where there is null")]
#[test_case(r#"{"a":[]}"#, &["a"] => "nothing"; "where there is a list")]
#[test_case(r#"{"a":"b"}"#, &["a", "b"] => "nothing"; "within a text")]
#[test_case("[]", &[] => "nothing"; "no object")]
fn edited(text: &str, path: &[&str]) -> String {
    let value = Json::parse(text.as_bytes()).unwrap();
    let edited = value.with_texts(path, &[("t", "x"), ("u", "y")]);
    edited.map_or("nothing".to_owned(), |edited| String::from_utf8(edited).unwrap())
}

#[test]
fn objects_find_set_and_drop_keys() {
    let mut value = Json::parse(br#"{"b":2,"a":1}"#).unwrap();
    assert_eq!(value.at(&["a"]), Some(&Json::Number(1.into())));
    let Json::Object(object) = &mut value else { panic!() };
    assert_eq!(object.insert("c".into(), Json::Null), None);
    assert_eq!(object.insert("b".into(), "x".into()), Some(Json::Number(2.into())));
    assert_eq!(object.remove("a"), Some(Json::Number(1.into())));
    assert_eq!(value.to_vec(), br#"{"b":"x","c":null}"#);
}

#[test]
fn of_keys_that_are_collected_twice_the_last_counts() {
    let entries = [("b", "1"), ("a", "2"), ("b", "3"), ("b", "4")];
    let object: Object<'_> = entries
        .map(|(key, value)| (key.into(), value.into()))
        .into_iter()
        .collect();
    assert_eq!(Json::from(object).to_vec(), br#"{"a":"2","b":"4"}"#);
}
