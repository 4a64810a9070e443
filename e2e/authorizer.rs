//! The gate decides about nodes as kube-apiserver's Node authorizer does.
//!
//! `e2e/oracle/authorizer` is that authorizer, with the handlers that feed it. Both are told of the same objects, as they come,
//! change and go, and are asked the same questions in between, with the gates of every release.

mod ask;
mod cluster;
mod ours;
mod passed_over;
mod pod;
mod question;
mod release;
mod story;
mod theirs;
mod volume;
mod words;

use std::thread;

use self::{
    question::Question,
    release::{MINORS, Release},
    story::{Step, Story},
    theirs::Oracle,
};
use crate::{
    oracle,
    random::{self, Random},
    report,
};

/// What an authorizer says.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Answer {
    allowed: bool,
    /// What the client reads behind a refusal.
    reason: String,
}

/// Why two answers may differ, and whether that is so here: ours, then theirs.
type Difference = (&'static str, fn(&Release, &Question, &Answer, &Answer) -> bool);

const CLUSTERS: usize = 400;
/// One in so many clusters has something that hundreds of pods want.
const CROWDED: usize = 40;

/// All that may be different.
const DIFFERENCES: &[Difference] = &[
    (
        "what everybody may do is granted by RBAC, which the oracle has not; the gate has the rules that nodes need",
        |_, question, ours, theirs| ours.allowed && !theirs.allowed && is_everybodys(question),
    ),
    (
        "whoever is no node is told so, where the Node authorizer leaves it to the next one",
        |_, question, ours, theirs| {
            let is_node = question.user.starts_with("system:node:") && question.groups.contains(&"system:nodes");
            !is_node && *ours == refusal("this gate serves nodes only") && *theirs == refusal("")
        },
    ),
    (
        "nodes write events in events.k8s.io from 1.35 on; no gate guards that, so emulating a release does not take it back",
        |release, question, ours, theirs| {
            let writes = ["create", "update", "patch"].contains(&question.verb);
            let events = (question.group, question.resource, question.subresource) == ("events.k8s.io", "events", "");
            release.minor < 35 && writes && events && *ours == refusal("") && theirs.allowed
        },
    ),
    (
        "1.32 has no rule for reading service accounts, and so the reason of the rule for tokens; it is emulated with a gate off",
        |release, question, ours, theirs| {
            let rule = (question.verb, question.group, question.resource, question.subresource);
            release.minor == 32
                && rule == ("get", "", "serviceaccounts", "")
                && *ours == refusal("can only create tokens for individual service accounts")
                && *theirs == refusal("not allowed to get service accounts")
        },
    ),
];

#[test]
fn what_the_gate_decides_the_node_authorizer_decides_the_same() {
    let Some(program) = oracle::path("authorizer") else {
        return;
    };
    let mut oracle = Oracle::start(&program);
    let seed = random::seed();
    let mut random = Random::new(seed);
    let (mut asked, mut allowed, mut unrelated) = (0, 0, 0);
    let mut known = [0; DIFFERENCES.len()];
    for number in 0..CLUSTERS {
        let minor = MINORS[number % MINORS.len()];
        let release = Release::some(&mut random, minor);
        let story = cluster::story(&mut random, release, number % CROWDED == 0);
        assert!(
            story.is_plausible(),
            "seed {seed}, cluster {number}: nothing of the kind can happen"
        );
        let (ours, theirs) = both(&mut oracle, &story);
        for (at, question) in questions(&story).enumerate() {
            match compare(&story.release, question, &ours[at], &theirs[at]) {
                Ok(Some(difference)) => known[difference] += 1,
                Ok(None) => {}
                Err(()) => {
                    let smallest = shrink(&mut oracle, until(&story, at));
                    panic!("seed {seed}, cluster {number}: {}", show(&mut oracle, &smallest));
                }
            }
            asked += 1;
            allowed += usize::from(theirs[at].allowed);
            unrelated += usize::from(theirs[at].reason.starts_with("no relationship found"));
        }
    }
    println!(
        "seed {seed}: asked {asked} questions in {CLUSTERS} clusters: {allowed} allowed, {unrelated} for something that \
         is not the node's; expected differences {known:?}"
    );
    let what = "decisions of the gate and of kube-apiserver's own Node authorizer, all presets";
    report::compared("authorizer", what, asked);
    // Two that refuse everything agree too.
    assert!(asked >= 20_000 && allowed * 6 > asked && unrelated * 8 > asked);
    for ((why, _), times) in DIFFERENCES.iter().zip(known) {
        assert!(times > 0, "not met: {why}");
    }
}

/// Our answers and theirs.
fn both(oracle: &mut Oracle, story: &Story) -> (Vec<Answer>, Vec<Answer>) {
    let (ours, theirs) = thread::scope(|scope| {
        let ours = scope.spawn(|| ours::answers(story));
        let theirs = oracle.answers(story);
        (ours.join().unwrap(), theirs)
    });
    assert_eq!(ours.len(), theirs.len());
    (ours, theirs)
}

/// Nothing if they agree; the number of the difference if it is one that is expected.
fn compare(release: &Release, question: &Question, ours: &Answer, theirs: &Answer) -> Result<Option<usize>, ()> {
    if ours == theirs {
        return Ok(None);
    }
    let expected = |(_, is): &Difference| is(release, question, ours, theirs);
    DIFFERENCES.iter().position(expected).map(Some).ok_or(())
}

fn refusal(reason: &str) -> Answer {
    Answer {
        allowed: false,
        reason: reason.to_owned(),
    }
}

/// Of what is asked here.
fn is_everybodys(question: &Question) -> bool {
    let paths = ["/api", "/api/v1", "/apis", "/healthz", "/openapi/v3", "/version"];
    let reviews = [
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ];
    let discovers = question.verb == "get" && paths.contains(&question.path);
    let reviews = question.verb == "create"
        && question.subresource.is_empty()
        && reviews.contains(&(question.group, question.resource));
    question.groups.contains(&"system:authenticated") && (discovers || reviews)
}

fn questions(story: &Story) -> impl Iterator<Item = &Question> {
    story.steps.iter().filter_map(|step| match step {
        Step::Ask(question) => Some(question),
        _ => None,
    })
}

/// The story with this question alone, at its end.
fn until(story: &Story, at: usize) -> Story {
    let mut asked = 0;
    let mut steps = Vec::new();
    for step in &story.steps {
        match step {
            Step::Ask(_) if asked == at => {
                steps.push(step.clone());
                break;
            }
            Step::Ask(_) => asked += 1,
            _ => steps.push(step.clone()),
        }
    }
    let release = story.release.clone();
    Story { release, steps }
}

/// Leaves out events, many at once first, while the answers still differ.
fn shrink(oracle: &mut Oracle, mut story: Story) -> Story {
    let mut length = story.steps.len() / 2;
    while length > 0 {
        let events = story.steps.len() - 1;
        let shorter = (0..events).step_by(length).find_map(|at| {
            let mut shorter = story.clone();
            shorter.steps.drain(at..events.min(at + length));
            (shorter.is_plausible() && differs(oracle, &shorter)).then_some(shorter)
        });
        match shorter {
            Some(shorter) => story = shorter,
            None => length /= 2,
        }
    }
    story
}

fn differs(oracle: &mut Oracle, story: &Story) -> bool {
    let (ours, theirs) = both(oracle, story);
    let mut both = ours.iter().zip(&theirs);
    questions(story).any(|question| {
        let (ours, theirs) = both.next().unwrap();
        compare(&story.release, question, ours, theirs).is_err()
    })
}

fn show(oracle: &mut Oracle, story: &Story) -> String {
    let lines = theirs::lines(story);
    let (ours, theirs) = both(oracle, story);
    format!(
        "decided in two ways; this is what leads to it:\n{}\ngate:           {ours:?}\nkube-apiserver: {theirs:?}",
        lines.join("\n")
    )
}
