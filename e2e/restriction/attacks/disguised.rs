//! Patches that make kube-apiserver take an object for something else than it is.

use serde_json::{Value, json};

use super::{Attack, JSON_PATCH, MERGE_PATCH, NODE, PODS, STATUS};

impl Attack<'_> {
    /// What comes of a JSON patch or merge patch without `apiVersion`, kube-apiserver reads as its internal type. There the labels
    /// stand at the top, and taints in `Spec.Taints`: what the gate would look at means nothing.
    pub(super) async fn without_version(&self) {
        let taints: Vec<Value> = self.before["spec"]["taints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|taint| json!({"Key": taint["key"], "Value": taint["value"], "Effect": taint["effect"]}))
            .collect();
        let mut labels = self.before["metadata"]["labels"].clone();
        labels["node-role.kubernetes.io/control-plane"] = json!("");
        let version = &self.before["metadata"]["resourceVersion"];
        let inner = json!({"name": "at1", "uid": "uid-of-at1", "resourceVersion": version, "labels": labels,
            "Spec": {"Taints": taints}});
        for gone in [&["apiVersion"][..], &["apiVersion", "kind"]] {
            let mut merge = inner.clone();
            let mut operations = crate::restriction::rows::operations(&inner);
            for key in gone {
                merge[key] = Value::Null;
                operations
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"op": "remove", "path": format!("/{key}")}));
            }
            let mut empty = operations.clone();
            empty
                .as_array_mut()
                .unwrap()
                .push(json!({"op": "add", "path": "/apiVersion", "value": ""}));
            let whole = json!([{"op": "replace", "path": "", "value": inner}]);
            for target in [NODE, STATUS] {
                self.refused(&[400, 403], "PATCH", target, MERGE_PATCH, merge.to_string().as_bytes())
                    .await;
                for body in [&operations, &empty, &whole] {
                    self.refused(&[400, 403], "PATCH", target, JSON_PATCH, body.to_string().as_bytes())
                        .await;
                }
            }
        }
        // The same for a pod's labels, and for a version that is another one.
        let pod = format!("{PODS}/p1/status");
        let labels = json!({"apiVersion": null, "kind": null, "name": "p1", "namespace": "attacks", "uid": "uid-of-p1",
            "labels": {"app": "other"}});
        self.refused(&[400, 403], "PATCH", &pod, MERGE_PATCH, labels.to_string().as_bytes())
            .await;
        let mut internal = inner.clone();
        internal["apiVersion"] = json!("__internal");
        let other = json!({"apiVersion": "v2", "metadata": {"annotations": {"x": "y"}}});
        for body in [internal, other] {
            self.refused(
                &[400, 403, 422],
                "PATCH",
                NODE,
                MERGE_PATCH,
                body.to_string().as_bytes(),
            )
            .await;
        }
    }

    /// The same, said in another case of letters: kube-apiserver looks for what an object is as Go's own reader does, for which the
    /// long s is an s.
    pub(super) async fn in_another_case(&self) {
        let pod = format!("{PODS}/p1/status");
        for key in ["apiversion", "apiversioN", "apiVer\u{17f}ion"] {
            for version in ["__internal", "/", ""] {
                for (target, name) in [(NODE, "at1"), (STATUS, "at1"), (pod.as_str(), "p1")] {
                    let patch = json!({key: version, "name": name, "namespace": "attacks",
                        "labels": {"node-role.kubernetes.io/control-plane": ""}});
                    let operations = crate::restriction::rows::operations(&patch);
                    self.refused(&[400], "PATCH", target, MERGE_PATCH, patch.to_string().as_bytes())
                        .await;
                    self.refused(&[400], "PATCH", target, JSON_PATCH, operations.to_string().as_bytes())
                        .await;
                    let beside = json!({"apiVersion": "v1", key: version, "metadata": {"name": name}});
                    self.refused(&[400], "PUT", target, super::JSON, beside.to_string().as_bytes())
                        .await;
                }
            }
        }
    }
}
