//! The example of docs/acting-as.md, as people copy it.

use std::process::Command;

use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;

use super::cluster;
use crate::{
    cluster::program,
    gate::{Process, ready},
    graph::{admin_client, created},
};

const PAGE: &str = include_str!("../../docs/acting-as.md");

/// The first block of a language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[tokio::test]
async fn the_example_of_the_page_works() {
    let Some(cluster) = cluster().await else { return };
    let Some(kubectl) = program("kubectl") else { return };
    cluster.grant(include_str!("../../config/kubernetes/tokens.yaml")).await;
    let process = Process::serve(&cluster.configuration("page.yaml", FRONT_PROXY, block("yaml")));
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    let (folder, server_ca) = (kubectl.parent().unwrap(), cluster.file("server-ca.crt"));
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let shell = async |script: String| {
        let mut command = Command::new("bash");
        command
            .arg("-c")
            .arg(script)
            .env("PATH", &path)
            .env("HOME", cluster.file(""));
        command.env("KUBECONFIG", cluster.file("admin.kubeconfig"));
        command.env("GATE", format!("https://{serving}")).env("CA", &server_ca);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let said = shell(format!("set -e\n{}", block("sh"))).await;
    assert!(
        said.contains("rolebinding.rbac.authorization.k8s.io/make-pods created"),
        "{said}"
    );
    // What kube-controller-manager does in a whole cluster.
    let admin = admin_client(&cluster).await;
    for namespace in ["team", "bank"] {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        created(
            &admin,
            &format!("/api/v1/namespaces/{namespace}/serviceaccounts"),
            &account,
        )
        .await;
    }
    let (lines, expected): (Vec<&str>, Vec<&str>) = block("console").lines().partition(|line| line.starts_with("$ "));
    let script: Vec<&str> = lines.iter().map(|line| &line[2..]).collect();
    assert_eq!(shell(script.join("\n")).await.trim(), expected.join("\n"));
}
