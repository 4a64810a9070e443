//! Where the gate answers otherwise, and means to. Each of these stands in docs/differences.md.

mod list;

use super::{
    case::{Case, Form, Who},
    compare::Answers,
    mutation::{At, Change},
};

pub(super) use self::list::DIFFERENCES;

pub(super) struct Difference {
    pub(super) name: &'static str,
    /// What kube-apiserver answers, and what the gate does.
    codes: &'static [(u16, u16)],
    is_met: fn(&Case, &Answers) -> bool,
    pub(super) why: &'static str,
}

/// Whatever kube-apiserver answers: the gate does not get so far as to know.
const ANY: u16 = 0;

const fn difference(
    name: &'static str,
    codes: &'static [(u16, u16)],
    is_met: fn(&Case, &Answers) -> bool,
    why: &'static str,
) -> Difference {
    Difference {
        name,
        codes,
        is_met,
        why,
    }
}

fn has_type(case: &Case, wanted: &str) -> bool {
    let form = case.body.as_ref().map(|body| body.form);
    matches!(form, Some(Form::As(kind)) if kind == wanted)
}

fn creates_pod(case: &Case) -> bool {
    case.verb == "create" && case.path.ends_with("/pods")
}

fn says(answers: &Answers, parts: &[&str]) -> bool {
    parts.iter().any(|part| answers.message().contains(part))
}

fn gated(answers: &Answers, words: &str) -> bool {
    answers.gated_message().contains(words)
}

fn changes(case: &Case, is_it: fn(&str, &Change) -> bool) -> bool {
    let mut mutations = case.body.iter().flat_map(|body| &body.mutations);
    mutations.any(|mutation| match &mutation.at {
        At::Pointer(pointer) => is_it(pointer, &mutation.change),
        At::Nth(_) => is_it("", &mutation.change),
    })
}

/// Whether the path, or the name in the body of something new, is that of another node's Node or pod.
fn is_anothers(case: &Case) -> bool {
    let mut segments = case.path.split('/').rev();
    let last = segments.next().unwrap_or_default();
    let name = if case.sub.is_empty() {
        last
    } else {
        segments.next().unwrap_or_default()
    };
    match case.resource {
        "nodes" if case.verb == "create" => changes(case, |place, _| place == "/metadata/name" || place.is_empty()),
        "nodes" => name != format!("ROUND-{}", case.who.node()) || case.who == Who::Empty,
        // What is called otherwise was made by whoever asks, or is not there.
        "pods" => match name {
            "p0" => true,
            "p1" | "p3" | "m1" | "d1" | "d2" | "d3" | "d4" => case.who != Who::N1,
            "p2" | "d5" => case.who != Who::N2,
            _ => false,
        },
        _ => false,
    }
}

/// Which of them it is. Nothing excuses a write that kube-apiserver refuses and the gate lets through.
pub(super) fn find(case: &Case, answers: &Answers) -> Option<usize> {
    if answers.let_through(case) {
        return None;
    }
    DIFFERENCES.iter().position(|difference| {
        let mut codes = difference.codes.iter();
        let [guarded, gated] = answers.codes;
        codes.any(|pair| *pair == (guarded, gated) || *pair == (ANY, gated)) && (difference.is_met)(case, answers)
    })
}
