//! What somebody asks through a gate and is told, and what upstream has recorded of it.

use std::{
    io::{Read as _, Seek as _, SeekFrom},
    sync::atomic::{AtomicUsize, Ordering},
};

use http::Request;
use serde_json::{Value, json};

use crate::{
    cluster::{AUDIT_LOG, Cluster},
    gate::{Answer, Client, eventually},
};

/// Thousands of events.
const RECENT: u64 = 4 << 20;

/// What somebody was told, and by which identifier both audit logs know it.
pub(super) struct Told {
    pub(super) answer: Answer,
    pub(super) id: String,
}

/// With an identifier of its own.
pub(super) async fn ask(
    client: &Client,
    (method, target): (&str, &str),
    (form, body): (&str, impl AsRef<[u8]>),
    token: &str,
) -> Told {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let id = format!(
        "garden-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let mut request = Request::builder().method(method).uri(target).header("audit-id", &id);
    if !form.is_empty() {
        request = request.header("content-type", form);
    }
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = client.send(request, body).await.unwrap();
    Told { answer, id }
}

impl Told {
    pub(super) fn code(&self) -> u16 {
        self.answer.code.as_u16()
    }

    /// Whatever is refused is refused in words that every client of Kubernetes understands.
    #[track_caller]
    pub(super) fn is_refusal(&self, code: u16, what: &str) {
        let status = self.answer.json();
        assert_eq!(self.code(), code, "{what}: {}", self.answer.body);
        assert_eq!(
            (&status["kind"], &status["apiVersion"]),
            (&json!("Status"), &json!("v1")),
            "{what}: {status}"
        );
        assert_eq!(
            (&status["status"], &status["code"]),
            (&json!("Failure"), &json!(code)),
            "{what}: {status}"
        );
        // Kubernetes has no word for what it did not foresee.
        assert!(status["reason"].is_string() || code == 500, "{what}: {status}");
    }

    /// What upstream has recorded of it, when it has.
    pub(super) async fn event(&self, cluster: &Cluster) -> Value {
        eventually("an audit event of upstream", || events(cluster, &self.id).pop()).await
    }

    /// Upstream has not seen it: not even after it has recorded something that came later.
    pub(super) async fn is_not_forwarded(&self, cluster: &Cluster, admin: &Client) {
        let later = ask(admin, ("GET", "/version"), ("", ""), "").await;
        later.event(cluster).await;
        assert_eq!(events(cluster, &self.id), [] as [Value; 0], "{}", self.answer.body);
    }
}

fn events(cluster: &Cluster, id: &str) -> Vec<Value> {
    // Whatever is looked for was written a moment ago, and the log is long.
    let mut log = std::fs::File::open(cluster.file(AUDIT_LOG)).unwrap();
    let length = log.metadata().unwrap().len();
    log.seek(SeekFrom::Start(length.saturating_sub(RECENT))).unwrap();
    let mut recent = Vec::new();
    log.read_to_end(&mut recent).unwrap();
    let recent = String::from_utf8_lossy(&recent);
    let lines = recent.lines().filter(|line| line.contains(id));
    let events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["auditID"] == id).collect()
}
