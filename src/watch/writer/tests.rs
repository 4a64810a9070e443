use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::*;
use crate::{
    graph::{ManagedSeed, Seed, SeedClientRequest, Shoot, Watched, seed_request},
    watch::Config,
};

/// A writer of the graph of seeds, which runs for as long as something can be told to it.
struct Garden {
    changes: Changes,
    snapshot: Arc<ArcSwap<Snapshot>>,
    metrics: Metrics,
}

const TOKEN: Key<'static> = Key {
    kind: Kind::Secret,
    namespace: "kube-system",
    name: "bootstrap-token-872184",
};

impl Garden {
    fn new() -> Self {
        let metrics = Metrics::default();
        let state = State::new([], &Config::default());
        let (writer, changes) = Writer::new(Anchor::Seed, state, metrics.clone());
        let snapshot = writer.snapshot();
        tokio::spawn(writer.run());
        Self {
            changes,
            snapshot,
            metrics,
        }
    }

    async fn apply<T: Watched>(&self, object: Value) {
        self.tell(Change::Apply(slim::<T>(object))).await;
    }

    async fn delete<T: Watched>(&self, object: Value) {
        self.tell(Change::Delete(slim::<T>(object))).await;
    }

    async fn tell(&self, change: Change) {
        assert!(self.changes.send((Instant::now(), change)).await.is_ok());
        // Until it is done.
        while self.changes.capacity() < self.changes.max_capacity() {
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_millis(20)).await;
    }

    fn begins(&self) -> bool {
        self.snapshot.load().reaches("parent", TOKEN)
    }
}

fn slim<T: Watched>(object: Value) -> Box<dyn Asserts + Send + Sync> {
    Box::new(serde_json::from_value::<T>(object).unwrap())
}

fn shoot() -> Value {
    json!({"metadata": {"namespace": "garden", "name": "child"}, "spec": {"seedName": "parent"}})
}

fn managed_seed() -> Value {
    let spec = json!({"shoot": {"name": "child"}, "gardenlet": {"bootstrap": "BootstrapToken"}});
    json!({"metadata": {"namespace": "garden", "name": "child"}, "spec": spec})
}

fn seed(expires_in: i64) -> Value {
    let expires = Timestamp::from_second(Timestamp::now().as_second() + expires_in).unwrap();
    let status = json!({"clientCertificateExpirationTimestamp": expires.to_string()});
    json!({"metadata": {"name": "child"}, "status": status})
}

#[tokio::test]
async fn a_gardenlet_may_begin_until_there_is_a_seed() {
    let garden = Garden::new();
    garden.apply::<Shoot>(shoot()).await;
    garden.apply::<ManagedSeed>(managed_seed()).await;
    assert!(garden.begins());
    garden.apply::<Seed>(seed(3600)).await;
    assert!(!garden.begins());
    garden.delete::<Seed>(seed(3600)).await;
    assert!(garden.begins(), "it is gone");
    garden.delete::<ManagedSeed>(managed_seed()).await;
    assert!(!garden.begins());
}

#[tokio::test]
async fn a_gardenlet_may_begin_again_when_its_certificate_expires() {
    let garden = Garden::new();
    garden.apply::<Shoot>(shoot()).await;
    garden.apply::<Seed>(seed(1)).await;
    garden.apply::<ManagedSeed>(managed_seed()).await;
    assert!(!garden.begins());
    let expired = async {
        while !garden.begins() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(
        timeout(Duration::from_secs(10), expired).await.is_ok(),
        "though nothing happens"
    );
}

#[tokio::test]
async fn a_list_ends_the_leave_of_what_has_gone() {
    let garden = Garden::new();
    garden.apply::<Shoot>(shoot()).await;
    garden.apply::<ManagedSeed>(managed_seed()).await;
    assert!(garden.begins());
    let informed = crate::watch::Informed {
        collection: &crate::watch::kinds::PODS,
        kind: Kind::ManagedSeed,
        vital: false,
    };
    let state = State::new([informed], &Config::default());
    let listed = state.owns().next().unwrap().listed();
    garden
        .tell(Change::Listed(Kind::ManagedSeed, Seen::default(), listed))
        .await;
    assert!(!garden.begins());
}

#[tokio::test]
async fn only_what_changes_the_graph_of_seeds_is_counted() {
    let garden = Garden::new();
    for _ in 0..3 {
        garden.apply::<Shoot>(shoot()).await;
    }
    let usages = ["client auth", "digital signature", "key encipherment"];
    let request = seed_request("a");
    let spec = json!({"request": request, "usages": usages, "signerName": "kubernetes.io/kube-apiserver-client"});
    let request = json!({"metadata": {"name": "csr"}, "spec": spec});
    garden.apply::<SeedClientRequest>(request.clone()).await;
    garden.apply::<SeedClientRequest>(request.clone()).await;
    for _ in 0..2 {
        garden.delete::<SeedClientRequest>(request.clone()).await;
    }
    let mut registry = prometheus_client::registry::Registry::default();
    garden.metrics.register_garden(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let name = "gardener_admission_controller_seed_authorizer_graph_update_duration_seconds";
    for wanted in [
        format!("{name}_count{{kind=\"Shoot\",operation=\"CreateOrUpdate\"}} 1"),
        format!("{name}_count{{kind=\"CertificateSigningRequest\",operation=\"Create\"}} 1"),
        format!("{name}_count{{kind=\"CertificateSigningRequest\",operation=\"Delete\"}} 1"),
        format!("{name}_bucket{{le=\"0.0001\",kind=\"Shoot\",operation=\"CreateOrUpdate\"}}"),
        format!("{name}_bucket{{le=\"0.2048\",kind=\"Shoot\",operation=\"CreateOrUpdate\"}} 1"),
    ] {
        assert!(text.contains(&wanted), "{wanted} in {text}");
    }
}
