//! Who enters a pod that carries one: kubectl over WebSocket and SPDY, and requests that kubectl does not make, through the API server
//! and through the kubelet behind it.

use http::StatusCode;
use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;
use test_case::test_case;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{JSON, KERBEROS, KEY, KINDS, World};
use crate::{
    gate,
    graph::{created, patched},
    kubectl::{self, kubelet::Kubelet},
};

const REFUSED: &str = "may not use validated annotation kerberos=app";
const MERGE: &str = "application/merge-patch+json";
const WEBSOCKET: &[(&str, &str)] = &[];
const SPDY: &[(&str, &str)] = &[
    ("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "false"),
    ("KUBECTL_PORT_FORWARD_WEBSOCKETS", "false"),
];

/// Two pods on a node whose kubelet is at hand: `web` carries one, `plain` does not.
async fn open(test: &str) -> Option<(World, Kubelet)> {
    let world = World::open(test, FRONT_PROXY).await?;
    let kubelet = Kubelet::start(&world.cluster).await;
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": test},
        "status": {
            "addresses": [{"type": "InternalIP", "address": kubelet.address.ip()}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet.address.port()}},
        },
    });
    created(&world.admin, "/api/v1/nodes", &node).await;
    let pods = KINDS[0].collection(test);
    for (name, annotations) in [("web", json!({KEY: KERBEROS})), ("plain", json!({}))] {
        let mut pod = KINDS[0].object(name, &annotations);
        pod["spec"]["nodeName"] = json!(test);
        created(&world.admin, &pods, &pod).await;
        let status = json!({"status": {
            "phase": "Running",
            "containerStatuses": [{
                "name": "c", "image": "i", "imageID": "i", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": null}},
            }],
        }});
        patched(&world.admin, &format!("{pods}/{name}/status"), MERGE, &status).await;
    }
    Some((world, kubelet))
}

#[test_case("enter-w", WEBSOCKET; "websocket")]
#[test_case("enter-s", SPDY; "spdy")]
#[tokio::test(flavor = "multi_thread")]
async fn commands_in_pods(test: &str, protocol: &[(&str, &str)]) {
    let Some((world, _kubelet)) = open(test).await else {
        return;
    };
    for (user, pod, said) in [
        ("carol", "plain", "hello"),
        ("carol", "web", REFUSED),
        ("dave", "web", "hello"),
    ] {
        let kubeconfig = world.cluster.kubeconfig(&format!("{test}-{user}"), user, world.serving);
        for subcommand in ["exec", "attach"] {
            let mut arguments = vec![subcommand, "-i", "-n", test, pod];
            if subcommand == "exec" {
                arguments.extend(["--", "echo", "hello"]);
            }
            let Some((_, output)) = kubectl::run(&kubeconfig, &arguments, "hello\n", protocol).await else {
                return;
            };
            let heard = if subcommand == "attach" {
                said.replace("hello", "HELLO")
            } else {
                said.to_owned()
            };
            assert!(output.contains(&heard), "{user} {subcommand} {pod}: {output}");
            assert_eq!(
                output.contains("forbidden"),
                said == REFUSED,
                "{user} {subcommand} {pod}: {output}"
            );
        }
        if said == REFUSED {
            let (_, output) = kubectl::run(&kubeconfig, &["port-forward", "-n", test, pod, ":80"], "", protocol)
                .await
                .unwrap();
            assert!(output.contains(REFUSED), "{output}");
        }
    }
}

/// Whatever the method, and whether or not anything is upgraded.
#[tokio::test(flavor = "multi_thread")]
async fn other_ways_in() {
    let Some((world, _kubelet)) = open("ways-in").await else {
        return;
    };
    let pod = "/api/v1/namespaces/ways-in/pods/web";
    let node = "/api/v1/nodes/ways-in/proxy";
    let ways = [
        ("GET", format!("{pod}/exec?command=id&container=c&stdout=true")),
        ("POST", format!("{pod}/exec?command=id&container=c&stdout=true")),
        ("GET", format!("{pod}/attach?container=c&stdout=true")),
        ("GET", format!("{pod}/portforward?ports=80")),
        ("GET", format!("{pod}/proxy/")),
        ("DELETE", format!("{pod}/proxy/a")),
        ("POST", format!("{node}/run/ways-in/web/c?cmd=id")),
        ("GET", format!("{node}/exec/ways-in/web/c?command=id&output=1")),
        (
            "POST",
            format!("{node}/exec/ways-in/web/some-uid/c?command=id&output=1"),
        ),
        ("GET", format!("{node}/attach/ways-in/web/c?output=1")),
        ("GET", format!("{node}/portForward/ways-in/web")),
        ("POST", format!("{node}/checkpoint/ways-in/web/c")),
        ("GET", format!("{node}/%65xec/ways-in/web/c?command=id&output=1")),
    ];
    for upgrade in ["", "websocket", "SPDY/3.1"] {
        for (method, target) in &ways {
            if upgrade == "websocket" && *method != "GET" || upgrade == "SPDY/3.1" && *method == "DELETE" {
                continue;
            }
            let said = ask(&world, "carol", method, target, upgrade).await;
            assert!(
                said.starts_with("HTTP/1.1 403 ") && said.contains(REFUSED),
                "{method} {target} {upgrade}: {said}"
            );
            let said = ask(&world, "dave", method, target, upgrade).await;
            assert!(!said.contains("HTTP/1.1 403 "), "{method} {target} {upgrade}: {said}");
            // Whoever may not do it at all hears nothing of what the pod carries, or whether there is one.
            for target in [target.clone(), target.replace("/web", "/gone")] {
                let said = ask(&world, "eve", method, &target, upgrade).await;
                assert!(
                    said.starts_with("HTTP/1.1 403 ") && said.contains("User \\\"eve\\\" cannot"),
                    "{target}: {said}"
                );
            }
        }
    }
    for (path, refused) in [
        ("metrics", false),
        ("cri/exec/abc", true),
        ("exec", true),
        ("exec/ways-in/gone/c", true),
    ] {
        let said = ask(&world, "dave", "GET", &format!("{node}/{path}"), "").await;
        assert_eq!(said.starts_with("HTTP/1.1 403 "), refused, "{path}: {said}");
    }
}

/// A debugging container is one more way in, and so is a pod that is made by another's annotation.
#[tokio::test(flavor = "multi_thread")]
async fn containers_beside_the_others() {
    let Some((world, _kubelet)) = open("beside").await else {
        return;
    };
    let pods = KINDS[0].collection("beside");
    let debug = json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "evil"}]}}).to_string();
    let resize = json!({"spec": {"containers": [{"name": "c", "resources": {}}]}}).to_string();
    let strategic = "application/strategic-merge-patch+json";
    for (subresource, body) in [("ephemeralcontainers", &debug), ("resize", &resize)] {
        for (user, pod, refused) in [
            ("carol", "plain", false),
            ("carol", "web", true),
            ("dave", "web", false),
        ] {
            let target = format!("{pods}/{pod}/{subresource}");
            let answer = world.send(user, "PATCH", &target, strategic, body).await;
            // No kubelet here can resize a pod: that is for upstream to say.
            assert_eq!(
                answer.body.contains(REFUSED),
                refused,
                "{user} {subresource} {pod}: {}",
                answer.body
            );
            assert_eq!(answer.code == StatusCode::FORBIDDEN, refused, "{}", answer.body);
        }
    }
    // With a binding a pod gets the annotations that it has.
    created(&world.admin, &pods, &KINDS[0].plain("unbound")).await;
    for user in ["carol", "dave"] {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "unbound", "annotations": {KEY: KERBEROS}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "beside"},
        });
        let collection = "/api/v1/namespaces/beside/bindings";
        for target in [format!("{pods}/unbound/binding"), collection.to_owned()] {
            let answer = world.send(user, "POST", &target, JSON, binding.to_string()).await;
            assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
        }
    }
    let stored = world.stored(&format!("{pods}/unbound")).await.unwrap();
    assert_eq!(stored["metadata"]["annotations"][KEY], json!(null));
}

/// Attack 23: what stands behind a session that is refused, by this rule or for want of leave to act as somebody, is never read as HTTP.
#[test_case("behind-a", ""; "for the annotation")]
#[test_case("behind-b", "Acting-As: dave\r\n"; "for a wish")]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_comes_behind_a_refused_session(test: &str, wish: &str) {
    let Some((world, _kubelet)) = open(test).await else {
        return;
    };
    for upgrade in ["websocket", "SPDY/3.1"] {
        let dir = world.cluster.file("");
        let mut stream = gate::connect(&dir, world.serving, "carol", b"http/1.1").await;
        let request = format!(
            "GET /api/v1/namespaces/{test}/pods/web/exec?command=id&container=c HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\
             Upgrade: {upgrade}\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n{wish}\r\n\
             GET /api/v1/namespaces/{test}/pods HTTP/1.1\r\nHost: x\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        let _ = tokio::time::timeout(gate::PATIENCE, stream.read_to_end(&mut said))
            .await
            .expect("it ends");
        let said = String::from_utf8_lossy(&said);
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
        assert_eq!(said.matches("HTTP/1.1 ").count(), 1, "{said}");
    }
}

/// One request on a connection of its own, and what comes back first.
async fn ask(world: &World, user: &str, method: &str, target: &str, upgrade: &str) -> String {
    let dir = world.cluster.file("");
    let mut stream = gate::connect(&dir, world.serving, user, b"http/1.1").await;
    let wish = match upgrade {
        "" => "Connection: close\r\nContent-Length: 0\r\n".to_owned(),
        "websocket" => "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n"
            .to_owned(),
        spdy => format!("Connection: Upgrade\r\nUpgrade: {spdy}\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"),
    };
    let request = format!("{method} {target} HTTP/1.1\r\nHost: x\r\n{wish}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(Ok(n @ 1..)) = tokio::time::timeout(gate::PATIENCE, stream.read(&mut buffer)).await {
        said.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&said);
        // Of a session nothing more is wanted than that it begins.
        if text.starts_with("HTTP/1.1 101 ") {
            break;
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}
