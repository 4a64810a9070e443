//! What a release learns from: a gate before the stand-in, with nodes that do what kubelets do. `make release` builds the gate so
//! that it counts what it does, has this program drive it, and builds it again with what was counted (`bench/release`).
//! It is no test: what is not answered as it should be ends it, since nobody could say what was learned then.
//!
//! `cargo run --example training -- PROGRAM ROUNDS`, where PROGRAM is a gate.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program for people to read, which may end with a message"
)]

/// What is written.
#[path = "../../benches/writes/bodies.rs"]
#[allow(dead_code, reason = "the benchmark of writes sends more")]
mod bodies;
/// A kubelet's requests.
mod kubelet;
/// What surrounds the gate, as it does where instructions are counted: clients and an API server.
#[path = "../../benches/instructions"]
mod around {
    pub(crate) mod peers;
}

use std::{
    env,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use http::{Method, StatusCode};
use scopegate::pki::Pki;
use tokio::time::timeout;

use self::{
    around::peers::{Client, Http, Site, Upstream},
    kubelet::Kubelet,
};

/// Connections at a time, of both versions of HTTP.
const CONNECTIONS: usize = 8;
/// Rounds on the same connections.
const SAME: usize = 5;
/// On the watch of each, in a round: kubelets are told of more than they ask for.
const EVENTS: usize = 25;
/// Until informers have all that there is, or a round is over. A gate that counts, on a busy machine, takes a while.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(100);

#[tokio::main]
async fn main() -> Result<()> {
    scopegate::server::tls::install_crypto();
    let words: Vec<String> = env::args().skip(1).collect();
    let [program, rounds] = words.as_slice() else {
        bail!("usage: training PROGRAM ROUNDS");
    };
    let rounds: usize = rounds.parse().context("ROUNDS is a number")?;
    let pki = Pki::new()?;
    let upstream = Upstream::start(&pki).await?;
    let site = Site::new(&pki, upstream.address)?;
    let mut gate = Gate::start(program, &site)?;
    gate.ready(&site).await?;
    for round in 0..rounds {
        // Most of what a kubelet asks for, it asks for on connections that it has.
        if round % SAME == 0 {
            eprintln!("training: {round} of {rounds} rounds");
            gate.kubelets = connect(&site, gate.address).await?;
        }
        timeout(PATIENCE, gate.round(&upstream))
            .await
            .with_context(|| format!("a round is not over after {PATIENCE:?}"))??;
        upstream.changes(round).await?;
    }
    gate.stop()
}

async fn connect(site: &Site, address: SocketAddr) -> Result<Vec<Kubelet>> {
    let mut kubelets = Vec::new();
    for number in 0..CONNECTIONS {
        let http = if number % 2 == 0 { Http::One } else { Http::Two };
        kubelets.push(Kubelet::connect(site, address, http).await?);
    }
    Ok(kubelets)
}

struct Gate {
    child: Child,
    address: SocketAddr,
    kubelets: Vec<Kubelet>,
}

impl Gate {
    /// Returns when it listens.
    fn start(program: &str, site: &Site) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg("serve").arg("--config").arg(site.path().join("gate.yaml"));
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the gate")?;
        let mut lines = BufReader::new(child.stderr.take().context("no standard error")?).lines();
        let address = loop {
            let line = lines.next().context("the gate has ended")??;
            let found = line.split(' ').find_map(|word| word.strip_prefix("serving="));
            if let Some(address) = found.filter(|_| line.contains("listening")) {
                break address.parse()?;
            }
        };
        // It must not wait for somebody to read.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Self {
            child,
            address,
            kubelets: Vec::new(),
        })
    }

    /// Waits until it allows what only the graph can.
    async fn ready(&self, site: &Site) -> Result<()> {
        let began = Instant::now();
        let mut client = Client::connect(site, self.address, Http::Two).await?;
        while client.send(&Method::GET, kubelet::SECRET, ("", &[])).await? != StatusCode::OK {
            ensure!(began.elapsed() < PATIENCE, "the gate is not ready after {PATIENCE:?}");
            tokio::time::sleep(AGAIN).await;
        }
        Ok(())
    }

    /// Of all kubelets, one after the other.
    async fn round(&mut self, upstream: &Upstream) -> Result<()> {
        for _ in 0..EVENTS {
            upstream.happens()?;
            for kubelet in &mut self.kubelets {
                kubelet.event().await?;
            }
        }
        for kubelet in &mut self.kubelets {
            kubelet.round().await?;
        }
        Ok(())
    }

    /// As an operator does, since what was counted is written at the end.
    fn stop(mut self) -> Result<()> {
        self.kubelets.clear();
        let pid = self.child.id().to_string();
        ensure!(
            Command::new("kill").arg(pid).status()?.success(),
            "the gate cannot be stopped"
        );
        let status = self.child.wait()?;
        ensure!(status.success(), "the gate ended with {status}");
        Ok(())
    }
}

/// Nothing is left behind when something was not answered as it should be.
impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
