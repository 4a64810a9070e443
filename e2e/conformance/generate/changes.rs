//! Places in bodies that rules speak of, and values to put there: JSON, or `-` to take something away.

mod pods;

use self::pods::{EVICTION, POD_STATUS, PODS, TOKEN};

pub(super) use self::pods::VOLUMES;

pub(super) type Place = (&'static str, &'static [&'static str]);

/// Of any object.
pub(super) const ODD: &[Place] = &[
    ("/metadata/name", &["\"ROUND-n2\"", "\"nosuch\"", "\"p2\"", "-", "\"\""]),
    ("/metadata/generateName", &["\"ROUND-gen-\""]),
    ("/metadata/namespace", &["\"default\"", "\"ROUND\"", "-"]),
    ("/metadata/uid", &["\"uid-of-n1\"", "\"uid-of-p1\"", "\"other\"", "-"]),
    ("/metadata/resourceVersion", &["\"1\"", "\"\"", "\"0\"", "\"abc\"", "-"]),
    ("/metadata/labels", &["{}", "-", "{\"a\":\"b\"}"]),
    ("/metadata/annotations", &["{}", "-", "{\"a\":\"c\"}"]),
    ("/metadata/finalizers", &["[\"e.com/a\"]", "[]", "-"]),
    (
        "/metadata/creationTimestamp",
        &["\"2020-01-01T00:00:00Z\"", "-", "null"],
    ),
    ("/metadata/deletionTimestamp", &["\"2020-01-01T00:00:00Z\""]),
    ("/kind", &["\"Pod\"", "\"Node\"", "-"]),
    ("/apiVersion", &["\"v1\"", "\"v2\"", "-"]),
    ("/unknown", &["{\"a\":1}"]),
];

/// For a resource and a subresource.
pub(super) fn of(resource: &str, sub: &str) -> &'static [Place] {
    match (resource, sub) {
        ("nodes", _) => NODES,
        ("pods", "") => PODS,
        ("pods", "status") => POD_STATUS,
        ("pods", "eviction") => EVICTION,
        ("serviceaccounts", _) => TOKEN,
        ("persistentvolumeclaims", _) => CLAIM_STATUS,
        ("leases.coordination.k8s.io", _) => LEASES,
        ("csinodes.storage.k8s.io", _) => CSI_NODES,
        ("resourceslices.resource.k8s.io", _) => SLICES,
        ("certificatesigningrequests.certificates.k8s.io", _) => SIGNING_REQUESTS,
        _ => ODD,
    }
}

const NODES: &[Place] = &[
    ("/metadata/labels/kubernetes.io~1hostname", &["\"x\"", "-"]),
    (
        "/metadata/labels/node-role.kubernetes.io~1worker",
        &["\"\"", "\"x\"", "-"],
    ),
    ("/metadata/labels/node-role.kubernetes.io~1x", &["\"\""]),
    ("/metadata/labels/topology.kubernetes.io~1zone", &["\"z\"", "-"]),
    ("/metadata/labels/topology.kubernetes.io~1rack", &["\"z\""]),
    ("/metadata/labels/x.node.kubernetes.io~1a", &["\"z\""]),
    ("/metadata/labels/kubelet.kubernetes.io~1a", &["\"z\""]),
    ("/metadata/labels/a.node-restriction.kubernetes.io~1b", &["\"z\"", "-"]),
    ("/metadata/labels/node-restriction.kubernetes.io~1b", &["\"z\""]),
    ("/metadata/labels/k8s.io~1x", &["\"z\""]),
    ("/metadata/labels/xkubernetes.io~1x", &["\"z\""]),
    ("/metadata/labels/example.com~1kept", &["\"z\"", "-"]),
    ("/metadata/labels/free", &["\"z\"", "\"not valid\"", "1"]),
    ("/metadata/labels", &["-", "{}"]),
    ("/metadata/annotations/a", &["\"z\"", "-"]),
    ("/metadata/name", &["\"ROUND-n2\"", "-"]),
    (
        "/metadata/ownerReferences",
        &[
            "[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"ROUND-n1\",\"uid\":\"uid-of-n1\"}]",
            "[]",
            "-",
        ],
    ),
    (
        "/spec/taints",
        &[
            "[]",
            "-",
            "[{\"key\":\"t\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]",
            "[{\"key\":\"u\",\"effect\":\"NoExecute\"}]",
        ],
    ),
    ("/spec/taints/0/effect", &["\"NoExecute\"", "-"]),
    ("/spec/taints/0/timeAdded", &["\"2026-11-16T12:00:00Z\""]),
    (
        "/spec/configSource",
        &[
            "{\"configMap\":{\"name\":\"c\",\"namespace\":\"ROUND\",\"kubeletConfigKey\":\"k\"}}",
            "{}",
        ],
    ),
    ("/spec/unschedulable", &["true", "false", "-"]),
    ("/spec/podCIDR", &["\"10.1.0.0/24\""]),
    ("/spec/podCIDRs", &["[\"10.1.0.0/24\"]", "[\"nonsense\"]"]),
    ("/spec/providerID", &["\"p://1\""]),
    ("/spec", &["{}", "-"]),
    (
        "/status/capacity",
        &["{\"cpu\":\"4\"}", "{\"cpu\":4}", "{\"cpu\":\"nonsense\"}"],
    ),
    (
        "/status/addresses",
        &["[{\"type\":\"InternalIP\",\"address\":\"192.0.2.9\"}]", "[]"],
    ),
    ("/status/daemonEndpoints", &["{\"kubeletEndpoint\":{\"Port\":10250}}"]),
    ("/metadata/uid", &["\"uid-of-n1\"", "\"uid-of-n2\""]),
    ("/$patch", &["\"replace\"", "\"delete\"", "\"nonsense\""]),
    ("/metadata/$patch", &["\"replace\""]),
    ("/metadata/labels/$patch", &["\"replace\"", "\"delete\""]),
    ("/metadata/$retainKeys", &["[\"name\",\"labels\"]", "[\"labels\"]"]),
    ("/spec/$patch", &["\"replace\"", "\"delete\""]),
];

const CLAIM_STATUS: &[Place] = &[
    (
        "/status/capacity",
        &["{\"storage\":\"3Gi\"}", "-", "{\"storage\":\"nonsense\"}"],
    ),
    ("/status/phase", &["\"Bound\"", "\"Pending\"", "\"Lost\"", "-"]),
    (
        "/status/conditions",
        &["[{\"type\":\"FileSystemResizePending\",\"status\":\"True\"}]", "[]"],
    ),
    ("/status/allocatedResources", &["{\"storage\":\"1Gi\"}"]),
    (
        "/status/allocatedResourceStatuses",
        &["{\"storage\":\"NodeResizeInProgress\"}"],
    ),
    ("/status/accessModes", &["[\"ReadWriteOnce\"]"]),
    ("/metadata/labels", &["{\"a\":\"b\"}", "-"]),
    ("/metadata/annotations/a", &["\"b\""]),
    ("/metadata/finalizers", &["[\"e.com/a\"]", "[]"]),
    ("/metadata/resourceVersion", &["\"1\"", "-"]),
    ("/spec/volumeName", &["\"other\"", "-"]),
    (
        "/spec/resources/requests/storage",
        &["\"2Gi\"", "\"1Gi\"", "\"1024Mi\""],
    ),
    ("/spec/volumeMode", &["\"Block\"", "-"]),
    ("/status/currentVolumeAttributesClassName", &["\"c\""]),
];

const LEASES: &[Place] = &[
    ("/metadata/name", &["\"ROUND-n2\"", "-"]),
    ("/metadata/generateName", &["\"ROUND-gen-\""]),
    ("/metadata/namespace", &["-", "\"default\""]),
    ("/spec/holderIdentity", &["\"other\"", "-"]),
    ("/spec/leaseDurationSeconds", &["0", "50", "\"x\""]),
    ("/spec/renewTime", &["\"nonsense\"", "-"]),
    (
        "/metadata/ownerReferences",
        &["[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"ROUND-n1\",\"uid\":\"uid-of-n1\"}]"],
    ),
    ("/metadata/resourceVersion", &["\"1\"", "-"]),
];

const CSI_NODES: &[Place] = &[
    ("/metadata/name", &["\"ROUND-n2\"", "-"]),
    ("/metadata/generateName", &["\"ROUND-gen-\""]),
    (
        "/spec/drivers",
        &["[]", "[{\"name\":\"e\",\"nodeID\":\"n\",\"topologyKeys\":[]}]"],
    ),
    ("/spec/drivers/0/nodeID", &["\"m\"", "-"]),
    ("/metadata/labels/free", &["\"z\""]),
];

const SLICES: &[Place] = &[
    ("/spec/nodeName", &["\"ROUND-n2\"", "-", "\"\"", "\"ROUND-n1\""]),
    ("/spec/allNodes", &["true"]),
    ("/spec/driver", &["\"e.com\"", "-"]),
    ("/spec/pool/generation", &["2"]),
    ("/metadata/name", &["\"ROUND-made\"", "-"]),
    ("/metadata/generateName", &["\"gen-\""]),
    ("/metadata/labels/free", &["\"z\""]),
    ("/spec/devices", &["[{\"name\":\"d\"}]"]),
];

const SIGNING_REQUESTS: &[Place] = &[
    (
        "/spec/signerName",
        &[
            "\"kubernetes.io/kubelet-serving\"",
            "\"kubernetes.io/kube-apiserver-client-kubelet\"",
            "\"example.com/s\"",
            "-",
        ],
    ),
    (
        "/spec/request",
        &[
            "\"request-of-n1\"",
            "\"request-of-n2\"",
            "\"bm9uc2Vuc2U=\"",
            "-",
            "\"\"",
        ],
    ),
    ("/spec/usages", &["[\"server auth\",\"digital signature\"]", "[]"]),
    ("/spec/username", &["\"admin\""]),
    ("/spec/groups", &["[\"system:masters\"]"]),
    ("/spec/expirationSeconds", &["600", "1"]),
    ("/metadata/name", &["-"]),
    ("/metadata/generateName", &["\"ROUND-gen-\""]),
    (
        "/status",
        &["{\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\"}]}"],
    ),
];
