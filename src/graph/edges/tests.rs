use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    Asserts, CertificateSigningRequest, CsiDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod,
    PodCertificateRequest, ResourceSlice, ServiceAccount, VolumeAttachment, Watched,
};
use crate::graph::{Driver, Facts, TokenSource, Tokens};

/// What an object says, in order.
pub(super) fn told<T: Asserts + DeserializeOwned>(object: &Value) -> Vec<String> {
    // As it comes from the API server, not as a tree of values.
    let slim: T = serde_json::from_str(&object.to_string()).unwrap();
    let mut told = Vec::new();
    slim.edges(&mut |edge| told.push(format!("{:?} {} by {}", edge.field.relation(), edge.other, edge.field)));
    told.sort();
    told
}

/// With all that the graph does not want.
fn pod() -> Value {
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": "p1",
            "generateName": "p",
            "namespace": "ns",
            "uid": "3d0a3ad0-5e6a-4e0e-9f5e-0d2f3d1f9c11",
            "resourceVersion": "4711",
            "generation": 1,
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app": "web", "kubernetes.io/config.mirror": "only counts as an annotation"},
            "annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z", "quoted\"\u{e9}": "{\"a\":[1]}"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": true}],
            "managedFields": [{
                "manager": "kubelet",
                "operation": "Update",
                "apiVersion": "v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:volumes": {".": {}, "k:{\"name\":\"s\"}": {".": {}, "f:secret": {}}}}},
            }],
        },
        "spec": {
            "volumes": [
                {"name": "s", "secret": {"secretName": "s1", "defaultMode": 420}},
                {"name": "eph", "ephemeral": {"volumeClaimTemplate": {"metadata": {"creationTimestamp": null},
                    "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv9"}}}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "pvc1"}},
                {"name": "kube-api-access-abcde", "projected": {"defaultMode": 420, "sources": [
                    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token", "audience": "aud1"}},
                    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
                ]}},
                {"name": "tmp", "emptyDir": {}},
            ],
            "containers": [{
                "name": "web",
                "image": "example.org/web:1",
                "env": [
                    {"name": "A", "value": "1"},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "sx", "key": "b", "optional": true}}},
                    {"name": "C", "valueFrom": {"fileKeyRef": {"volumeName": "tmp", "path": "c", "key": "c"}}},
                ],
                "envFrom": [{"configMapRef": {"name": "cm1"}, "prefix": "P_"}],
                "resources": {"limits": {"cpu": "1"}, "claims": [{"name": "direct"}]},
                "volumeMounts": [{"name": "s", "readOnly": true, "mountPath": "/s"}],
            }],
            "serviceAccountName": "sa1",
            "serviceAccount": "sa1",
            "nodeName": "n1",
            "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 300}],
            "resourceClaims": [
                {"name": "direct", "resourceClaimName": "rc1"},
                {"name": "rt", "resourceClaimTemplateName": "t"},
                {"name": "unneeded", "resourceClaimTemplateName": "t"},
                {"name": "later", "resourceClaimTemplateName": "t"},
            ],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": null}],
            "resourceClaimStatuses": [
                {"name": "unneeded"},
                {"name": "rt", "resourceClaimName": "rt-abc"},
                {"name": "direct", "resourceClaimName": "not-this-one"},
                {"name": "stranger", "resourceClaimName": "nor-this-one"},
            ],
            "extendedResourceClaimStatus": {"resourceClaimName": "ext", "requestMappings": []},
        },
    })
}

#[test]
fn a_pod_tells_all_that_it_needs() {
    let expected = [
        "BelongsTo node n1 by spec.nodeName",
        "Needs configmap ns/cm1 by spec.containers[0].envFrom[0].configMapRef.name",
        "Needs configmap ns/kube-root-ca.crt by spec.volumes[3].projected.sources[1].configMap.name",
        "Needs persistentvolumeclaim ns/p1-eph by spec.volumes[1].ephemeral",
        "Needs persistentvolumeclaim ns/pvc1 by spec.volumes[2].persistentVolumeClaim.claimName",
        "Needs resourceclaim ns/ext by status.extendedResourceClaimStatus.resourceClaimName",
        "Needs resourceclaim ns/rc1 by spec.resourceClaims[0].resourceClaimName",
        "Needs resourceclaim ns/rt-abc by status.resourceClaimStatuses[1].resourceClaimName",
        "Needs secret ns/s1 by spec.volumes[0].secret.secretName",
        "Needs secret ns/sx by spec.containers[0].env[1].valueFrom.secretKeyRef.name",
        "Needs serviceaccount ns/sa1 by spec.serviceAccountName",
    ];
    assert_eq!(told::<Pod>(&pod()), expected);

    let slim: Pod = serde_json::from_value(pod()).unwrap();
    assert_eq!(slim.key().to_string(), "pod ns/p1");
    assert_eq!(slim.meta().uid(), "3d0a3ad0-5e6a-4e0e-9f5e-0d2f3d1f9c11");
    assert_eq!(slim.meta().resource_version(), "4711");
    assert_eq!(slim.facts(), None);

    let mut unscheduled = pod();
    unscheduled["spec"]["nodeName"] = json!("");
    assert_eq!(told::<Pod>(&unscheduled), expected[1..]);
}

#[test_case(json!({"kubernetes.io/config.mirror": "hash"}), true; "mirror")]
#[test_case(json!({"kubernetes.io/config.mirror": ""}), true; "any value")]
#[test_case(json!({"a": "b", "kubernetes.io/config.mirror": "x", "z": "y"}), true; "among others")]
#[test_case(json!({"kubernetes.io/config.mirrors": "x", "kubernetes.io/config.source": "file"}), false; "others")]
#[test_case(json!({}), false; "empty")]
#[test_case(json!(null), false; "null")]
fn a_mirror_pod_gives_nothing_but_itself(annotations: Value, mirror: bool) {
    let mut object = pod();
    object["metadata"]["annotations"] = annotations;
    let slim: Pod = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(slim.meta().is_mirror(), mirror);
    if mirror {
        assert_eq!(told::<Pod>(&object), ["BelongsTo node n1 by spec.nodeName"]);
    } else {
        assert_eq!(told::<Pod>(&object), told::<Pod>(&pod()));
    }
}

#[test]
fn a_mirror_pod_is_told_by_its_annotation_however_that_is_escaped() {
    let text = r#"{"metadata": {"annotations": {"kubernetes\u002eio\/config.mirror": "x"}}}"#;
    let slim: Pod = serde_json::from_str(text).unwrap();
    assert!(slim.meta().is_mirror());
}

#[test_case(&json!({}); "nothing")]
#[test_case(&json!({"metadata": {"name": null, "namespace": null, "uid": null, "annotations": null}, "spec": null, "status": null}); "nulls")]
#[test_case(&json!({"spec": {"nodeName": null, "serviceAccountName": "", "imagePullSecrets": null, "containers": null, "volumes": null}}); "null lists")]
#[test_case(&json!({"spec": {"imagePullSecrets": [{}, {"name": ""}, {"name": null}]}}); "secrets without names")]
#[test_case(&json!({"spec": {"containers": [{"env": null, "envFrom": [{"secretRef": null}, {"secretRef": {}}]}, {"env": [{"valueFrom": {"secretKeyRef": {"name": ""}}}]}]}}); "env without names")]
#[test_case(&json!({"spec": {"volumes": [{"secret": {}}, {"projected": {"sources": null}}, {"projected": {}}, {"ephemeral": null}, {"configMap": {"name": ""}}, {"csi": {"driver": "d"}}, {"glusterfs": {}}, {"glusterfs": {"endpoints": ""}}]}}); "volumes without names")]
#[test_case(&json!({"spec": {"resourceClaims": [{"name": "a"}, {"name": "b", "resourceClaimName": ""}]}, "status": {"resourceClaimStatuses": null}}); "claims without names")]
fn what_is_not_there_is_no_reference(object: &Value) {
    assert_eq!(told::<Pod>(object), [""; 0]);
}

/// Such a volume is invalid. Should there be one all the same, it gives what it would give in Kubernetes.
#[test_case(&["azureFile", "cephfs", "cinder", "flexVolume", "projected", "rbd", "secret", "scaleIO", "iscsi", "storageos", "csi"], "secret"; "secret")]
#[test_case(&["projected", "configMap"], "configmap"; "config map")]
#[test_case(&["persistentVolumeClaim", "ephemeral"], "persistentvolumeclaim"; "claim")]
fn of_several_sources_of_a_volume_the_first_counts(order: &[&str], kind: &str) {
    let reference = json!({"name": "x"});
    let source = json!({
        "name": "x", "secretName": "x", "claimName": "x", "secretRef": reference, "nodePublishSecretRef": reference,
        "sources": [{"configMap": reference, "secret": reference}],
    });
    for (i, first) in order.iter().enumerate() {
        let volume: Value = order[i..]
            .iter()
            .map(|name| ((*name).to_owned(), source.clone()))
            .collect();
        let told = told::<Pod>(&json!({"spec": {"volumes": [volume]}}));
        let of_kind: Vec<_> = told
            .iter()
            .filter(|edge| edge.starts_with(&format!("Needs {kind} ")))
            .collect();
        assert_eq!(of_kind.len(), 1, "{told:?}");
        assert!(
            of_kind[0].contains(&format!(" by spec.volumes[0].{first}")),
            "{first}: {told:?}"
        );
    }
    // A source without a secret also stands before the others.
    let volume = json!({"azureFile": {}, "secret": {"secretName": "x"}, "projected": null});
    assert_eq!(told::<Pod>(&json!({"spec": {"volumes": [volume]}})), [""; 0]);
}

fn volume(source: &Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "pv1", "finalizers": ["kubernetes.io/pv-protection"], "managedFields": [{"manager": "m"}]},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "ns", "name": "pvc1", "uid": "u", "apiVersion": "v1"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": []}},
        },
        "status": {"phase": "Bound"},
    });
    let spec = object["spec"].as_object_mut().unwrap();
    spec.extend(source.as_object().unwrap().clone());
    object
}

#[test_case(&json!({"csi": {"driver": "d", "nodeStageSecretRef": {"name": "stg", "namespace": "kube-system"},
    "nodePublishSecretRef": {"name": "pub", "namespace": "a"}, "nodeExpandSecretRef": {"name": "exp", "namespace": "b"},
    "controllerPublishSecretRef": {"name": "ctl", "namespace": "kube-system"}}}),
    &["a/pub by spec.csi.nodePublishSecretRef", "b/exp by spec.csi.nodeExpandSecretRef", "kube-system/stg by spec.csi.nodeStageSecretRef"]; "csi")]
#[test_case(&json!({"csi": {"nodeStageSecretRef": {"name": "stg"}}}), &[]; "csi without a namespace")]
#[test_case(&json!({"azureFile": {"secretName": "s"}}), &["ns/s by spec.azureFile.secretName"]; "azure")]
#[test_case(&json!({"azureFile": {"secretName": "s", "secretNamespace": ""}}), &["ns/s by spec.azureFile.secretName"]; "azure, empty namespace")]
#[test_case(&json!({"azureFile": {"secretName": "s", "secretNamespace": "a"}}), &["a/s by spec.azureFile.secretName"]; "azure elsewhere")]
#[test_case(&json!({"azureFile": {}, "cephfs": {"secretRef": {"name": "s"}}}), &[]; "azure without a secret, before ceph")]
#[test_case(&json!({"cephfs": {"secretRef": {"name": "s"}}}), &["ns/s by spec.cephfs.secretRef"]; "ceph")]
#[test_case(&json!({"cephfs": {"secretRef": {"name": "s", "namespace": "a"}}}), &["a/s by spec.cephfs.secretRef"]; "ceph elsewhere")]
#[test_case(&json!({"cephfs": {"secretRef": {"name": ""}}}), &[]; "ceph without a name")]
#[test_case(&json!({"flexVolume": {"secretRef": {"name": "s"}}}), &["ns/s by spec.flexVolume.secretRef"]; "flex")]
#[test_case(&json!({"rbd": {"secretRef": {"name": "s"}}}), &["ns/s by spec.rbd.secretRef"]; "rbd")]
#[test_case(&json!({"scaleIO": {"secretRef": {"name": "s"}}}), &["ns/s by spec.scaleIO.secretRef"]; "scaleio")]
#[test_case(&json!({"iscsi": {"secretRef": {"name": "s"}}}), &["ns/s by spec.iscsi.secretRef"]; "iscsi")]
#[test_case(&json!({"cinder": {"secretRef": {"name": "s"}}}), &[]; "cinder without a namespace")]
#[test_case(&json!({"cinder": {"secretRef": {"name": "s", "namespace": "a"}}}), &["a/s by spec.cinder.secretRef"]; "cinder")]
#[test_case(&json!({"storageos": {"secretRef": {"name": "s"}}}), &[]; "storageos without a namespace")]
#[test_case(&json!({"storageos": {"secretRef": {"name": "s", "namespace": "a"}}}), &["a/s by spec.storageos.secretRef"]; "storageos")]
#[test_case(&json!({"nfs": {"server": "nfs", "path": "/"}}), &[]; "no secrets")]
fn a_claimed_volume_tells_its_secrets(source: &Value, secrets: &[&str]) {
    let object = volume(source);
    let claim = "BelongsTo persistentvolumeclaim ns/pvc1 by spec.claimRef".to_owned();
    let secrets = secrets.iter().map(|secret| format!("Needs secret {secret}"));
    let expected: Vec<_> = std::iter::once(claim).chain(secrets).collect();
    assert_eq!(told::<PersistentVolume>(&object), expected);

    for unclaimed in [
        json!(null),
        json!({}),
        json!({"namespace": "ns"}),
        json!({"name": "pvc1"}),
    ] {
        let mut object = object.clone();
        object["spec"]["claimRef"] = unclaimed;
        assert_eq!(told::<PersistentVolume>(&object), [""; 0]);
    }
}

#[test_case(&json!({"endpoints": "e", "path": "p"}), &["ns/e"]; "where the claim is")]
#[test_case(&json!({"endpoints": "e", "path": "p", "endpointsNamespace": ""}), &["ns/e"]; "empty namespace")]
#[test_case(&json!({"endpoints": "e", "path": "p", "endpointsNamespace": null}), &["ns/e"]; "null namespace")]
#[test_case(&json!({"endpoints": "e", "path": "p", "endpointsNamespace": "a"}), &["a/e"]; "elsewhere")]
#[test_case(&json!({"endpoints": "", "endpointsNamespace": "a"}), &[]; "no name")]
#[test_case(&json!({}), &[]; "nothing")]
fn a_claimed_volume_tells_its_endpoints(source: &Value, endpoints: &[&str]) {
    let mut object = volume(&json!({"glusterfs": source}));
    let claim = "BelongsTo persistentvolumeclaim ns/pvc1 by spec.claimRef".to_owned();
    let needs = endpoints
        .iter()
        .map(|endpoints| format!("Needs endpoints {endpoints} by spec.glusterfs.endpoints"));
    let expected: Vec<_> = std::iter::once(claim).chain(needs).collect();
    assert_eq!(told::<PersistentVolume>(&object), expected);
    object["spec"]["claimRef"] = json!(null);
    assert_eq!(told::<PersistentVolume>(&object), [""; 0]);
}

/// In the order of Kubernetes' own authorizer.
#[test]
fn of_several_sources_of_a_persistent_volume_the_first_counts() {
    let order = [
        "azureFile",
        "cephfs",
        "cinder",
        "flexVolume",
        "rbd",
        "scaleIO",
        "iscsi",
        "storageos",
        "csi",
    ];
    let reference = json!({"namespace": "a", "name": "x"});
    let source = json!({"secretName": "x", "secretRef": reference, "nodeStageSecretRef": reference});
    for (i, first) in order.iter().enumerate() {
        let sources: Value = order[i..]
            .iter()
            .map(|name| ((*name).to_owned(), source.clone()))
            .collect();
        let told = told::<PersistentVolume>(&volume(&sources));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[1].contains(&format!(" by spec.{first}.")), "{first}: {told:?}");
    }
}

#[test]
fn what_belongs_to_a_node_says_so() {
    fn check<T: Watched>(mut object: Value, key: &str) {
        let slim: T = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(slim.key().to_string(), key);
        assert_eq!(slim.key().kind, T::KIND);
        assert_eq!(told::<T>(&object), ["BelongsTo node n1 by spec.nodeName"]);
        for none in [json!(""), json!(null)] {
            object["spec"]["nodeName"] = none;
            assert_eq!(told::<T>(&object), [""; 0]);
        }
        object["spec"] = json!(null);
        assert_eq!(told::<T>(&object), [""; 0]);
    }

    check::<VolumeAttachment>(
        json!({
            "metadata": {"name": "va1", "annotations": {"csi.alpha.kubernetes.io/node-id": "i-1"}},
            "spec": {"attacher": "d", "nodeName": "n1", "source": {"persistentVolumeName": "pv1"}},
            "status": {"attached": true, "attachmentMetadata": {"devicePath": "/dev/x"}},
        }),
        "volumeattachment va1",
    );
    check::<PodCertificateRequest>(
        json!({
            "metadata": {"namespace": "ns", "name": "req-1"},
            "spec": {"signerName": "e.org/s", "podName": "p1", "podUID": "u", "serviceAccountName": "sa1", "nodeName": "n1"},
        }),
        "podcertificaterequest ns/req-1",
    );
    let pool = json!({"name": "pool", "generation": 1, "resourceSliceCount": 1});
    for (version, device) in [
        (
            "v1beta1",
            json!({"name": "gpu", "basic": {"attributes": {"a": {"string": "b"}}}}),
        ),
        ("v1beta2", json!({"name": "gpu", "attributes": {"a": {"string": "b"}}})),
        (
            "v1",
            json!({"name": "gpu", "attributes": {"a": {"string": "b"}}, "nodeName": "n2"}),
        ),
    ] {
        let spec = json!({"driver": "d", "pool": pool, "nodeName": "n1", "allNodes": null, "devices": [device]});
        let api = format!("resource.k8s.io/{version}");
        let object = json!({"apiVersion": api, "kind": "ResourceSlice", "metadata": {"name": "sl1"}, "spec": spec});
        check::<ResourceSlice>(object, "resourceslice sl1");
    }
}

#[test_case(&json!({}); "nothing")]
#[test_case(&json!({"metadata": {"name": "c"}, "spec": null}); "null")]
#[test_case(&json!({"metadata": {"name": "c"}, "spec": {"username": null, "groups": null}}); "nulls")]
#[test_case(&json!({"metadata": {"name": "c"}, "spec": {"username": "system:node:n1", "groups": null}}); "no groups")]
fn a_request_that_names_nobody_is_nobodys(object: &Value) {
    assert_eq!(told::<CertificateSigningRequest>(object), [""; 0]);
}

#[test]
fn what_is_known_of_objects() {
    fn check<T: Watched>(object: Value, key: &str, facts: Facts) {
        assert_eq!(told::<T>(&object), [""; 0]);
        let slim: T = serde_json::from_value(object).unwrap();
        assert_eq!(slim.key().to_string(), key);
        assert_eq!(slim.key().kind, T::KIND);
        assert_eq!(slim.facts(), Some(facts));
    }

    let meta = json!({"name": "x", "uid": "u", "labels": {"a": "b"}, "managedFields": []});
    let uid = || "u".to_owned();
    let node = json!({"metadata": meta, "spec": {"podCIDR": "10.0.0.0/24"}, "status": {"images": [{"names": ["i"]}], "addresses": [
        {"type": "InternalIP", "address": "::ffff:10.0.0.1"}, {"type": "Hostname", "address": "X."}, {"type": "ExternalIP"},
        {"type": "InternalIP", "address": "10.0.0.1"},
    ]}});
    let facts = |addresses: &[&str]| Facts::Node {
        uid: uid(),
        addresses: Arc::new(addresses.iter().map(|address| (*address).to_owned()).collect()),
    };
    check::<Node>(node, "node x", facts(&["10.0.0.1", "x"]));
    for status in [
        json!(null),
        json!({}),
        json!({"addresses": null}),
        json!({"addresses": []}),
    ] {
        check::<Node>(json!({"metadata": meta, "status": status}), "node x", facts(&[]));
    }
    let account = json!({"metadata": {"name": "sa1", "namespace": "ns", "uid": "u"}, "secrets": [{"name": "s"}]});
    check::<ServiceAccount>(account, "serviceaccount ns/sa1", Facts::ServiceAccount { uid: uid() });

    for (spec, volume) in [
        (json!({"volumeName": "pv1", "resources": {}}), "pv1"),
        (json!({"volumeName": ""}), ""),
        (
            json!({"dataSource": {"kind": "PersistentVolumeClaim", "name": "other"}}),
            "",
        ),
        (json!(null), ""),
    ] {
        let claim = json!({"metadata": {"name": "pvc1", "namespace": "ns"}, "spec": spec});
        let volume = volume.to_owned();
        check::<PersistentVolumeClaim>(
            claim,
            "persistentvolumeclaim ns/pvc1",
            Facts::PersistentVolumeClaim { volume },
        );
    }
    for (requests, audiences) in [
        (
            json!([{"audience": "vault", "expirationSeconds": 600}, {"audience": ""}]),
            vec!["vault", ""],
        ),
        (json!([]), vec![]),
        (json!(null), vec![]),
    ] {
        let driver = json!({"metadata": {"name": "d"}, "spec": {"attachRequired": true, "tokenRequests": requests}});
        let token_audiences = audiences.into_iter().map(str::to_owned).collect();
        check::<CsiDriver>(driver, "csidriver d", Facts::CsiDriver { token_audiences });
    }
}

#[test_case(&json!([]) => Tokens::Volumes([].into()); "no volumes")]
#[test_case(&json!([{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]) => Tokens::Server; "what Kubernetes mounts")]
#[test_case(&json!([
    {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"audience": "vault"}}, {"secret": {"name": "s"}}, {"serviceAccountToken": {"audience": ""}}]}},
    {"name": "c", "csi": {"driver": "inline.example.com"}},
    {"name": "p", "persistentVolumeClaim": {"claimName": "pvc1"}},
    {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    {"name": "n", "ephemeral": {}},
    {"name": "h", "hostPath": {"path": "/"}},
]) => Tokens::Volumes([
    audience("vault"), audience(""), driver("inline.example.com"), claim("pvc1"), claim("p1-e"),
].into()); "all that can have tokens")]
#[test_case(&json!([
    {"name": "a", "awsElasticBlockStore": {"volumeID": "vol-1"}},
    {"name": "b", "awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}},
    {"name": "c", "azureDisk": {"diskName": "d", "kind": "managed"}},
    {"name": "d", "azureFile": {"secretName": "s"}},
    {"name": "e", "cinder": {"volumeID": "v"}},
    {"name": "f", "gcePersistentDisk": {"pdName": "d"}},
    {"name": "g", "portworxVolume": {"volumeID": "v"}},
    {"name": "h", "vsphereVolume": {"volumePath": "p"}},
]) => Tokens::Volumes([
    driver("ebs.csi.aws.com"), driver("ebs.csi.aws.com"), driver("disk.csi.azure.com"), driver("file.csi.azure.com"),
    driver("cinder.csi.openstack.org"), driver("pd.csi.storage.gke.io"), driver("pxd.portworx.com"),
    driver("csi.vsphere.vmware.com"),
].into()); "what drivers have taken over")]
#[test_case(&json!([
    {"name": "a", "awsElasticBlockStore": {"volumeID": "aws://zone/x"}},
    {"name": "b", "azureDisk": {"diskName": "d", "kind": "Dedicated"}},
]) => Tokens::Volumes([
    untranslatable("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/x)"),
    untranslatable("kind(Dedicated) is not supported in csi migration"),
].into()); "what they do not take")]
fn tokens(volumes: &Value) -> Tokens {
    let pod = json!({"metadata": {"name": "p1", "uid": "u"}, "spec": {"nodeName": "n1", "volumes": volumes}});
    let pod: Pod = serde_json::from_value(pod).unwrap();
    let (node, facts) = pod.bound().unwrap();
    assert_eq!((node, facts.uid.to_string().as_str()), ("n1", "u"));
    facts.tokens
}

#[test_case(&json!({"csi": {"driver": "d"}}) => Driver::Named("d".into()); "csi")]
#[test_case(&json!({"cinder": {"volumeID": "v"}}) => Driver::Named("cinder.csi.openstack.org".into()); "taken over")]
#[test_case(&json!({"nfs": {"server": "s"}}) => Driver::None; "no driver")]
fn drivers_of_volumes(spec: &Value) -> Driver {
    let volume: PersistentVolume = serde_json::from_value(json!({"metadata": {"name": "pv"}, "spec": spec})).unwrap();
    let Some(Facts::PersistentVolume { driver }) = volume.facts() else {
        panic!()
    };
    driver
}

fn audience(audience: &str) -> TokenSource {
    TokenSource::Audience(audience.into())
}

fn claim(name: &str) -> TokenSource {
    TokenSource::Claim(name.into())
}

fn driver(name: &str) -> TokenSource {
    TokenSource::Driver(Driver::Named(name.into()))
}

fn untranslatable(why: &str) -> TokenSource {
    TokenSource::Driver(Driver::Untranslatable(why.into()))
}

#[test]
fn indexes_beyond_what_a_field_can_say_are_still_edges() {
    let secrets: Vec<_> = (0..5000).map(|i| json!({"name": format!("s{i}")})).collect();
    let told = told::<Pod>(&json!({"metadata": {"namespace": "ns"}, "spec": {"imagePullSecrets": secrets}}));
    assert_eq!(told.len(), 5000);
    assert!(told.contains(&"Needs secret ns/s4999 by spec.imagePullSecrets[4095].name".to_owned()));
}
