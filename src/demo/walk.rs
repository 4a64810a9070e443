//! A walk through requests: what is asked, what comes of it, and why.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::{
    Request, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{site::Site, standin::tokens};
use crate::{
    body::Body,
    upstream::{self, Client},
};

/// One request of the walk.
struct Step {
    /// What it shows.
    about: &'static str,
    who: &'static str,
    method: &'static str,
    target: &'static str,
    content_type: &'static str,
    body: &'static str,
    /// A bearer token, or nothing.
    token: &'static str,
    expected: StatusCode,
}

const fn step(about: &'static str, who: &'static str, target: &'static str, expected: StatusCode) -> Step {
    Step {
        about,
        who,
        method: "GET",
        target,
        content_type: "application/json",
        body: "",
        token: "",
        expected,
    }
}

const WHO_AM_I: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;

/// What kubelets send.
const STRATEGIC: &str = "application/strategic-merge-patch+json";

const STEPS: &[Step] = &[
    step(
        "a node reads what the pods bound to it need",
        "node-a",
        "/api/v1/namespaces/default/secrets/secret-of-web-on-node-a",
        StatusCode::OK,
    ),
    step(
        "",
        "node-a",
        "/api/v1/namespaces/kube-system/secrets/secret-of-volume-of-web-on-node-a",
        StatusCode::OK,
    ),
    step(
        "",
        "node-a",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a",
        StatusCode::OK,
    ),
    step(
        "and nothing else; upstream does not even see the request",
        "node-a",
        "/api/v1/namespaces/default/secrets/secret-of-web-on-node-b",
        StatusCode::FORBIDDEN,
    ),
    step("", "node-a", "/api/v1/pods", StatusCode::FORBIDDEN),
    step("", "node-a", "/api/v1/nodes", StatusCode::FORBIDDEN),
    step(
        "its own lease is its own",
        "node-a",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a",
        StatusCode::OK,
    ),
    step(
        "",
        "node-a",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-b",
        StatusCode::FORBIDDEN,
    ),
    Step {
        method: "PATCH",
        content_type: STRATEGIC,
        body: r#"{"metadata":{"labels":{"topology.kubernetes.io/zone":"z1"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
        ..step(
            "it says how it is, and sets labels that are a kubelet's to set",
            "node-a",
            "/api/v1/nodes/node-a/status",
            StatusCode::OK,
        )
    },
    Step {
        method: "PATCH",
        content_type: STRATEGIC,
        body: r#"{"metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}}"#,
        ..step(
            "but it takes no role, and drops no taint",
            "node-a",
            "/api/v1/nodes/node-a/status",
            StatusCode::FORBIDDEN,
        )
    },
    Step {
        method: "PATCH",
        content_type: "application/json-patch+json",
        body: r#"[{"op":"replace","path":"/spec/taints","value":[]}]"#,
        ..step("", "node-a", "/api/v1/nodes/node-a", StatusCode::FORBIDDEN)
    },
    Step {
        method: "POST",
        body: r#"{"metadata":{"name":"sneaky","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"node-b"}}"#,
        ..step(
            "it puts no pod on another node, and deletes none there",
            "node-a",
            "/api/v1/namespaces/default/pods",
            StatusCode::FORBIDDEN,
        )
    },
    Step {
        method: "DELETE",
        ..step(
            "",
            "node-a",
            "/api/v1/namespaces/default/pods/web-on-node-b",
            StatusCode::FORBIDDEN,
        )
    },
    step(
        "every node may ask what is served",
        "node-a",
        "/version",
        StatusCode::OK,
    ),
    Step {
        method: "POST",
        body: WHO_AM_I,
        ..step(
            "and who it is; upstream answers about the node, not about the gate",
            "node-a",
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            StatusCode::CREATED,
        )
    },
    step(
        "without a certificate or a token nobody is anybody",
        "nobody",
        "/version",
        StatusCode::UNAUTHORIZED,
    ),
    Step {
        method: "POST",
        body: WHO_AM_I,
        token: tokens::BOOTSTRAP,
        ..step(
            "whoever joins comes with a bootstrap token and goes on with it; upstream decides",
            "nobody",
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            StatusCode::CREATED,
        )
    },
    step(
        "what two readers could read differently is not read at all",
        "node-a",
        "/openapi/../api/v1/secrets",
        StatusCode::BAD_REQUEST,
    ),
    step(
        "",
        "node-a",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a;x",
        StatusCode::BAD_REQUEST,
    ),
];

/// Longest wait for the audit event of a request that was answered.
const AUDIT: Duration = Duration::from_secs(5);

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const ALLOWED: Style = AnsiColor::Green.on_default();
const REFUSED: Style = AnsiColor::Yellow.on_default();

/// Makes the requests of every step through the gate and prints what came of each. Fails if one did not end as it
/// should.
pub async fn walk(site: &Site) -> anyhow::Result<()> {
    let mut wrong = 0;
    for step in STEPS {
        if !step.about.is_empty() {
            anstream::println!("\n  {BOLD}{}{BOLD:#}", step.about);
        }
        let before = site.upstream.seen().len();
        let (code, told, audit_id) = ask(site, step).await?;
        let reached = site.upstream.seen().len() > before;
        let reason = reason(site, &audit_id).await?;

        let (style, word) = if code.is_success() {
            (ALLOWED, "allowed")
        } else {
            (REFUSED, "refused")
        };
        let upstream = if reached {
            "upstream answered"
        } else {
            "upstream saw nothing"
        };
        anstream::println!(
            "  {:<7} {:<5} {:<58} {style}{} {word}{style:#}  {DIM}{upstream}{DIM:#}",
            step.who,
            step.method,
            step.target,
            code.as_u16(),
        );
        anstream::println!("          {DIM}client reads:{DIM:#} {told}");
        anstream::println!("          {DIM}audit says:  {DIM:#} {reason}");
        wrong += usize::from(code != step.expected);
    }
    match wrong {
        0 => Ok(()),
        wrong => bail!("{wrong} requests of the demo did not end as they should"),
    }
}

/// The status code, a line of what the client reads, and the audit identifier.
async fn ask(site: &Site, step: &Step) -> anyhow::Result<(StatusCode, String, String)> {
    let credentials = upstream::credentials(Some(&site.file(&format!("{}.kubeconfig", step.who)))).await?;
    let mut request = Request::builder()
        .method(step.method)
        .uri(step.target)
        .header(CONTENT_TYPE, step.content_type);
    if !step.token.is_empty() {
        request = request.header(AUTHORIZATION, format!("Bearer {}", step.token));
    }
    let request = request.body(Body::from(Bytes::from(step.body)))?;
    let sent = Client::new(&credentials)?.ask(request).await;
    let response = sent.map_err(|error| anyhow::anyhow!("the gate did not answer: {error}"))?;
    let audit_id = response.headers().get("audit-id").and_then(|id| id.to_str().ok());
    let (code, audit_id) = (response.status(), audit_id.unwrap_or_default().to_owned());
    let body = response.into_body().collect().await?.to_bytes();
    let told: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok((code, summary(&told), audit_id))
}

/// What a person would look for in an answer.
fn summary(told: &Value) -> String {
    let at = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
    if let Some(message) = at("/message") {
        return message.to_owned();
    }
    if let Some(user) = at("/status/userInfo/username") {
        return format!("you are {user}");
    }
    if let Some(version) = at("/gitVersion") {
        return format!("version {version}");
    }
    if let Some(name) = at("/metadata/name") {
        return format!("{} {name}", at("/kind").unwrap_or("object").to_lowercase());
    }
    let count = |key: &str| told.get(key).and_then(Value::as_array).map(Vec::len);
    match count("items") {
        Some(1) => "1 object".to_owned(),
        Some(count) => format!("{count} objects"),
        None => told.to_string(),
    }
}

/// Why, as the audit event of the request tells it. Events are written a moment after the answer.
async fn reason(site: &Site, audit_id: &str) -> anyhow::Result<String> {
    let path: PathBuf = site.file("audit.log");
    let began = Instant::now();
    while began.elapsed() < AUDIT {
        let log = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut of_request = events.filter(|event| event.get("auditID").and_then(Value::as_str) == Some(audit_id));
        if let Some(event) = of_request.next() {
            let annotation = |name: &str| event.get("annotations")?.get(name)?.as_str();
            let reason = annotation("authorization.k8s.io/reason").or(annotation("scopegate.dev/cause"));
            let reason = reason.unwrap_or("the request could not be read");
            return Ok(match annotation("scopegate.dev/not-admitted") {
                Some(_) => format!("{reason}, but not admitted"),
                None => reason.to_owned(),
            });
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bail!("no audit event for request {audit_id}")
}
