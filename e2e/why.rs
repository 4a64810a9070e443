use std::{
    io::Write as _,
    net::SocketAddr,
    process::{Command, Output, Stdio},
    time::Duration,
};

use http::{Request, StatusCode};
use scopegate::demo::{
    cluster,
    site::{FRONT_PROXY, Site},
};
use serde_json::{Value, json};

use crate::gate::{Gate, Process, admin, scopegate, with_admin_tls};

const OWN: &str = "secret-of-web-on-node-a";
const FOREIGN: &str = "secret-of-web-on-node-b";
const PATH: &str =
    "node-a ← pod default/web-on-node-a (spec.volumes[0].secret.secretName) ← secret default/secret-of-web-on-node-a";
const NEAREST: &str = "secret default/secret-of-web-on-node-b is needed by pod default/web-on-node-b (spec.volumes[0].secret.secretName), which is on node-b, not on node-a";

async fn ready(address: SocketAddr) {
    for _ in 0..500 {
        if admin(address, Request::get("/readyz"), "").await.code == StatusCode::OK {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the gate never was ready");
}

async fn gate() -> Gate {
    let gate = Gate::start(FRONT_PROXY, "").await;
    ready(gate.admin).await;
    gate
}

/// What the admin port says about a request is what becomes of it.
#[tokio::test]
async fn the_admin_port_explains_what_happens() {
    let gate = gate().await;
    let why = async |secret: &str, format: &str| {
        let target = format!("/debug/why?node=node-a&verb=get&resource=secrets&name={secret}{format}");
        gate.admin(Request::get(target), "").await
    };
    for (secret, code, verdict, because) in [(OWN, 200, "ALLOWED", PATH), (FOREIGN, 403, "REFUSED", NEAREST)] {
        let target = format!("/api/v1/namespaces/default/secrets/{secret}");
        let answer = gate.get("node-a", &target).await;
        assert_eq!(answer.code.as_u16(), code, "{}", answer.body);
        let text = why(secret, "").await;
        assert_eq!(text.code, StatusCode::OK);
        assert!(
            text.body.starts_with(verdict) && text.body.contains(because),
            "{}",
            text.body
        );
        assert!(
            text.body
                .contains(" from upstream, all of it confirmed within the last "),
            "{}",
            text.body
        );
        if code == 403 {
            assert!(text.body.contains(&answer.message()), "{}\n{}", text.body, answer.body);
        }
    }
    let json = why(OWN, "&format=json").await;
    assert_eq!(json.headers["content-type"], "application/json");
    let json = json.json();
    assert_eq!(
        (&json["answer"], &json["path"]["text"]),
        (&json!("allow"), &json!(PATH))
    );
    assert!(json["snapshot"]["generation"].as_u64() > Some(0), "{json}");
    assert!(json["snapshot"]["ageSeconds"].as_f64().is_some(), "{json}");

    let who = gate
        .admin(Request::get(format!("/debug/who-can?resource=secret&name={OWN}")), "")
        .await;
    assert!(
        who.body.starts_with("1 node can read") && who.body.contains(PATH),
        "{}",
        who.body
    );
    let index = gate.admin(Request::get("/"), "").await.body;
    assert!(
        index.contains("/debug/why") && index.contains("/debug/who-can"),
        "{index}"
    );
}

#[tokio::test]
async fn a_bad_question_is_told_what_is_wrong() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    for (target, message) in [
        ("/debug/why", "no node is named"),
        ("/debug/why?node=node-a&verb=see&resource=pods", "\"see\" is no verb"),
        (
            "/debug/why?node=node-a&verb=get&resource=secrest&name=s",
            "did you mean secrets?",
        ),
        (
            "/debug/why?node=node-a&verb=list&resource=pods&format=xml",
            "format is json or text",
        ),
        ("/debug/why?node=%zz", "bad escape"),
        (
            "/debug/who-can?resource=leases&name=l",
            "does not depend on what refers to it",
        ),
        ("/debug/who-can?resource=secrets", "needs its name"),
    ] {
        let answer = gate.admin(Request::get(target), "").await;
        assert_eq!(answer.code, StatusCode::BAD_REQUEST, "{target}");
        assert!(answer.body.contains(message), "{target}: {}", answer.body);
    }
    let put = gate
        .admin(Request::put("/debug/why?node=node-a&verb=list&resource=pods"), "")
        .await;
    assert_eq!(put.code, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_asks_a_running_gate() {
    let gate = gate().await;
    let url = format!("http://{}", gate.admin);
    let ask = |words: &str| {
        let words = words.split(' ').chain(["--admin", &url]);
        tokio::task::block_in_place(|| run(words, ""))
    };
    let allowed = ask(&format!("why node-a get secret {OWN}"));
    assert_eq!(allowed.status.code(), Some(0));
    assert!(text(&allowed).contains(PATH), "{}", text(&allowed));
    let refused = ask(&format!("why system:node:node-a get secret {FOREIGN} -n default"));
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused).contains(NEAREST), "{}", text(&refused));
    let json = ask("why node-a list po --field-selector spec.nodeName=node-a -o json");
    assert_eq!(json.status.code(), Some(0));
    let json: Value = serde_json::from_str(&text(&json)).unwrap();
    assert_eq!((&json["answer"], &json["rule"]), (&json!("allow"), &json!("node/pods")));

    let who = ask(&format!("who-can secret {FOREIGN}"));
    assert_eq!(who.status.code(), Some(0));
    assert!(
        text(&who).contains("node-b ← pod default/web-on-node-b"),
        "{}",
        text(&who)
    );
    assert_eq!(ask("who-can cm nosuch").status.code(), Some(1));
}

/// Off loopback, with the certificates that the port wants.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_speaks_tls() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let path = site.configuration(FRONT_PROXY, "").unwrap();
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, with_admin_tls(&config)).unwrap();
    let process = Process::serve(&path);
    let (_, address) = process.addresses().await;
    let url = format!("https://{address}");
    let file = |name: &str| site.file(name).display().to_string();
    let ask = |more: &[String]| {
        let words = ["why", "node-a", "get", "nodes", "node-a", "--admin", &url];
        let words = words.into_iter().chain(more.iter().map(String::as_str));
        tokio::task::block_in_place(|| run(words, ""))
    };
    let ca = ["--cacert".to_owned(), file("server-ca.crt")];
    let pair = |user: &str| {
        let own = [
            "--cert".to_owned(),
            file(&format!("{user}.crt")),
            "--key".to_owned(),
            file(&format!("{user}.key")),
        ];
        [ca.as_slice(), own.as_slice()].concat()
    };
    let operator = ask(&pair("gate"));
    assert_eq!(operator.status.code(), Some(0), "{}", errors(&operator));
    for (more, message) in [
        (
            pair("node-a"),
            "401 Unauthorized: this needs a client certificate of admin.clientCAFile",
        ),
        (
            ca.to_vec(),
            "401 Unauthorized: this needs a client certificate of admin.clientCAFile",
        ),
        (Vec::new(), "--cacert must say whose certificates it can have"),
        (
            vec!["--cacert".to_owned(), file("client-ca.crt")],
            "cannot ask https://",
        ),
    ] {
        let refused = ask(&more);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            errors(&refused).contains(message),
            "missing {message} in {}",
            errors(&refused)
        );
    }
}

#[test]
fn the_command_answers_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": cluster::objects()}).to_string();
    let file = dir.path().join("objects.json");
    std::fs::write(&file, &list).unwrap();
    let file = file.to_str().unwrap();
    for (words, code, part) in [
        (format!("why node-a get secret {OWN} --objects {file}"), 0, PATH),
        (format!("why node-a get secret {FOREIGN} --objects {file}"), 1, NEAREST),
        (
            format!("why node-c get secret {OWN} --objects -"),
            1,
            "no Node node-c is known",
        ),
        (
            format!("who-can secret {OWN} --objects -"),
            0,
            "from standard input (2 pods, 2 persistentvolumes, no volumeattachments, no resourceslices, 2 nodes, ",
        ),
        (
            "why node-a list nodes --objects -".to_owned(),
            1,
            "node 'node-a' cannot read all nodes",
        ),
        (
            "why node-a list nodes --objects - --kubernetes-version 1.33".to_owned(),
            1,
            "node 'node-a' cannot read all nodes",
        ),
        (
            "why node-a get sa default --objects - --kubernetes-version 1.33".to_owned(),
            1,
            "not allowed to get service accounts",
        ),
        (
            "why node-a get sa default --objects - --kubernetes-version 1.36".to_owned(),
            0,
            "spec.serviceAccountName",
        ),
    ] {
        let output = run(words.split(' '), &list);
        assert_eq!(output.status.code(), Some(code), "{words}: {}", errors(&output));
        assert!(text(&output).contains(part), "{words}: {}", text(&output));
    }
}

/// As docs/gardener.md shows it.
#[test]
fn the_command_answers_about_seeds() {
    let mut items = Vec::new();
    for (seed, shoot, binding, secret) in [("seed-a", "web", "cloud-a", "key"), ("seed-b", "db", "cloud-b", "x")] {
        let (core, security) = ("core.gardener.cloud/v1beta1", "security.gardener.cloud/v1alpha1");
        let meta = |name: &str| json!({"name": name, "namespace": "garden-p1"});
        items.push(json!({"apiVersion": core, "kind": "Seed", "metadata": {"name": seed}}));
        items.push(json!({"apiVersion": core, "kind": "Shoot", "metadata": meta(shoot),
            "spec": {"seedName": seed, "credentialsBindingName": binding}}));
        items.push(
            json!({"apiVersion": security, "kind": "CredentialsBinding", "metadata": meta(binding),
            "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "namespace": "garden-p1", "name": secret}}),
        );
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let ask = |words: &str| {
        let output = run(format!("{words} -n garden-p1 --objects -").split(' '), &list);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", errors(&output));
        text(&output)
    };
    let documented = include_str!("../docs/gardener.md");
    let told = ask("why seed/seed-a get secret x");
    let told = told.replace("standard input", "garden.yaml");
    assert!(
        documented.contains(&format!("--objects garden.yaml\n{told}```\n")),
        "{told}"
    );
    let allowed = ask("why gardener.cloud:system:seed:seed-b get secret x");
    assert!(
        allowed.starts_with("ALLOWED: seed seed-b may get secrets garden-p1/x"),
        "{allowed}"
    );
    let older = ask("why seed/seed-b get secret x --seeds document");
    assert!(older.starts_with("LEFT TO UPSTREAM"), "{older}");
    let who = ask("who-can secret x");
    assert!(
        who.contains("1 seed can read secret garden-p1/x\n  path      seed-b ← shoot"),
        "{who}"
    );
}

/// The rules of a configuration count, also in what they leave to upstream.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_takes_the_rules_of_a_configuration() {
    let site = Site::start().await.unwrap();
    let config = site
        .configuration(FRONT_PROXY, "callers: {nodes: {fallback: Upstream}}\n")
        .unwrap();
    let config = config.to_str().unwrap();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": cluster::objects()}).to_string();
    let words = format!("why node-a get secret {FOREIGN} --objects - --config {config}");
    let output = run(words.split(' '), &list);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(
        text(&output).contains("callers.nodes.fallback leaves it to upstream"),
        "{}",
        text(&output)
    );
    // Without a file it says where the gate is, if it does.
    let output = run(["why", "node-a", "get", "pods", "p", "--config", config], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors(&output).contains("admin.address has port 0"),
        "{}",
        errors(&output)
    );
}

#[test_case::test_case("why node-a get secret", "needs its name"; "question")]
#[test_case::test_case("why node-a see secret s", "invalid value 'see'"; "verb")]
#[test_case::test_case("who-can events l", "does not depend on what refers to it"; "resource")]
#[test_case::test_case("why node-a list pods --objects - --admin http://127.0.0.1:1", "cannot be used with"; "two sources")]
#[test_case::test_case("why system:kube-scheduler list pods", "is the user of no node and of no seed"; "caller")]
#[test_case::test_case("why node-a list pods --objects - --kubernetes-version 1.99", "one of 1.32 to 1.36"; "version")]
fn wrong_usage_is_2(words: &str, message: &str) {
    let output = run(words.split(' '), "");
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains(message), "{}", errors(&output));
}

#[test_case::test_case("why node-a list pods --admin http://127.0.0.1:1", "cannot ask http://127.0.0.1:1/; is the gate running"; "no gate")]
#[test_case::test_case("why node-a list pods --admin 127.0.0.1:1", "--admin is like http://127.0.0.1:8444"; "no url")]
#[test_case::test_case("why node-a list pods --objects /nowhere/objects", "cannot read /nowhere/objects"; "no file")]
#[test_case::test_case("why node-a list pods --objects -", "cannot use standard input: there are no pods in it"; "nothing in it")]
fn what_cannot_be_asked_is_1(words: &str, message: &str) {
    let output = run(words.split(' '), "");
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains(message), "{}", errors(&output));
}

fn run<'a>(words: impl IntoIterator<Item = &'a str>, input: &str) -> Output {
    let mut command = Command::new(scopegate());
    let piped = command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // A command that does not read has perhaps ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
