//! What never is, whoever allows it, and what cannot be told.

use http::StatusCode;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN};
use serde_json::json;
use test_case::test_case;

use super::{Gated, Subject, WHO, WHO_AM_I, allow, ask, cluster, known, seen};
use crate::graph::{
    admin_client, created,
    objects::{namespace, node, secret},
};

/// May impersonate anybody and anything, by upstream's rules.
async fn mighty(cluster: &crate::cluster::Cluster, name: &str) {
    known(cluster, &[name]);
    let all = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
    allow(cluster, Subject::User(name), "", all).await;
}

const GROUP: &str = "Impersonate-Group";
const USER: &str = "Impersonate-User";

#[tokio::test]
async fn some_wishes_are_never_granted() {
    let Some(cluster) = cluster().await else { return };
    mighty(&cluster, "rf-mighty").await;
    let gate = Gated::start(&cluster, "rf", FRONT_PROXY, "").await;
    let client = gate.client("rf-mighty").await;
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[(USER, "jane"), (GROUP, "system:masters")],
            "member of \\\"system:masters\\\"",
        ),
        (
            &[(USER, "jane"), (GROUP, "a"), (GROUP, "system:masters")],
            "member of \\\"system:masters\\\"",
        ),
        (&[("Acting-As", "system:node:n1")], "unless a delegation names it"),
        (
            &[(USER, "system:node:n1"), (GROUP, "system:nodes")],
            "unless a delegation names it",
        ),
        (
            &[(USER, "jane"), (GROUP, "system:nodes")],
            "unless a delegation names it",
        ),
        (
            &[("Acting-As", "gardener.cloud:system:seed:s")],
            "unless a delegation names it",
        ),
        (&[("Acting-As", "system:anonymous")], "not authenticated"),
        (
            &[(USER, "jane"), (GROUP, "system:unauthenticated")],
            "not authenticated",
        ),
    ];
    for (headers, why) in cases {
        let (answer, id) = ask(&client, ("POST", WHO_AM_I), headers, WHO).await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{headers:?}: {}", answer.body);
        assert!(answer.body.contains(why), "{headers:?}: {}", answer.body);
        assert!(
            answer.message().contains("User \"rf-mighty\" cannot act as"),
            "{}",
            answer.body
        );
        assert_eq!(seen(&cluster, &id), 0, "{headers:?}");
        let event = gate.event(&id).await;
        assert_eq!(event["annotations"]["scopegate.dev/rule"], "callers/impersonation");
    }
    let metrics = gate.metrics().await;
    let refused = format!(
        "acting_as_requests_total{{outcome=\"refused\",by=\"\"}} {}",
        cases.len()
    );
    assert!(metrics.contains(&refused), "{metrics}");
    assert!(
        !metrics.contains("scopegate_reviews_total{"),
        "nothing is asked: {metrics}"
    );
    // It may be itself, if that is what upstream lets it, and like anybody else.
    let (answer, _) = ask(&client, ("POST", WHO_AM_I), &[("Acting-As", "rf-mighty")], WHO).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    assert_eq!(
        answer.json()["status"]["userInfo"]["groups"],
        json!(["system:authenticated"])
    );
    // Whoever upstream lets do anything is refused before, as it would be as itself.
    let (answer, id) = ask(
        &gate.client("admin").await,
        ("POST", WHO_AM_I),
        &[("Acting-As", "jane")],
        WHO,
    )
    .await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(answer.message().contains("callers.allowMasters"), "{}", answer.body);
    assert_eq!(seen(&cluster, &id), 0);
    known(&cluster, &["rf-weak"]);
    let (answer, id) = ask(
        &gate.client("rf-weak").await,
        ("POST", WHO_AM_I),
        &[("Acting-As", "rf-weak")],
        WHO,
    )
    .await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(
        answer
            .message()
            .contains("upstream does not let it impersonate users \"rf-weak\"")
    );
    assert_eq!(seen(&cluster, &id), 0);
}

/// Attacks 27 and 28: what is malformed is 400, wherever it stands, and never seen by upstream.
#[test_case(&[("Acting-As", "jane"), (USER, "jane")]; "both families")]
#[test_case(&[("Acting-As", "jane"), ("Acting-As", "jane")]; "twice")]
#[test_case(&[(USER, "jane"), (USER, "joe")]; "two users")]
#[test_case(&[("Acting-As", "")]; "nobody")]
#[test_case(&[(USER, "")]; "no user")]
#[test_case(&[(GROUP, "system:masters")]; "a group alone")]
#[test_case(&[("Impersonate-Uid", "1")]; "a uid alone")]
#[test_case(&[("Impersonate-Extra-a", "1")]; "an extra alone")]
#[test_case(&[(USER, "jane"), ("Impersonate-Unheard-Of", "1")]; "an unknown suffix")]
#[test_case(&[(USER, "jane"), ("Impersonate-Uid", "1"), ("Impersonate-Uid", "2")]; "two uids")]
#[test_case(&[(USER, "jane"), ("Impersonate-Extra-a%zz", "1")]; "a bad escape")]
#[test_case(&[(USER, "jane"), ("Impersonate-Extra-Acting-As.scopegate.dev%2Factor", "somebody")]; "another actor")]
#[test_case(&[(USER, "jane"), ("Impersonate-Extra-%61cting-as.scopegate.dev%2factor", "somebody")]; "another actor in disguise")]
#[tokio::test]
async fn malformed_wishes_are_400(headers: &[(&str, &str)]) {
    let gate = crate::gate::Gate::start(FRONT_PROXY, "callers: {others: Forward, nodes: {fallback: Upstream}}\n").await;
    let mut request = http::Request::get("/version");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = gate.send("node-a", request, "").await;
    assert_eq!(answer.code, StatusCode::BAD_REQUEST, "{}", answer.body);
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// Attacks 27 and 28: a wish can be neither named away nor brought along in other headers.
#[test_case("rft", FRONT_PROXY; "front proxy")]
#[test_case("rfi", IMPERSONATE; "impersonate")]
#[tokio::test]
async fn a_wish_cannot_be_named_away(name: &str, identity: &str) {
    let Some(cluster) = cluster().await else { return };
    let actor = format!("{name}-actor");
    mighty(&cluster, &actor).await;
    let gate = Gated::start(&cluster, name, identity, "").await;
    let client = gate.client(&actor).await;
    for connection in [
        "Acting-As, Impersonate-User, X-Remote-User, X-Remote-Group",
        "close,acting-as ,  IMPERSONATE-USER,, X-Remote-Extra-Acting-As.scopegate.dev%2Factor",
    ] {
        for header in ["acting-as", "impersonate-user"] {
            let headers = [
                (header, "jane"),
                ("connection", connection),
                ("x-remote-user", "admin"),
                ("x-remote-group", "system:masters"),
                ("x-remote-extra-acting-as.scopegate.dev%2factor", "somebody"),
                ("impersonate_group", "system:masters"),
            ];
            let (answer, _) = ask(&client, ("POST", WHO_AM_I), &headers, WHO).await;
            assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
            let user = &answer.json()["status"]["userInfo"];
            assert_eq!(user["username"], "jane");
            assert_eq!(user["groups"], json!(["system:authenticated"]));
            assert_eq!(user["extra"], json!({super::ACTOR: [actor.as_str()]}));
        }
    }
}

/// A node acts as nobody, though a delegation names the group of all of them; but where a delegation names a node, somebody may act
/// as it, and what nodes may not it may not.
#[tokio::test]
async fn nodes_on_either_side() {
    let Some(cluster) = cluster().await else { return };
    crate::graph::open(&cluster).await;
    namespace(&cluster, "rfn").await;
    node(&cluster, "rfn").await;
    mighty(&cluster, "rfn-agent").await;
    let admin = admin_client(&cluster).await;
    created(&admin, "/api/v1/namespaces/rfn/secrets", &secret("foreign")).await;
    let more = "
actingAs:
  delegations:
  - {actors: {groups: ['system:nodes']}, subjects: {users: [jane]}}
  - {actors: {users: [rfn-agent]}, subjects: {users: ['system:node:rfn']}}
";
    let gate = Gated::start(&cluster, "rfn-gate", FRONT_PROXY, more).await;
    let (answer, id) = ask(
        &gate.client("rfn").await,
        ("GET", "/version"),
        &[("Acting-As", "jane")],
        "",
    )
    .await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(answer.message().contains("act as nobody else"), "{}", answer.body);
    assert_eq!(seen(&cluster, &id), 0);

    let agent = gate.client("rfn-agent").await;
    let as_node = [("Acting-As", "system:node:rfn")];
    let (answer, id) = ask(&agent, ("GET", "/api/v1/nodes/rfn"), &as_node, "").await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    let event = gate.event(&id).await;
    assert_eq!(
        event["impersonatedUser"]["groups"],
        json!(["system:nodes", "system:authenticated"])
    );
    let (answer, id) = ask(&agent, ("GET", "/api/v1/namespaces/rfn/secrets/foreign"), &as_node, "").await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    for part in [
        "no relationship found between node 'rfn'",
        "(asked for by \"rfn-agent\")",
    ] {
        assert!(answer.message().contains(part), "{}", answer.body);
    }
    assert_eq!(seen(&cluster, &id), 0);
}

/// What upstream does not say is no answer: not yes, and not no.
#[tokio::test]
async fn without_upstreams_word_nothing_is_decided() {
    let Some(cluster) = cluster().await else { return };
    // Its credentials are good for nothing.
    known(&cluster, &["rf-powerless", "rf-asker"]);
    let gate = Gated::with_credentials(&cluster, "rf503", FRONT_PROXY, "", "rf-powerless").await;
    let client = gate.client("rf-asker").await;
    let (answer, id) = ask(&client, ("POST", WHO_AM_I), &[("Acting-As", "jane")], WHO).await;
    assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(seen(&cluster, &id), 0);
    let event = gate.event(&id).await;
    assert_eq!(event["annotations"]["scopegate.dev/acting-as"], "not as \"jane\"");
    let metrics = gate.metrics().await;
    assert!(
        metrics.contains("acting_as_requests_total{outcome=\"unknown\",by=\"\"} 1"),
        "{metrics}"
    );
    let (answer, _) = ask(&client, ("POST", WHO_AM_I), &[], WHO).await;
    assert_eq!(answer.code, StatusCode::CREATED, "as itself: {}", answer.body);
}

/// In mode Own upstream would take the gate for the subject.
#[tokio::test]
async fn mode_own_cannot_tell() {
    let gate = crate::gate::Gate::start(OWN, "").await;
    let request = http::Request::get("/version").header("acting-as", "jane");
    let answer = gate.send("node-a", request, "").await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(
        answer.message().contains("upstream.identity.mode is Own"),
        "{}",
        answer.body
    );
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// Whoever is held by the certificate it shows is held, as whomever it acts.
#[tokio::test]
async fn quarantine_holds_the_actor() {
    let Some(cluster) = cluster().await else { return };
    mighty(&cluster, "rfq-actor").await;
    let gate = Gated::start(&cluster, "rfq", FRONT_PROXY, "").await;
    let client = gate.client("rfq-actor").await;
    let wish = [("Acting-As", "jane")];
    let (answer, _) = ask(&client, ("POST", WHO_AM_I), &wish, WHO).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    let watch = client.open(
        http::Request::get("/api/v1/namespaces?watch=1").header("acting-as", "rfq-actor"),
        "",
    );
    let watch = watch.await.unwrap();
    assert_eq!(watch.status(), StatusCode::OK);

    let config = cluster.file("rfq.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let admin = format!("admin:\n  address: {}", gate.admin);
    std::fs::write(&config, text.replace("admin:\n  address: 127.0.0.1:0", &admin)).unwrap();
    let mut hold = std::process::Command::new(crate::gate::scopegate());
    hold.args(["quarantine", "--config"]).arg(&config);
    hold.arg("--certificate").arg(cluster.file("rfq-actor.crt"));
    let held = tokio::task::spawn_blocking(move || hold.output().unwrap())
        .await
        .unwrap();
    assert!(held.status.success(), "{}", String::from_utf8_lossy(&held.stderr));

    let ended = tokio::time::timeout(
        crate::gate::PATIENCE,
        http_body_util::BodyExt::collect(watch.into_body()),
    );
    assert!(ended.await.is_ok(), "the watch goes on");
    let (answer, id) = ask(&client, ("POST", WHO_AM_I), &wish, WHO).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(
        answer.message().contains("the caller is in quarantine"),
        "{}",
        answer.body
    );
    assert_eq!(seen(&cluster, &id), 0);
}
