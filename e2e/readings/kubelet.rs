//! Ordinary traffic, which must not be refused.

/// What a kubelet sends from its start to its end, and what shares its credentials.
pub(super) const KUBELET: &[(&str, &str)] = &[
    ("GET", "/healthz"),
    ("GET", "/healthz?timeout=10s"),
    ("GET", "/version"),
    ("GET", "/api/v1"),
    ("GET", "/apis/certificates.k8s.io/v1beta1"),
    ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests"),
    (
        "GET",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=metadata.name%3Dcsr-x7k2p&limit=500&resourceVersion=0",
    ),
    (
        "GET",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dcsr-x7k2p&resourceVersion=12&timeoutSeconds=3600&watch=true",
    ),
    ("POST", "/api/v1/nodes"),
    ("GET", "/api/v1/nodes/node-a"),
    ("GET", "/api/v1/nodes/node-a?resourceVersion=0&timeout=10s"),
    ("PATCH", "/api/v1/nodes/node-a/status?timeout=10s"),
    (
        "GET",
        "/api/v1/nodes?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnode-a&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=412&watch=true",
    ),
    (
        "GET",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a?timeout=10s",
    ),
    (
        "POST",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases?timeout=10s",
    ),
    (
        "PUT",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a?timeout=10s",
    ),
    (
        "GET",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a&limit=500&resourceVersion=0",
    ),
    (
        "GET",
        "/api/v1/pods?allowWatchBookmarks=true&fieldSelector=spec.nodeName%3Dnode-a&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=531&watch=true",
    ),
    ("GET", "/api/v1/namespaces/kube-system/pods/etcd-node-a"),
    ("POST", "/api/v1/namespaces/kube-system/pods"),
    ("PATCH", "/api/v1/namespaces/default/pods/web-7d4b9c-x2x/status"),
    ("DELETE", "/api/v1/namespaces/default/pods/web-7d4b9c-x2x"),
    ("POST", "/api/v1/namespaces/default/pods/web-7d4b9c-x2x/eviction"),
    (
        "GET",
        "/api/v1/services?fieldSelector=spec.clusterIP%21%3DNone&limit=500&resourceVersion=0",
    ),
    ("GET", "/api/v1/namespaces/default/secrets/web-tls"),
    (
        "GET",
        "/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dweb-tls&limit=500&resourceVersion=0",
    ),
    (
        "GET",
        "/api/v1/namespaces/default/configmaps?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dkube-root-ca.crt&resourceVersion=731&timeoutSeconds=1954&watch=true",
    ),
    ("GET", "/api/v1/namespaces/default/persistentvolumeclaims/data"),
    ("PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/data/status"),
    ("GET", "/api/v1/persistentvolumes/pvc-0b7f"),
    ("GET", "/apis/storage.k8s.io/v1/volumeattachments/csi-9f2c"),
    ("GET", "/apis/storage.k8s.io/v1/csidrivers?limit=500&resourceVersion=0"),
    ("GET", "/apis/storage.k8s.io/v1/csinodes/node-a?resourceVersion=0"),
    ("POST", "/apis/storage.k8s.io/v1/csinodes"),
    ("PUT", "/apis/storage.k8s.io/v1/csinodes/node-a"),
    ("DELETE", "/apis/storage.k8s.io/v1/csinodes/node-a"),
    ("POST", "/api/v1/namespaces/default/serviceaccounts/web/token"),
    ("GET", "/api/v1/namespaces/default/serviceaccounts/web"),
    ("GET", "/apis/node.k8s.io/v1/runtimeclasses?limit=500&resourceVersion=0"),
    ("GET", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"),
    (
        "DELETE",
        "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.driver%3Dgpu.example.com%2Cspec.nodeName%3Dnode-a",
    ),
    (
        "GET",
        "/apis/certificates.k8s.io/v1beta1/clustertrustbundles?limit=500&resourceVersion=0",
    ),
    (
        "POST",
        "/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests",
    ),
    (
        "GET",
        "/apis/certificates.k8s.io/v1beta1/podcertificaterequests?fieldSelector=spec.nodeName%3Dnode-a&watch=true",
    ),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews"),
    ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"),
    ("POST", "/api/v1/namespaces/default/events"),
    (
        "PATCH",
        "/api/v1/namespaces/default/events/web-7d4b9c-x2x.17f3a2b9c4d5e6f7",
    ),
    ("POST", "/apis/events.k8s.io/v1/namespaces/default/events"),
    (
        "GET",
        "/api/v1/nodes?limit=500&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ%3D%3D",
    ),
    (
        "GET",
        "/apis/discovery.k8s.io/v1/endpointslices?labelSelector=%21service.kubernetes.io%2Fheadless%2C%21service.kubernetes.io%2Fservice-proxy-name&limit=500&resourceVersion=0",
    ),
];
