//! docs/conformance.md, made of the notes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::Value;

use super::findings::FINDINGS;
use crate::conformance::BROKEN_OFF;

/// What one release has to report, by area.
type Areas = BTreeMap<String, Value>;

const HEAD: &str = "# Conformance

What the end-to-end tests have shown: the gate before real kube-apiservers, with real kubelets and kubectl, compared with clusters
that guard themselves. `make conformance` runs all of it against every release named below and writes this page anew; nothing here
is written by hand. A figure with no difference beside it means that there was none: the run fails otherwise.
";

const GENERATED: &str = "
Cluster A guards itself (`--authorization-mode=Node,RBAC`, NodeRestriction) and is asked directly; cluster B does neither, lets nodes
do nearly everything, and is asked through the gate. Each request, made from a seed, goes to both. Code, reason, message and details
have to be equal, and after a write the objects that are stored. A difference is shrunk to one request. Either side may be behind what
was just written, so what differs is asked once more; but nothing excuses a write that A refuses and the gate lets through.
";

const RULES: &str = "
How often each rule of the Node authorizer (`node/…`) and of NodeRestriction (`restriction/…`) let a request through or refused it.
A rule that only ever does one of the two has a dash for the other.
";

const BYTES: &str = "
Requests written by hand to the connection: odd paths, queries, methods, headers, framing and bodies. The gate refuses one, and
nothing of it is in the audit log of the API server behind it; or both API servers act alike, and their audit events say the same as
the gate's own. Every request of a node in the log behind the gate is one that the gate accounts for.
";

const KUBELETS: &str = "
Hollow nodes of kubemark, which are kubelets on a runtime that runs nothing, and kubelets that join with a bootstrap token and renew
their certificates, know no API server but the gate. They register, renew leases, report, run pods with secrets, configmaps, projected
tokens and claims, see secrets change, mirror static pods, and let go of pods that are evicted or deleted. Then the gate and the API
server are killed and started again, and the gate is replaced by another one. No node may lose its lease or its readiness, no pod may
get stuck, and nothing may be refused but a last look at a pod that is gone, and what an API server refuses that is still starting.
";

pub(super) fn page(notes: &BTreeMap<String, Areas>) -> String {
    let mut page = HEAD.to_owned();
    releases(&mut page, notes);
    generated(&mut page, notes);
    // The newest release that there are rules for, where every kind of request is met.
    if let Some(areas) = notes.values().next_back() {
        rules(&mut page, &areas["conformance"]);
        differences(&mut page, notes);
        bytes(&mut page, &areas["bytes"]);
    }
    kubelets(&mut page, notes);
    others(&mut page, notes);
    if let Some(areas) = notes.values().next_back() {
        attacks(&mut page, &areas["attacks"]);
    }
    page +=
        "\n## What was found on the way\n\nDefects of the gate, each with the tests that keep it from coming back.\n\n";
    table(&mut page, &["What", "Tests"]);
    for (what, tests) in FINDINGS {
        row(&mut page, &[what, &code(tests)]);
    }
    page
}

fn releases(page: &mut String, notes: &BTreeMap<String, Areas>) {
    *page += "\n## Releases\n\n";
    let head = [
        "Kubernetes",
        "Generated requests",
        "Bytes",
        "Rows and other comparisons",
        "Kubelets",
    ];
    table(page, &head);
    for (release, areas) in notes {
        let of = |area: &str| {
            areas
                .get(area)
                .map_or("–".to_owned(), |figures| number(&figures["requests"]))
        };
        let compared: u64 = areas.values().filter_map(|figures| figures["compared"].as_u64()).sum();
        let kubelets: u64 = kubelets_of(areas)
            .filter_map(|(_, figures)| figures["nodes"].as_u64())
            .sum();
        row(
            page,
            &[
                release,
                &of("conformance"),
                &of("bytes"),
                &thousands(compared),
                &thousands(kubelets),
            ],
        );
    }
    for (release, areas) in notes {
        let skipped: Vec<&str> = areas
            .values()
            .filter_map(|figures| figures["skipped"].as_str())
            .collect();
        if !skipped.is_empty() {
            let _ = write!(
                page,
                "\nNot compared with {release}, for which there are no programs made of its own code (`e2e/oracle`): {}.\n",
                skipped.join("; ")
            );
        }
    }
}

fn generated(page: &mut String, notes: &BTreeMap<String, Areas>) {
    let _ = write!(page, "\n## Generated requests\n{GENERATED}\n");
    let runs: Vec<(&String, &Value)> = notes
        .iter()
        .filter_map(|(release, areas)| Some((release, areas.get("conformance")?)))
        .collect();
    for (release, figures) in &runs {
        let of = |key: &str| number(&figures[key]);
        let _ = writeln!(
            page,
            "- {release}: {} requests in {} s from seed {}, of which {} stored something. {} differences. {} were answered alike only \
             when they were sent once more, a moment later, and {} differed once and not when they were replayed.",
            of("requests"),
            of("seconds"),
            of("seed"),
            of("stored"),
            of("differences"),
            of("again"),
            of("passing"),
        );
    }
    *page += "\n";
    let head: Vec<String> = runs.iter().map(|(release, _)| format!("A is {release}")).collect();
    let head: Vec<&str> = std::iter::once("A's answer")
        .chain(head.iter().map(String::as_str))
        .collect();
    table(page, &head);
    let codes: BTreeSet<&String> = runs
        .iter()
        .flat_map(|(_, figures)| figures["codes"].as_object().unwrap().keys())
        .collect();
    for code in codes {
        let shown = if *code == BROKEN_OFF.to_string() {
            "none: it panics"
        } else {
            code.as_str()
        };
        let counts: Vec<String> = runs
            .iter()
            .map(|(_, figures)| number(&figures["codes"][code]))
            .collect();
        let cells: Vec<&str> = std::iter::once(shown)
            .chain(counts.iter().map(String::as_str))
            .collect();
        row(page, &cells);
    }
}

fn rules(page: &mut String, figures: &Value) {
    let _ = write!(page, "\n## Rules\n{RULES}\n");
    table(page, &["Rule", "Let through", "Refused"]);
    for rule in figures["rules"].as_array().unwrap() {
        let count = |key: &str| {
            if rule[key] == 0 {
                "–".to_owned()
            } else {
                number(&rule[key])
            }
        };
        row(
            page,
            &[&code(&[text(&rule["rule"])]), &count("allowed"), &count("refused")],
        );
    }
}

fn differences(page: &mut String, notes: &BTreeMap<String, Areas>) {
    *page += "\n## Differences that are left\n\nAll of them are meant; [differences.md](differences.md) says more of each.\n\n";
    table(page, &["Which", "Requests", "Why"]);
    let mut met: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    for figures in notes.values().filter_map(|areas| areas.get("conformance")) {
        for one in figures["deliberateDifferences"].as_array().unwrap() {
            met.entry(text(&one["difference"])).or_insert((0, text(&one["why"]))).0 +=
                one["requests"].as_u64().unwrap();
        }
    }
    for (which, (requests, why)) in met {
        row(page, &[which, &thousands(requests), why]);
    }
}

fn bytes(page: &mut String, figures: &Value) {
    let _ = write!(page, "\n## The same bytes\n{BYTES}\n");
    let keys = ["requests", "alike", "refused", "refusedByTheGateAlone", "explained"];
    table(
        page,
        &[
            "Class",
            "Requests",
            "Forwarded, and alike",
            "Refused by both",
            "Refused by the gate alone",
            "Otherwise, as meant",
        ],
    );
    for (class, tally) in figures["classes"].as_object().unwrap() {
        let counts = keys.map(|key| number(&tally[key]));
        let cells: Vec<&str> = std::iter::once(class.as_str())
            .chain(counts.iter().map(String::as_str))
            .collect();
        row(page, &cells);
    }
}

fn kubelets(page: &mut String, notes: &BTreeMap<String, Areas>) {
    let _ = write!(page, "\n## Real kubelets\n{KUBELETS}\n");
    let head = [
        "Kubernetes",
        "Identity",
        "Nodes",
        "of which joined",
        "Pods",
        "Requests",
        "Refused: pod gone",
        "Oldest lease",
    ];
    table(page, &head);
    for (release, areas) in notes.iter().rev() {
        for (mode, figures) in kubelets_of(areas) {
            let of = |key: &str| number(&figures[key]);
            let lease = format!("{:.1} s", figures["oldestLeaseSeconds"].as_f64().unwrap());
            let gone = number(&figures["forbidden"]["podsThatAreGone"]);
            row(
                page,
                &[
                    release,
                    mode,
                    &of("nodes"),
                    &of("joined"),
                    &of("pods"),
                    &of("requests"),
                    &gone,
                    &lease,
                ],
            );
        }
    }
}

fn kubelets_of(areas: &Areas) -> impl Iterator<Item = (&str, &Value)> {
    areas
        .iter()
        .filter_map(|(area, figures)| Some((area.strip_prefix("kubelets-")?, figures)))
}

/// What is compared request by request, or done side by side, and has one figure each.
fn others(page: &mut String, notes: &BTreeMap<String, Areas>) {
    *page += "\n## Other comparisons\n\n";
    table(page, &["Kubernetes", "What", "Compared"]);
    for (release, areas) in notes.iter().rev() {
        for figures in areas.values().filter(|figures| figures["compared"].is_u64()) {
            row(page, &[release, text(&figures["what"]), &number(&figures["compared"])]);
        }
        if let Some(figures) = areas.get("kubectl") {
            let steps = number(&figures["steps"]);
            row(
                page,
                &[
                    release,
                    "kubectl as an administrator, each command directly and in two identity modes",
                    &steps,
                ],
            );
        }
        if let Some(figures) = areas.get("failover") {
            let what = format!(
                "requests while two API servers are killed in turn; {} met 502 or 503, at most {} ms after a kill",
                number(&figures["troubled"]),
                number(&figures["troubledMilliseconds"]),
            );
            row(page, &[release, &what, &number(&figures["requests"])]);
        }
    }
}

fn attacks(page: &mut String, figures: &Value) {
    *page += "\n## Known attacks\n\nThose with a `*` are tried before a real kube-apiserver.\n\n";
    table(page, &["Attack", "Tests"]);
    for one in figures.as_array().unwrap() {
        let tests: Vec<&str> = one["tests"].as_array().into_iter().flatten().map(text).collect();
        row(page, &[text(&one["about"]), &code(&tests)]);
    }
}

fn table(page: &mut String, head: &[&str]) {
    row(page, head);
    row(page, &vec!["---"; head.len()]);
}

fn row(page: &mut String, cells: &[&str]) {
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

fn code(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join("<br>")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> String {
    value.as_u64().map_or("–".to_owned(), thousands)
}

/// 12,345
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
