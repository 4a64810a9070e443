//! A day of an administrator, line by line.

/// A line of a session: what is asked, what kubectl reads from standard input, how it ends, and something that it says, so
/// that two failures are not taken for two successes.
pub(super) type Step = (&'static str, &'static str, i32, &'static str);

const MANIFEST: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}, "data": {"a": "b"}}"#;
const CHANGED: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}, "data": {"a": "c"}}"#;
const STALE: &str =
    r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two", "resourceVersion": "1"}, "data": {}}"#;
const OTHER: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "three"}, "data": {"a": "d"}}"#;
const UNKNOWN: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "four"}, "datum": {"a": "b"}}"#;
const POD: &str = r#"{
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
    "spec": {
        "nodeName": "NAME", "automountServiceAccountToken": false, "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "c", "image": "i"}]
    }
}"#;

pub(super) const DAY: [&[Step]; 4] = [ASKING, WRITING, READING, ENDING];

const ASKING: &[Step] = &[
    ("version -o yaml", "", 0, "serverVersion"),
    ("cluster-info", "", 0, "SERVER"),
    ("auth whoami", "", 0, "steps-kim"),
    ("auth whoami -o yaml", "", 0, "steps-group"),
    ("auth can-i create pods", "", 0, "yes"),
    ("auth can-i get nodes --subresource=status -A", "", 0, "yes"),
    ("auth can-i --list", "", 0, "*.*"),
    ("api-resources", "", 0, "customresourcedefinitions"),
    ("api-resources --api-group=apps -o wide", "", 0, "deployments"),
    ("api-versions", "", 0, "apps/v1"),
    ("explain pods.spec.containers", "", 0, "FIELDS"),
    ("explain deployment --recursive", "", 0, "replicas"),
    ("get --raw /version", "", 0, "gitVersion"),
    ("get --raw /readyz?verbose", "", 0, "[+]etcd ok"),
    ("get --raw /openapi/v3", "", 0, "serverRelativeURL"),
    ("get --raw /nosuch", "", 1, "(NotFound)"),
    ("get nosuch", "", 1, "doesn't have a resource type"),
    ("get configmap nosuch", "", 1, "(NotFound)"),
    ("get serviceaccounts", "", 0, "default"),
];

const WRITING: &[Step] = &[
    ("create configmap one --from-literal=a=b", "", 0, "created"),
    ("create configmap one --from-literal=a=b", "", 1, "already exists"),
    ("create -f -", UNKNOWN, 1, "unknown field \"datum\""),
    ("create configmap five --dry-run=server -o yaml", "", 0, "name: five"),
    ("create deployment web --image=i", "", 0, "created"),
    (
        "create token default -o jsonpath={.spec.audiences}",
        "",
        0,
        "kubernetes",
    ),
    ("apply -f -", MANIFEST, 0, "created"),
    ("apply -f -", MANIFEST, 0, "unchanged"),
    ("apply -f -", CHANGED, 0, "configured"),
    ("apply view-last-applied configmap two", "", 0, "a: c"),
    (
        "apply --server-side --field-manager=one -f -",
        OTHER,
        0,
        "serverside-applied",
    ),
    (
        "patch configmap three --type=merge --field-manager=two -p {\"data\":{\"a\":\"z\"}}",
        "",
        0,
        "patched",
    ),
    (
        "apply --server-side --field-manager=one -f -",
        OTHER,
        1,
        "conflict with \"two\"",
    ),
    (
        "apply --server-side --field-manager=one --force-conflicts -f -",
        OTHER,
        0,
        "serverside-applied",
    ),
    (
        "get configmap three -o yaml --show-managed-fields",
        "",
        0,
        "manager: one",
    ),
    ("replace -f -", MANIFEST, 0, "replaced"),
    ("replace -f -", STALE, 1, "(Conflict)"),
    (
        "patch configmap one --type=json -p [{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"d\"}]",
        "",
        0,
        "patched",
    ),
    (
        "patch configmap one --type=json -p [{\"op\":\"test\",\"path\":\"/data/c\",\"value\":\"e\"}]",
        "",
        1,
        "The request is invalid",
    ),
    (
        "patch deployment web --type=strategic -p {\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"s\",\"image\":\"s\"}]}}}}",
        "",
        0,
        "patched",
    ),
    ("label configmap one app=web", "", 0, "labeled"),
    ("label configmap one app=other", "", 1, "--overwrite is false"),
    ("label configmap one app=other --overwrite", "", 0, "labeled"),
    ("annotate configmap one note=here", "", 0, "annotated"),
    ("scale deployment web --replicas=3", "", 0, "scaled"),
    ("set image deployment/web s=t", "", 0, "image updated"),
    (
        "get deployment web -o jsonpath={.spec.template.spec.containers[*].image}",
        "",
        0,
        "t",
    ),
    ("rollout history deployment web", "", 0, "No rollout history"),
];

const READING: &[Step] = &[
    ("get configmaps", "", 0, "three"),
    ("get configmaps -o yaml", "", 0, "a: d"),
    ("get configmap one -o json", "", 0, "\"c\": \"d\""),
    ("get configmaps -o name", "", 0, "configmap/one"),
    ("get configmaps --chunk-size=1 -o name", "", 0, "configmap/three"),
    (
        "get configmaps -l app=other -o custom-columns=N:.metadata.name",
        "",
        0,
        "one",
    ),
    (
        "get configmaps --field-selector=metadata.name=two --no-headers",
        "",
        0,
        "two",
    ),
    ("get deployments,configmaps -o wide", "", 0, "deployment.apps/web"),
    ("describe configmap two", "", 0, "Annotations:"),
    ("describe deployment web", "", 0, "3 desired"),
    (
        "wait --for=jsonpath={.data.c}=d configmap/one --timeout=10s",
        "",
        0,
        "condition met",
    ),
    ("get events", "", 0, "No resources found"),
];

const ENDING: &[Step] = &[
    ("create -f -", POD, 0, "pod/web created"),
    ("describe pod web", "", 0, "Node:"),
    ("describe node NAME", "", 0, "web"),
    ("taint node NAME a=b:NoSchedule", "", 0, "tainted"),
    ("drain NAME --force --grace-period=0", "", 0, "drained"),
    ("uncordon NAME", "", 0, "uncordoned"),
    ("get pod web", "", 1, "(NotFound)"),
    ("delete configmap one", "", 0, "deleted"),
    ("delete configmap one", "", 1, "(NotFound)"),
    ("delete configmap one --ignore-not-found", "", 0, ""),
    ("delete deployment web --cascade=background", "", 0, "deleted"),
    ("delete configmaps --all", "", 0, "\"two\" deleted"),
    ("get configmaps", "", 0, "No resources found"),
];
