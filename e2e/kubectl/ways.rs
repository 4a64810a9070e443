//! The same command straight to the cluster and through gates: whoever reads what kubectl prints cannot tell which.

use std::{
    fs::File,
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};

use super::command;
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{PATIENCE, Process, ready},
    graph::{admin_client, created, objects::namespace},
};

/// Those who are no nodes go upstream as who they are.
const OTHERS: &str = "callers: {others: Forward}\n";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// An administrator's ways to one cluster.
pub(super) struct Ways {
    pub(super) cluster: Arc<Cluster>,
    pub(super) ways: Vec<Way>,
    /// They end with this.
    _gates: Vec<Process>,
}

/// One of them, with a namespace and a node of its own. All are called alike but for one letter, so that tables come out
/// alike, too.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) name: String,
    pub(super) kubeconfig: PathBuf,
    server: SocketAddr,
}

/// What kubectl said, and how it ended.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) error: String,
}

/// A kubectl that goes on until it is told to end, or this is dropped.
pub(super) struct Running {
    child: Child,
    arguments: String,
    out: PathBuf,
    error: PathBuf,
}

impl Ways {
    /// Directly, by a gate that is a front proxy, and by one that impersonates.
    pub(super) async fn open(test: &str) -> Option<Self> {
        let cluster = shared(Guard::Node).await?;
        command(&cluster.file("admin.kubeconfig"))?;
        let (user, group) = (format!("{test}-kim"), format!("{test}-group"));
        cluster.user(&user, &user, Some(&group));
        administrators(&cluster, test, &group).await;
        let mut ways = Vec::new();
        let mut gates = Vec::new();
        for (letter, identity) in [("a", None), ("b", Some(FRONT_PROXY)), ("c", Some(IMPERSONATE))] {
            let name = format!("{test}-{letter}");
            let server = match identity {
                None => cluster.api,
                Some(identity) => {
                    let gate = Process::serve(&cluster.configuration(&format!("{name}.yaml"), identity, OTHERS));
                    let (serving, admin) = gate.addresses().await;
                    ready(admin).await;
                    gates.push(gate);
                    serving
                }
            };
            namespace(&cluster, &name).await;
            let kubeconfig = cluster.kubeconfig(&name, &user, server);
            ways.push(Way {
                name,
                kubeconfig,
                server,
            });
        }
        Some(Self {
            cluster,
            ways,
            _gates: gates,
        })
    }

    /// The same on every way. They print the same, and this is it.
    pub(super) async fn run(&self, arguments: &str, stdin: &str) -> Said {
        self.run_with(arguments, stdin, &[]).await
    }

    /// With variables in the environment of kubectl.
    pub(super) async fn run_with(&self, arguments: &str, stdin: &str, environment: &[(&str, &str)]) -> Said {
        let runs = self.ways.iter().map(|way| way.run(arguments, stdin, environment));
        let mut said = futures_util::future::join_all(runs).await.into_iter();
        let direct = said.next().unwrap();
        for (way, gated) in self.ways.iter().skip(1).zip(said) {
            assert_eq!(gated, direct, "kubectl {arguments} through {}", way.name);
        }
        direct
    }
}

impl Way {
    pub(super) async fn run(&self, arguments: &str, stdin: &str, environment: &[(&str, &str)]) -> Said {
        let mut running = self.spawn(arguments, environment);
        running.write(&self.here(stdin));
        running.close();
        Said {
            code: running.exited().await,
            out: self.plain(&read(&running.out)),
            error: self.plain(&read(&running.error)),
        }
    }

    /// One that may not end by itself. What it prints goes to files.
    pub(super) fn spawn(&self, arguments: &str, environment: &[(&str, &str)]) -> Running {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let [out, error] = ["out", "error"].map(|kind| self.kubeconfig.with_extension(format!("{number}.{kind}")));
        let mut command = self.command(arguments);
        command
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&error).unwrap());
        Running {
            child: command.spawn().unwrap(),
            arguments: arguments.to_owned(),
            out,
            error,
        }
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = command(&self.kubeconfig).unwrap();
        let arguments = self.here(arguments);
        command.args(["--namespace", &self.name]).args(arguments.split(' '));
        command
    }

    /// A text with the name that this way has.
    pub(super) fn here(&self, text: &str) -> String {
        text.replace("NAME", &self.name)
    }

    /// What was printed without what is new every time: uids, versions, times, and where it was printed.
    pub(super) fn plain(&self, text: &str) -> String {
        let text = text
            .replace(&self.name, "NAME")
            .replace(&self.server.to_string(), "SERVER");
        let lines = text.lines().map(|line| {
            let words = line.split_whitespace();
            let version = line.contains("resourceVersion");
            words
                .map(|word| plain_word(word, version))
                .collect::<Vec<_>>()
                .join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Running {
    /// On standard output, then on standard error.
    pub(super) fn said(&self) -> String {
        read(&self.out) + &read(&self.error)
    }

    /// Waits until it has said something.
    pub(super) async fn says(&self, text: &str) {
        self.until(&format!("{text:?}"), || self.said().contains(text).then_some(()))
            .await;
    }

    pub(super) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// It may have ended without having read it.
    pub(super) fn write(&mut self, text: &str) {
        let _ = self.child.stdin.as_mut().unwrap().write_all(text.as_bytes());
    }

    /// It has nothing more to read.
    pub(super) fn close(&mut self) {
        drop(self.child.stdin.take());
    }

    pub(super) async fn exited(&mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None => self.patient(began, "end").await,
            }
        }
    }

    /// Waits for something that comes of it.
    pub(super) async fn until<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            match look() {
                Some(found) => return found,
                None => self.patient(began, what).await,
            }
        }
    }

    async fn patient(&self, began: Instant, what: &str) {
        let (arguments, said) = (&self.arguments, self.said());
        assert!(
            began.elapsed() < 2 * PATIENCE,
            "no {what} of kubectl {arguments}: {said}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Uids, times and ages; and numbers in a line about a version.
fn plain_word(word: &str, version: bool) -> String {
    let bare = word.trim_matches(['"', ',', '(', ')', '\'']);
    let shape: String = bare
        .chars()
        .map(|c| if c.is_ascii_hexdigit() { '0' } else { c })
        .collect();
    let numbers: String = bare.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let age = bare.ends_with(['s', 'm']) && bare.trim_end_matches(['s', 'm']).split('m').all(is_number);
    let stands_for = match () {
        () if shape == "00000000-0000-0000-0000-000000000000" => "UID",
        () if numbers.starts_with("0000-00-00T00:00:00") && numbers.ends_with('Z') => "TIME",
        () if numbers == "00:00:00" => "TIME",
        () if age => "AGE",
        () if version && is_number(bare) => "VERSION",
        () => return word.to_owned(),
    };
    word.replace(bare, stands_for)
}

fn read(file: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A group that may do everything, and that the gate may speak for.
async fn administrators(cluster: &Cluster, test: &str, group: &str) {
    for manifest in [
        include_str!("../../config/kubernetes/impersonate.yaml"),
        include_str!("../../config/kubernetes/acting-as.yaml"),
    ] {
        cluster.grant(manifest).await;
    }
    let admin = admin_client(cluster).await;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": group},
        "rules": [{"apiGroups": [""], "resources": ["groups"], "resourceNames": [group], "verbs": ["impersonate"]}],
    });
    created(&admin, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).await;
    let binding = |name: String, role: &str, subject: Value| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [subject],
        })
    };
    let subject = |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let all = binding(format!("{test}-all"), "cluster-admin", subject("Group", group));
    created(&admin, BINDINGS, &all).await;
    let speak = binding(format!("{test}-speak"), group, subject("User", "scopegate"));
    created(&admin, BINDINGS, &speak).await;
}
