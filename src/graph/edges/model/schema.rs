//! Walks the JSON schema of Kubernetes' types.

use std::collections::BTreeSet;

use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// Hold no name, whatever is written in them.
const NUMBERS: &[&str] = &["Quantity", "Time", "integer", "boolean", "number"];

/// Is looked at no further: it is the claim that will be made of it which may be read, not what that claim names in turn.
const CUT: &str = "PersistentVolumeClaimTemplate";

/// The schema of one kind.
pub(super) struct Model {
    root: Value,
}

/// The value of a field, inside of any lists and maps.
enum Inner<'a> {
    Number,
    Text,
    Type {
        name: &'a str,
        fields: &'a Map<String, Value>,
    },
}

impl Model {
    pub(super) fn of<T: JsonSchema>() -> Self {
        let root = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        Self { root }
    }

    /// The names of its fields.
    pub(super) fn fields(&self) -> BTreeSet<String> {
        let fields = self.root["properties"].as_object().unwrap();
        fields.keys().cloned().collect()
    }

    /// Every field that can hold text, as `Type.field`, of every type below spec and status.
    pub(super) fn text_fields(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.walk(|path, at| {
            found.insert(at.to_owned());
            assert!(path.len() < 400, "{path} does not end");
            false
        });
        found
    }

    /// Every path, without indexes, to one of these: a field as `Type.field`, or a type as a whole.
    pub(super) fn paths_to(&self, references: &[&str]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.walk(|path, at| {
            let is_reference = references.contains(&at);
            if is_reference {
                found.insert(path.to_owned());
            }
            is_reference
        });
        found
    }

    /// Visits every path to a type, as `Type`, and to a field that can hold text, as `Type.field`; stops at what the visitor
    /// says is enough.
    fn walk(&self, mut visit: impl FnMut(&str, &str) -> bool) {
        for part in ["spec", "status"] {
            self.descend(&self.root["properties"][part], part, "", &mut visit);
        }
    }

    fn descend(&self, schema: &Value, path: &str, field: &str, visit: &mut dyn FnMut(&str, &str) -> bool) {
        match &schema["items"] {
            Value::Null => {}
            items => return self.descend(items, &format!("{path}[]"), field, visit),
        }
        match &schema["additionalProperties"] {
            Value::Null => {}
            values => {
                // The keys of a map are text, whatever its values are.
                visit(path, field);
                return self.descend(values, &format!("{path}{{}}"), field, visit);
            }
        }
        match self.inner(schema) {
            Inner::Number => {}
            Inner::Text => {
                visit(path, field);
            }
            Inner::Type { name, fields } => {
                if visit(path, name) {
                    return;
                }
                for (key, value) in fields {
                    self.descend(value, &format!("{path}.{key}"), &format!("{name}.{key}"), visit);
                }
            }
        }
    }

    fn inner<'a>(&'a self, schema: &'a Value) -> Inner<'a> {
        let Some(reference) = schema["$ref"].as_str() else {
            let is_number = schema["type"].as_str().is_some_and(|kind| NUMBERS.contains(&kind));
            return if is_number { Inner::Number } else { Inner::Text };
        };
        let reference = reference.strip_prefix("#/$defs/").unwrap();
        let name = reference.rsplit('.').next().unwrap();
        let fields = self.root["$defs"][reference]["properties"].as_object();
        match fields {
            _ if NUMBERS.contains(&name) => Inner::Number,
            Some(fields) if name != CUT => Inner::Type { name, fields },
            _ => Inner::Text,
        }
    }
}
