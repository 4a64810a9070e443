//! kubectl --as and its kin.

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::json;
use test_case::test_case;

use super::{Gated, Subject, allow, cluster, known, on_configmaps, to_be_users};
use crate::{graph::objects::namespace, kubectl::kubectl};

/// What a person types, and what it says.
#[test_case("kcf", FRONT_PROXY; "front proxy")]
#[test_case("kci", IMPERSONATE; "impersonate")]
#[tokio::test]
async fn kubectl_acts_as_others(name: &str, identity: &str) {
    let Some(cluster) = cluster().await else { return };
    namespace(&cluster, name).await;
    let (kim, jane, group) = (format!("{name}-kim"), format!("{name}-jane"), format!("{name}-group"));
    known(&cluster, &[&kim]);
    let to_be = |group: &str, resource: &str, names: &[&str]| json!({"apiGroups": [group], "resources": [resource], "resourceNames": names, "verbs": ["impersonate"]});
    allow(&cluster, Subject::User(&kim), "", to_be_users(&[&jane])).await;
    for rule in [
        to_be("", "groups", &[&group]),
        to_be("authentication.k8s.io", "uids", &["7"]),
    ] {
        allow(&cluster, Subject::User(&kim), "", rule).await;
    }
    // The gate itself has to be let say the group where it impersonates.
    allow(&cluster, Subject::User("scopegate"), "", to_be("", "groups", &[&group])).await;
    for user in [&kim, &jane] {
        allow(
            &cluster,
            Subject::User(user),
            name,
            on_configmaps(&["create", "get", "list"]),
        )
        .await;
    }
    allow(&cluster, Subject::User(&kim), name, on_configmaps(&["delete"])).await;
    let gate = Gated::start(&cluster, name, identity, "").await;
    gate.client(&kim).await;
    let kubeconfig = cluster.file(&format!("{name}-{kim}.kubeconfig"));
    let whoami = [
        "-o",
        "jsonpath={.status.userInfo['username','uid']} {.status.userInfo.groups}",
    ];
    let (asjane, asgroup) = (format!("--as={jane}"), format!("--as-group={group}"));
    let cannot = format!("User \"{jane}\" cannot delete resource \"configmaps\"");
    let not_as = format!(
        "User \"{kim}\" cannot act as \"jo\": no delegation lets it, and upstream does not let it impersonate users \"jo\""
    );
    let in_group = format!("{jane} 7 [\"{group}\",\"system:authenticated\"]");
    let steps: &[(&[&str], bool, &str)] = &[
        (
            &["create", "configmap", "a", "-n", name, &asjane],
            true,
            "configmap/a created",
        ),
        (&["get", "configmap", "a", "-n", name, &asjane], true, "a "),
        (&["delete", "configmap", "a", "-n", name, &asjane], false, &cannot),
        (&["auth", "whoami", &asjane, whoami[0], whoami[1]], true, &jane),
        (
            &["auth", "whoami", &asjane, "--as-uid=7", &asgroup, whoami[0], whoami[1]],
            true,
            &in_group,
        ),
        (&["get", "configmaps", "-n", name, "--as=jo"], false, &not_as),
        (
            &["get", "configmaps", "-n", name, &asjane, "--as-uid=8"],
            false,
            "impersonate uids in authentication.k8s.io \"8\"",
        ),
        (
            &["get", "configmaps", "-n", name, &asjane, "--as-group=system:masters"],
            false,
            "nobody acts as a member of",
        ),
        (&["delete", "configmap", "a", "-n", name], true, "deleted"),
    ];
    for (arguments, content, part) in steps {
        let Some((was, said)) = kubectl(&kubeconfig, arguments).await else {
            return;
        };
        assert!(
            was == *content && said.contains(part),
            "{arguments:?} said {said}, not {part}"
        );
    }
}
