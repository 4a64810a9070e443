//! Validated annotations as a value: read from either form, and written in one.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use crate::{
    api::{clip, pods::is_key, quote},
    json::{Json, Malformed, Object},
    rejection::Cause,
};

/// What a pod, or the template of one, may only be used with by those who hold the right to it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Set(BTreeMap<String, String>);

/// What somebody needs the right to: of a key that comes to another value, both.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Uses(BTreeSet<(String, String)>);

/// Why something is no set of validated annotations.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// It has no meaning, or more than one: 400.
    Unreadable(String),
    /// It is more than may be, or not what can be: 422.
    Invalid(Box<Cause>),
}

/// No key is called that.
const ANYTHING: &str = "*";
const MAX_ENTRIES: usize = 32;
const MAX_VALUE: usize = 1024;
/// Enough of a key or value to recognise it.
const RECOGNISABLE: usize = 64;

impl Set {
    /// Of the proposal's field: a map, or the list of maps with one entry each that its example has.
    pub(super) fn of_field(json: &Json<'_>, path: &str) -> Result<Self, Fault> {
        let mut set = Self::default();
        match json {
            Json::Null => {}
            Json::Object(map) => set.take(map, path)?,
            Json::Array(items) => {
                for item in items {
                    match item {
                        Json::Object(map) if map.len() == 1 => set.take(map, path)?,
                        _ => {
                            return Err(unreadable(
                                path,
                                "has something else in its list than maps with one entry each",
                            ));
                        }
                    }
                }
            }
            _ => {
                return Err(unreadable(
                    path,
                    "is neither a map nor a list of maps with one entry each",
                ));
            }
        }
        set.within_bounds(path)
    }

    /// Of the value of the annotation.
    pub(super) fn of_annotation(text: &str, path: &str) -> Result<Self, Fault> {
        let json = Json::parse(text.as_bytes())
            .map_err(|Malformed(why)| unreadable(path, &format!("is not JSON with one meaning: {why}")))?;
        let Json::Object(map) = &json else {
            return Err(unreadable(path, "is not a JSON object, such as {\"key\":\"value\"}"));
        };
        let mut set = Self::default();
        set.take(map, path)?;
        set.within_bounds(path)
    }

    /// As it is stored: sorted keys, no spaces.
    pub(super) fn canonical(&self) -> String {
        String::from_utf8(self.to_json().to_vec()).unwrap_or_default()
    }

    /// As the field has it.
    pub(super) fn to_json(&self) -> Json<'static> {
        let entries = self.0.iter();
        Json::Object(
            entries
                .map(|(key, value)| (key.clone().into(), Json::from(value.clone())))
                .collect(),
        )
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, map: &Object<'_>, path: &str) -> Result<(), Fault> {
        for (key, value) in map.iter() {
            let Json::String(value) = value else {
                let what = format!("has something else than a text for {}", quote(&clip(key, RECOGNISABLE)));
                return Err(unreadable(path, &what));
            };
            if key.is_empty() {
                return Err(unreadable(path, "has an empty key"));
            }
            match self.0.entry(key.to_owned()) {
                Entry::Vacant(entry) => _ = entry.insert(value.clone().into_owned()),
                Entry::Occupied(_) => {
                    let what = format!("has the key {} twice", quote(&clip(key, RECOGNISABLE)));
                    return Err(unreadable(path, &what));
                }
            }
        }
        Ok(())
    }

    fn within_bounds(self, path: &str) -> Result<Self, Fault> {
        let invalid = |value: &str, why: &str| {
            let cause = Cause::invalid(path, &clip(value, RECOGNISABLE), why);
            Err(Fault::Invalid(Box::new(cause)))
        };
        if self.0.len() > MAX_ENTRIES {
            return invalid(
                &self.0.len().to_string(),
                &format!("must have at most {MAX_ENTRIES} entries"),
            );
        }
        for (key, value) in &self.0 {
            if !is_key(key) {
                return invalid(key, "cannot be the key of an annotation");
            }
            if value.len() > MAX_VALUE {
                return invalid(value, &format!("must have at most {MAX_VALUE} bytes"));
            }
        }
        Ok(self)
    }
}

impl Uses {
    pub(super) fn add(&mut self, set: &Set) {
        let entries = set.0.iter();
        self.0.extend(entries.map(|(key, value)| (key.clone(), value.clone())));
    }

    /// What nobody can read, only those may use who may use anything.
    pub(super) fn add_anything(&mut self) {
        self.0.insert((ANYTHING.to_owned(), ANYTHING.to_owned()));
    }

    pub(super) fn join(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// In the order of the keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

fn unreadable(path: &str, what: &str) -> Fault {
    Fault::Unreadable(format!("{path} {what}"))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn told(set: Result<Set, Fault>) -> String {
        match set {
            Ok(set) => set.canonical(),
            Err(Fault::Unreadable(why)) => format!("400 {why}"),
            Err(Fault::Invalid(cause)) => format!("422 {}: {}", cause.field, cause.message),
        }
    }

    #[test_case(r#"{"b":"2","a":"1"}"# => r#"{"a":"1","b":"2"}"#; "a map, sorted")]
    #[test_case(r#"[{"b":"2"},{"a":"1"}]"# => r#"{"a":"1","b":"2"}"#; "the list of the proposal")]
    #[test_case("null" => "{}"; "null")]
    #[test_case("{}" => "{}"; "empty")]
    #[test_case("[]" => "{}"; "empty list")]
    #[test_case(r#"{"a/b":"\u2028\""}"# => "{\"a/b\":\"\u{2028}\\\"\"}"; "what has to be escaped")]
    #[test_case(r#"[{"a":"1"},{"a":"1"}]"# => "400 f has the key \"a\" twice"; "twice")]
    #[test_case(r#"[{"a":"1","b":"2"}]"# => "400 f has something else in its list than maps with one entry each"; "two in one")]
    #[test_case("[{}]" => "400 f has something else in its list than maps with one entry each"; "none in one")]
    #[test_case(r#"["a"]"# => "400 f has something else in its list than maps with one entry each"; "a text in the list")]
    #[test_case(r#"{"":"1"}"# => "400 f has an empty key"; "empty key")]
    #[test_case(r#"{"a":1}"# => "400 f has something else than a text for \"a\""; "number")]
    #[test_case(r#"{"a":null}"# => "400 f has something else than a text for \"a\""; "null value")]
    #[test_case("\"a\"" => "400 f is neither a map nor a list of maps with one entry each"; "a text")]
    #[test_case(r#"{"a b":"1"}"# => "422 f: Invalid value: \"a b\": cannot be the key of an annotation"; "no key")]
    #[test_case(r#"{"a":""}"# => r#"{"a":""}"#; "an empty value")]
    fn field(json: &str) -> String {
        told(Set::of_field(&Json::parse(json.as_bytes()).unwrap(), "f"))
    }

    #[test_case(r#"{ "b": "2", "a": "1" }"# => r#"{"a":"1","b":"2"}"#; "made canonical")]
    #[test_case(r#"{"a":"1","a":"2"}"# => "400 f is not JSON with one meaning: key \"a\" stands twice in one object at line 1 column 17"; "twice")]
    #[test_case(r#"[{"a":"1"}]"# => "400 f is not a JSON object, such as {\"key\":\"value\"}"; "a list")]
    fn annotation(text: &str) -> String {
        told(Set::of_annotation(text, "f"))
    }

    #[test_case("" ; "nothing")]
    #[test_case("{}x" ; "something behind it")]
    #[test_case("kerberos=x" ; "another language")]
    fn no_annotation(text: &str) {
        assert!(told(Set::of_annotation(text, "f")).starts_with("400 f is not JSON with one meaning: "));
    }

    #[test]
    fn bounds() {
        let many = |n: usize| {
            let entries = (0..n).map(|n| (format!("k{n}").into(), Json::from("v")));
            told(Set::of_field(&Json::Object(entries.collect()), "f"))
        };
        assert!(many(MAX_ENTRIES).starts_with('{'));
        assert_eq!(
            many(MAX_ENTRIES + 1),
            "422 f: Invalid value: \"33\": must have at most 32 entries"
        );
        let long = |n: usize| {
            let entry = ("k".into(), Json::from("v".repeat(n)));
            told(Set::of_field(&Json::Object([entry].into_iter().collect()), "f"))
        };
        assert!(long(MAX_VALUE).starts_with('{'));
        assert!(long(MAX_VALUE + 1).starts_with("422 f: "));
        assert!(long(1_000_000).len() < 200, "a refusal is short");
    }
}
