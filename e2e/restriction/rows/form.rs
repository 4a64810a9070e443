//! The ways to send what a row says.

use serde_json::{Value, json};

use super::{Row, What};
use crate::restriction::{
    JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC, Side,
    encode::{PROTOBUF, encode},
};

/// One way to send what a row says.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    pub(super) content_type: &'static str,
    /// One for each side.
    pub(super) bodies: [Vec<u8>; 2],
}

impl Row {
    pub(super) async fn forms(&self, sides: [&Side; 2]) -> Vec<Form> {
        let form = |name, method, content_type, bodies| Form {
            name,
            method,
            content_type,
            bodies,
        };
        let on_both = |value: &Value| sides.map(|side| side.here_json(value));
        let json = |objects: &[Value; 2]| [0, 1].map(|at| objects[at].to_string().into_bytes());
        let protobuf = |objects: &[Value; 2]| Some(<[_; 2]>::try_from(encode(objects)?).unwrap());
        match &self.what {
            What::Bytes(method, content_type, bytes) => {
                let text = String::from_utf8(bytes.clone());
                let bodies = sides.map(|side| match &text {
                    Ok(text) => side.here(text).into_bytes(),
                    Err(_) => bytes.clone(),
                });
                vec![form("as it stands", *method, *content_type, bodies)]
            }
            What::Object(method, object) => {
                let objects = on_both(object);
                let mut forms = vec![form("JSON", *method, JSON, json(&objects))];
                forms.extend(protobuf(&objects).map(|bodies| form("protobuf", *method, PROTOBUF, bodies)));
                forms
            }
            What::Change(change) => {
                let mut objects = [self.stored(sides[0]).await, self.stored(sides[1]).await];
                for (object, side) in objects.iter_mut().zip(sides) {
                    for (pointer, value) in change {
                        set(object, pointer, side.here_json(value));
                    }
                }
                let merge = on_both(&as_merge_patch(change));
                let mut forms = vec![form("PUT of JSON", "PUT", JSON, json(&objects))];
                forms.extend(protobuf(&objects).map(|bodies| form("PUT of protobuf", "PUT", PROTOBUF, bodies)));
                let json_patch = on_both(&as_json_patch(change));
                forms.push(form("JSON patch", "PATCH", JSON_PATCH, json(&json_patch)));
                forms.push(form("merge patch", "PATCH", MERGE_PATCH, json(&merge)));
                forms.push(form("strategic merge patch", "PATCH", STRATEGIC, json(&merge)));
                forms
            }
        }
    }

    /// The object that a row is about, as it is now.
    async fn stored(&self, side: &Side) -> Value {
        let path = self.target.split('?').next().unwrap();
        side.admin.get(path.trim_end_matches("/status")).await.json()
    }
}

fn keys(pointer: &str) -> Vec<String> {
    let keys = pointer.split('/').skip(1);
    keys.map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
}

/// Sets a value, or takes it away.
pub(super) fn set(object: &mut Value, pointer: &str, value: Value) {
    let keys = keys(pointer);
    let (last, parents) = keys.split_last().unwrap();
    let parent = parents.iter().fold(object, |value, key| match key.parse::<usize>() {
        Ok(at) => &mut value[at],
        Err(_) => &mut value[key],
    });
    if value.is_null() {
        parent.as_object_mut().unwrap().remove(last);
    } else {
        parent[last] = value;
    }
}

fn as_merge_patch(change: &[(&str, Value)]) -> Value {
    let mut patch = json!({});
    for (pointer, value) in change {
        let at = keys(pointer).into_iter().fold(&mut patch, |value, key| &mut value[key]);
        *at = value.clone();
    }
    patch
}

fn as_json_patch(change: &[(&str, Value)]) -> Value {
    let operations = change.iter().map(|(pointer, value)| match value {
        Value::Null => json!({"op": "remove", "path": pointer}),
        value => json!({"op": "add", "path": pointer, "value": value}),
    });
    operations.collect()
}
