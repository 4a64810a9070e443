//! Of pods, and of tokens that are bound to them.

use super::Place;

pub(super) const PODS: &[Place] = &[
    (
        "/metadata/annotations/kubernetes.io~1config.mirror",
        &["-", "\"\"", "\"other\""],
    ),
    ("/metadata/annotations", &["-"]),
    ("/metadata/labels", &["{\"a\":\"b\"}"]),
    ("/metadata/name", &["-", "\"ROUND-made\"", "\"p1\""]),
    ("/metadata/generateName", &["\"gen-\""]),
    ("/metadata/namespace", &["-", "\"default\""]),
    ("/metadata/ownerReferences", &["-", "[]"]),
    ("/metadata/ownerReferences/0/controller", &["-", "false"]),
    ("/metadata/ownerReferences/0/blockOwnerDeletion", &["true", "false"]),
    ("/metadata/ownerReferences/0/uid", &["\"other\"", "\"uid-of-n2\"", "-"]),
    ("/metadata/ownerReferences/0/name", &["\"ROUND-n2\"", "-"]),
    ("/metadata/ownerReferences/0/kind", &["\"Pod\""]),
    ("/metadata/ownerReferences/0/apiVersion", &["\"v2\""]),
    (
        "/metadata/ownerReferences/1",
        &["{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"ROUND-n2\",\"uid\":\"uid-of-n2\"}"],
    ),
    ("/spec/nodeName", &["\"ROUND-n2\"", "-", "\"\""]),
    ("/spec/serviceAccountName", &["\"sa1\"", "\"\""]),
    ("/spec/serviceAccount", &["\"sa1\""]),
    (
        "/spec/imagePullSecrets",
        &["[{\"name\":\"s1\"}]", "[{\"name\":\"\"}]", "[]"],
    ),
    (
        "/spec/resourceClaims",
        &["[{\"name\":\"r\",\"resourceClaimName\":\"rc1\"}]", "[]"],
    ),
    (
        "/spec/containers/0/envFrom",
        &[
            "[{\"secretRef\":{\"name\":\"s1\"}}]",
            "[{\"configMapRef\":{\"name\":\"cm1\"}}]",
        ],
    ),
    (
        "/spec/containers/0/env",
        &[
            "[{\"name\":\"E\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s1\",\"key\":\"k\"}}}]",
            "[{\"name\":\"E\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"cm1\",\"key\":\"k\"}}}]",
            "[{\"name\":\"E\",\"value\":\"x\"}]",
        ],
    ),
    ("/spec/volumes/2", VOLUMES),
    ("/spec/volumes/0", VOLUMES),
    ("/spec/volumes/-", VOLUMES),
    ("/spec/hostNetwork", &["false", "-"]),
    (
        "/preconditions",
        &[
            "{\"uid\":\"uid-of-p1\"}",
            "{\"uid\":\"uid-of-d1\"}",
            "{\"uid\":\"other\"}",
            "{\"uid\":\"\"}",
            "{\"resourceVersion\":\"1\"}",
        ],
    ),
    ("/gracePeriodSeconds", &["0", "1", "-", "-1"]),
    ("/propagationPolicy", &["\"Background\"", "\"nonsense\""]),
    ("/dryRun", &["[\"All\"]"]),
    ("/orphanDependents", &["true"]),
];

pub(in super::super) const VOLUMES: &[&str] = &[
    "{\"name\":\"v\",\"secret\":{\"secretName\":\"s1\"}}",
    "{\"name\":\"v\",\"configMap\":{\"name\":\"cm1\"}}",
    "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"pvc1\"}}",
    "{\"name\":\"v\",\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}}}",
    "{\"name\":\"v\",\"csi\":{\"driver\":\"d\"}}",
    "{\"name\":\"v\",\"glusterfs\":{\"endpoints\":\"e\",\"path\":\"p\"}}",
    "{\"name\":\"v\",\"azureFile\":{\"secretName\":\"\",\"shareName\":\"s\"}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{}]}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{\"configMap\":{\"name\":\"\"}}]}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{\"secret\":{\"name\":\"\"}}]}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"p\"}}]}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{\"clusterTrustBundle\":{\"name\":\"b\",\"path\":\"p\"}}]}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{\"podCertificate\":{\"signerName\":\"e.com/s\",\"keyType\":\"ED25519\",\"credentialBundlePath\":\"p\"}}]}}",
    "{\"name\":\"v\",\"projected\":{\"sources\":[{\"downwardAPI\":{\"items\":[]}}]}}",
    "{\"name\":\"v\",\"emptyDir\":{}}",
    "{\"name\":\"v\",\"nosuch\":{}}",
    "{\"name\":\"v\",\"nfs\":{\"server\":\"s\",\"path\":\"/p\"}}",
];

pub(super) const POD_STATUS: &[Place] = &[
    ("/metadata/labels", &["{\"app\":\"two\"}", "-", "{}"]),
    ("/metadata/labels/app", &["\"one\"", "\"two\"", "-"]),
    ("/metadata/labels/new", &["\"x\""]),
    ("/metadata/annotations/a", &["\"z\"", "-"]),
    (
        "/metadata/annotations/kubernetes.io~1config.mirror",
        &["\"other\"", "-"],
    ),
    ("/metadata/uid", &["-", "\"uid-of-p2\"", "\"other\"", "\"uid-of-p1\""]),
    ("/metadata/name", &["\"p2\"", "-"]),
    ("/metadata/finalizers", &["[\"e.com/a\"]"]),
    (
        "/metadata/ownerReferences",
        &["[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u\"}]"],
    ),
    (
        "/status/resourceClaimStatuses",
        &[
            "[]",
            "-",
            "[{\"name\":\"rt\",\"resourceClaimName\":\"rt-abc\"},{\"name\":\"ru\",\"resourceClaimName\":\"ru-abc\"}]",
            "[{\"name\":\"ru\",\"resourceClaimName\":\"ru-abc\"},{\"name\":\"rt\",\"resourceClaimName\":\"rt-abc\"}]",
            "[{\"name\":\"rt\",\"resourceClaimName\":\"rc2\"}]",
        ],
    ),
    ("/status/resourceClaimStatuses/0/resourceClaimName", &["\"rc2\"", "-"]),
    (
        "/status/$setElementOrder~1resourceClaimStatuses",
        &[
            "[{\"name\":\"ru\"},{\"name\":\"rt\"}]",
            "[{\"name\":\"rt\"},{\"name\":\"ru\"}]",
        ],
    ),
    (
        "/status/extendedResourceClaimStatus",
        &[
            "{\"resourceClaimName\":\"rc2\",\"requestMappings\":[{\"containerName\":\"c\",\"resourceName\":\"e.com/r\",\"requestName\":\"q\"}]}",
            "-",
        ],
    ),
    (
        "/status/phase",
        &["\"Running\"", "\"Failed\"", "\"Succeeded\"", "\"nonsense\""],
    ),
    (
        "/status/conditions",
        &["[{\"type\":\"Ready\",\"status\":\"False\"}]", "[]", "-"],
    ),
    (
        "/status/podIPs",
        &["[{\"ip\":\"10.0.0.8\"}]", "[{\"ip\":\"nonsense\"}]"],
    ),
    ("/status/message", &["\"m\""]),
    ("/status/qosClass", &["\"Guaranteed\""]),
    ("/spec/nodeName", &["\"ROUND-n1\"", "\"ROUND-n2\"", "-"]),
    ("/spec/serviceAccountName", &["\"sa2\""]),
    ("/status/$patch", &["\"replace\"", "\"delete\""]),
    ("/$patch", &["\"replace\""]),
    ("/status", &["-", "{}"]),
];

pub(super) const EVICTION: &[Place] = &[
    ("/metadata/name", &["\"p2\"", "-", "\"p1\""]),
    ("/metadata/namespace", &["-", "\"default\""]),
    (
        "/deleteOptions",
        &[
            "{}",
            "{\"gracePeriodSeconds\":0}",
            "{\"preconditions\":{\"uid\":\"uid-of-d1\"}}",
            "{\"preconditions\":{\"uid\":\"other\"}}",
            "{\"dryRun\":[\"All\"]}",
        ],
    ),
    ("/apiVersion", &["\"policy/v1beta1\"", "\"v1\"", "-"]),
    ("/kind", &["-", "\"Pod\""]),
];

pub(super) const TOKEN: &[Place] = &[
    ("/spec/boundObjectRef", &["-", "{}"]),
    ("/spec/boundObjectRef/kind", &["\"Secret\"", "\"Node\"", "-"]),
    ("/spec/boundObjectRef/apiVersion", &["\"v2\"", "-"]),
    (
        "/spec/boundObjectRef/name",
        &["\"p2\"", "\"p3\"", "\"p0\"", "\"nosuch\"", "-", "\"m1\""],
    ),
    (
        "/spec/boundObjectRef/uid",
        &["-", "\"other\"", "\"uid-of-p2\"", "\"uid-of-p3\"", "\"uid-of-p1\""],
    ),
    (
        "/spec/audiences",
        &[
            "[]",
            "-",
            "[\"aud1\"]",
            "[\"csi-aud\"]",
            "[\"nosuch\"]",
            "[\"aud1\",\"csi-aud\"]",
            "[\"\"]",
        ],
    ),
    ("/spec/expirationSeconds", &["600", "1", "-"]),
    ("/metadata/name", &["\"sa1\"", "\"sa2\""]),
    ("/metadata/uid", &["\"uid-of-sa1\"", "\"uid-of-sa2\""]),
    ("/metadata/namespace", &["\"ROUND\"", "\"default\""]),
];
