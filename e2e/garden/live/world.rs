//! A garden with two seeds, a third one that is a shoot of the first, and the gardenlets of all three behind a gate. Everything is
//! named after the test, so that many can share a cluster.

use std::{collections::HashMap, net::SocketAddr, sync::Arc};

use http::{Request, StatusCode};
use scopegate::demo::site;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{
    objects,
    served::{CORE, Gardens, MANAGEMENT, Served, garden},
};
use crate::{
    cluster::Cluster,
    gate::{Answer, Client, Process, ready},
    graph::{admin_client, created, patched, post},
};

pub(super) const JSON: &str = "application/json";
pub(super) const MERGE: &str = "application/merge-patch+json";
pub(super) const APPLY: &str = "application/apply-patch+yaml";

const SURE: &str = "graph: {lagWait: 10ms, liveReads: {burst: 10000, perSecond: 10000}}\n";

pub(super) struct World {
    pub(super) cluster: Arc<Cluster>,
    pub(super) served: Served,
    pub(super) admin: Client,
    /// What every name here begins with.
    pub(super) test: &'static str,
    _gardens: Arc<Gardens>,
}

/// How the gate is told to treat seeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) profile: &'static str,
    pub(super) fallback: &'static str,
    pub(super) identity: &'static str,
}

pub(super) struct Gated {
    pub(super) cluster: Arc<Cluster>,
    pub(super) name: String,
    pub(super) process: Process,
    pub(super) serving: SocketAddr,
    pub(super) admin: SocketAddr,
    clients: Mutex<HashMap<String, Client>>,
}

impl World {
    /// The state of the contract: seeds `a` and `b`, shoot `s1` on the one and `s2` on the other, a managed seed `child` whose shoot is
    /// on `a`, and `s4` on that.
    pub(super) async fn open(served: Served, test: &'static str) -> Option<Self> {
        let (cluster, gardens) = garden(served).await?;
        let admin = admin_client(&cluster).await;
        let world = Self {
            cluster,
            served,
            admin,
            test,
            _gardens: gardens,
        };
        world.fill().await;
        Some(world)
    }

    /// With the name of the test where there is a `{t}`.
    pub(super) fn named(&self, text: &str) -> String {
        text.replace("{t}", self.test)
            .replace("{core}", CORE)
            .replace("{management}", MANAGEMENT)
    }

    async fn fill(&self) {
        for (name, role) in [
            ("garden-{t}1", "project"),
            ("garden-{t}2", "project"),
            ("seed-{t}-a", "seed"),
        ] {
            let name = self.named(name);
            let labels = json!({"gardener.cloud/role": role, "project.gardener.cloud/name": self.named("{t}p1")});
            let namespace = json!({"metadata": {"name": name, "labels": labels}});
            created(&self.admin, "/api/v1/namespaces", &namespace).await;
        }
        for (place, name) in [
            ("garden-{t}1", "x"),
            ("garden-{t}1", "y"),
            ("garden", "{t}-u"),
            ("seed-{t}-a", "s"),
        ] {
            let secret = json!({"metadata": {"name": self.named(name)}});
            let path = format!("/api/v1/namespaces/{}/secrets", self.named(place));
            created(&self.admin, &path, &secret).await;
        }
        for name in ["cp1", "cp2"] {
            self.create(
                "{core}/cloudprofiles",
                objects::cloud_profile(&self.named(&format!("{{t}}-{name}"))),
            )
            .await;
        }
        for seed in ["a", "b"] {
            let name = self.seed(seed);
            self.create("{core}/seeds", objects::seed(&name)).await;
            self.gardenlet(seed);
        }
        self.gardenlet("child");
        let binding = objects::binding(&self.named("garden-{t}1"), "x");
        self.create("{core}/namespaces/garden-{t}1/secretbindings", binding)
            .await;
        let project = objects::project(&self.named("{t}p1"), &self.named("garden-{t}1"));
        self.create("{core}/projects", project).await;
        for (place, name, seed, profile) in [
            ("garden-{t}1", "s1", "a", "{t}-cp1"),
            ("garden-{t}2", "s2", "b", "{t}-cp2"),
            ("garden", "{t}-child", "a", "{t}-cp1"),
            ("garden-{t}1", "s4", "child", "{t}-cp2"),
        ] {
            self.shoot(place, name, seed, profile).await;
        }
        let child = objects::managed_seed(&self.seed("child"));
        self.create("{management}/namespaces/garden/managedseeds", child).await;
        for seed in ["a", "b"] {
            let bucket = objects::bucket(&self.bucket(seed).await, Some(&self.seed(seed)));
            self.create("{core}/backupbuckets", bucket).await;
        }
    }

    pub(super) fn seed(&self, seed: &str) -> String {
        format!("{}-{seed}", self.test)
    }

    /// What the bucket of a seed is called: the uid of the seed.
    pub(super) async fn bucket(&self, seed: &str) -> String {
        let path = format!("{CORE}/seeds/{}", self.seed(seed));
        let seed = self.admin.get(&path).await.json();
        seed["metadata"]["uid"].as_str().unwrap().to_owned()
    }

    pub(super) async fn create(&self, path: &str, object: Value) {
        created(&self.admin, &self.named(path), &object).await;
    }

    pub(super) async fn shoot(&self, place: &str, name: &str, seed: &str, profile: &str) {
        let (place, seed) = (self.named(place), self.seed(seed));
        let shoot = objects::shoot(&place, &self.named(name), &seed, &self.named(profile));
        self.create(&format!("{{core}}/namespaces/{place}/shoots"), shoot).await;
    }

    /// As an administrator, whatever it is.
    pub(super) async fn patch(&self, path: &str, patch: Value) {
        patched(&self.admin, &self.named(path), MERGE, &patch).await;
    }

    /// The certificate of a gardenlet, in a file by the name of its seed.
    fn gardenlet(&self, seed: &str) {
        let seed = self.seed(seed);
        let user = format!("gardener.cloud:system:seed:{seed}");
        self.cluster.user(&seed, &user, Some("gardener.cloud:system:seeds"));
    }

    /// Where nothing changes behind its back, a gate need not wait to be sure.
    pub(super) async fn gate(&self, rules: Rules) -> Gated {
        self.gate_with("", rules, SURE).await
    }

    /// With more of configuration, and a name if there is another one already.
    pub(super) async fn gate_with(&self, name: &str, rules: Rules, more: &str) -> Gated {
        let gate = Gated::start(&self.cluster, &format!("{}{name}", self.test), rules, more).await;
        ready(gate.admin).await;
        gate
    }

    /// A token of a service account in the namespace of seed `a`, which is made for it.
    pub(super) async fn token(&self, account: &str) -> String {
        let path = self.named("/api/v1/namespaces/seed-{t}-a/serviceaccounts");
        created(&self.admin, &path, &json!({"metadata": {"name": account}})).await;
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = post(&self.admin, &format!("{path}/{account}/token"), &request).await;
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
        answer.json()["status"]["token"].as_str().unwrap().to_owned()
    }
}

impl Rules {
    pub(super) const fn new(profile: &'static str, fallback: &'static str, identity: &'static str) -> Self {
        Self {
            profile,
            fallback,
            identity,
        }
    }

    pub(super) fn leaves_to_upstream(self) -> bool {
        self.fallback == "Upstream"
    }
}

impl Gated {
    /// It need not be ready.
    pub(super) async fn start(cluster: &Arc<Cluster>, name: &str, rules: Rules, more: &str) -> Self {
        let Rules {
            profile,
            fallback,
            identity,
        } = rules;
        let others = if rules.leaves_to_upstream() { "Forward" } else { "Deny" };
        let callers = format!(
            "callers: {{others: {others}, seeds: {{enabled: true, profile: {profile}, fallback: {fallback}}}}}\n{more}"
        );
        let process = Process::serve(&cluster.configuration(&format!("{name}.yaml"), identity, &callers));
        let (serving, admin) = process.addresses().await;
        Self {
            cluster: Arc::clone(cluster),
            name: name.to_owned(),
            process,
            serving,
            admin,
            clients: Mutex::default(),
        }
    }

    /// With the certificate in a file by that name; always the same, which keeps its connections.
    pub(super) async fn client(&self, user: &str) -> Client {
        let mut clients = self.clients.lock().await;
        if let Some(client) = clients.get(user) {
            return client.clone();
        }
        let file = format!("{}-{user}-client", self.name);
        let client = Client::new(&self.cluster.kubeconfig(&file, user, self.serving)).await;
        clients.insert(user.to_owned(), client.clone());
        client
    }

    /// Without a certificate.
    pub(super) async fn nobody(&self) -> Client {
        let path = self.cluster.file(&format!("{}-nobody.kubeconfig", self.name));
        std::fs::write(&path, site::kubeconfig(self.serving, None)).unwrap();
        Client::new(&path).await
    }

    pub(super) async fn metrics(&self) -> String {
        crate::gate::admin(self.admin, Request::get("/metrics"), "").await.body
    }

    pub(super) async fn readyz(&self) -> Answer {
        crate::gate::admin(self.admin, Request::get("/readyz?verbose"), "").await
    }
}
