//! With semantics Subject the gate lets act whom kube-apiserver lets impersonate, and nobody else: the same wishes of the same
//! actors, through the gate and straight.

use http::StatusCode;
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};

use super::{ACTOR, Gated, Subject, WHO, WHO_AM_I, allow, ask, cluster, known};
use crate::{
    gate::{Answer, Client},
    graph::objects::namespace,
    random::{self, Random},
    release, report,
};

const ACTORS: usize = 8;
const WISHES: usize = 60;

const USERS: &[&str] = &[
    "df-jane",
    "df-joe",
    "df jo",
    "system:serviceaccount:df",
    "system:serviceaccount:df:a:b",
];
const ACCOUNTS: &[&str] = &[
    "system:serviceaccount:df:default",
    "system:serviceaccount:default:default",
];
const GROUPS: &[&str] = &[
    "df-a",
    "df-b",
    "df-c",
    "df-d",
    "system:authenticated",
    "system:serviceaccounts",
];
const EXTRAS: &[(&str, &str)] = &[
    ("scopes", "x"),
    ("scopes", "y"),
    ("acme.com%2Fproject", "x"),
    ("acme.com%2F%50roject", "x"),
];

#[tokio::test]
async fn the_gate_lets_whom_kube_apiserver_lets() {
    let Some(cluster) = cluster().await else { return };
    let seed = random::seed();
    let mut random = Random::new(seed);
    namespace(&cluster, "df").await;
    for user in USERS {
        allow(&cluster, Subject::User(user), "df", super::on_configmaps(&["list"])).await;
    }
    let constrained = release::preset() == "1.36";
    let mut actors = Vec::new();
    for number in 0..ACTORS {
        let name = format!("df-actor-{number}");
        known(&cluster, &[&name]);
        for rule in rights(&mut random, constrained) {
            allow(&cluster, Subject::User(&name), "", rule).await;
        }
        actors.push(name);
    }
    let gate = Gated::start(&cluster, "df-gate", FRONT_PROXY, "actingAs: {semantics: Subject}\n").await;
    let (mut compared, mut granted) = (0, 0);
    for actor in &actors {
        let gated = gate.client(actor).await;
        let direct = Client::new(&cluster.file(&format!("{actor}.kubeconfig"))).await;
        for _ in 0..WISHES {
            let wish = wish(&mut random);
            let headers: Vec<(&str, &str)> = wish.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let (target, body) = if random.one_in(2) {
                (("POST", WHO_AM_I), WHO)
            } else {
                (("GET", "/api/v1/namespaces/df/configmaps"), "")
            };
            let (ours, _) = ask(&gated, target, &headers, body).await;
            let (theirs, _) = ask(&direct, target, &headers, body).await;
            let case = format!(
                "seed {seed}: {actor} {target:?} {headers:?}\n{}\n{}",
                ours.body, theirs.body
            );
            assert_eq!(summary(&ours), summary(&theirs), "{case}");
            compared += 1;
            granted += usize::from(theirs.code.is_success());
        }
    }
    println!("seed {seed}: {compared} compared, {granted} granted");
    let what = "wishes to impersonate through the gate (semantics Subject), and straight at kube-apiserver";
    report::compared("acting-as", what, compared);
    // Two that refuse everything agree too.
    assert!(
        granted * 8 > compared && granted * 8 < compared * 7,
        "{granted} of {compared}"
    );
}

/// The code, and whom upstream took it for.
fn summary(answer: &Answer) -> (StatusCode, Value) {
    let mut user = answer.json()["status"]["userInfo"].clone();
    if let Some(user) = user.as_object_mut() {
        let mut extra = user.remove("extra").unwrap_or(json!({}));
        extra.as_object_mut().unwrap().remove(ACTOR);
        user.insert("extra".to_owned(), extra);
    }
    (answer.code, user)
}

/// Some rights of old, some of now, most of them on names.
fn rights(random: &mut Random, constrained: bool) -> Vec<Value> {
    let mut rules = Vec::new();
    let group = "authentication.k8s.io";
    let some = |random: &mut Random, of: &[&str]| -> Vec<String> {
        let kept = of.iter().filter(|_| random.one_in(2)).map(ToString::to_string);
        kept.collect()
    };
    let modes: &[(&str, &str)] = &[
        ("", "impersonate"),
        (group, "impersonate:user-info"),
        (group, "impersonate:serviceaccount"),
    ];
    for (core, verb) in &modes[..if constrained { 3 } else { 1 }] {
        for (group, resource, names) in [
            (*core, "users", USERS),
            (*core, "groups", GROUPS),
            (group, "uids", &["1", "2"]),
            (group, "userextras/scopes", &["x", "y"]),
            (group, "userextras/acme.com/project", &["x"]),
            (group, "userextras/acme.com/Project", &["x"]),
            (*core, "serviceaccounts", &["default"]),
        ] {
            let mut rule = json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]});
            match random.below(4) {
                0 => continue,
                1 => {}
                _ => {
                    let names = some(random, names);
                    if names.is_empty() {
                        continue;
                    }
                    rule["resourceNames"] = json!(names);
                }
            }
            rules.push(rule);
        }
        for (group, resource, on) in [("", "configmaps", "list"), (group, "selfsubjectreviews", "create")] {
            let on = format!("{}:{on}", verb.replacen(':', "-on:", 1));
            if *verb != "impersonate" && !random.one_in(4) {
                rules.push(json!({"apiGroups": [group], "resources": [resource], "verbs": [on]}));
            }
        }
    }
    rules
}

fn wish(random: &mut Random) -> Vec<(String, &'static str)> {
    let user = if random.one_in(3) {
        random.pick(ACCOUNTS)
    } else {
        random.pick(USERS)
    };
    let mut wish = vec![("Impersonate-User".to_owned(), user)];
    if random.one_in(3) {
        let many = if random.one_in(3) { 5 } else { 1 };
        wish.extend((0..many).map(|_| ("Impersonate-Group".to_owned(), random.pick(GROUPS))));
    }
    if random.one_in(5) {
        wish.push(("Impersonate-Uid".to_owned(), random.pick(&["1", "2", "3"])));
    }
    if random.one_in(4) {
        let (key, value) = random.pick(EXTRAS);
        wish.push((format!("Impersonate-Extra-{key}"), value));
    }
    wish
}
