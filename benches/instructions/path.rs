//! Whole requests: from the bytes of a client over TLS through the gate to an API server over TLS, and back.
//!
//! All that the gate does is counted, in all of its threads: TLS, HTTP, the pipeline, metrics, the log, the audit event up to the
//! file. What it does by itself all the time (it looks at its files, at the health of the API server) comes on top of some counts,
//! and now and then bytes come in more pieces: so each scenario is counted a few times, and the median is the figure.

use std::{thread::sleep, time::Duration};

use anyhow::{Context as _, Result, ensure};
use http::{Method, StatusCode};
use scopegate::pki::Pki;

use super::{
    bodies::{self, NODE_STATUS},
    gate,
    peers::{Client, Http, Site, Upstream},
    stored::Counted,
    valgrind::{Counting, Valgrind},
};

/// Requests in one count, and before the first, so that connections are open and nothing is done for the first time.
const TIMES: u64 = 50;
const BEFORE: u64 = 30;
/// Counts of one scenario; odd, so that there is one in the middle.
const COUNTS: usize = 5;
/// Until the gate has written down what it has answered.
const QUIET: Duration = Duration::from_millis(30);
/// Where bytes are cut into reads and when a timer comes differs from run to run, by half a percent.
const TOLERANCE: f64 = 3.0;

const OWN_SECRET: &str = "/api/v1/namespaces/ns/secrets/secret-of-p1";
const FOREIGN_SECRET: &str = "/api/v1/namespaces/ns/secrets/secret-of-q1";
/// What kubelets patch with.
const PATCH: &str = "application/strategic-merge-patch+json";
const WATCH: &str =
    "/api/v1/pods?allowWatchBookmarks=true&fieldSelector=spec.nodeName%3Dn1&resourceVersion=1&watch=true";

pub(super) fn count(valgrind: &Valgrind) -> Result<Vec<Counted>> {
    // With a thread of its own, so that the API server answers whatever is waited for here.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let pki = Pki::new()?;
    let upstream = runtime.block_on(Upstream::start(&pki))?;
    let site = Site::new(&pki, upstream.address)?;
    let folder = site.path().display().to_string();
    let mut gate = valgrind.start(&[gate::WORD, &folder])?;
    let address = gate.line()?;
    let address = address.with_context(|| format!("the gate did not start: {}", gate.said()))?;
    let address = address.parse()?;

    let mut all = Vec::new();
    let mut scenario = |name: &str, each: &mut dyn FnMut() -> Result<()>| {
        all.push(Counted {
            name: format!("request: {name}"),
            instructions: median(&mut gate, name, each)?,
            tolerance: TOLERANCE,
        });
        anyhow::Ok(())
    };
    let heartbeat = bodies::ordinary().swap_remove(0).bytes;
    for (name, http, method, target, body, code) in [
        (
            "get own secret, HTTP/1.1",
            Http::One,
            Method::GET,
            OWN_SECRET,
            &[][..],
            StatusCode::OK,
        ),
        (
            "get own secret, HTTP/2",
            Http::Two,
            Method::GET,
            OWN_SECRET,
            &[],
            StatusCode::OK,
        ),
        (
            "patch node status, HTTP/2",
            Http::Two,
            Method::PATCH,
            NODE_STATUS,
            &heartbeat,
            StatusCode::OK,
        ),
        (
            "get foreign secret, refused, HTTP/2",
            Http::Two,
            Method::GET,
            FOREIGN_SECRET,
            &[],
            StatusCode::FORBIDDEN,
        ),
    ] {
        let mut client = runtime.block_on(Client::connect(&site, address, http))?;
        scenario(name, &mut || {
            let answered = runtime.block_on(client.send(&method, target, (PATCH, body)))?;
            ensure!(answered == code, "{name} is answered {answered}");
            Ok(())
        })?;
    }
    let mut client = runtime.block_on(Client::connect(&site, address, Http::Two))?;
    let mut watch = runtime.block_on(client.open(WATCH))?;
    scenario("an event of a watch, HTTP/2", &mut || {
        upstream.happens()?;
        runtime.block_on(watch.event())
    })?;
    Ok(all)
}

/// The median of a few counts, for one time.
fn median(gate: &mut Counting, name: &str, each: &mut dyn FnMut() -> Result<()>) -> Result<u64> {
    (0..BEFORE).try_for_each(|_| each())?;
    sleep(QUIET);
    gate.mark()?;
    let mut counts = [0; COUNTS];
    for count in &mut counts {
        (0..TIMES).try_for_each(|_| each())?;
        sleep(QUIET);
        *count = gate.mark()? / TIMES;
    }
    gate.name(name)?;
    counts.sort_unstable();
    Ok(counts[COUNTS / 2])
}
