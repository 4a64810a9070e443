//! A node with a good certificate that would like an identity of somebody else's pods: by a mirror pod, by the status of its own pods,
//! by entering them, or as somebody else.

use http::StatusCode;
use scopegate::demo::site::{FRONT_PROXY, OWN};
use serde_json::{Value, json};
use test_case::test_case;

use super::world::{APPLY, JSON, JSON_PATCH, KERBEROS, KEY, KINDS, MERGE, STRATEGIC, World};
use crate::{
    graph::created,
    restriction::encode::{PROTOBUF, encode_one},
};

const REFUSED: &str = "may not use validated annotation kerberos=app";

/// A mirror pod of the node, with more annotations.
fn mirror(name: &str, node: &str, uid: &Value, more: &Value) -> Value {
    let mut pod = KINDS[0].object(name, more);
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"] = json!("x");
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid, "controller": true}]);
    pod["spec"]["nodeName"] = json!(node);
    pod
}

#[test_case("nodes-f", FRONT_PROXY; "front proxy")]
#[test_case("nodes-o", OWN; "own")]
#[tokio::test(flavor = "multi_thread")]
async fn nodes_borrow_no_identity(test: &str, identity: &str) {
    let more = if identity == OWN {
        "callers: {others: Deny}"
    } else {
        "callers: {others: Forward}"
    };
    let Some(world) = World::open_with(test, identity, more).await else {
        return;
    };
    if identity == OWN {
        world
            .cluster
            .grant(include_str!("../../config/kubernetes/own.yaml"))
            .await;
    }
    world
        .cluster
        .user(test, &format!("system:node:{test}"), Some("system:nodes"));
    created(&world.admin, "/api/v1/nodes", &json!({"metadata": {"name": test}})).await;
    let uid = world.stored(&format!("/api/v1/nodes/{test}")).await.unwrap()["metadata"]["uid"].clone();
    let pods = KINDS[0].collection(test);

    let carries = mirror("carries", test, &uid, &json!({KEY: KERBEROS}));
    let mut by_field = mirror("carries", test, &uid, &json!({}));
    by_field["spec"]["validatedAnnotations"] = json!({"kerberos": "app"});
    let mut bodies = vec![
        (JSON, carries.to_string().into_bytes()),
        (JSON, by_field.to_string().into_bytes()),
    ];
    bodies.extend(encode_one(&carries).map(|body| (PROTOBUF, body)));
    for (form, body) in bodies {
        let refused = world.send(test, "POST", &pods, form, body).await;
        assert_eq!(refused.code, StatusCode::FORBIDDEN, "{}", refused.body);
        assert!(refused.message().contains(REFUSED), "{}", refused.body);
    }
    assert_eq!(world.stored(&format!("{pods}/carries")).await, None);
    let plain = mirror("plain", test, &uid, &json!({})).to_string();
    let made = world.send(test, "POST", &pods, JSON, plain).await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);

    // A pod of its own, whose status it reports.
    let mut own = KINDS[0].plain("own");
    own["spec"]["nodeName"] = json!(test);
    created(&world.admin, &pods, &own).await;
    let target = format!("{pods}/own/status");
    let set = json!({"metadata": {"annotations": {KEY: KERBEROS}}});
    let mut whole = world.stored(&format!("{pods}/own")).await.unwrap();
    whole["metadata"]["annotations"] = json!({KEY: KERBEROS});
    let add = json!([{"op": "add", "path": "/metadata/annotations", "value": {KEY: KERBEROS}}]);
    for (method, form, body) in [
        ("PATCH", MERGE, &set),
        ("PATCH", STRATEGIC, &set),
        ("PATCH", JSON_PATCH, &add),
        ("PATCH", APPLY, &whole),
        ("PUT", JSON, &whole),
    ] {
        let refused = world.send(test, method, &target, form, body.to_string()).await;
        assert!(refused.code.is_client_error(), "{method} {form}: {}", refused.body);
    }
    let reported = world
        .send(
            test,
            "PATCH",
            &target,
            STRATEGIC,
            json!({"status": {"phase": "Running"}}).to_string(),
        )
        .await;
    assert_eq!(reported.code, StatusCode::OK, "{}", reported.body);
    let stored = world.stored(&format!("{pods}/own")).await.unwrap();
    assert_eq!(stored["metadata"]["annotations"][KEY], json!(null), "{stored}");

    // Nor in any other way that a node has.
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "own", "annotations": {KEY: KERBEROS}},
        "target": {"kind": "Node", "name": test}});
    for (method, target, form, body) in [
        ("POST", format!("{pods}/own/binding"), JSON, binding.to_string()),
        (
            "PATCH",
            format!("{pods}/own/ephemeralcontainers"),
            STRATEGIC,
            set.to_string(),
        ),
        ("POST", format!("{pods}/own/exec?command=id"), "", String::new()),
        (
            "POST",
            format!("/api/v1/nodes/{test}/proxy/run/{test}/own/c"),
            "",
            String::new(),
        ),
    ] {
        let refused = world.send(test, method, &target, form, body).await;
        assert_eq!(refused.code, StatusCode::FORBIDDEN, "{target}: {}", refused.body);
    }
}
