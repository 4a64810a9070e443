//! kubectl as a node and as an administrator, before the demo's stand-in and before a real kube-apiserver. It has to be built
//! or found (`make e2e`); skipped, loudly, where it is not.

mod admin;
pub(crate) mod kubelet;
mod sessions;
mod spdy;
mod steps;
mod ways;

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use scopegate::demo::{site::FRONT_PROXY, standin::tokens::BOOTSTRAP};

use crate::{
    cluster::{Guard, program, shared},
    gate::Gate,
};

/// To be told what to do.
fn command(kubeconfig: &Path) -> Option<Command> {
    let mut command = Command::new(program("kubectl")?);
    command
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .env("HOME", kubeconfig.parent().unwrap());
    Some(command)
}

/// What it says on standard output and standard error, and whether it was content.
pub(crate) async fn kubectl(kubeconfig: &Path, arguments: &[&str]) -> Option<(bool, String)> {
    let mut command = command(kubeconfig)?;
    command.args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// The same with something to read, and variables.
pub(crate) async fn run(
    kubeconfig: &Path,
    arguments: &[&str],
    stdin: &str,
    environment: &[(&str, &str)],
) -> Option<(bool, String)> {
    let mut command = command(kubeconfig)?;
    command.args(arguments).envs(environment.iter().copied());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let stdin = stdin.to_owned();
    let run = move || {
        let mut child = command.spawn().unwrap();
        // It may end before it has read anything.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// Before the stand-in, as `make demo` has it: answers that a person understands.
#[tokio::test]
async fn kubectl_understands_the_gate() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let kubeconfig = gate.site.file("node-a.kubeconfig");
    let steps: &[(&[&str], bool, &str)] = &[
        (&["get", "--raw", "/version"], true, "\"gitVersion\""),
        (&["auth", "whoami"], true, "system:node:node-a"),
        (&["api-resources"], true, "pods"),
        (
            &["get", "secrets"],
            false,
            "Error from server (Forbidden): secrets is forbidden: User \"system:node:node-a\" cannot list resource \
             \"secrets\" in API group \"\" in the namespace \"default\"",
        ),
        (
            &["get", "--raw", "/api/v1/pods?limit=1&limit=2"],
            false,
            "(BadRequest): query parameter limit is given more than once",
        ),
    ];
    for (arguments, content, part) in steps {
        let Some((was, said)) = kubectl(&kubeconfig, arguments).await else {
            return;
        };
        assert_eq!(was, *content, "{arguments:?} said {said}");
        assert!(said.contains(part), "{arguments:?} said {said}");
    }
    let nobody = gate.site.file("nobody.kubeconfig");
    for (token, content, part) in [
        ("made-up", false, "You must be logged in to the server (Unauthorized)"),
        (BOOTSTRAP, true, "system:bootstrap:abcdef"),
    ] {
        let token = format!("--token={token}");
        let Some((was, said)) = kubectl(&nobody, &["auth", "whoami", &token]).await else {
            return;
        };
        assert!(was == content && said.contains(part), "{token} said {said}");
    }
}

/// Before a real kube-apiserver: what it prints is what it prints without the gate.
#[tokio::test]
async fn kubectl_says_the_same_with_and_without_the_gate() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let (_gate, through) = cluster.gate("kubectl", FRONT_PROXY, "").await;
    for arguments in [
        &["get", "--raw", "/version"][..],
        &["auth", "whoami", "-o", "json"],
        &["get", "pods", "-A"],
        &["get", "node", "node-a"],
        &["delete", "secret", "a"],
        &["create", "configmap", "a"],
        &["auth", "can-i", "get", "secrets"],
    ] {
        let (Some(gated), Some(direct)) = (
            kubectl(&through, arguments).await,
            kubectl(&cluster.file("node-a.kubeconfig"), arguments).await,
        ) else {
            return;
        };
        // The moment of the question is part of the answer.
        let timeless = |said: &str| -> String {
            said.lines()
                .filter(|line| !line.contains("creationTimestamp"))
                .collect()
        };
        assert_eq!(
            (gated.0, timeless(&gated.1)),
            (direct.0, timeless(&direct.1)),
            "{arguments:?}"
        );
    }
}
