//! An API server: the stand-in for what the gate wants to know, and answers that are always the same for what kubelets want. Then
//! nothing happens in the cluster, and the gate's informers are quiet.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Result, ensure};
use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderValue, Request, Response, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::{body::Incoming, service::service_fn};
use scopegate::{
    caller::User,
    demo::standin::{Body, Standin},
    pki::{Pki, Usage},
    server::{self, Peer, Server, Transport, tls},
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    watch: Watching,
    /// What informers see.
    standin: Arc<Standin>,
}

/// The watches of kubelets.
type Watching = Arc<Mutex<Vec<UnboundedSender<Bytes>>>>;

/// What an answer of kube-apiserver carries.
const HEADERS: [(&str, &str); 4] = [
    ("cache-control", "no-cache, private"),
    ("content-type", "application/json"),
    ("x-kubernetes-pf-flowschema-uid", "3fd2b7f1-92cc-4a3e-8a1c-0f9f4f0e7c55"),
    (
        "x-kubernetes-pf-prioritylevel-uid",
        "f2d1c9b0-4d0e-4b5a-9a37-6c2b8f8e1d21",
    ),
];
/// Pods of each node.
const PODS: usize = 30;

impl Upstream {
    pub(crate) async fn start(pki: &Pki) -> Result<Self> {
        let server = Server::bind("upstream", SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = server.address();
        let pair = pki
            .server_ca
            .issue("upstream", None, Usage::Server(&["localhost", "127.0.0.1"]))?;
        let authorities = pki.front_proxy_ca.certificate.as_bytes();
        let config = tls::server_config(pair.certificate.as_bytes(), pair.key.as_bytes(), authorities)?;
        let standin = Standin::new(objects());
        ensure!(standin.left_out().is_empty(), "{:?}", standin.left_out());
        let (secret, node) = (Bytes::from(secret()), Bytes::from(node("n1").to_string()));
        let watch = Watching::default();
        let (watching, seen) = (Arc::clone(&watch), Arc::clone(&standin));
        let new_service = move |_: Peer| {
            let (standin, secret, node, watch) =
                (Arc::clone(&seen), secret.clone(), node.clone(), Arc::clone(&watching));
            service_fn(move |request: Request<Incoming>| {
                let (standin, secret, node, watch) =
                    (Arc::clone(&standin), secret.clone(), node.clone(), Arc::clone(&watch));
                async move {
                    let of_node = request.headers().contains_key("x-remote-user");
                    let target = request.uri().path();
                    Ok::<_, Infallible>(if target.ends_with("/subjectaccessreviews") {
                        // Of which the stand-in knows nothing.
                        whole(Bytes::from_static(br#"{"status":{"allowed":true}}"#))
                    } else if !of_node {
                        standin.respond(&User::default(), request).await
                    } else if target.contains("/secrets/") {
                        whole(secret)
                    } else if request.uri().query().is_some_and(|query| query.contains("watch=")) {
                        watched(&watch)
                    } else {
                        // Read to its end, as an API server does before it answers.
                        let _ = request.into_body().collect().await;
                        whole(node)
                    })
                }
            })
        };
        tokio::spawn(server.run(
            Transport::Tls(Arc::new(ArcSwap::from_pointee(config))),
            new_service,
            server::Metrics::default(),
            std::future::pending(),
            Duration::ZERO,
        ));
        Ok(Self {
            address,
            watch,
            standin,
        })
    }

    /// Sends an event on every watch.
    pub(crate) fn happens(&self) -> Result<()> {
        let event = Bytes::from(json!({"type": "MODIFIED", "object": pod("n1", "p1")}).to_string() + "\n");
        let mut watches = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|watch| watch.send(event.clone()).is_ok());
        ensure!(!watches.is_empty(), "nobody watches");
        Ok(())
    }

    /// A heartbeat of the other node and a pod that is ready or not, for the informers.
    pub(crate) async fn changes(&self, turn: usize) -> Result<()> {
        let ready = if turn.is_multiple_of(2) { "True" } else { "False" };
        let status = json!({"status": {"conditions": [{"type": "Ready", "status": ready}]}}).to_string();
        for target in ["/api/v1/nodes/n2/status", "/api/v1/namespaces/ns/pods/q1/status"] {
            let request = Request::patch(target)
                .header(header::CONTENT_TYPE, "application/merge-patch+json")
                .body(Full::new(Bytes::from(status.clone())))?;
            let code = self.standin.respond(&User::default(), request).await.status();
            ensure!(code.is_success(), "{target} is answered {code}");
        }
        Ok(())
    }
}

fn whole(body: Bytes) -> Response<Body> {
    answer(Full::new(body).boxed_unsync())
}

fn watched(watch: &Watching) -> Response<Body> {
    let (sender, mut events) = unbounded_channel();
    watch.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
    let events = stream::poll_fn(move |context| events.poll_recv(context));
    answer(StreamBody::new(events.map(|event| Ok(Frame::data(event)))).boxed_unsync())
}

fn answer(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let date = HeaderValue::from_static("Fri, 02 Jan 2026 03:04:05 GMT");
    response.headers_mut().insert(header::DATE, date);
    response
}

/// Two nodes, of which the first is the one that asks, with pods that have a secret each.
fn objects() -> Vec<Value> {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": "ns", "name": "sa"}});
    let mut objects = vec![node("n1"), node("n2"), account];
    for number in 1..=PODS {
        objects.push(pod("n1", &format!("p{number}")));
        objects.push(pod("n2", &format!("q{number}")));
    }
    objects
}

fn node(name: &str) -> Value {
    let conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(|kind| {
        json!({"type": kind, "status": "False", "reason": "KubeletSaysSo", "message": "kubelet says so",
            "lastHeartbeatTime": "2026-01-02T03:04:05Z", "lastTransitionTime": "2026-01-02T03:04:05Z"})
    });
    let address = if name == "n1" { "10.0.0.1" } else { "10.0.0.2" };
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"conditions": conditions,
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]}})
}

fn pod(node: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "ns", "name": name, "uid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
        "spec": {"nodeName": node, "serviceAccountName": "sa", "containers": [{"name": "c", "image": "image:1"}],
            "volumes": [{"name": "own", "secret": {"secretName": format!("secret-of-{name}")}},
                {"name": "config", "configMap": {"name": format!("config-of-{name}")}}]},
        "status": {"phase": "Running", "podIP": "10.1.0.7", "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// A kibibyte.
fn secret() -> Vec<u8> {
    let secret = |data: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"key": data},
            "metadata": {"namespace": "ns", "name": "secret-of-p1", "resourceVersion": "1"}})
        .to_string()
    };
    secret(&"A".repeat(1024 - secret("").len())).into_bytes()
}
