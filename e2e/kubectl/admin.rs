//! What an administrator does with kubectl: it prints the same whether there is a gate or not.

use std::{
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use scopegate::demo::site::{FRONT_PROXY, OWN};
use serde_json::json;

use super::{
    kubectl,
    steps::DAY,
    ways::{Running, Ways},
};
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{PATIENCE, Process, ready, scopegate},
    graph::{admin_client, created, deleted, patched},
    report,
};

const MERGE_PATCH: &str = "application/merge-patch+json";

#[tokio::test(flavor = "multi_thread")]
async fn an_administrators_day_is_the_same() {
    let Some(ways) = Ways::open("steps").await else {
        return;
    };
    let began = Instant::now();
    let admin = admin_client(&ways.cluster).await;
    for way in &ways.ways {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": way.name}});
        created(&admin, "/api/v1/nodes", &node).await;
    }
    let mut steps = 0;
    for (arguments, stdin, code, part) in DAY.concat() {
        let said = ways.run(arguments, stdin).await;
        let all = format!("{}\n{}", said.out, said.error);
        assert_eq!(said.code, Some(code), "kubectl {arguments} said {all}");
        assert!(all.contains(part), "kubectl {arguments} said {all}");
        steps += 1;
    }
    report::note(
        "kubectl",
        &json!({"steps": steps, "modes": ["FrontProxy", "Impersonate"], "seconds": began.elapsed().as_secs()}),
    );
}

/// Events come through as they happen, not when the watch ends.
#[tokio::test(flavor = "multi_thread")]
async fn watches_print_the_same_events() {
    let Some(ways) = Ways::open("watch").await else {
        return;
    };
    let admin = admin_client(&ways.cluster).await;
    let maps = |name: &str| format!("/api/v1/namespaces/{name}/configmaps");
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    for way in &ways.ways {
        created(&admin, &maps(&way.name), &map("there")).await;
    }
    let watch = "get configmaps --watch --output-watch-events --no-headers";
    let watches: Vec<Running> = ways.ways.iter().map(|way| way.spawn(watch, &[])).collect();
    let all_say = async |text: &str| {
        for (watch, way) in watches.iter().zip(&ways.ways) {
            watch
                .until(text, || way.plain(&watch.said()).contains(text).then_some(()))
                .await;
        }
    };
    all_say("ADDED there").await;
    for way in &ways.ways {
        created(&admin, &maps(&way.name), &map("new")).await;
    }
    all_say("ADDED new").await;
    for way in &ways.ways {
        let path = format!("{}/new", maps(&way.name));
        patched(&admin, &path, MERGE_PATCH, &json!({"data": {"a": "b"}})).await;
    }
    all_say("MODIFIED new 1").await;
    for way in &ways.ways {
        deleted(&admin, &format!("{}/new", maps(&way.name))).await;
    }
    all_say("DELETED new").await;
    let plain: Vec<String> = watches
        .iter()
        .zip(&ways.ways)
        .map(|(watch, way)| way.plain(&watch.said()))
        .collect();
    assert_eq!(plain[0].lines().count(), 4, "{plain:?}");
    assert!(plain.iter().all(|said| *said == plain[0]), "{plain:#?}");
}

/// kubectl waits until what it deletes has gone, by a watch.
#[tokio::test(flavor = "multi_thread")]
async fn a_delete_waits_for_finalizers() {
    let Some(ways) = Ways::open("finalizer").await else {
        return;
    };
    let admin = admin_client(&ways.cluster).await;
    for way in &ways.ways {
        let maps = format!("/api/v1/namespaces/{}/configmaps", way.name);
        let metadata = json!({"name": "held", "finalizers": ["example.com/held"]});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        created(&admin, &maps, &map).await;
        let mut delete = way.spawn("delete configmap held --wait", &[]);
        let path = format!("{maps}/held");
        let began = Instant::now();
        while admin.get(&path).await.json()["metadata"]["deletionTimestamp"].is_null() {
            assert!(began.elapsed() < PATIENCE, "{} said {}", way.name, delete.said());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        delete.says("deleted").await;
        assert!(delete.is_running(), "{} did not wait: {}", way.name, delete.said());
        patched(&admin, &path, MERGE_PATCH, &json!({"metadata": {"finalizers": null}})).await;
        assert_eq!(delete.exited().await, Some(0), "{}", delete.said());
    }
}

/// Whoever may impersonate says the same with and without the gate, but that nobody becomes a master or a node there.
#[tokio::test(flavor = "multi_thread")]
async fn impersonation_is_granted_or_refused_in_clear_words() {
    let Some(ways) = Ways::open("as").await else {
        return;
    };
    let said = ways
        .run("auth whoami --as=jo -o jsonpath={.status.userInfo.username}", "")
        .await;
    assert_eq!(said.out, "jo");
    let said = ways.run("create configmap a --as=jo", "").await;
    assert!(said.error.contains("User \"jo\" cannot create"), "{said:?}");
    for (arguments, words) in [
        (
            "create configmap a --as=jo --as-group=system:masters",
            "nobody acts as a member of \"system:masters\"",
        ),
        (
            "get --raw /api/v1/secrets --as=system:node:node-a --as-group=system:nodes",
            "nobody acts as a node or a seed, unless a delegation names it",
        ),
    ] {
        for way in ways.ways.iter().skip(1) {
            let said = way.run(arguments, "", &[]).await;
            let clear = said.error.contains("User \"as-kim\" cannot act as") && said.error.contains(words);
            assert!(said.code == Some(1) && clear, "{} {arguments}: {said:?}", way.name);
        }
    }
    let said = ways.run("get configmaps", "").await;
    assert!(said.error.contains("No resources found"), "{said:?}");
}

/// Members of system:masters pass where the configuration names them; the others are told why not.
#[tokio::test(flavor = "multi_thread")]
async fn masters_pass_if_they_are_named() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    for (name, allowed, code) in [("masters-no", "", false), ("masters-yes", "admin", true)] {
        let callers = format!("callers: {{others: Forward, allowMasters: [{allowed}]}}\n");
        let (_gate, kubeconfig) = gate(&cluster, name, FRONT_PROXY, &callers).await;
        let Some((content, said)) = kubectl(&kubeconfig, &["get", "--raw", "/api/v1/nodes"]).await else {
            return;
        };
        assert_eq!(content, code, "{said}");
        assert!(content || said.contains("callers.allowMasters names them"), "{said}");
    }
}

/// In mode Own others would act with the gate's rights: the configuration is refused, and without it they are.
#[tokio::test(flavor = "multi_thread")]
async fn in_mode_own_there_is_nothing_for_administrators() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    cluster.user("own-kim", "own-kim", None);
    let config = cluster.configuration("own-others.yaml", OWN, "callers: {others: Forward}\n");
    let mut serve = Command::new(scopegate());
    let output = serve.args(["serve", "--config"]).arg(config).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("the gate's own rights"),
        "{said}"
    );
    let (_gate, kubeconfig) = gate(&cluster, "own-kim", OWN, "").await;
    let Some((content, said)) = kubectl(&kubeconfig, &["get", "--raw", "/api/v1/nodes"]).await else {
        return;
    };
    assert!(!content && said.contains("this gate serves nodes only"), "{said}");
}

/// A gate, and the kubeconfig of who is called like it; the cluster's own administrator where there is no such user.
async fn gate(cluster: &Cluster, name: &str, identity: &str, more: &str) -> (Process, PathBuf) {
    let gate = Process::serve(&cluster.configuration(&format!("{name}.yaml"), identity, more));
    let (serving, admin) = gate.addresses().await;
    ready(admin).await;
    let user = if cluster.file(&format!("{name}.crt")).exists() {
        name
    } else {
        "admin"
    };
    (gate, cluster.kubeconfig(&format!("{name}-gated"), user, serving))
}
