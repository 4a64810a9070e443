use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::graph::{PersistentVolume, PersistentVolumeClaim, Store};

/// Claims are known, one volume has not arrived: only that one is asked for, and once, however many pods share its claim.
#[test]
fn a_volume_that_is_behind_is_found_once() {
    let mut store = Store::default();
    for (claim, volume) in [("known", "v1"), ("behind", "v2"), ("unbound", "")] {
        store.apply(&read::<PersistentVolumeClaim>(json!({
            "metadata": {"namespace": "ns", "name": claim}, "spec": {"volumeName": volume},
        })));
    }
    store.apply(&read::<PersistentVolume>(json!({
        "metadata": {"name": "v1"}, "spec": {"claimRef": {"namespace": "ns", "name": "known"}},
    })));
    let claims = ["known", "behind", "unbound", "missing"];
    let pods: Vec<Pod> = (0..3).map(|number| pod(number, &claims)).collect();
    pods.iter().for_each(|pod| store.apply(pod));
    assert_eq!(volumes_behind(&store.publish(), "n", &pods), ["v2"]);

    store.apply(&read::<PersistentVolume>(json!({
        "metadata": {"name": "v2"}, "spec": {"claimRef": {"namespace": "ns", "name": "behind"}},
    })));
    assert_eq!(volumes_behind(&store.publish(), "n", &pods), [""; 0]);
}

fn pod(number: usize, claims: &[&str]) -> Pod {
    let volumes: Vec<Value> = claims
        .iter()
        .map(|claim| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}))
        .collect();
    read(json!({
        "metadata": {"namespace": "ns", "name": format!("pod-{number}")},
        "spec": {"nodeName": "n", "volumes": volumes},
    }))
}

fn read<T: DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).unwrap()
}
