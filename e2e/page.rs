//! Examples of pages in docs/, run as people copy them: the first block of shell by an administrator, the first of YAML in the
//! configuration of a gate, and the first console session against what it shows.

use std::process::Command;

use scopegate::demo::site::FRONT_PROXY;

use crate::{
    cluster::{Cluster, program},
    gate::{Process, ready},
};

/// The first block of a language.
fn block<'p>(page: &'p str, language: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// What a page shows is what happens. `between` is what the rest of a cluster would do before the session.
pub(crate) async fn works(cluster: &Cluster, name: &str, page: &str, between: impl Future<Output = ()>) {
    let Some(kubectl) = program("kubectl") else { return };
    cluster.grant(include_str!("../config/kubernetes/tokens.yaml")).await;
    let process = Process::serve(&cluster.configuration(&format!("{name}.yaml"), FRONT_PROXY, block(page, "yaml")));
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    let (folder, server_ca) = (kubectl.parent().unwrap(), cluster.file("server-ca.crt"));
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let shell = async |script: String| {
        let mut command = Command::new("bash");
        command.arg("-c").arg(script).env("PATH", &path);
        command.current_dir(cluster.file("")).env("HOME", cluster.file(""));
        command.env("KUBECONFIG", cluster.file("admin.kubeconfig"));
        command.env("GATE", format!("https://{serving}")).env("CA", &server_ca);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let said = shell(format!("exec 2>&1\nset -e\n{}\necho done", block(page, "sh"))).await;
    assert!(said.ends_with("done\n"), "{said}");
    between.await;
    let (lines, expected): (Vec<&str>, Vec<&str>) =
        block(page, "console").lines().partition(|line| line.starts_with("$ "));
    let script: Vec<&str> = lines.iter().map(|line| &line[2..]).collect();
    let said = shell(format!("exec 2>&1\n{}", script.join("\n"))).await;
    assert_eq!(said.trim(), expected.join("\n"));
}
