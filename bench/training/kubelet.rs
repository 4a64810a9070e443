//! A node with a connection, and a round of what its kubelet asks for: much of what comes often, little of what does not.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use http::{Method, StatusCode};

use crate::{
    around::peers::{Client, Http, Site, Watch},
    bodies::{self, POD_UID, protobuf},
};

pub(crate) struct Kubelet {
    client: Client,
    /// Only to keep its connection.
    _watching: Client,
    events: Watch,
    sent: Vec<Sent>,
}

struct Sent {
    /// In a round.
    times: usize,
    method: Method,
    target: String,
    content_type: &'static str,
    body: Vec<u8>,
    answer: StatusCode,
}

/// Of a pod of the node.
pub(crate) const SECRET: &str = "/api/v1/namespaces/ns/secrets/secret-of-p1";
const JSON: &str = "application/json";
const LEASE: &str = r#"{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n1","namespace":"kube-node-lease"},"spec":{"holderIdentity":"n1","leaseDurationSeconds":40,"renewTime":"2026-01-02T03:04:05.000000Z"}}"#;
const EVENTS: &str = "/api/v1/namespaces/ns/events";
const EVENT: &str = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"n1.1","namespace":"default"},"involvedObject":{"apiVersion":"v1","kind":"Node","name":"n1","uid":"n1"},"reason":"Starting","message":"Starting proxy","source":{"component":"proxy","host":"n1"},"type":"Normal","reportingComponent":"proxy","reportingInstance":"n1"}"#;
const WATCH: &str =
    "/api/v1/pods?allowWatchBookmarks=true&fieldSelector=spec.nodeName%3Dn1&resourceVersion=1&watch=true";

impl Kubelet {
    pub(crate) async fn connect(site: &Site, address: SocketAddr, http: Http) -> Result<Self> {
        let mut watch = Client::connect(site, address, http).await?;
        Ok(Self {
            client: Client::connect(site, address, http).await?,
            events: watch.open(WATCH).await?,
            _watching: watch,
            sent: sent(),
        })
    }

    /// Waits for an event on its watch, which is under way.
    pub(crate) async fn event(&mut self) -> Result<()> {
        self.events.event().await
    }

    pub(crate) async fn round(&mut self) -> Result<()> {
        for sent in &self.sent {
            for _ in 0..sent.times {
                let answer = self
                    .client
                    .send(&sent.method, &sent.target, (sent.content_type, &sent.body));
                let answer = answer.await?;
                ensure!(
                    answer == sent.answer,
                    "{} {} is answered {answer}",
                    sent.method,
                    sent.target
                );
            }
        }
        Ok(())
    }
}

fn sent() -> Vec<Sent> {
    let get = |times, target: &str, answer| Sent {
        times,
        method: Method::GET,
        target: target.to_owned(),
        content_type: "",
        body: Vec::new(),
        answer,
    };
    let write = |times, method, target: &str, body: &str| Sent {
        times,
        method,
        content_type: JSON,
        body: body.as_bytes().to_vec(),
        ..get(times, target, StatusCode::OK)
    };
    let mut sent = vec![
        get(20, SECRET, StatusCode::OK),
        get(10, "/api/v1/namespaces/ns/configmaps/config-of-p2", StatusCode::OK),
        get(5, "/api/v1/namespaces/ns/pods/p3", StatusCode::OK),
        get(5, "/api/v1/nodes/n1?resourceVersion=0", StatusCode::OK),
        get(
            2,
            "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=500&resourceVersion=0",
            StatusCode::OK,
        ),
        get(1, "/api/v1/namespaces/ns/secrets/secret-of-q1", StatusCode::FORBIDDEN),
        get(1, "/api/v1/nodes/n2", StatusCode::FORBIDDEN),
        get(1, "/version", StatusCode::OK),
        write(
            10,
            Method::PUT,
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1",
            LEASE,
        ),
        // Not all that has a node's certificate is a kubelet.
        write(2, Method::POST, "/api/v1/namespaces/default/events", EVENT),
        Sent {
            content_type: protobuf::CONTENT_TYPE,
            body: protobuf::event("n1", "p1", POD_UID),
            ..write(5, Method::POST, EVENTS, "")
        },
    ];
    for body in bodies::ordinary() {
        sent.push(Sent {
            times: 5,
            method: Method::from_bytes(body.method.as_bytes()).unwrap(),
            target: body.target,
            content_type: body.content_type,
            body: body.bytes,
            answer: StatusCode::OK,
        });
    }
    sent
}
