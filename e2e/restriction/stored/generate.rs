//! Makes patches that are mostly good, of pieces that fit together.

use scopegate::patch::Type;
use serde_json::{Map, Value, json};

use crate::random::Random;

pub(super) struct Maker<'a> {
    random: &'a mut Random,
    pointers: &'static [&'static str],
    /// Whether null takes something away; elsewhere it is a value, which some fields read as zero.
    nulls: bool,
}

/// What may be patched of each endpoint. What stands last in a pointer tells which values fit.
pub(super) const JSON_POINTERS: [&[&str]; 4] = [
    &[
        "/metadata/labels",
        "/metadata/annotations",
        "/metadata/finalizers",
        "/spec/unschedulable",
        "/spec/taints",
    ],
    &[
        "/metadata/labels",
        "/metadata/annotations",
        "/status/conditions",
        "/status/addresses",
        "/status/capacity",
        "/status/images",
        "/status/volumesInUse",
    ],
    &[
        "/metadata/labels",
        "/metadata/annotations",
        "/status/conditions",
        "/status/podIPs",
        "/status/message",
        "/status/reason",
    ],
    &[
        "/metadata/labels",
        "/metadata/annotations",
        "/status/conditions",
        "/status/capacity",
        "/status/allocatedResources",
    ],
];

impl<'a> Maker<'a> {
    pub(super) fn new(random: &'a mut Random, pointers: &'static [&'static str]) -> Self {
        Self {
            random,
            pointers,
            nulls: false,
        }
    }

    pub(super) fn patch(&mut self, kind: Type, old: &str) -> Value {
        self.nulls = kind != Type::Json;
        match kind {
            Type::Json => {
                let old: Value = serde_json::from_str(old).unwrap();
                let count = 1 + self.random.below(4);
                (0..count).map(|_| self.operation(&old)).collect()
            }
            Type::Merge => self.document(false),
            Type::Strategic => self.document(true),
        }
    }

    fn operation(&mut self, old: &Value) -> Value {
        let pointer = self.random.pick(self.pointers);
        let field = pointer.rsplit('/').next().unwrap();
        let inside = match old.pointer(pointer) {
            Some(Value::Array(items)) if self.random.one_in(2) => {
                let end = format!("{}", items.len());
                let at = [end.as_str(), "0", "-", "-1", "1", "9"];
                format!("{pointer}/{}", at[self.random.below(at.len())])
            }
            Some(Value::Object(_)) if self.random.one_in(2) => {
                format!("{pointer}/{}", self.random.pick(&["a", "app", "b~1c", "cpu"]))
            }
            _ => pointer.to_owned(),
        };
        let value = match (inside == pointer, old.pointer(pointer)) {
            (false, Some(Value::Array(_))) => self.element(field),
            (false, _) => json!(self.random.pick(&["1", "2", "3"])),
            (true, _) => self.value(field, false),
        };
        match self.random.below(8) {
            0 | 1 => json!({"op": "replace", "path": inside, "value": value}),
            2 => json!({"op": "remove", "path": inside}),
            3 => json!({"op": "test", "path": inside, "value": old.pointer(&inside).cloned().unwrap_or(value)}),
            4 => json!({"op": "copy", "from": "/metadata/annotations", "path": "/metadata/labels"}),
            5 if self.random.one_in(2) => {
                json!({"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"})
            }
            _ => json!({"op": "add", "path": inside, "value": value}),
        }
    }

    fn document(&mut self, strategic: bool) -> Value {
        let mut document = json!({});
        for _ in 0..=self.random.below(3) {
            let pointer = self.random.pick(self.pointers);
            let keys: Vec<&str> = pointer.split('/').skip(1).collect();
            let value = match self.random.below(8) {
                0 => Value::Null,
                _ => self.value(keys[1], strategic),
            };
            document[keys[0]][keys[1]] = value;
            if strategic {
                self.directives(&mut document[keys[0]], keys[1]);
            }
        }
        document
    }

    /// Beside a field.
    fn directives(&mut self, parent: &mut Value, field: &str) {
        let Some(key) = merge_key(field) else {
            if field == "finalizers" && self.random.one_in(2) {
                parent["$deleteFromPrimitiveList/finalizers"] = json!([self.random.pick(&["e.com/a", "e.com/b"])]);
            }
            return;
        };
        if self.random.one_in(3) {
            let items = parent[field].as_array().cloned().unwrap_or_default();
            let mut order: Vec<Value> = items
                .iter()
                .filter_map(|item| Some(json!({key: item.get(key)?})))
                .collect();
            order.dedup();
            if self.random.one_in(3) {
                order.reverse();
            }
            parent[format!("$setElementOrder/{field}")] = json!(order);
        }
    }

    fn value(&mut self, field: &str, strategic: bool) -> Value {
        match field {
            "labels" | "annotations" | "capacity" | "allocatedResources" => self.map(field, strategic),
            "unschedulable" => json!(self.random.one_in(2)),
            "message" | "reason" => json!(self.random.pick(&["one", "two", ""])),
            "finalizers" => json!([self.random.pick(&["e.com/a", "e.com/b", "e.com/c"])]),
            "volumesInUse" => json!([self.random.pick(&["v1", "v2"])]),
            _ => {
                let count = self.random.below(3);
                let mut items: Vec<Value> = (0..count).map(|_| self.element(field)).collect();
                if strategic && let Some(key) = merge_key(field) {
                    items.dedup_by(|a, b| a[key] == b[key]);
                    for item in &mut items {
                        match self.random.below(6) {
                            0 => *item = json!({"$patch": "delete", key: item[key]}),
                            1 if field == "conditions" => {
                                item["$retainKeys"] = item.as_object().unwrap().keys().cloned().collect();
                            }
                            _ => {}
                        }
                    }
                    if self.random.one_in(4) {
                        items.push(json!({"$patch": "replace"}));
                    }
                }
                json!(items)
            }
        }
    }

    fn map(&mut self, field: &str, strategic: bool) -> Value {
        let quantities = !matches!(field, "labels" | "annotations");
        let keys: &[&str] = if quantities {
            &["storage", "cpu", "memory"]
        } else {
            &["a", "app", "b/c", "kubernetes.io/hostname"]
        };
        let keys = if field == "allocatedResources" {
            &["storage"]
        } else {
            keys
        };
        let mut map = Map::new();
        for _ in 0..self.random.below(3) {
            let value = match self.random.below(5) {
                0 if self.nulls => Value::Null,
                _ if quantities => json!(self.random.pick(&["1", "2", "3Gi"])),
                _ => json!(self.random.pick(&["1", "x", ""])),
            };
            map.insert(self.random.pick(keys).to_owned(), value);
        }
        if strategic {
            match self.random.below(10) {
                0 => _ = map.insert("$patch".to_owned(), json!("replace")),
                1 => _ = map.insert("$patch".to_owned(), json!("delete")),
                2 => _ = map.insert("$retainKeys".to_owned(), map.keys().cloned().collect()),
                _ => {}
            }
        }
        Value::Object(map)
    }

    /// Of a list.
    fn element(&mut self, field: &str) -> Value {
        let status = self.random.pick(&["True", "False"]);
        match field {
            "conditions" => json!({"type": self.random.pick(&["Ready", "Resizing", "Other"]), "status": status}),
            "addresses" => {
                let kind = self.random.pick(&["InternalIP", "Hostname", "ExternalIP"]);
                json!({"type": kind, "address": self.random.pick(&["192.0.2.1", "192.0.2.2"])})
            }
            "taints" => {
                json!({"key": self.random.pick(&["t", "u"]), "effect": self.random.pick(&["NoSchedule", "NoExecute"])})
            }
            "podIPs" => json!({"ip": self.random.pick(&["10.0.0.1", "fd00::1"])}),
            "images" => json!({"names": [self.random.pick(&["i", "j"])], "sizeBytes": 1 + self.random.below(3)}),
            "finalizers" => json!(self.random.pick(&["e.com/a", "e.com/b"])),
            _ => json!(self.random.pick(&["v1", "v2"])),
        }
    }
}

fn merge_key(field: &str) -> Option<&'static str> {
    match field {
        "conditions" | "addresses" => Some("type"),
        "podIPs" => Some("ip"),
        _ => None,
    }
}
