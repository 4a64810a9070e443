//! Known cases, each under a number of its own: one for every way in which a rule can decide. What needs clients that send
//! anything at all, several requests, or other gates is tested beside what it is about: 5 in `certificates`, 7 and 26 in `graph`,
//! 62, 67 with its gate and 70 in `restriction`.

mod findings;
mod reads;
mod writes;

use serde_json::Value;

use super::{
    case::{Base, Body, Case, Form, Who},
    compare::{Verdict, ask},
    world::World,
};
use crate::{graph::patched, release, report};

pub(super) struct Row {
    number: u32,
    case: Case,
    /// What kube-apiserver answers, and a part of its message.
    code: u16,
    text: &'static str,
    /// What the gate answers, where that is not the same for a reason that is the row's own.
    gated: Option<u16>,
    /// Releases before this one answer otherwise; the gate does not.
    since: u32,
}

#[tokio::test]
async fn known_cases_are_answered_alike() {
    let Some(world) = World::start().await else { return };
    let round = world.round("rows".to_owned()).await;
    for side in &round.sides {
        // Row 58: of another node, and going.
        let finalizer = serde_json::json!({"metadata": {"finalizers": ["example.com/stay"]}});
        let pod = "/api/v1/namespaces/rows/pods/d5";
        patched(&side.admin, pod, "application/merge-patch+json", &finalizer).await;
        side.admin.send(http::Request::delete(pod), "").await.unwrap();
    }
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for row in reads::rows().into_iter().chain(writes::rows()).chain(findings::rows()) {
        let answers = ask(&round, &row.case).await;
        let [guarded, gated] = answers.codes;
        let earlier = release::minor() < row.since;
        let as_said = earlier || guarded == row.code && answers.message().contains(row.text);
        let alike = match row.gated {
            Some(code) => gated == code,
            None if earlier => gated == row.code,
            None => !matches!(answers.verdict(&row.case), Verdict::Different),
        };
        rows += 1;
        if !as_said || !alike {
            wrong.push(format!(
                "row {} is not {} {:?}: {}\n{}",
                row.number,
                row.code,
                row.text,
                row.case,
                answers.told()
            ));
        }
    }
    report::compared(
        "known-cases",
        "known cases, one for every way in which a rule can decide",
        rows,
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A read by the first node.
fn read(number: u32, target: &str, code: u16, text: &'static str) -> Row {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let watch = query.contains("watch=");
    let query = query.split('&').filter(|piece| !piece.is_empty());
    Row {
        number,
        case: Case {
            who: Who::N1,
            verb: if watch { "watch" } else { "get" },
            resource: "",
            sub: String::new(),
            path: path.to_owned(),
            query: query.map(str::to_owned).collect(),
            headers: Vec::new(),
            body: None,
            stored: false,
        },
        code,
        text,
        gated: None,
        since: 0,
    }
}

/// A write by the first node that changes nothing.
fn write(
    number: u32,
    (verb, path): (&'static str, &str),
    body: Option<(Form, Value)>,
    code: u16,
    text: &'static str,
) -> Row {
    let mut row = read(number, path, code, text);
    row.case.verb = verb;
    row.case.body = body.map(|(form, value)| Body {
        base: Base::Value(value),
        mutations: Vec::new(),
        form,
    });
    row
}

impl Row {
    fn by(mut self, who: Who) -> Self {
        self.case.who = who;
        self
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.case.headers.push((name, value));
        self
    }

    fn since(mut self, minor: u32) -> Self {
        self.since = minor;
        self
    }

    fn but(mut self, gated: u16) -> Self {
        self.gated = Some(gated);
        self
    }
}
