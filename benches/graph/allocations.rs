//! That a decision allocates nothing, whoever asks for what and however it ends.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test says what it expects by failing"
)]

mod cluster;
mod garden {
    pub(super) mod rows;
    pub(super) mod world;
}
mod rows;

use std::{alloc::System, hint::black_box, sync::Mutex};

use scopegate::{
    authorizer::{Authorizer, ExtraResources, ExtraRule, ExtraRules, ExtraTarget},
    caller::{Caller, Token, User},
    graph::{Anchor, Snapshot, Store},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use self::{
    cluster::{Cluster, Shape},
    garden::rows::gardenlet,
    rows::{Asked, gate, rows},
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Beside the rows of the benchmark: every other resource with rules of its own, the rules that go by the name alone, and
/// what has none.
const OTHERS: &[&str] = &[
    "GET /version",
    "GET /logs/secret",
    "GET /api/v1/secrets",
    "GET /api/v1/namespaces/ns0/secrets?fieldSelector=metadata.name%3Dsecret0-shared&watch=true",
    "PUT /api/v1/namespaces/ns0/secrets/secret0-shared",
    "GET /api/v1/namespaces/ns0/serviceaccounts/svcacct0-node0",
    "POST /api/v1/namespaces/ns0/serviceaccounts/svcacct0-node0/token",
    "POST /api/v1/namespaces/ns0/serviceaccounts/svcacct0-node1/token",
    "PATCH /api/v1/namespaces/ns0/persistentvolumeclaims/pvc0-pod0-node0/status",
    "GET /api/v1/nodes/node1",
    "GET /api/v1/nodes",
    "GET /api/v1/pods",
    "POST /api/v1/namespaces/ns0/pods/pod0-node0/eviction",
    "GET /api/v1/services?watch=true",
    "DELETE /api/v1/namespaces/ns0/services/web",
    "GET /apis/resource.k8s.io/v1/namespaces/ns0/resourceclaims/claim",
    "GET /apis/resource.k8s.io/v1/resourceslices/slice0-node0",
    "DELETE /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dnode0",
    "GET /apis/storage.k8s.io/v1/csinodes/node0",
    "GET /apis/certificates.k8s.io/v1beta1/namespaces/ns0/podcertificaterequests/r",
    "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
    "GET /apis/apps/v1/deployments",
];

/// The same for seeds. Only for deleting a bootstrap token, or the account that stands for one, a name has to be put together.
const OTHERS_OF_SEEDS: &[&str] = &[
    "GET /version",
    "GET /apis/core.gardener.cloud/v1beta1/seeds/seed0",
    "PATCH /apis/core.gardener.cloud/v1beta1/seeds/seed0/status",
    "GET /apis/core.gardener.cloud/v1beta1/seeds/seed1",
    "GET /apis/core.gardener.cloud/v1beta1/shoots",
    "GET /apis/core.gardener.cloud/v1beta1/namespaces/garden/shoots/seed0",
    "GET /apis/core.gardener.cloud/v1beta1/controllerinstallations?fieldSelector=spec.seedRef.name%3Dseed0",
    "GET /apis/core.gardener.cloud/v1beta1/controllerregistrations",
    "DELETE /apis/core.gardener.cloud/v1beta1/backupbuckets/bucket-seed0",
    "GET /apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/gardenlets?fieldSelector=metadata.name%3Dseed0",
    "POST /apis/certificates.k8s.io/v1/certificatesigningrequests",
    "DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:seed0",
    "GET /api/v1/namespaces/kube-system/configmaps/cluster-identity",
    "GET /api/v1/namespaces/gardener-system-public/configmaps/gardener-info",
    "GET /api/v1/namespaces/gardener-system-shoot-issuer/secrets/p0--uid",
    "GET /api/v1/namespaces/seed-seed0/secrets",
    "POST /api/v1/namespaces/seed-seed0/serviceaccounts/extension-x/token",
    "PUT /apis/coordination.k8s.io/v1/namespaces/seed-seed0/leases/x",
    "POST /api/v1/namespaces/garden-p0/events",
    "GET /apis/apps/v1/deployments",
];

/// One test at a time: each would count what the other allocates.
static ALONE: Mutex<()> = Mutex::new(());

/// Whatever another thread allocates meanwhile is not the decision's, which would do so every time.
const TRIES: usize = 10;

#[test]
fn a_decision_allocates_nothing() {
    let _alone = ALONE.lock();
    let mut store = Store::default();
    Cluster::new(Shape::new(3, 5)).unwrap().apply(&mut store);
    let graph = store.publish();
    for row in rows().unwrap() {
        assert_eq!(
            gate().decide(row.asked.attributes(&graph)).verdict,
            row.verdict,
            "{}",
            row.name
        );
        assert_eq!(allocations(&row.asked, &graph), 0, "{}", row.name);
    }
    for other in OTHERS {
        for caller in callers() {
            let head = Asked::new("", other).unwrap().head;
            let asked = Asked { caller, head };
            assert_eq!(allocations(&asked, &graph), 0, "{other} by {:?}", asked.caller);
        }
    }
}

#[test]
fn a_decision_about_a_seed_allocates_nothing() {
    let _alone = ALONE.lock();
    let shape = garden::world::Shape {
        seeds: 10,
        shoots_per_seed: 100,
        projects: 60,
        extensions: 2,
        managed_seeds: 1,
    };
    let mut store = Store::new(Anchor::Seed);
    for object in shape.objects() {
        store.apply(garden::world::read(&object).unwrap().as_ref());
    }
    let (gate, graph) = (garden::rows::gate(), store.publish());
    for row in garden::rows::rows().unwrap() {
        assert_eq!(
            gate.decide(row.asked.attributes(&graph)).verdict,
            row.verdict,
            "{}",
            row.name
        );
        assert_eq!(allocations_of(&gate, &row.asked, &graph), 0, "{}", row.name);
    }
    let extension = User {
        name: "system:serviceaccount:seed-seed0:extension-x".to_owned(),
        groups: ["", ":seed-seed0"]
            .map(|of| format!("system:serviceaccounts{of}"))
            .into(),
        ..User::default()
    };
    for caller in [gardenlet("seed0"), gardenlet("unknown"), extension.into()] {
        for other in OTHERS_OF_SEEDS {
            let asked = Asked::by(caller.clone(), other).unwrap();
            assert_eq!(
                allocations_of(&gate, &asked, &graph),
                0,
                "{other} by {:?}",
                asked.caller
            );
        }
    }
}

/// One of every kind.
fn callers() -> [Caller; 5] {
    let user = |name: &str, group: &str| User {
        name: name.to_owned(),
        groups: vec![group.to_owned(), "system:authenticated".to_owned()],
        ..User::default()
    };
    let joining = user("system:bootstrap:abcdef", "system:bootstrappers");
    [
        user("system:node:node0", "system:nodes").into(),
        user("system:node:", "system:nodes").into(),
        user("somebody", "people").into(),
        user("admin", "system:masters").into(),
        Caller::with_token(joining, &Token::new("abcdef.0123456789abcdef")),
    ]
}

/// With rules for everybody that no request is like, and one that some are.
fn with_extra_rules() -> Authorizer {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let resources = |resources| {
        ExtraTarget::Resources(ExtraResources {
            groups: words("apps *"),
            resources: words(resources),
            names: Vec::new(),
            namespaces: Vec::new(),
        })
    };
    let targets = [
        ExtraTarget::Paths(words("/metrics /logs/*")),
        resources("*/scale pods/log"),
        resources("deployments secrets"),
    ];
    let verbs = words("get list");
    let rules: Vec<ExtraRule> = targets
        .into_iter()
        .map(|target| ExtraRule {
            verbs: verbs.clone(),
            target,
        })
        .collect();
    Authorizer {
        extra: ExtraRules {
            nodes: rules.clone(),
            bootstrap: rules.clone(),
            others: rules,
        },
        ..gate()
    }
}

fn allocations(asked: &Asked, graph: &Snapshot) -> usize {
    [gate(), with_extra_rules()]
        .iter()
        .map(|gate| allocations_of(gate, asked, graph))
        .sum()
}

fn allocations_of(gate: &Authorizer, asked: &Asked, graph: &Snapshot) -> usize {
    let tries = (0..TRIES).map(|_| {
        let before = ALLOCATOR.stats();
        black_box(gate.decide(black_box(asked.attributes(graph))));
        let made = ALLOCATOR.stats() - before;
        made.allocations + made.reallocations
    });
    tries.min().unwrap()
}
