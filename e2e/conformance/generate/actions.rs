//! What kubelets do.

mod reads;

use super::{
    Generator, Parts, bodies,
    changes::VOLUMES,
    resources::{PODS, named},
};
use crate::conformance::case::{Body, Form, Who};

const LEASES: &str = "leases.coordination.k8s.io";
const CSI_NODES: &str = "csinodes.storage.k8s.io";
const SLICES: &str = "resourceslices.resource.k8s.io";
const SIGNING_REQUESTS: &str = "certificatesigningrequests.certificates.k8s.io";

fn parts(who: Who, verb: &'static str, resource: &str, name: &str) -> Parts {
    let resource = named(resource);
    Parts {
        who,
        verb,
        resource,
        namespace: if resource.namespaced { "ROUND" } else { "" },
        name: name.to_owned(),
        sub: String::new(),
        query: Vec::new(),
        body: None,
    }
}

impl Parts {
    fn sub(mut self, sub: &str) -> Self {
        sub.clone_into(&mut self.sub);
        self
    }

    fn within(mut self, namespace: &'static str) -> Self {
        self.namespace = namespace;
        self
    }

    fn query(mut self, piece: String) -> Self {
        self.query.push(piece);
        self
    }

    fn with(mut self, body: Body) -> Self {
        self.body = Some(body);
        self
    }

    /// Where the object itself is.
    fn object(&self) -> String {
        format!("{}/{}", self.resource.path(self.namespace), self.name)
    }
}

impl Generator {
    pub(super) fn action(&mut self) -> Parts {
        let who = self.who();
        let node = format!("ROUND-{}", who.node());
        match self.random.below(28) {
            0..=3 => self.read(who, &node),
            4 | 5 => self.node(who, &node),
            6 | 7 => self.change(parts(who, "patch", "nodes", &node).sub("status")),
            8 => self.change(parts(who, "patch", "nodes", &node)),
            9 | 10 => self.lease(who, &node),
            11 => self.csi_node(who, &node),
            12..=14 => self.mirror(who, &node),
            15 => self.delete_pod(who),
            16 | 17 => {
                let pod = self.pod(who);
                self.change(parts(who, "patch", "pods", pod).sub("status"))
            }
            18 => self.evict(who),
            19 | 20 => self.token(who),
            21 => self.change(parts(who, "patch", "persistentvolumeclaims", "pvc1").sub("status")),
            22 => self.slice(who, &node),
            23 => self.signing_request(who),
            24 => self.event(who),
            25 if self.random.one_in(2) => self.read_amiss(who),
            25 | 26 => self.read(who, &node),
            _ => self.review(who),
        }
    }

    /// Mostly one of its own.
    fn pod(&mut self, who: Who) -> &'static str {
        match who {
            Who::N2 => self.random.pick(&["p2", "p2", "d5", "p1"]),
            _ => self.random.pick(&PODS[..9]),
        }
    }

    fn object_form(&mut self) -> Form {
        if self.protobuf && self.random.one_in(2) {
            Form::Protobuf
        } else {
            Form::Json
        }
    }

    fn node(&mut self, who: Who, node: &str) -> Parts {
        let form = self.object_form();
        if self.random.one_in(3) {
            let value = bodies::registration(node);
            return parts(who, "create", "nodes", "").with(bodies::body(value, form));
        }
        let mut put = parts(who, "update", "nodes", node);
        let body = bodies::stored(&put.object(), form);
        if self.random.one_in(2) {
            put = put.sub("status");
        }
        put.with(body)
    }

    /// A patch of some type, or the whole object.
    fn change(&mut self, mut parts: Parts) -> Parts {
        let form = self
            .random
            .pick(&[Form::Strategic, Form::Strategic, Form::MergePatch, Form::JsonPatch]);
        if self.random.one_in(4) {
            parts.verb = "update";
            let form = self.object_form();
            let body = bodies::stored(&parts.object(), form);
            return parts.with(body);
        }
        let value = match (parts.resource.name, parts.sub.as_str()) {
            ("nodes", "status") => bodies::node_status(form == Form::Strategic),
            ("nodes", _) => serde_json::json!({"metadata": {"annotations": {"cri-socket": "x"}}}),
            ("pods", _) => bodies::pod_status(&parts.name),
            ("persistentvolumeclaims", _) => bodies::claim_status(),
            ("resourceslices.resource.k8s.io", _) => serde_json::json!({"metadata": {"labels": {"x": "y"}}}),
            ("events", _) => serde_json::json!({"count": 2}),
            _ => serde_json::json!({"metadata": {"annotations": {"x": "y"}}}),
        };
        parts.with(bodies::body(value, form))
    }

    fn lease(&mut self, who: Who, node: &str) -> Parts {
        let place = |verb, name: &str| parts(who, verb, LEASES, name).within("kube-node-lease");
        let form = self.object_form();
        match self.random.below(6) {
            0 => place("get", node),
            1 => place("create", "").with(bodies::body(bodies::lease(node), form)),
            2 => self.change(place("patch", node)),
            3 => place("delete", node),
            4 => place("update", node).with(bodies::body(bodies::lease(node), form)),
            _ => {
                let put = place("update", node);
                let body = bodies::stored(&put.object(), form);
                put.with(body)
            }
        }
    }

    fn csi_node(&mut self, who: Who, node: &str) -> Parts {
        let form = self.object_form();
        match self.random.below(5) {
            0 => parts(who, "get", CSI_NODES, node),
            1 | 2 => parts(who, "create", CSI_NODES, "").with(bodies::body(bodies::csi_node(node), form)),
            3 => self.change(parts(who, "patch", CSI_NODES, node)),
            _ => parts(who, "delete", CSI_NODES, node),
        }
    }

    fn mirror(&mut self, who: Who, node: &str) -> Parts {
        let form = self.object_form();
        let name = format!("made-{}", self.random.below(100_000));
        let uid = format!("uid-of-{}", who.node());
        let mut value = bodies::mirror(&name, node, &uid);
        if self.random.one_in(5) {
            value["spec"]["volumes"][1] = serde_json::from_str(self.random.pick(VOLUMES)).unwrap();
        }
        parts(who, "create", "pods", "").with(bodies::body(value, form))
    }

    fn delete_pod(&mut self, who: Who) -> Parts {
        let pod = self
            .random
            .pick(&["d1", "d2", "d3", "d4", "p1", "m1", "d5", "p2", "nosuch", "p0"]);
        let delete = parts(who, "delete", "pods", pod);
        match self.random.below(4) {
            0 => delete.query("gracePeriodSeconds=0".to_owned()),
            _ => {
                let form = self.object_form();
                delete.with(bodies::body(bodies::delete_options(), form))
            }
        }
    }

    fn evict(&mut self, who: Who) -> Parts {
        let pod = self
            .random
            .pick(&["d1", "d2", "d3", "p1", "d5", "p2", "nosuch", "p0", "m1"]);
        let form = self.object_form();
        let value = bodies::eviction(pod);
        parts(who, "create", "pods", pod)
            .sub("eviction")
            .with(bodies::body(value, form))
    }

    fn token(&mut self, who: Who) -> Parts {
        let (account, pod, audiences): (_, _, &[&str]) = match (who, self.random.below(6)) {
            (Who::N2, _) => ("sa2", "p2", &[]),
            (_, 0) => ("sa1", "p3", &["aud1"]),
            (_, 1) => ("sa1", "p1", &["csi-aud"]),
            (_, 2) => ("sa3", "p3", &["aud3"]),
            (_, 4) if self.random.one_in(4) => ("sa1", "p1", &["aud1", "csi-aud"]),
            (_, 3) => ("sa1", self.random.pick(&["p1", "p2", "p0"]), &["aud1"]),
            _ => ("sa1", "p1", &["aud1"]),
        };
        let form = self.object_form();
        let value = bodies::token(pod, audiences);
        parts(who, "create", "serviceaccounts", account)
            .sub("token")
            .with(bodies::body(value, form))
    }

    fn slice(&mut self, who: Who, node: &str) -> Parts {
        let number = &node[node.len() - 1..];
        let name = format!("ROUND-{}{number}", self.random.pick(&["sl", "sx"]));
        match self.random.below(7) {
            0..=2 => {
                let made = format!("ROUND-made-{}", self.random.below(100_000));
                let form = self.object_form();
                parts(who, "create", SLICES, "").with(bodies::body(bodies::slice(&made, node), form))
            }
            3 | 4 => self.change(parts(who, "patch", SLICES, &name)),
            5 => parts(who, "delete", SLICES, &name),
            _ => parts(who, "deletecollection", SLICES, "").query(format!("fieldSelector=spec.nodeName%3D{node}")),
        }
    }

    fn signing_request(&mut self, who: Who) -> Parts {
        let form = self.object_form();
        let name = format!("ROUND-csr-{}", self.random.below(100_000));
        let signer = self.random.pick(&[
            "kubernetes.io/kubelet-serving",
            "kubernetes.io/kube-apiserver-client-kubelet",
        ]);
        let mut request = format!("request-of-{}", who.node());
        if self.random.one_in(8) {
            request = "request-of-n2".to_owned();
        }
        let mut value = bodies::signing_request(&name, signer, &request);
        if signer.ends_with("serving") {
            value["spec"]["usages"] = serde_json::json!(["digital signature", "server auth"]);
        }
        parts(who, "create", SIGNING_REQUESTS, "").with(bodies::body(value, form))
    }

    fn event(&mut self, who: Who) -> Parts {
        let form = self.object_form();
        let name = format!("e-{}", self.random.below(100_000));
        match self.random.below(3) {
            0 => self.change(parts(who, "patch", "events", "e1")),
            1 => parts(who, "update", "events", &name).with(bodies::body(bodies::event(&name), form)),
            _ => parts(who, "create", "events", "").with(bodies::body(bodies::event(&name), form)),
        }
    }

    fn review(&mut self, who: Who) -> Parts {
        let form = self.object_form();
        let (resource, value) = match self.random.below(3) {
            0 => ("tokenreviews.authentication.k8s.io", bodies::token_review()),
            1 => (
                "subjectaccessreviews.authorization.k8s.io",
                bodies::access_review(false),
            ),
            _ => (
                "localsubjectaccessreviews.authorization.k8s.io",
                bodies::access_review(true),
            ),
        };
        parts(who, "create", resource, "").with(bodies::body(value, form))
    }
}
