//! What the two sides have made of a request.

use serde::Serialize;
use serde_json::Value;

use super::{
    Sent,
    case::Case,
    events::{Logs, Reading, allowed, body, code, forwarded, reading},
};

/// How requests of a class have ended.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tally {
    requests: usize,
    /// By the gate, as by kube-apiserver: with whatever code, or without any.
    refused: usize,
    /// By the gate alone.
    refused_by_the_gate_alone: usize,
    /// Forwarded, and alike in everything.
    pub(super) alike: usize,
    /// Forwarded, and otherwise for a reason that docs/differences.md gives.
    explained: usize,
}

pub(super) fn compare(sent: &Sent, logs: &Logs, tally: &mut Tally) -> Result<(), String> {
    let Sent { id, direct, gated, .. } = sent;
    tally.requests += 1;
    let (direct_events, gate_events, open_events) = (logs.guarded.of(id), logs.gate.of(id), logs.open.of(id));
    let direct = direct.or(direct_events.first().map(code));
    let gated = gated.or(gate_events.first().map(code));
    let told = format!("{id}: directly {direct:?}, through the gate {gated:?}");
    let Some((upstream, earlier)) = open_events.split_last() else {
        if gate_events.iter().any(forwarded) {
            return Err(format!("{told}: forwarded, but upstream has no event of it"));
        }
        if gated.is_some_and(|code| !(400..500).contains(&code)) {
            return Err(format!("{told}: nothing got through, but the client was not told so"));
        }
        match direct {
            Some(..400) => tally.refused_by_the_gate_alone += 1,
            _ => tally.refused += 1,
        }
        return Ok(());
    };
    // What met a change of the object meanwhile was judged and sent again.
    if earlier.iter().any(|event| code(event) != 409) {
        return Err(format!("{told}: upstream saw it {} times", open_events.len()));
    }
    let [ours] = gate_events else {
        return Err(format!("{told}: got through; {} events of the gate", gate_events.len()));
    };
    if !allowed(ours) {
        return Err(format!("{told}: got through, but the gate has not allowed it"));
    }
    if [Some(code(ours)), gated] != [Some(code(upstream)); 2] {
        return Err(format!(
            "{told}: {} upstream, {} in the gate's event",
            code(upstream),
            code(ours)
        ));
    }
    same(
        &told,
        "the gate took it for",
        &taken(ours, upstream),
        &reading(upstream),
    )?;
    // Nothing explains that a node gets what it may not have.
    let may_not = direct_events.iter().any(|event| matches!(code(event), 401 | 403));
    match guarded(&told, direct_events, upstream) {
        Ok(()) => tally.alike += 1,
        Err(_) if !may_not && explained(&sent.case) => tally.explained += 1,
        Err(why) => return Err(why),
    }
    Ok(())
}

/// The server that guards itself has done the same, and taken it for the same.
fn guarded(told: &str, events: &[Value], upstream: &Value) -> Result<(), String> {
    let [theirs] = events else {
        return Err(format!(
            "{told}: got through; {} events of the guarded server",
            events.len()
        ));
    };
    if code(theirs) != code(upstream) {
        return Err(format!("{told}: got through"));
    }
    same(
        told,
        "the guarded server took it for",
        &reading(theirs),
        &reading(upstream),
    )?;
    if theirs["requestURI"] != upstream["requestURI"] {
        return Err(format!(
            "{told}: {} became {}",
            theirs["requestURI"], upstream["requestURI"]
        ));
    }
    let [theirs, upstream] = [theirs, upstream].map(body);
    if theirs != upstream {
        return Err(format!("{told}: the body was read as {theirs}, upstream as {upstream}"));
    }
    Ok(())
}

/// Whether docs/differences.md tells that kube-apiserver refuses it.
fn explained(case: &Case) -> bool {
    let text = String::from_utf8_lossy(&case.bytes).to_ascii_lowercase();
    let http1 = text.starts_with(['\r', '\n'])
        || !text.contains("host:")
        || text.contains("0000000000000000")
        || text.contains("trailer: content-length");
    case.meant || !case.http2 && http1
}

fn same(told: &str, who: &str, theirs: &Reading, upstream: &Reading) -> Result<(), String> {
    if theirs == upstream {
        return Ok(());
    }
    Err(format!("{told}: {who} {theirs:?}, upstream for {upstream:?}"))
}

/// What the gate took it for. Upstream takes name and namespace of what is created from the body if the target has none; the gate's
/// event has what the target names.
fn taken(ours: &Value, upstream: &Value) -> Reading {
    let mut taken = reading(ours);
    if taken.verb == "create" {
        let theirs = reading(upstream);
        for (ours, theirs) in [(&mut taken.name, theirs.name), (&mut taken.namespace, theirs.namespace)] {
            if ours.is_empty() {
                *ours = theirs;
            }
        }
    }
    taken
}
