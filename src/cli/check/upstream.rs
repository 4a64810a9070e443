//! What upstream is, whom it believes, what the gate may do there, and what it enforces itself.

use std::sync::Arc;

use arc_swap::ArcSwap;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{
    Report, quarantine,
    rights::{
        access, acting_rights, annotation_rights, discovery_rights, event_rights, impersonation_rights,
        informer_rights, own_rights, review_rights, token_rights,
    },
    seeds::{self, Told},
};
use crate::{
    api::names,
    authorizer::{Fallback, SeedRules},
    caller::User,
    config::{self, Config},
    upstream::{self, Identity, Metrics, Upstream},
};

/// A node that is in no cluster.
const NODE: &str = "scopegate-check";

const SELF_REVIEW: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

pub(super) async fn check(config: &Config, report: &mut Report) {
    let speak = async |files: upstream::Files, identity| {
        let clients = Arc::new(ArcSwap::from_pointee(files.clients().await?));
        Ok::<_, upstream::Error>(Upstream::new(
            clients,
            identity,
            config.upstream.response_timeout,
            Metrics::default(),
        ))
    };
    let by_own_credentials = upstream::Files {
        front_proxy: None,
        ..config.upstream.files()
    };
    let (own, impersonate) = match (
        speak(by_own_credentials.clone(), Identity::Own).await,
        speak(by_own_credentials, Identity::Impersonate).await,
    ) {
        (Ok(own), Ok(impersonate)) => (own, impersonate),
        (Err(error), _) | (_, Err(error)) => return report.fail(error.to_string()),
    };
    if !version(&own, config, report).await {
        return;
    }
    let front_proxy = match &config.upstream.identity {
        config::Identity::FrontProxy { .. } => match speak(config.upstream.files(), config.told_upstream()).await {
            Ok(front_proxy) => Some(front_proxy),
            Err(error) => return report.fail(error.to_string()),
        },
        config::Identity::Impersonate | config::Identity::Own => None,
    };
    let chosen = config.upstream.identity.mode();
    let modes = [
        (
            "FrontProxy",
            match &front_proxy {
                Some(front_proxy) => as_node(front_proxy).await,
                None => Err("not tried, no certFile is configured".to_owned()),
            },
        ),
        ("Impersonate", as_node(&impersonate).await),
        ("Own", as_gate(&own).await),
    ];
    let mut works = false;
    for (mode, result) in modes {
        match result {
            Ok(seen) if mode == chosen => {
                works = true;
                report.ok(format!("identity mode {mode} (configured) works: {seen}"));
            }
            Ok(seen) => report.note(format!("identity mode {mode} would work: {seen}")),
            Err(error) if mode == chosen => {
                report.fail(format!("identity mode {mode} (configured) does not work: {error}"));
            }
            Err(error) => report.note(format!("identity mode {mode} would not work: {error}")),
        }
    }
    match config.upstream.identity {
        config::Identity::FrontProxy { .. } => {}
        config::Identity::Impersonate => {
            impersonation_rights(&own, report).await;
            acting_rights(&own, &config.acting_as, report).await;
        }
        config::Identity::Own => {
            discovery_rights(&own, report).await;
            own_rights(&own, report).await;
        }
    }
    informer_rights(&own, &config.graph.watch, report).await;
    event_rights(&own, &config.admission.modes, report).await;
    review_rights(&own, &reviewed(config), report).await;
    if let Some(validated) = &config.admission.validated {
        let impersonates = matches!(config.upstream.identity, config::Identity::Impersonate);
        annotation_rights(&own, validated, impersonates, report).await;
    }
    if config.authentication.token_review {
        token_rights(&own, report).await;
    }
    if let Some(rules) = config.authorizer.seeds {
        let told = match config.upstream.identity {
            config::Identity::FrontProxy { .. } => Told::FrontProxy,
            config::Identity::Impersonate => Told::Impersonate,
            config::Identity::Own => Told::Nothing,
        };
        seeds::check(&own, rules, told, report).await;
    }
    quarantine::check(&config.quarantine, &own, report).await;
    match front_proxy.or((chosen == "Impersonate").then_some(impersonate)) {
        Some(upstream) if works => {
            node_authorizer(&upstream, report).await;
            node_restriction(&upstream, report).await;
        }
        Some(_) => report.note("whether upstream runs the Node authorizer and NodeRestriction cannot be told"),
        None => report.note("upstream sees only the gate: its own Node authorizer and NodeRestriction never apply"),
    }
}

/// Who depends on what upstream's authorizers say.
fn reviewed(config: &Config) -> Vec<&'static str> {
    let mut hangs = Vec::new();
    if config.admission.node_restriction.audiences {
        hangs.push("nodes that ask for tokens for audiences of their own");
    }
    if config.authorizer.caller_known_upstream {
        hangs.push("callers who act as somebody else");
    }
    if let Some(SeedRules {
        fallback: Fallback::Upstream,
        ..
    }) = config.authorizer.seeds
    {
        hangs.push("seeds that ask for what the rules for seeds leave to upstream");
    }
    if config.admission.validated.is_some() {
        hangs.push("whoever creates, changes or enters pods that carry validated annotations");
    }
    hangs
}

/// Reaches upstream and compares its release with the configured one.
async fn version(own: &Upstream, config: &Config, report: &mut Report) -> bool {
    let (code, version) = match own.ask(Method::GET, "/version", None, None).await {
        Ok(answer) => answer,
        Err(error) => {
            report.fail(format!(
                "cannot reach the API server: {}",
                upstream::chain(error.as_ref())
            ));
            return false;
        }
    };
    let text = |key: &str| version.get(key).and_then(Value::as_str).unwrap_or_default();
    if code != StatusCode::OK {
        report.warn(format!(
            "reached the API server, but it does not tell its version ({code})"
        ));
        return true;
    }
    let release = format!("{}.{}", text("major"), text("minor").trim_end_matches('+'));
    let configured = config.kubernetes_version.to_string();
    report.ok(format!("reached the API server, version {}", text("gitVersion")));
    if release != configured {
        report.warn(format!(
            "kubernetesVersion is {configured}, but upstream is {release}; set it to what upstream is"
        ));
    }
    true
}

/// Whether upstream takes a request of ours for one of a node.
async fn as_node(upstream: &Upstream) -> Result<String, String> {
    let node = node();
    let user = who_am_i(upstream, Some(&node)).await?;
    if user == node.name {
        Ok("upstream sees the node".to_owned())
    } else {
        Err(format!("upstream sees {user:?} instead of the node"))
    }
}

async fn as_gate(own: &Upstream) -> Result<String, String> {
    let user = who_am_i(own, None).await?;
    Ok(format!("upstream sees {user:?}"))
}

async fn who_am_i(upstream: &Upstream, user: Option<&User>) -> Result<String, String> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let (code, answer) = ask(upstream, SELF_REVIEW, user, &review).await?;
    match answer.pointer("/status/userInfo/username").and_then(Value::as_str) {
        Some(name) => Ok(name.to_owned()),
        None => Err(refusal(code, &answer)),
    }
}

/// The Node authorizer gives itself away by the reason of its refusal.
async fn node_authorizer(upstream: &Upstream, report: &mut Report) {
    let secret = json!({"verb": "get", "resource": "secrets", "namespace": "kube-system", "name": NODE});
    match access(upstream, Some(&node()), &json!({"resourceAttributes": secret})).await {
        Ok((false, reason)) if reason.contains("no relationship found between node") => {
            report.ok("upstream runs the Node authorizer itself");
        }
        Ok((true, _)) => report.warn("upstream lets nodes read any secret: the gate is the only guard"),
        Ok((false, _)) => {
            report.note("upstream does not run the Node authorizer; its other rules let nodes read no secret");
        }
        Err(error) => report.warn(format!(
            "cannot tell whether upstream runs the Node authorizer: {error}"
        )),
    }
}

/// A node may not make another node's object. Tried as a dry run, so that nothing comes of it where nothing forbids it.
async fn node_restriction(upstream: &Upstream, report: &mut Report) {
    let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("{NODE}-other")}});
    match ask(upstream, "/api/v1/nodes?dryRun=All", Some(&node()), &other).await {
        Ok((_, answer)) if message(&answer).contains("is not allowed to modify node") => {
            report.ok("upstream runs NodeRestriction itself");
        }
        Ok((code, _)) if code.is_success() => {
            report.note(
                "upstream does not run NodeRestriction; only the gate keeps nodes from writing what is not theirs",
            );
        }
        Ok((code, answer)) => {
            let why = refusal(code, &answer);
            report.warn(format!("cannot tell whether upstream runs NodeRestriction: {why}"));
        }
        Err(error) => report.warn(format!("cannot tell whether upstream runs NodeRestriction: {error}")),
    }
}

pub(super) async fn ask(
    upstream: &Upstream,
    target: &'static str,
    user: Option<&User>,
    body: &Value,
) -> Result<(StatusCode, Value), String> {
    let answer = upstream.ask(Method::POST, target, user, Some(body)).await;
    answer.map_err(|error| upstream::chain(error.as_ref()))
}

fn node() -> User {
    User {
        name: format!("{}{NODE}", names::NODE_USER_PREFIX),
        groups: vec![names::NODES_GROUP.to_owned(), names::AUTHENTICATED_GROUP.to_owned()],
        extra: vec![(
            names::CREDENTIAL_ID_EXTRA.to_owned(),
            vec!["X509SHA256=check".to_owned()],
        )],
        ..User::default()
    }
}

fn message(answer: &Value) -> &str {
    answer.get("message").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn refusal(code: StatusCode, answer: &Value) -> String {
    match message(answer) {
        "" => format!("upstream answers {code}"),
        message => format!("upstream answers {code}: {message}"),
    }
}
