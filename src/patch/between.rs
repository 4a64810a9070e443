//! The patch that makes one object another.

use super::{
    Content, Error, Patch,
    json::{self, Operation},
};
use crate::json::Json;

impl Patch<'_> {
    /// How a JSON patch is told from others.
    pub const JSON: &'static str = "application/json-patch+json";
}

impl<'a> Patch<'a> {
    /// A JSON patch that makes `old` the same as `new`. What is in neither a list nor alike is gone through key by key; lists are
    /// replaced.
    pub fn between(old: &Json<'a>, new: &Json<'a>) -> Result<Self, Error> {
        let mut operations = Vec::new();
        walk(old, new, String::new(), &mut operations);
        json::check_number(operations.len())?;
        Ok(Self(Content::Json(operations)))
    }
}

fn walk<'a>(old: &Json<'a>, new: &Json<'a>, path: String, to: &mut Vec<Operation<'a>>) {
    let (Json::Object(before), Json::Object(after)) = (old, new) else {
        if old != new {
            to.push(Operation::with("replace", path, Some(new.clone())));
        }
        return;
    };
    let below = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
        to.push(Operation::with("remove", below(key), None));
    }
    for (key, value) in after.iter() {
        match before.get(key) {
            Some(old) => walk(old, value, below(key), to),
            None => to.push(Operation::with("add", below(key), Some(value.clone()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::patch::OTHER;

    #[test_case("{}", "{}" => "[]"; "nothing")]
    #[test_case(r#"{"a":1}"#, r#"{"a":2}"# => r#"[{"op":"replace","path":"/a","value":2}]"#; "a value")]
    #[test_case(r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2,"d":null}}"# => r#"[{"op":"remove","path":"/a/b"},{"op":"add","path":"/a/d","value":null}]"#; "keys")]
    #[test_case(r#"{"a":[1]}"#, r#"{"a":[1,2]}"# => r#"[{"op":"replace","path":"/a","value":[1,2]}]"#; "a list")]
    #[test_case(r#"{"a":{}}"#, r#"{"a":{"b~/c":1}}"# => r#"[{"op":"add","path":"/a/b~0~1c","value":1}]"#; "escapes")]
    #[test_case(r#"{"a":1}"#, r#"{"a":{"b":1}}"# => r#"[{"op":"replace","path":"/a","value":{"b":1}}]"#; "another type")]
    fn patches(old: &str, new: &str) -> String {
        let (old, new) = (
            Json::parse(old.as_bytes()).unwrap(),
            Json::parse(new.as_bytes()).unwrap(),
        );
        let patch = Patch::between(&old, &new).unwrap();
        assert_eq!(patch.apply(&OTHER, old).unwrap(), new);
        String::from_utf8(patch.to_vec()).unwrap()
    }
}
