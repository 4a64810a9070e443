//! Looks at every node all the while, as an administrator who asks kube-apiserver itself: what its node lifecycle controller
//! would see.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, StatusCode};
use jiff::Timestamp;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::checks::LEASES;
use crate::gate::Client;

pub(super) struct Sampler {
    seen: Arc<Mutex<Seen>>,
    looking: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    /// How old the oldest lease was, at its oldest, and whose.
    oldest: (Duration, String),
    ready: BTreeSet<String>,
    /// Nodes that had been ready.
    lost: BTreeSet<String>,
    samples: usize,
}

const EVERY: Duration = Duration::from_secs(1);

impl Sampler {
    pub(super) fn start(admin: Client) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        let looking = tokio::spawn(async move {
            loop {
                for (path, note) in [
                    (LEASES, Seen::leases as fn(&mut Seen, &Value)),
                    ("/api/v1/nodes", Seen::nodes),
                ] {
                    // While kube-apiserver is down, nobody sees anything.
                    let answer = admin.send(Request::get(path), "").await;
                    if let Some(answer) = answer.ok().filter(|answer| answer.code == StatusCode::OK) {
                        note(&mut shared.lock().unwrap(), &answer.json());
                    }
                }
                tokio::time::sleep(EVERY).await;
            }
        });
        Self { seen, looking }
    }

    /// The oldest that any lease was since this was asked before, which has to be no older than `most`. And no node that was
    /// ready has ceased to be.
    pub(super) fn oldest_lease(&self, most: Duration) -> Duration {
        let mut seen = self.seen.lock().unwrap();
        assert!(seen.samples > 0, "nobody has looked at the leases");
        seen.samples = 0;
        let (age, node) = std::mem::take(&mut seen.oldest);
        let lost = seen.lost.clone();
        drop(seen);
        assert!(
            age <= most,
            "the lease of {node} was {age:?} old; {most:?} were to be expected"
        );
        assert!(lost.is_empty(), "these nodes were ready and then were not: {lost:?}");
        age
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

impl Seen {
    fn leases(&mut self, list: &Value) {
        let now = Timestamp::now();
        for lease in list["items"].as_array().unwrap() {
            let renewed: Timestamp = lease["spec"]["renewTime"].as_str().unwrap().parse().unwrap();
            let age = Duration::try_from(now.duration_since(renewed)).unwrap_or_default();
            if age > self.oldest.0 {
                self.oldest = (age, name(lease));
            }
        }
        self.samples += 1;
    }

    fn nodes(&mut self, list: &Value) {
        let nodes = list["items"].as_array().unwrap();
        let (ready, not): (Vec<&Value>, Vec<&Value>) = nodes.iter().partition(|node| is_ready(node));
        self.ready.extend(ready.into_iter().map(name));
        let lost = not.into_iter().map(name).filter(|node| self.ready.contains(node));
        self.lost.extend(lost.collect::<Vec<_>>());
    }
}

pub(super) fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}
