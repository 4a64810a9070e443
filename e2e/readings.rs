//! The gate and kube-apiserver read requests alike: what the gate does not refuse it takes for what they take it for.
//!
//! `e2e/oracle/requestinfo` tells what kube-apiserver's own code makes of a request. The requests are ordinary ones,
//! walked through and picked at random, and such as somebody would write who hopes to be read in two ways.

mod generate;
mod kubelet;
pub(crate) mod words;

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    thread,
};

use http::Method;
use scopegate::request::{Head, Target};
use serde::{Deserialize, Serialize};

use self::{
    generate::{ordinary, strange, walk},
    kubelet::KUBELET,
};
use crate::{
    oracle,
    random::{self, Random},
    report,
};

/// What a client sends.
#[derive(Clone, Debug, Serialize)]
struct Question {
    method: String,
    target: String,
}

/// What it is taken for, in the oracle's words.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
struct Reading {
    error: String,
    verb: String,
    is_resource: bool,
    path: String,
    group: String,
    version: String,
    namespace: String,
    resource: String,
    subresource: String,
    name: String,
    fields: Option<Vec<Term>>,
    labels: Option<Vec<Term>>,
}

#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
struct Term {
    key: String,
    operator: String,
    values: Vec<String>,
}

const ORDINARY: usize = 40_000;
const STRANGE: usize = 60_000;

#[test]
fn what_the_gate_reads_kube_apiserver_reads_the_same() {
    let Some(oracle) = oracle::path("requestinfo") else {
        return;
    };
    let seed = random::seed();
    let mut random = Random::new(seed);
    let mut questions = walk(&mut random);
    questions.extend((0..ORDINARY).map(|_| ordinary(&mut random)));
    let plain = questions.len();
    questions.extend((0..STRANGE).map(|_| strange(&mut random)));

    let accepted = |questions: &[Question]| questions.iter().filter(|question| gate(question).is_some()).count();
    let (of_plain, of_strange) = (accepted(&questions[..plain]), accepted(&questions[plain..]));
    println!("seed {seed}: compared {of_plain} of {plain} ordinary and {of_strange} of {STRANGE} strange requests");
    let what = "requests, as the gate and kube-apiserver's own code read them";
    report::compared("readings", what, of_plain + of_strange);
    // A gate that refuses everything would agree with anybody.
    assert!(
        of_plain * 10 > plain * 9,
        "{of_plain} of {plain} ordinary requests read"
    );
    assert!(
        of_strange * 5 > STRANGE,
        "{of_strange} of {STRANGE} strange requests read"
    );

    if let Some(at) = first_difference(&oracle, &questions) {
        let smallest = minimise(&oracle, questions[at].clone());
        panic!(
            "seed {seed}: read in two ways: {:?}\nsmallest: {smallest:?}\ngate:           {:?}\nkube-apiserver: {:?}",
            questions[at],
            gate(&smallest).unwrap(),
            ask(&oracle, std::slice::from_ref(&smallest))[0],
        );
    }
}

#[test]
fn what_a_kubelet_sends_is_read() {
    let questions: Vec<Question> = KUBELET
        .iter()
        .map(|(method, target)| question(method, target))
        .collect();
    for question in &questions {
        assert!(gate(question).is_some(), "refused: {question:?}");
    }
    let Some(oracle) = oracle::path("requestinfo") else {
        return;
    };
    if let Some(at) = first_difference(&oracle, &questions) {
        panic!("read in two ways: {:?}", questions[at]);
    }
}

fn question(method: &str, target: &str) -> Question {
    Question {
        method: method.to_owned(),
        target: target.to_owned(),
    }
}

/// The target the gate would forward and what it takes it for, or nothing if it refuses the request.
fn gate(question: &Question) -> Option<(Question, Reading)> {
    let request = http::Request::builder()
        .method(Method::from_bytes(question.method.as_bytes()).ok()?)
        .uri(question.target.as_bytes())
        .body(())
        .ok()?;
    let head = Head::read(request.into_parts().0).ok()?;
    let forwarded = self::question(head.method().as_str(), head.uri().path_and_query().unwrap().as_str());
    let info = head.info();
    let reading = Reading {
        // Of a method like `get` on a path that is no resource the text is the same, and that is what is compared. The
        // gate keeps it apart from GET, so that no rule for GET is met by it.
        verb: info.verb.as_str().to_owned(),
        ..match &info.target {
            Target::Path(path) => Reading {
                path: path.clone(),
                fields: Some(Vec::new()),
                labels: Some(Vec::new()),
                ..Reading::default()
            },
            Target::Resource(request) => Reading {
                is_resource: true,
                group: request.resource.group.clone(),
                version: request.version.clone(),
                namespace: request.namespace.clone(),
                resource: request.resource.resource.clone(),
                subresource: request.subresource.clone(),
                name: request.name.clone(),
                fields: Some(
                    (request.selectors.fields.iter())
                        .map(|term| Term {
                            key: term.field.clone(),
                            operator: term.operator.as_str().to_owned(),
                            values: vec![term.value.clone()],
                        })
                        .collect(),
                ),
                labels: Some(
                    (request.selectors.labels.iter())
                        .map(|term| Term {
                            key: term.key.clone(),
                            operator: term.operator.as_str().to_owned(),
                            values: term.values.clone(),
                        })
                        .collect(),
                ),
                ..Reading::default()
            },
        }
    };
    Some((forwarded, comparable(reading)))
}

/// Without what the gate does not keep or what upstream leaves to chance.
fn comparable(mut reading: Reading) -> Reading {
    if reading.is_resource {
        // Of a resource request the gate keeps the parts.
        reading.path.clear();
    }
    // Sorted by key alone, and not stably: terms of the same key come in any order.
    reading.labels.iter_mut().for_each(|terms| terms.sort());
    reading
}

/// The first request that is accepted and read differently.
fn first_difference(oracle: &OsString, questions: &[Question]) -> Option<usize> {
    let accepted = questions
        .iter()
        .enumerate()
        .filter_map(|(at, question)| Some((at, gate(question)?)));
    let (places, (forwarded, readings)): (Vec<usize>, (Vec<Question>, Vec<Reading>)) = accepted.unzip();
    let answers = ask(oracle, &forwarded);
    let differs = |at: &usize| readings[*at] != answers[*at];
    (0..readings.len()).find(differs).map(|at| places[at])
}

/// Leaves out pieces, long ones first, while the readings still differ.
fn minimise(oracle: &OsString, mut question: Question) -> Question {
    let mut length = question.target.len() / 2;
    // Of a very long target the last pieces are not worth the wait.
    while length > question.target.len() / 1000 {
        let chars: Vec<char> = question.target.chars().collect();
        let without = |at: usize| {
            let rest = chars.iter().skip(at + length);
            chars.iter().take(at).chain(rest).collect::<String>()
        };
        let shorter: Vec<Question> = (0..chars.len())
            .step_by(length)
            .map(|at| self::question(&question.method, &without(at)))
            .collect();
        match first_difference(oracle, &shorter) {
            Some(at) => question = shorter[at].clone(),
            None => length /= 2,
        }
    }
    question
}

/// The oracle's answers, one for each question.
fn ask(oracle: &OsString, questions: &[Question]) -> Vec<Reading> {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let answers: Vec<Reading> = thread::scope(|scope| {
        scope.spawn(move || {
            for question in questions {
                let line = serde_json::to_string(question).unwrap();
                writeln!(stdin, "{line}").unwrap();
            }
        });
        let lines = stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        lines.map(comparable).collect()
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(answers.len(), questions.len());
    answers
}
