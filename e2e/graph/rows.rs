//! The gate decides as kube-apiserver's own Node authorizer does. The same objects are in two clusters: one with the Node
//! authorizer, which is asked directly, and one that refuses nodes nothing, before which the gate stands.

mod state;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use serde_json::json;

use self::state::fill;
use super::{Gated, admin_client, open_cluster, patched};
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{Answer, Client, PATIENCE},
    release, report,
};

/// A line of a table: who asks how for what, and the code that both give.
struct Row {
    /// As in `conformance/table.rs`; beyond its rows, a dash.
    number: &'static str,
    user: &'static str,
    method: &'static str,
    code: u16,
    target: &'static str,
}

/// In row 35 it is a configmap and a claim, since kube-apiserver itself lets no mirror pod name a secret.
const ROWS: &str = "
 7 two-names GET     403 /api/v1/nodes/n2
 7 two-names GET     200 /api/v1/nodes/n1
10 n1        GET     200 /api/v1/nodes?fieldSelector=metadata.name%3Dn1
10 n1        GET     200 /api/v1/nodes?fieldSelector=metadata.name%3Dn1&watch=&timeoutSeconds=1
10 n2        GET     403 /api/v1/nodes?fieldSelector=metadata.name%3Dn1
11 n1        GET     403 /api/v1/nodes
11 n1        GET     403 /api/v1/nodes/n2
13 n1        GET     403 /api/v1/watch/pods?fieldSelector=spec.nodeName=n1
14 n1        GET     403 /api/v1/pods?fieldSelector=spec.nodeName!=n2
14 n1        GET     403 /api/v1/pods?fieldSelector=spec.host=n1
14 n1        GET     403 /api/v1/pods?fieldSelector=spec.nodeName=n2
14 n1        GET     200 /api/v1/pods?fieldSelector=spec.nodeName=n1
14 n1        GET     200 /api/v1/pods?fieldSelector=spec.nodeName==n1,status.phase!=Failed
16 n1        GET     400 /api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=abc
17 n1        GET     403 /api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds1&limit=abc
23 n1        GET     200 /api/v1/nodes/n1/
25 n1        HEAD    405 /api/v1/nodes/n1
25 n1        POST    405 /api/v1/nodes/n1
25 n1        POST    405 /api/v1/pods
26 n1        OPTIONS 403 /api/v1/nodes
26 n1        get     403 /api/v1/nodes
28 n1        GET     403 /metrics
28 n1        GET     200 /apis
28 n1        GET     200 /version
29 n1        GET     200 /api/v1/namespaces/ns/secrets/s1
29 n1        GET     200 /api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds1
29 n1        GET     200 /api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds1&watch=1&timeoutSeconds=1
29 n1        GET     403 /api/v1/namespaces/ns/secrets
29 n1        GET     403 /api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds2
29 n1        GET     404 /api/v1/namespaces/ns/secrets/sx
29 n1        GET     403 /api/v1/namespaces/ns/secrets/nosuch
29 n1        GET     403 /api/v1/namespaces/default/secrets/s1
29 n1        GET     403 /api/v1/secrets/s1
29 n1        GET     403 /api/v1/namespaces/ns/secrets/s1/status
29 n1        PUT     403 /api/v1/namespaces/ns/secrets/s1
29 n1        DELETE  403 /api/v1/namespaces/ns/secrets/s1
29 n2        GET     403 /api/v1/namespaces/ns/secrets/s1
29 n2        GET     200 /api/v1/namespaces/ns/secrets/s2
29 n1        GET     200 /api/v1/namespaces/ns/configmaps/cm1
29 n2        GET     403 /api/v1/namespaces/ns/configmaps/cm1
31 n1        GET     200 /api/v1/namespaces/ns/pods/p1
31 n1        GET     403 /api/v1/namespaces/ns/pods/p2
31 n1        GET     403 /api/v1/namespaces/ns/pods/p0
31 n1        GET     403 /api/v1/namespaces/ns/pods/nosuch
31 n1        GET     200 /api/v1/namespaces/ns/pods?fieldSelector=metadata.name=p1
31 n1        GET     403 /api/v1/namespaces/ns/pods?fieldSelector=metadata.name=p2
32 n1        GET     200 /api/v1/persistentvolumes/pv1
32 n2        GET     403 /api/v1/persistentvolumes/pv1
32 n1        GET     403 /api/v1/persistentvolumes
32 n1        GET     200 /api/v1/namespaces/kube-system/secrets/stg
32 n1        GET     403 /api/v1/namespaces/kube-system/secrets/ctl
32 n1        GET     200 /api/v1/namespaces/ns/persistentvolumeclaims/pvc1
32 n1        GET     200 /api/v1/namespaces/ns/persistentvolumeclaims/p1-eph
32 n2        GET     403 /api/v1/namespaces/ns/persistentvolumeclaims/pvc1
34 n1        GET     200 /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rc1
34 n1        GET     200 /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rt-abc
34 n2        GET     403 /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rc1
34 n1        GET     403 /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims
34 n1        GET     403 /apis/resource.k8s.io/v1/namespaces/ns/resourceclaimtemplates
35 n1        GET     200 /api/v1/namespaces/ns/pods/m1
35 n1        GET     403 /api/v1/namespaces/ns/configmaps/cmm
35 n1        GET     403 /api/v1/namespaces/ns/persistentvolumeclaims/pvcm
38 n1        GET     403 /api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status
38 n2        PATCH   403 /api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status
40 n1        DELETE  403 /api/v1/nodes/n1
40 n1        GET     403 /api/v1/nodes/n1/status
40 n1        PUT     403 /api/v1/namespaces/ns/pods/p1
40 n1        GET     403 /api/v1/namespaces/ns/pods/p1/log
41 n1        GET     200 /apis/resource.k8s.io/v1/resourceslices/sl1
41 n1        GET     403 /apis/resource.k8s.io/v1/resourceslices/sl2
41 n1        GET     200 /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1
41 n1        DELETE  200 /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1&dryRun=All
41 n1        DELETE  403 /apis/resource.k8s.io/v1/resourceslices?dryRun=All
41 n1        DELETE  403 /apis/resource.k8s.io/v1/resourceslices/sl2
 - n1        GET     200 /apis/storage.k8s.io/v1/volumeattachments/va1
 - n2        GET     403 /apis/storage.k8s.io/v1/volumeattachments/va1
 - n1        GET     403 /apis/storage.k8s.io/v1/volumeattachments
 - n1        GET     403 /api/v1/namespaces/ns/serviceaccounts/sa2
 - n1        POST    403 /api/v1/namespaces/ns/serviceaccounts/sa2/token
 - n1        GET     403 /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2
 - n1        GET     403 /apis/storage.k8s.io/v1/csinodes/n2
 - n1        GET     200 /apis/certificates.k8s.io/v1/certificatesigningrequests
 - n1        GET     200 /api/v1/services
 - n1        GET     403 /api/v1/namespaces
";

/// Service accounts of pods are for credential providers, which is on since 1.34.
const SINCE_34: &str = "
 - n1        GET     200 /api/v1/namespaces/ns/serviceaccounts/sa1
";
const BEFORE_34: &str = "
 - n1        GET     403 /api/v1/namespaces/ns/serviceaccounts/sa1
";

/// What the gate refuses with 400 before any rule, since it could be read in two ways; the code is kube-apiserver's.
const AMBIGUOUS: &str = "
22 n1        GET     403 /api/v1/namespaces/ns%2Fsecrets%2Fs2
23 n1        GET     404 //api/v1/nodes/n1
";

/// Whom kube-apiserver does not take for a node, the gate does not either; upstream decides about these.
const NO_NODES: &str = "
 1 no-group  GET     403 /api/v1/namespaces/ns/secrets/s1
 2 no-name   GET     403 /api/v1/nodes/n1
";

#[tokio::test]
async fn the_gate_decides_as_the_node_authorizer_does() {
    let (Some(guarded), Some(open)) = (shared(Guard::Node).await, open_cluster().await) else {
        return;
    };
    fill(&guarded).await;
    fill(&open).await;
    let gate = Gated::start(&open, "rows", "").await;
    let mut compare = Compare::default();
    for user in ["n1", "n2", "two-names"] {
        compare.add(user, &guarded, &gate).await;
    }
    known(&compare).await;
    let of_release = if release::minor() < 34 { BEFORE_34 } else { SINCE_34 };
    for row in Row::all(ROWS).chain(Row::all(of_release)) {
        compare.row(&row, None).await;
    }
    for row in Row::all(AMBIGUOUS) {
        compare.row(&row, Some(400)).await;
    }
    ephemeral_container(&compare, [&*guarded, &*open]).await;

    // Upstream, which is the guarded one here, decides about others: the gate has no rule for them.
    let gate = Gated::start(&guarded, "no-nodes", "").await;
    for row in Row::all(NO_NODES) {
        compare.add(row.user, &guarded, &gate).await;
        compare.row(&row, None).await;
    }
    report::compared(
        "graph-rows",
        "reads, by the rules of the Node authorizer",
        compare.compared,
    );
    assert!(compare.different.is_empty(), "{}", compare.different.join("\n"));
}

impl Row {
    fn all(table: &'static str) -> impl Iterator<Item = Self> {
        let lines = table.lines().filter(|line| !line.is_empty());
        lines.map(|line| {
            let mut words = line.split_whitespace();
            let mut word = || words.next().unwrap();
            Self {
                number: word(),
                user: word(),
                method: word(),
                code: word().parse().unwrap(),
                target: word(),
            }
        })
    }

    fn written(&self) -> String {
        format!("{}: {} {} {}", self.number, self.user, self.method, self.target)
    }

    /// That n1 may read something.
    fn allowed(target: &'static str) -> Self {
        Self {
            number: "-",
            user: "n1",
            method: "GET",
            code: 200,
            target,
        }
    }
}

/// Clients of both, by the name of their user.
#[derive(Default)]
struct Compare {
    clients: HashMap<&'static str, (Client, Client)>,
    compared: usize,
    different: Vec<String>,
}

impl Compare {
    async fn add(&mut self, user: &'static str, guarded: &Cluster, gate: &Gated<'_>) {
        let direct = Client::new(&guarded.file(&format!("{user}.kubeconfig"))).await;
        self.clients.insert(user, (direct, gate.client(user).await));
    }

    async fn both(&self, row: &Row) -> (Answer, Answer) {
        let (direct, gated) = &self.clients[row.user];
        let (kind, body) = match row.method {
            "PATCH" => ("application/merge-patch+json", "{}"),
            "POST" | "PUT" => ("application/json", "{}"),
            _ => ("application/json", ""),
        };
        let request = || Request::builder().method(row.method).uri(row.target);
        (
            direct.send(request().header("content-type", kind), body).await.unwrap(),
            gated.send(request().header("content-type", kind), body).await.unwrap(),
        )
    }

    /// Both answer as the row says, and refusals are the same to the last letter; unless the gate is to give another code.
    async fn row(&mut self, row: &Row, stricter: Option<u16>) {
        let (direct, gated) = self.both(row).await;
        self.compared += 1;
        let expected = (row.code, stricter.unwrap_or(row.code));
        let same = stricter.is_some() || direct.code != StatusCode::FORBIDDEN || direct.body == gated.body;
        if (direct.code.as_u16(), gated.code.as_u16()) != expected || !same {
            self.different.push(format!(
                "{}\n  direct {} {}\n  gated  {} {}",
                row.written(),
                direct.code,
                direct.body,
                gated.code,
                gated.body
            ));
        }
    }

    async fn until(&self, row: &Row) {
        let began = Instant::now();
        loop {
            let (direct, gated) = self.both(row).await;
            if (direct.code.as_u16(), gated.code.as_u16()) == (row.code, row.code) {
                return;
            }
            let late = began.elapsed() > PATIENCE;
            assert!(!late, "{}: direct {} gated {}", row.written(), direct.body, gated.body);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Waits until kube-apiserver's own informers have seen the last of what was made.
async fn known(compare: &Compare) {
    for target in [
        "/api/v1/namespaces/ns/pods/m1",
        "/api/v1/namespaces/kube-system/secrets/stg",
        "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rt-abc",
        "/apis/resource.k8s.io/v1/resourceslices/sl1",
        "/apis/storage.k8s.io/v1/volumeattachments/va1",
    ] {
        compare.until(&Row::allowed(target)).await;
    }
}

/// Row 37.
async fn ephemeral_container(compare: &Compare, clusters: [&Cluster; 2]) {
    let row = Row::allowed("/api/v1/namespaces/ns/secrets/s9");
    let (direct, gated) = compare.both(&row).await;
    assert_eq!((direct.code.as_u16(), gated.code.as_u16()), (403, 403));
    for cluster in clusters {
        let container = json!({"name": "debug", "image": "i", "envFrom": [{"secretRef": {"name": "s9"}}]});
        let patch = json!({"spec": {"ephemeralContainers": [container]}});
        let path = "/api/v1/namespaces/ns/pods/p1/ephemeralcontainers";
        let kind = "application/strategic-merge-patch+json";
        patched(&admin_client(cluster).await, path, kind, &patch).await;
    }
    if release::minor() >= 33 {
        compare.until(&row).await;
        return;
    }
    // Before, kube-apiserver's own graph passes over the change; its kubelets need the secret all the same.
    let began = Instant::now();
    while compare.both(&row).await.1.code != StatusCode::OK {
        assert!(began.elapsed() < PATIENCE, "the gate passes over ephemeral containers");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
