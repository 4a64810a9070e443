//! The gate and kube-apiserver apply patches alike: to the same object, or both refuse.
//!
//! `e2e/oracle/patch` tells what kube-apiserver's own code makes of an object and a patch.

mod generate;
mod shapes;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    thread,
};

use scopegate::{
    json::Json,
    patch::{
        CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, NODE, PERSISTENT_VOLUME_CLAIM, POD, POD_TEMPLATE, Patch, REPLICA_SET,
        REPLICATION_CONTROLLER, STATEFUL_SET, Schema, Type,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    oracle,
    random::{self, Random},
    report,
};

/// The kinds that are patched, and where those that carry the template of a pod have it.
static KINDS: &[(&str, &Schema, Option<&str>)] = &[
    ("Node", &NODE, None),
    ("PersistentVolumeClaim", &PERSISTENT_VOLUME_CLAIM, None),
    ("Pod", &POD, None),
    ("PodTemplate", &POD_TEMPLATE, Some("/template")),
    ("ReplicationController", &REPLICATION_CONTROLLER, Some("/spec/template")),
    ("ReplicaSet", &REPLICA_SET, Some("/spec/template")),
    ("Deployment", &DEPLOYMENT, Some("/spec/template")),
    ("StatefulSet", &STATEFUL_SET, Some("/spec/template")),
    ("DaemonSet", &DAEMON_SET, Some("/spec/template")),
    ("Job", &JOB, Some("/spec/template")),
    ("CronJob", &CRON_JOB, Some("/spec/jobTemplate/spec/template")),
];

/// An object and a patch for it.
#[derive(Clone, Debug, Serialize)]
struct Question {
    r#type: &'static str,
    schema: &'static str,
    old: Value,
    patch: Value,
}

/// The new object, or why there is none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    new: Option<Value>,
    lists: Vec<List>,
    error: String,
    code: u16,
}

/// A list that is merged, and the key of its items, if they have one.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
struct List {
    path: Vec<String>,
    #[serde(default)]
    key: String,
}

const PAIRS: usize = 100_000;

/// What the gate refuses and kube-apiserver may not: each stands for an outcome that is chance or that nobody asks for.
const STRICTER: &[&str] = &[
    "the patch has more than one outcome",
    "is no list that can be ordered",
    "is no key of a list item",
];

/// What kube-apiserver refuses and the gate does not: it knows the type of every field, and the gate of merged lists alone.
const UNTYPED: &[&str] = &[
    "unable to find api field",
    "data type is not struct",
    "expected slice or array type",
];

#[test]
fn tables_are_what_the_go_types_say() {
    let Some(oracle) = oracle::path("patch") else {
        return;
    };
    let questions: Vec<_> = KINDS
        .iter()
        .map(|(kind, ..)| Question {
            r#type: "lists",
            schema: kind,
            old: Value::Null,
            patch: Value::Null,
        })
        .collect();
    for ((kind, schema, _), mut theirs) in KINDS.iter().zip(ask(&oracle, &questions)) {
        let ours = schema.lists().into_iter().map(|(path, key)| List {
            path: path.into_iter().map(str::to_owned).collect(),
            key: key.unwrap_or_default().to_owned(),
        });
        theirs.lists.sort();
        assert_eq!(ours.collect::<Vec<_>>(), theirs.lists, "{kind}");
    }
}

#[test]
fn what_the_gate_makes_of_a_patch_kube_apiserver_makes_of_it() {
    let Some(oracle) = oracle::path("patch") else {
        return;
    };
    let seed = random::seed();
    let mut random = Random::new(seed);
    let questions: Vec<_> = (0..PAIRS).map(|_| question(&mut random)).collect();
    let answers = ask(&oracle, &questions);
    let mut outcomes = BTreeMap::<_, usize>::new();
    let mut deep = BTreeMap::<_, usize>::new();
    for (question, theirs) in questions.iter().zip(&answers) {
        let ours = gate(question);
        let outcome = compare(&ours, theirs);
        assert!(
            !outcome.is_empty(),
            "seed {seed}: two outcomes of {}\ngate:           {ours:?}\nkube-apiserver: {theirs:?}",
            serde_json::to_string(question).unwrap()
        );
        *outcomes.entry((question.r#type, outcome)).or_default() += 1;
        if outcome == "both apply" && merges_containers(question) {
            *deep.entry(question.schema).or_default() += 1;
        }
    }
    println!("seed {seed}: {outcomes:?}, containers of templates merged: {deep:?}");
    let what = "patches, as the gate and kube-apiserver's own code apply them";
    report::compared("patches", what, PAIRS);
    // A gate that refuses everything would agree with anybody.
    for (kind, least) in [("json", PAIRS / 20), ("merge", PAIRS / 10), ("strategic", PAIRS / 10)] {
        let applied = outcomes[&(kind, "both apply")];
        assert!(applied > least, "{applied} {kind} patches were applied");
    }
    for (kind, ..) in KINDS.iter().filter(|(_, _, template)| template.is_some()) {
        let merged = deep.get(kind).copied().unwrap_or_default();
        assert!(merged > PAIRS / 2000, "{merged} patches merged containers of a {kind}");
    }
}

/// Whether it is a strategic merge patch for a container that the template already has.
fn merges_containers(question: &Question) -> bool {
    let (.., template) = kind(question.schema);
    let Some(path) = template.filter(|_| question.r#type == "strategic") else {
        return false;
    };
    let path = format!("{path}/spec/containers");
    let names = |object: &Value| -> Vec<String> {
        let containers = object.pointer(&path).and_then(Value::as_array).into_iter().flatten();
        containers
            .filter_map(|item| Some(item.get("name")?.as_str()?.to_owned()))
            .collect()
    };
    let patched = names(&question.patch);
    names(&question.old).iter().any(|name| patched.contains(name))
}

fn kind(name: &str) -> &'static (&'static str, &'static Schema, Option<&'static str>) {
    KINDS.iter().find(|(kind, ..)| *kind == name).unwrap()
}

/// How the two go together, if they do.
fn compare(ours: &Answer, theirs: &Answer) -> &'static str {
    let among = |answer: &Answer, texts: &[&str]| texts.iter().any(|text| answer.error.contains(text));
    match (&ours.new, &theirs.new) {
        (Some(ours), Some(theirs)) if ours == theirs => "both apply",
        (None, None) if ours.code == theirs.code => "both refuse",
        // Both are checked in another order, or the error depends on the order of keys in a Go map.
        (None, None) => "both refuse, with different codes",
        (None, Some(_)) if among(ours, STRICTER) => "the gate is stricter",
        (Some(_), None) if among(theirs, UNTYPED) => "kube-apiserver knows the type",
        _ => "",
    }
}

fn question(random: &mut Random) -> Question {
    let (schema, ..) = random.pick(KINDS);
    let (r#type, (old, patch)) = match random.below(4) {
        0 => ("json", generate::json(random)),
        1 => ("merge", generate::merge(random)),
        _ => ("strategic", generate::strategic(random, schema)),
    };
    Question {
        r#type,
        schema,
        old,
        patch,
    }
}

fn gate(question: &Question) -> Answer {
    let kind = match question.r#type {
        "json" => Type::Json,
        "merge" => Type::Merge,
        _ => Type::Strategic,
    };
    let (_, schema, _) = self::kind(question.schema);
    let (old, patch) = (question.old.to_string(), question.patch.to_string());
    let old = Json::parse(old.as_bytes()).unwrap();
    let new = Patch::read(kind, patch.as_bytes()).and_then(|patch| patch.apply(schema, old));
    match new {
        Ok(new) => Answer {
            new: serde_json::from_slice(&new.to_vec()).unwrap(),
            ..Answer::default()
        },
        Err(error) => Answer {
            code: match error {
                scopegate::patch::Error::Malformed(_) => 400,
                scopegate::patch::Error::Rejected(_) => 422,
                scopegate::patch::Error::TooLarge(_) => 413,
                scopegate::patch::Error::Untyped(_) => 500,
            },
            error: error.to_string(),
            ..Answer::default()
        },
    }
}

/// All at once: the oracle answers line by line.
fn ask(oracle: &OsString, questions: &[Question]) -> Vec<Answer> {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: Vec<_> = questions
        .iter()
        .map(|question| serde_json::to_string(question).unwrap())
        .collect();
    let writer = thread::spawn(move || {
        for line in lines {
            writeln!(stdin, "{line}").unwrap();
        }
    });
    let answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let answers: Vec<Answer> = answers
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(answers.len(), questions.len());
    answers
}
