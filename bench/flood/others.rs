//! Nodes that do little, and wait for it.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use http::StatusCode;
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;

use super::NODES;
use crate::{
    load::{Answers, Protocol, Sender, request},
    world::World,
};

/// What became of all that they asked.
#[derive(Debug, Default)]
pub(super) struct Others {
    pub(super) reads: Answers,
    pub(super) renewals: Renewals,
    failed: usize,
}

#[derive(Debug, Default)]
pub(super) struct Renewals {
    pub(super) latencies: Answers,
    pub(super) failed: usize,
}

/// A node at work.
struct Node {
    number: usize,
    sender: Sender,
    /// As it is stored.
    lease: Value,
}

/// A read and a renewal.
const PACE: Duration = Duration::from_millis(50);
/// Renewals of the node that floods.
const SLOW: Duration = Duration::from_millis(250);

impl Others {
    /// All nodes but the first, for so long.
    pub(super) async fn measure(world: &World, gate: SocketAddr, length: Duration) -> Self {
        let nodes = (1..NODES).map(async |number| {
            let mut node = Node::open(world, gate, number).await;
            let (mut reads, mut renewals, mut failed) = (Vec::new(), Vec::new(), (0, 0));
            let until = Instant::now() + length;
            let mut ticks = tokio::time::interval(PACE);
            tokio::time::sleep(PACE * number as u32 / NODES as u32).await;
            while Instant::now() < until {
                ticks.tick().await;
                node.read().await.map_or_else(|| failed.0 += 1, |time| reads.push(time));
                node.renew()
                    .await
                    .map_or_else(|| failed.1 += 1, |time| renewals.push(time));
            }
            (reads, renewals, failed)
        });
        let mut all = Self::default();
        for (reads, renewals, failed) in join_all(nodes).await {
            all.reads.latencies.extend(reads);
            all.renewals.latencies.latencies.extend(renewals);
            all.failed += failed.0;
            all.renewals.failed += failed.1;
        }
        all.reads.latencies.sort_unstable();
        all.renewals.latencies.latencies.sort_unstable();
        all
    }

    /// Requests that were not answered with 200.
    pub(super) fn failed(&self) -> usize {
        self.failed + self.renewals.failed
    }
}

impl Renewals {
    /// One node alone.
    pub(super) async fn of(world: &World, gate: SocketAddr, number: usize, length: Duration) -> Self {
        let mut node = Node::open(world, gate, number).await;
        let (mut renewals, until) = (Self::default(), Instant::now() + length);
        let mut ticks = tokio::time::interval(SLOW);
        while Instant::now() < until {
            ticks.tick().await;
            match node.renew().await {
                Some(time) => renewals.latencies.latencies.push(time),
                None => renewals.failed += 1,
            }
        }
        renewals.latencies.latencies.sort_unstable();
        renewals
    }
}

impl Node {
    async fn open(world: &World, gate: SocketAddr, number: usize) -> Self {
        let lease = world.admin.get(&lease(number)).await.json();
        let sender = Sender::open(world, gate, number, Protocol::Http2).await;
        Self { number, sender, lease }
    }

    async fn read(&mut self) -> Option<Duration> {
        let target = format!("/api/v1/namespaces/default/secrets/secret-n{}", self.number);
        let request = request("GET", &target).body(Full::default()).unwrap();
        Some(self.ask(request).await?.0)
    }

    /// With the version that is stored, as kubelets do it.
    async fn renew(&mut self) -> Option<Duration> {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
        self.lease["spec"]["renewTime"] = now.into();
        let request = request("PUT", &lease(self.number)).header("content-type", "application/json");
        let request = request.body(Full::from(self.lease.to_string())).unwrap();
        let (time, lease) = self.ask(request).await?;
        self.lease = lease;
        Some(time)
    }

    async fn ask(&mut self, request: http::Request<Full<bytes::Bytes>>) -> Option<(Duration, Value)> {
        let began = Instant::now();
        let response = self.sender.send(request).await.unwrap();
        let code = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let time = began.elapsed();
        (code == StatusCode::OK).then(|| (time, serde_json::from_slice(&body).unwrap()))
    }
}

fn lease(node: usize) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n{node}")
}
