//! One node asks for thousands of secrets a second that are not its own, while others go on as ever.
//!
//! Others are measured in three ways, in turn: by themselves, while the flood goes to a second gate before the same kube-apiserver, and while it
//! goes to theirs. Client, gates and kube-apiserver share the cores here, so that any load makes others slower; what the
//! gate has to do with it is the difference between the second and the third. Who floods renews its lease through the same gate,
//! and must not be taken for dead.

/// Those who go on as ever.
mod others;
/// Who floods.
mod torrent;

use std::time::Duration;

use self::{
    others::{Others, Renewals},
    torrent::{Counts, Torrent},
};
use crate::{
    compare::median,
    options,
    page::Section,
    proxies::{Contender, Proxy, Setup},
    table::Table,
    world::World,
};

/// The first floods.
pub(crate) const NODES: usize = 21;
/// Requests a second.
const RATE: u64 = 10_000;
/// Until connections are open and caches warm; memory is compared with what it is then.
const WARM: Duration = Duration::from_secs(10);
/// For memory to be given back, afterwards.
const REST: Duration = Duration::from_secs(10);
/// Slower by less is not measurable here.
const MEASURABLE: f64 = 1.25;
/// Memory that grows by less has been lent, not kept.
const GROWTH: f64 = 1.1;

/// What a flood did to the gate it went to.
struct Damage {
    counts: Counts,
    lasted: Duration,
    before: u64,
    warm: u64,
    after: u64,
    rested: u64,
    cpu: f64,
    lost: f64,
    lines: usize,
    renewals: Renewals,
}

pub(crate) async fn flood(world: &World) -> Section {
    let length = Duration::from_secs(options::number("flood", 20) as u64);
    let mut section = Section::new("flood");
    let rounds = options::number("rounds", options::ROUNDS);
    let gate = Contender::gate("flooded").start(world, Setup::default()).await;
    let second = Contender::gate("second").start(world, Setup::default()).await;
    let (mut quiet, mut elsewhere, mut here, mut damages) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("flood {round} of {rounds}");
        quiet.push(Others::measure(world, gate.address, length).await);
        elsewhere.push(with_flood(world, &gate, &second, length).await.0);
        let (others, damage) = with_flood(world, &gate, &gate, length).await;
        here.push(others);
        damages.push(damage);
    }

    let mut table = Table::new(&[
        "",
        "no flood",
        "flood of another gate",
        "flood of this gate",
        "ratio",
        "target",
        "",
    ]);
    let mut row = |what: &str, of: &dyn Fn(&Others) -> f64| {
        let [quiet, control, measured] = [&quiet, &elsewhere, &here].map(|rounds| median(rounds.iter().map(of)));
        let ratio = measured / control;
        let millis = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
        table.row(&[
            &what,
            &millis(quiet),
            &millis(control),
            &millis(measured),
            &format!("{ratio:.2} ×"),
            &format!("≤ {MEASURABLE} ×"),
            &verdict(ratio <= MEASURABLE),
        ]);
    };
    row("p50 of a read", &|others| others.reads.percentile(50).as_secs_f64());
    row("p99 of a read", &|others| others.reads.percentile(99).as_secs_f64());
    row("p50 of a renewal", &|others| {
        others.renewals.latencies.percentile(50).as_secs_f64()
    });
    row("p99 of a renewal", &|others| {
        others.renewals.latencies.percentile(99).as_secs_f64()
    });
    section.table(
        "20 nodes, each with a read and a renewal of its lease every 50 ms; the ratio is that of the last two:",
        table,
    );
    let refused = here.iter().map(Others::failed).sum();
    section.table(
        &format!(
            "The gate that was flooded; memory, CPU and what is told by the second are of flood {rounds} of {rounds}:"
        ),
        table_of(&damages, refused),
    );
    section
}

/// Others at one gate while the flood goes to another, or to the same.
async fn with_flood(world: &World, gate: &Proxy, flooded: &Proxy, length: Duration) -> (Others, Damage) {
    let used = flooded.used;
    let (before, lines) = (used.resident(), flooded.log().lines().count());
    let lost = flooded.metric("scopegate_audit_events_lost_total").await;
    let torrent = Torrent::start(world.tls(0, b"h2"), flooded.address, RATE);
    tokio::time::sleep(WARM).await;
    let (warm, cpu) = (used.resident(), used.cpu());
    let (others, renewals) = tokio::join!(
        Others::measure(world, gate.address, length),
        Renewals::of(world, flooded.address, 0, length)
    );
    let cpu = (used.cpu() - cpu).as_secs_f64() / length.as_secs_f64();
    let after = used.resident();
    let (counts, lasted) = torrent.stop();
    tokio::time::sleep(REST).await;
    let damage = Damage {
        counts,
        lasted,
        before,
        warm,
        after,
        rested: used.resident(),
        cpu,
        lost: flooded.metric("scopegate_audit_events_lost_total").await - lost,
        lines: flooded.log().lines().count() - lines,
        renewals,
    };
    (others, damage)
}

/// What must not be at all is counted in all rounds.
fn table_of(all: &[Damage], refused: usize) -> Table {
    let (first, last) = (&all[0], &all[all.len() - 1]);
    let rate = |count: u64| format!("{:.0} /s", count as f64 / last.lasted.as_secs_f64());
    let mebibytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let mut table = Table::new(&["", "", "target", ""]);
    let counts = &last.counts;
    table.row(&[&"secrets asked for", &rate(counts.asked), &"", &""]);
    table.row(&[
        &"not asked for, since thousands are under way or no connection is open",
        &rate(counts.held_back),
        &"",
        &"",
    ]);
    for (code, count) in &counts.codes {
        let what = match code {
            0 => "not answered: the gate has ended the connection".to_owned(),
            code => format!("answered with {code}"),
        };
        table.row(&[&what, &rate(*count), &"", &""]);
    }
    table.row(&[&"connections opened for it", &rate(counts.connections), &"", &""]);
    let silent: u64 = all.iter().map(|damage| damage.counts.without_retry_after).sum();
    table.row(&[&"429 without Retry-After", &silent, &"none", &verdict(silent == 0)]);
    let growth = last.after as f64 <= last.warm as f64 * GROWTH;
    let memory = [first.before, last.warm, last.after, last.rested]
        .map(mebibytes)
        .join(", ");
    let what = format!(
        "memory before the first, after {} s, at the end, {} s later",
        WARM.as_secs(),
        REST.as_secs()
    );
    table.row(&[
        &what,
        &memory,
        &format!("≤ {GROWTH} × from the second to the third"),
        &verdict(growth),
    ]);
    table.row(&[&"CPU", &format!("{:.2} cores", last.cpu), &"", &""]);
    table.row(&[
        &"audit events lost",
        &all.iter().map(|damage| damage.lost).sum::<f64>(),
        &"",
        &"",
    ]);
    table.row(&[&"lines logged", &rate(last.lines as u64), &"", &""]);
    let renewed: usize = all.iter().map(|damage| damage.renewals.latencies.count()).sum();
    let failed: usize = all.iter().map(|damage| damage.renewals.failed).sum();
    let renewals = format!("{renewed} of {}", renewed + failed);
    table.row(&[
        &"leases renewed by who floods",
        &renewals,
        &"all",
        &verdict(failed == 0),
    ]);
    table.row(&[
        &"refused of what others asked",
        &refused,
        &"none",
        &verdict(refused == 0),
    ]);
    table
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}
