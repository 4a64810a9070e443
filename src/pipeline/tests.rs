use std::sync::Arc;

use arc_swap::ArcSwap;
use http::StatusCode;
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{
    live::Live,
    ward::{Place, Ward},
    *,
};
use crate::{
    admission::{Admission, Extended, MirrorPodOwner, NodeRestriction, Payload, SeedRestriction},
    authorizer::{Authorizer, ExtraRules, Fallback, NodeRules, Profile, acting_as::ActingAs},
    caller::{Caller, User},
    identity::x509::{ClientCa, Options},
    observe::audit::{Config, Target},
    pki::Authority,
    quarantine::Quarantine,
    ready::Ready,
    rules::Modes,
    threads::Haste,
    upstream::{self, Client, Clients},
    watch,
};

/// A defect in the handling of a request is an answer to the client, and an event of its own kind.
#[tokio::test]
async fn a_panic_ends_one_request_and_is_recorded() {
    let (event, code) = record(|outcome| outcome.panicked(&Rejection::internal("panic"))).await;
    assert_eq!(code, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(event["stage"], "Panic");
    assert_eq!(event["annotations"]["scopegate.dev/end"], "panic");
    assert_eq!(event["responseStatus"]["code"], 500);
    assert_eq!(event["annotations"]["scopegate.dev/cause"], "panic");
}

/// What was given up because the gate stops is not put down to the client.
#[tokio::test]
async fn a_stop_is_not_the_clients_doing() {
    let pipeline = pipeline(None);
    pipeline.0.streams.stop();
    let event = written(pipeline, |_| ()).await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "gate-stopped");
}

#[tokio::test]
async fn a_client_that_leaves_at_once_is_recorded() {
    let event = written(pipeline(None), |_| ()).await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "client-gone");
    assert_eq!(event["responseStatus"]["code"], 499);
    assert_eq!(event["verb"], "get");
    assert_eq!(event["requestURI"], "/version?a=b");
}

/// Neither refused, since nobody knows whose the shoot is, nor something to try again soon: as Gardener says it.
#[tokio::test]
async fn a_seed_is_told_that_nothing_can_be_looked_up() {
    let mut fixture = pipeline(None);
    let pipeline = Arc::get_mut(&mut fixture.0).unwrap();
    pipeline.judge.authorizer.others = Fallback::Upstream;
    let profile = Profile::Current;
    pipeline.writes.admission.seeds = Some(SeedRestriction { profile });
    let caller = Caller::from(User {
        name: "gardener.cloud:system:seed:a".to_owned(),
        groups: vec!["gardener.cloud:system:seeds".to_owned()],
        ..User::default()
    });
    let request = Request::post("/api/v1/namespaces/garden-p1/configmaps")
        .body(())
        .unwrap();
    let head = Head::read(request.into_parts().0).unwrap();
    let authorizer = &pipeline.judge.authorizer;
    let authorized = authorizer.authorize(caller, head, Quarantine::nobody(), &pipeline.judge.graph.load());
    let authorized = Arc::new(authorized.unwrap());
    let body = Payload::Whole(r#"{"metadata": {"name": "s.ca-cluster"}}"#.into());
    let mut outcome = Outcome::begin(&fixture.0, ([127, 0, 0, 1], 1).into(), &fixture.1);
    let answer = fixture.0.admit_and_forward(&authorized, body, &mut outcome);
    let rejection = answer.await.err().unwrap();
    assert_eq!(rejection.code, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(rejection.reason, "InternalError");
    assert!(rejection.message.contains("could not be read"), "{rejection:?}");
}

/// Byte for byte what kube-apiserver answers, and the reason in the record.
#[tokio::test]
async fn a_refusal_reads_as_upstreams() {
    let fixture = pipeline(None);
    let pipeline = Arc::clone(&fixture.0);
    let caller = Caller::from(User {
        name: "system:node:n1".to_owned(),
        groups: vec!["system:nodes".to_owned()],
        ..User::default()
    });
    let request = Request::get("/api/v1/namespaces/ns/secrets/s2").body(()).unwrap();
    let head = Head::read(request.into_parts().0).unwrap();
    let mut answer = None;
    let event = written(fixture, |mut outcome| {
        outcome.identified(&caller);
        outcome.described(&head);
        let decided =
            pipeline
                .judge
                .authorizer
                .authorize(caller, head, Quarantine::nobody(), &pipeline.judge.graph.load());
        outcome.decided(&decided);
        let response = outcome.rejected(&decided.unwrap_err().into());
        answer = response.into_body().collect().now_or_never();
        drop(pipeline);
    })
    .await;
    let body = answer.unwrap().unwrap().to_bytes();
    let expected = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"secrets \"s2\" is forbidden: User \"system:node:n1\" cannot get resource \"secrets\" in API group \"\" in the namespace \"ns\": no relationship found between node 'n1' and this object","reason":"Forbidden","details":{"name":"s2","kind":"secrets"},"code":403}"#;
    assert_eq!(String::from_utf8_lossy(&body), format!("{expected}\n"));
    let annotations = &event["annotations"];
    assert_eq!(annotations["authorization.k8s.io/decision"], "forbid");
    let reason = "rule node/secrets: no relationship found between node 'n1' and this object";
    assert_eq!(annotations["authorization.k8s.io/reason"], reason);
}

/// Only a plain identifier of the client is taken over.
#[test_case::test_case("abc-123", true; "plain")]
#[test_case::test_case("a b", false; "odd characters")]
#[test_case::test_case("", false; "empty")]
#[test_case::test_case("0123456789012345678901234567890123456789012345678901234567890123456789", false; "long")]
#[tokio::test]
async fn audit_ids_of_clients(sent: &str, taken: bool) {
    let event = written(pipeline(Some(sent)), |_| ()).await;
    assert_eq!(event["auditID"] == sent, taken, "{event}");
}

async fn record(end: impl FnOnce(Box<Outcome>) -> Response<RecordedBody>) -> (Value, StatusCode) {
    let mut code = StatusCode::OK;
    let event = written(pipeline(None), |outcome| code = end(outcome).status()).await;
    (event, code)
}

/// A pipeline that goes nowhere, a request for it, and the folder of its audit log.
pub(super) type Fixture = (Arc<Pipeline>, Request<()>, tempfile::TempDir, audit::Writer);

pub(super) fn pipeline(audit_id: Option<&str>) -> Fixture {
    crate::server::tls::install_crypto();
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        target: Target::File(dir.path().join("audit.log")),
        max_size: 1024 * 1024,
        max_backups: 1,
    };
    let (audit, writer) = audit::start(&config, audit::Metrics::default()).unwrap();
    let ca = Authority::new("ca").unwrap();
    let client_ca = ClientCa::from_pem(ca.certificate.as_bytes(), Options { uid: true }).unwrap();
    let upstream = nowhere();
    let (graph, _) = watch::start(
        upstream.line(),
        &watch::Config::default(),
        &Ready::default(),
        &Haste::default(),
    );
    let reads = live::Limits {
        burst: 1,
        per_second: 1,
    };
    let pipeline = Arc::new(Pipeline {
        authenticator: Authenticator {
            client_ca: Arc::new(ArcSwap::from_pointee(client_ca)),
            tokens: None,
        },
        acting: Acting {
            rules: ActingAs::DEFAULT,
            metrics: acting::Metrics::default(),
        },
        judge: Judge {
            authorizer: Authorizer {
                nodes: Fallback::Deny,
                seeds: None,
                node_rules: NodeRules {
                    selectors: true,
                    trust_bundles: false,
                    pod_certificates: false,
                    service_accounts: Some(true),
                    events_group: true,
                },
                modes: Modes::DEFAULT,
                bootstrap: Fallback::Upstream,
                others: Fallback::Deny,
                extra: ExtraRules::NONE,
                masters: Vec::new(),
                caller_known_upstream: true,
            },
            ward: Arc::new(Ward::new(Place::Nowhere.open(&upstream), ward::Metrics::default())),
            graph,
            seeds: None,
            gardenlets: gardenlets::Gardenlets::default(),
            lag_wait: std::time::Duration::ZERO,
            live: Live::new(reads, upstream.clone()),
            metrics: judge::Metrics::default(),
        },
        writes: Writes {
            admission: Admission {
                node_restriction: NodeRestriction {
                    audiences: true,
                    any_certificate: false,
                    pod_certificates: false,
                    apply: false,
                    mirror_pod_owner: MirrorPodOwner::Upstream,
                    extended: Extended::default(),
                },
                seeds: None,
                validated: None,
                modes: Modes::DEFAULT,
            },
            metrics: writes::Metrics::default(),
        },
        reviews: Reviews::new(
            Arc::new(|_| Box::pin(async { Err(String::new()) })),
            reviews::Remember::default(),
            reviews::Metrics::default(),
        ),
        upstream,
        body_limits: Limits {
            bytes: 1,
            time: std::time::Duration::ZERO,
        },
        shares: Shares::new(
            shares::Limits {
                requests: 1,
                streams: 1,
            },
            shares::Metrics::default(),
        ),
        streams: Streams::default(),
        audit,
        refusals: Arc::default(),
        metrics: Metrics::default(),
    });
    let mut request = Request::get("/version?a=b").body(()).unwrap();
    if let Some(id) = audit_id {
        request.headers_mut().insert(reply::AUDIT_ID, id.parse().unwrap());
    }
    (pipeline, request, dir, writer)
}

/// An upstream that nobody can reach.
pub(super) fn nowhere() -> Upstream {
    crate::server::tls::install_crypto();
    let nowhere = Client::new(&kube::Config::new("https://127.0.0.1:1".parse().unwrap())).unwrap();
    let nowhere = Clients {
        own: nowhere.clone(),
        told: nowhere.clone(),
        bare: nowhere,
    };
    Upstream::new(
        Arc::new(ArcSwap::from_pointee(nowhere)),
        upstream::Identity::Own,
        std::time::Duration::ZERO,
        upstream::Metrics::default(),
    )
}

/// The one event that comes of a request.
async fn written((pipeline, request, dir, writer): Fixture, end: impl FnOnce(Box<Outcome>)) -> Value {
    end(Outcome::begin(&pipeline, ([127, 0, 0, 1], 1).into(), &request));
    drop(pipeline);
    writer.finish();
    let log = std::fs::read_to_string(dir.path().join("audit.log")).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    serde_json::from_str(&log).unwrap()
}
