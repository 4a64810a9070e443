//! Which audiences volumes give tokens for, whoever mounts them.

use serde_json::{Value, json};

use super::{Names, Row, compare_on, create, tokens::grant};
use crate::{
    graph::{
        created,
        objects::{claim, pod, volume},
    },
    release,
    restriction::{Side, Sides},
};

const NAMES: Names = Names {
    namespace: "audience-rows",
    nodes: ["au1", "au2"],
};
const CORE: &str = "/api/v1/namespaces/audience-rows";
/// Those who mount what Kubernetes once mounted itself. Each wants tokens for its own name.
const DRIVERS: &[&str] = &[
    "cinder.csi.openstack.org",
    "csi.vsphere.vmware.com",
    "disk.csi.azure.com",
    "ebs.csi.aws.com",
    "file.csi.azure.com",
    "pd.csi.storage.gke.io",
    "pxd.portworx.com",
];
const GRANTED: &str = "audience-rows-granted";

/// Sources that a pod and a persistent volume can have alike: a name, the source, and the driver that mounts it, or why none does.
/// A vSphere volume with a storage policy is left out: kube-apiserver's translation of it panics.
fn sources() -> Vec<(&'static str, &'static str, Value, Result<&'static str, &'static str>)> {
    let managed = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/disks/d";
    let blob = "https://a.blob.core.windows.net/c/d.vhd";
    let disk = |uri: &str, kind: Value| json!({"diskName": "d", "diskURI": uri, "kind": kind});
    let ebs = |id: &str| json!({"volumeID": id});
    vec![
        ("ebs", "awsElasticBlockStore", ebs("vol-1"), Ok("ebs.csi.aws.com")),
        (
            "ebs-any",
            "awsElasticBlockStore",
            ebs("any/name"),
            Ok("ebs.csi.aws.com"),
        ),
        (
            "ebs-zone",
            "awsElasticBlockStore",
            ebs("aws://zone/vol-1"),
            Ok("ebs.csi.aws.com"),
        ),
        (
            "ebs-no-zone",
            "awsElasticBlockStore",
            ebs("aws:///vol-1"),
            Ok("ebs.csi.aws.com"),
        ),
        (
            "ebs-bad",
            "awsElasticBlockStore",
            ebs("aws://zone/disk-1"),
            Err("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/disk-1)"),
        ),
        (
            "ebs-deep",
            "awsElasticBlockStore",
            ebs("aws://zone/vol-1/x"),
            Err("Invalid format for AWS volume (aws://zone/vol-1/x)"),
        ),
        (
            "ebs-none",
            "awsElasticBlockStore",
            ebs("aws://zone"),
            Err("Invalid format for AWS volume (aws://zone)"),
        ),
        (
            "disk",
            "azureDisk",
            disk(managed, json!("Managed")),
            Ok("disk.csi.azure.com"),
        ),
        (
            "disk-dedicated",
            "azureDisk",
            disk(blob, json!("Dedicated")),
            Err("kind(Dedicated) is not supported in csi migration"),
        ),
        // What is not said is set to this.
        (
            "disk-shared",
            "azureDisk",
            disk(blob, Value::Null),
            Err("kind(Shared) is not supported in csi migration"),
        ),
        (
            "file",
            "azureFile",
            json!({"secretName": "s", "shareName": "h"}),
            Ok("file.csi.azure.com"),
        ),
        (
            "cinder",
            "cinder",
            json!({"volumeID": "v"}),
            Ok("cinder.csi.openstack.org"),
        ),
        (
            "gce",
            "gcePersistentDisk",
            json!({"pdName": "d"}),
            Ok("pd.csi.storage.gke.io"),
        ),
        (
            "vsphere",
            "vsphereVolume",
            json!({"volumePath": "p"}),
            Ok("csi.vsphere.vmware.com"),
        ),
        (
            "portworx",
            "portworxVolume",
            json!({"volumeID": "v"}),
            Ok("pxd.portworx.com"),
        ),
    ]
}

/// Pods of their own: a name, the volumes, the audience asked for, and what comes of it.
fn others() -> Vec<(&'static str, Value, &'static str, u16, &'static str)> {
    let claimed = |name: &str| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
    let csi = |driver: &str| json!({"name": "csi", "csi": {"driver": driver}});
    let none = "is not authorized to request tokens for this audience";
    let lost = "error validating audience \"ebs.csi.aws.com\": persistentvolumeclaim \"nosuch\" not found";
    let projected =
        json!({"name": "t", "projected": {"sources": [{"serviceAccountToken": {"audience": "mine", "path": "t"}}]}});
    let ephemeral = json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim("")["spec"]}}});
    vec![
        (
            "claim-missing",
            json!([claimed("nosuch")]),
            "ebs.csi.aws.com",
            403,
            lost,
        ),
        (
            "claim-unbound",
            json!([claimed("unbound")]),
            "a",
            403,
            "error validating audience \"a\": persistentvolume \"\" not found",
        ),
        (
            "volume-missing",
            json!([claimed("lost")]),
            "a",
            403,
            "persistentvolume \"audience-rows-nosuch\" not found",
        ),
        ("ephemeral", json!([ephemeral]), "ebs.csi.aws.com", 201, ""),
        (
            "ephemeral-missing",
            json!([ephemeral]),
            "a",
            403,
            "persistentvolumeclaim \"ephemeral-missing-v\" not found",
        ),
        ("driver", json!([csi("ebs.csi.aws.com")]), "ebs.csi.aws.com", 201, ""),
        (
            "driver-missing",
            json!([csi("nosuch.example.com")]),
            "a",
            403,
            "csidriver.storage.k8s.io \"nosuch.example.com\" not found",
        ),
        (
            "two-errors",
            json!([claimed("nosuch"), csi("nosuch.example.com")]),
            "a",
            403,
            "[persistentvolumeclaim \"nosuch\" not found, csidriver.storage.k8s.io \"nosuch.example.com\" not found]",
        ),
        (
            "one-error-twice",
            json!([claimed("nosuch"), {"name": "again", "persistentVolumeClaim": {"claimName": "nosuch"}}]),
            "ebs.csi.aws.com",
            403,
            lost,
        ),
        (
            "error-and-hit",
            json!([claimed("nosuch"), csi("ebs.csi.aws.com")]),
            "ebs.csi.aws.com",
            201,
            "",
        ),
        ("hit-and-error", json!([projected, claimed("nosuch")]), "mine", 201, ""),
        (
            "not-mounted",
            json!([{"name": "n", "nfs": {"server": "s", "path": "/"}}]),
            "a",
            403,
            none,
        ),
        (
            "nfs-granted",
            json!([{"name": "n", "nfs": {"server": "s", "path": "/"}}]),
            GRANTED,
            201,
            "",
        ),
        (
            "other-driver",
            json!([csi("ebs.csi.aws.com")]),
            "file.csi.azure.com",
            403,
            none,
        ),
        ("other-granted", json!([csi("ebs.csi.aws.com")]), GRANTED, 201, ""),
        // Where something is in the way of knowing, nobody asks who may have it anyway.
        (
            "error-granted",
            json!([claimed("nosuch")]),
            GRANTED,
            403,
            "persistentvolumeclaim \"nosuch\" not found",
        ),
    ]
}

#[tokio::test]
async fn volumes_give_audiences_as_node_restriction_has_it() {
    if release::minor() < 33 {
        println!("SKIPPED: nobody looks at audiences before 1.33");
        return;
    }
    let Some(mut sides) = Sides::start(NAMES).await else {
        return;
    };
    let mut rows = Vec::new();
    for side in [&mut sides.guarded, &mut sides.gated] {
        rows = fill(side).await;
    }
    compare_on(&sides, &rows).await;
}

/// Makes what the rows are about.
async fn fill(side: &mut Side) -> Vec<Row> {
    for driver in DRIVERS {
        let driver = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": driver},
            "spec": {"attachRequired": false, "volumeLifecycleModes": ["Persistent", "Ephemeral"],
                "tokenRequests": [{"audience": driver}]},
        });
        created(&side.admin, "/apis/storage.k8s.io/v1/csidrivers", &driver).await;
    }
    grant(&side.admin, GRANTED, "au1").await;
    bound(side, "unbound", "").await;
    bound(side, "lost", "audience-rows-nosuch").await;
    bound(side, "ephemeral-v", "audience-rows-ebs").await;
    let mut rows = Vec::new();
    for (name, kind, source, driver) in sources() {
        let (audience, code, text) = match driver {
            Ok(driver) => (driver, 201, ""),
            Err(why) => ("a", 403, why),
        };
        let inline = json!([{"name": "v", kind: source}]);
        rows.push(row(side, &format!("inline-{name}"), &inline, audience, code, text).await);
        let volume = volume(&format!("audience-rows-{name}"), NAMES.namespace, name, kind, &source);
        created(&side.admin, "/api/v1/persistentvolumes", &volume).await;
        bound(side, name, &format!("audience-rows-{name}")).await;
        let claimed = json!([{"name": "v", "persistentVolumeClaim": {"claimName": name}}]);
        rows.push(row(side, &format!("claimed-{name}"), &claimed, audience, code, text).await);
    }
    for (name, volumes, audience, code, text) in others() {
        rows.push(row(side, name, &volumes, audience, code, text).await);
    }
    side.reads(&format!("{CORE}/pods/error-granted")).await;
    rows
}

/// A claim for a volume, or for none yet.
async fn bound(side: &Side, name: &str, volume: &str) {
    let mut claim = claim(name);
    if !volume.is_empty() {
        claim["spec"]["volumeName"] = json!(volume);
    }
    created(&side.admin, &format!("{CORE}/persistentvolumeclaims"), &claim).await;
}

/// A pod, and a token for it.
async fn row(side: &mut Side, name: &str, volumes: &Value, audience: &str, code: u16, text: &'static str) -> Row {
    let spec = json!({"serviceAccountName": "sa3", "volumes": volumes});
    created(&side.admin, &format!("{CORE}/pods"), &pod(name, "au1", &spec)).await;
    let placeholder = format!("token-{name}.");
    side.learn(&placeholder, &format!("{CORE}/pods/{name}")).await;
    let reference = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": format!("uid-of-{placeholder}")});
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"audiences": [audience], "expirationSeconds": 3600, "boundObjectRef": reference}});
    let target = format!("{CORE}/serviceaccounts/sa3/token");
    create(name, target, request, code, text)
}
