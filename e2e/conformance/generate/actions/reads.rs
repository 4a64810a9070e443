//! What kubelets read, and what they may not.

use super::{CSI_NODES, SIGNING_REQUESTS, SLICES, parts};
use crate::conformance::{
    case::Who,
    generate::{Generator, Parts, resources::named},
};

/// Of which nodes read single objects, and nothing below these.
const SINGLE: &[&str] = &[
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "persistentvolumes",
    "resourceclaims.resource.k8s.io",
    "volumeattachments.storage.k8s.io",
    "serviceaccounts",
    CSI_NODES,
    SLICES,
];

impl Generator {
    pub(super) fn read(&mut self, who: Who, node: &str) -> Parts {
        let number = &node[node.len() - 1..];
        let second = who == Who::N2;
        let name = |first: &'static str, other: &'static str| if second { other } else { first };
        let selector = format!("fieldSelector=spec.nodeName%3D{node}");
        let many = self.random.pick(&["list", "watch"]);
        match self.random.below(20) {
            0 => parts(who, "get", "nodes", node),
            1 => parts(who, many, "nodes", "").query(format!("fieldSelector=metadata.name%3D{node}")),
            2 => parts(who, many, "pods", "").within("").query(selector),
            3 | 4 => {
                let pod = self.pod(who);
                parts(who, "get", "pods", pod)
            }
            5 => parts(who, many, "pods", "").query(format!("fieldSelector=metadata.name%3D{}", self.pod(who))),
            6 => parts(who, "get", "secrets", name(self.random.pick(&["s1", "s9", "sx"]), "s2")),
            7 => parts(who, many, "secrets", "").query(format!("fieldSelector=metadata.name%3D{}", name("s1", "s2"))),
            8 => parts(who, "get", "configmaps", "cm1"),
            9 => parts(who, many, "configmaps", "").query("fieldSelector=metadata.name%3Dcm1".to_owned()),
            10 => parts(
                who,
                "get",
                "persistentvolumeclaims",
                self.random.pick(&["pvc1", "p1-eph", "pvc2"]),
            ),
            11 => parts(who, "get", "persistentvolumes", "ROUND-pv1"),
            12 => parts(
                who,
                "get",
                "volumeattachments.storage.k8s.io",
                &format!("ROUND-va{number}"),
            ),
            13 => parts(
                who,
                "get",
                "resourceclaims.resource.k8s.io",
                self.random.pick(&["rc1", "rt-abc", "rc2"]),
            ),
            14 => parts(who, "get", "serviceaccounts", name("sa1", "sa2")),
            15 => parts(who, "get", SLICES, &format!("ROUND-sl{number}")),
            16 => parts(who, many, SLICES, "").query(selector),
            17 => {
                let resource = self.random.pick(&[
                    "services",
                    "csidrivers.storage.k8s.io",
                    "runtimeclasses.node.k8s.io",
                    SIGNING_REQUESTS,
                ]);
                let verb = self.random.pick(&["list", "watch", "get"]);
                let resource_name = if verb == "get" {
                    self.random.pick(named(resource).names)
                } else {
                    ""
                };
                parts(who, verb, resource, resource_name).within(if resource == "services" { "default" } else { "" })
            }
            18 => parts(who, "get", "endpoints", "shared").within("default"),
            _ => parts(who, "get", "secrets", self.random.pick(&["ROUND-stg", "ROUND-ctl"])).within("kube-system"),
        }
    }

    /// Something below an object or without its namespace, which nobody asks for by mistake.
    pub(super) fn read_amiss(&mut self, who: Who) -> Parts {
        let resource = self.random.pick(SINGLE);
        let verb = self.random.pick(&["get", "get", "get", "list", "create"]);
        let name = self.random.pick(named(resource).names);
        let read = parts(who, verb, resource, name);
        match self.random.below(3) {
            0 if read.resource.namespaced => read.within(""),
            _ => {
                let sub = self.random.pick(&["status", "log", "nosuch"]);
                read.sub(sub)
            }
        }
    }
}
