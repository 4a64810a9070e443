//! logs, exec, attach, cp and port-forward: what a pod says and hears, through gates and without them.

use std::net::SocketAddr;

use serde_json::json;
use test_case::test_case;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{
    kubelet::Kubelet,
    ways::{Running, Ways},
};
use crate::{
    gate::eventually,
    graph::{admin_client, created, objects::pod, patched},
};

const STATUS: &str = "application/merge-patch+json";
/// What kubectl is told to speak, by variables: WebSocket, which kube-apiserver translates for the kubelet, or SPDY all the way.
const WEBSOCKET: &[(&str, &str)] = &[];
const SPDY: &[(&str, &str)] = &[
    ("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "false"),
    ("KUBECTL_PORT_FORWARD_WEBSOCKETS", "false"),
];

/// In each namespace a pod `web` on a node whose kubelet is at hand.
async fn open(test: &str) -> Option<(Ways, Kubelet)> {
    let ways = Ways::open(test).await?;
    let kubelet = Kubelet::start(&ways.cluster).await;
    let admin = admin_client(&ways.cluster).await;
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": test},
        "status": {
            "addresses": [{"type": "InternalIP", "address": kubelet.address.ip()}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet.address.port()}},
        },
    });
    created(&admin, "/api/v1/nodes", &node).await;
    for way in &ways.ways {
        let pods = format!("/api/v1/namespaces/{}/pods", way.name);
        created(&admin, &pods, &pod("web", test, &json!({}))).await;
        let status = json!({"status": {
            "phase": "Running",
            "containerStatuses": [{
                "name": "c", "image": "i", "imageID": "i", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": null}},
            }],
        }});
        patched(&admin, &format!("{pods}/web/status"), STATUS, &status).await;
    }
    Some((ways, kubelet))
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_come_as_they_are_written() {
    let Some((ways, kubelet)) = open("logs").await else {
        return;
    };
    kubelet.log.send_modify(|log| log.push("one\n".to_owned()));
    let said = ways.run("logs web", "").await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), "one"), "{said:?}");
    let mut following: Vec<Running> = ways.ways.iter().map(|way| way.spawn("logs web -f", &[])).collect();
    for line in ["one\n", "two\n", "end\n"] {
        if line != "one\n" {
            kubelet.log.send_modify(|log| log.push(line.to_owned()));
        }
        for logs in &following {
            logs.says(line).await;
        }
    }
    for logs in &mut following {
        assert_eq!(logs.exited().await, Some(0));
        assert_eq!(logs.said(), "one\ntwo\nend\n");
    }
    let said = ways.run("logs web -c nosuch", "").await;
    assert!(said.error.contains("container nosuch is not valid"), "{said:?}");
}

/// Bytes both ways while the command runs, its two outputs apart, its exit code, and no session left over.
#[test_case("exec-w", WEBSOCKET; "websocket")]
#[test_case("exec-s", SPDY; "spdy")]
#[tokio::test(flavor = "multi_thread")]
async fn commands_run(test: &str, protocol: &[(&str, &str)]) {
    let Some((ways, kubelet)) = open(test).await else {
        return;
    };
    let said = ways.run_with("exec web -- echo hello", "", protocol).await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), "hello"), "{said:?}");
    // kubectl's arguments are parted at blanks here, the shell's at tabs.
    let script = "exec -i web -- sh -c cat;echo\tbad\t>&2;exit\t7";
    let said = ways.run_with(script, "some lines\nof text\n", protocol).await;
    assert_eq!(
        (said.code, said.out.as_str()),
        (Some(7), "some lines\nof text"),
        "{said:?}"
    );
    assert!(said.error.starts_with("bad"), "{said:?}");
    for way in &ways.ways {
        let mut exec = way.spawn("exec -i web -- sed -u s/^/heard:/", protocol);
        for line in ["one", "two"] {
            exec.write(&format!("{line}\n"));
            exec.says(&format!("heard:{line}\n")).await;
        }
        exec.close();
        assert_eq!(exec.exited().await, Some(0), "{}", exec.said());
        let mut attach = way.spawn("attach -i web", protocol);
        attach.write("aloud\n");
        attach.close();
        attach.says("ALOUD\n").await;
        assert_eq!(attach.exited().await, Some(0), "{}", attach.said());
    }
    over(&kubelet).await;
    // Whoever goes away ends the session also at the kubelet.
    for way in &ways.ways {
        let mut exec = way.spawn("exec -i web -- cat", protocol);
        exec.write("there\n");
        exec.says("there\n").await;
        assert_eq!(*kubelet.sessions.lock().unwrap(), 1);
        drop(exec);
        over(&kubelet).await;
    }
}

/// Files are copied by a tar at each end of a session.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_copied() {
    let Some((ways, kubelet)) = open("copy").await else {
        return;
    };
    // More than fits into any buffer on the way.
    let content = "0123456789abcdef".repeat(64 * 1024);
    for way in &ways.ways {
        let file = |name: &str| way.kubeconfig.with_extension(name);
        std::fs::write(file("from"), &content).unwrap();
        let (from, there, back) = (file("from"), file("there"), file("back"));
        let steps = [
            format!("cp {} web:{}", from.display(), there.display()),
            format!("cp web:{} {}", there.display(), back.display()),
        ];
        for step in steps {
            let said = way.run(&step, "", &[]).await;
            assert_eq!(said.code, Some(0), "{said:?}");
        }
        for name in ["there", "back"] {
            assert!(
                std::fs::read_to_string(file(name)).unwrap() == content,
                "{name} differs"
            );
        }
    }
    over(&kubelet).await;
}

#[test_case("port-w", WEBSOCKET; "websocket")]
#[test_case("port-s", SPDY; "spdy")]
#[tokio::test(flavor = "multi_thread")]
async fn ports_are_forwarded(test: &str, protocol: &[(&str, &str)]) {
    let Some((ways, kubelet)) = open(test).await else {
        return;
    };
    for way in &ways.ways {
        let forward = way.spawn("port-forward web :80", protocol);
        let address = forwarded(&forward).await;
        for round in 0..3 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let text = format!("round {round} ").repeat(10_000);
            let (mut reading, mut writing) = stream.split();
            let mut read = vec![0; text.len()];
            let (wrote, heard) = tokio::join!(writing.write_all(text.as_bytes()), reading.read_exact(&mut read));
            wrote.unwrap();
            heard.unwrap_or_else(|error| panic!("{}: {error}; {}", way.name, forward.said()));
            assert!(read == text.to_uppercase().as_bytes(), "{}: other bytes", way.name);
            stream.shutdown().await.unwrap();
            assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0, "the end comes back");
        }
        drop(forward);
        over(&kubelet).await;
    }
}

/// Where kubectl listens.
async fn forwarded(forward: &Running) -> SocketAddr {
    let port = forward.until("port", || {
        let said = forward.said();
        let mut lines = said.lines();
        let line = lines.find_map(|line| line.strip_prefix("Forwarding from 127.0.0.1:"))?;
        line.split_once(' ')?.0.parse().ok()
    });
    SocketAddr::from(([127, 0, 0, 1], port.await))
}

async fn over(kubelet: &Kubelet) {
    eventually("the end of all sessions", || {
        (*kubelet.sessions.lock().unwrap() == 0).then_some(())
    })
    .await;
}
