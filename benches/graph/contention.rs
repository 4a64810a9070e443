//! Whether readers notice a writer.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use arc_swap::ArcSwap;
use scopegate::graph::{Pod, Snapshot};

use crate::{
    build::Build,
    cluster::Shape,
    measure::{Time, timed},
    progress,
    rows::{Row, gate, rows},
    table::Table,
    updates::{Changes, Graph, spread},
};

/// What readers saw, in nanoseconds for a decision.
#[derive(Clone, Copy)]
struct Spread {
    median: f64,
    p99: f64,
}

/// Somebody who changes pods of a graph, half of them on the very node that asks.
struct Writer {
    graph: Graph,
    changes: Changes<Pod>,
    made: u32,
    seconds: f64,
}

/// Each without a writer and with one, so that whatever else the machine does happens to all.
const ROUNDS: usize = 10;
const ROUND: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(1);
/// Decisions between two looks at the clock.
const BATCH: usize = 100;
/// Pods of other nodes that are changed.
const OTHERS: usize = 100;

pub(super) fn print(shape: Shape) -> Result<()> {
    progress(shape, "decisions while somebody writes");
    let rows = rows()?;
    let mut writer = Writer::new(shape)?;
    // Takes as much of the machine, and nothing of what is read.
    let mut apart = Writer::new(shape)?;
    let published = Arc::clone(&writer.graph.published);
    let mut seen = [Spread::WORST; 3];
    for _ in 0..ROUNDS {
        let [idle, elsewhere, busy] = seen;
        seen = [
            idle.or_better(ask(&rows, &published)),
            elsewhere.or_better(apart.beside(|| ask(&rows, &published))),
            busy.or_better(writer.beside(|| ask(&rows, &published))),
        ];
    }
    let mut table = Table::new(&["changes", "median of a decision", "99 % of batches below"]);
    let changes = [
        "none".to_owned(),
        format!("{:.0} a second, of a graph that nobody reads", apart.rate()),
        format!("{:.0} a second, half of them on the node that asks", writer.rate()),
    ];
    for (changes, Spread { median, p99 }) in changes.iter().zip(seen) {
        table.row(&[changes, &Time(median / 1e9), &Time(p99 / 1e9)]);
    }
    println!("\n## Decisions while pods change");
    table.print();
    Ok(())
}

impl Writer {
    fn new(shape: Shape) -> Result<Self> {
        let pods = spread(shape, OTHERS).into_iter().enumerate();
        let pods: Vec<_> = pods.flat_map(|(i, other)| [(0, 1 + i), other]).collect();
        Ok(Self {
            graph: Build::new(shape)?.graph,
            changes: Changes::new(shape, &pods)?,
            made: 0,
            seconds: 0.0,
        })
    }

    /// Writes for as long as something else takes.
    fn beside<T>(&mut self, other: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| self.write(&over));
            let done = other();
            over.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Makes one change after the other, each at its time.
    fn write(&mut self, over: &AtomicBool) {
        let start = Instant::now();
        let mut made = 0;
        while !over.load(Ordering::Relaxed) {
            self.changes.make(&mut self.graph);
            made += 1;
            thread::sleep((EVERY * made).saturating_sub(start.elapsed()));
        }
        self.made += made;
        self.seconds += start.elapsed().as_secs_f64();
    }

    fn rate(&self) -> f64 {
        f64::from(self.made) / self.seconds
    }
}

impl Spread {
    const WORST: Self = Self {
        median: f64::INFINITY,
        p99: f64::INFINITY,
    };

    fn of(mut batches: Vec<f64>) -> Self {
        batches.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let batch = batches.get((batches.len() as f64 * part) as usize);
            batch.map_or(f64::NAN, |nanoseconds| nanoseconds / BATCH as f64)
        };
        Self {
            median: at(0.5),
            p99: at(0.99),
        }
    }

    fn or_better(self, other: Self) -> Self {
        Self {
            median: self.median.min(other.median),
            p99: self.p99.min(other.p99),
        }
    }
}

/// Asks all questions in turn for one round.
fn ask(rows: &[Row], published: &ArcSwap<Snapshot>) -> Spread {
    let gate = gate();
    let mut asked = rows.iter().cycle();
    let mut batches = Vec::with_capacity(1 << 18);
    let start = Instant::now();
    while start.elapsed() < ROUND {
        let ((), seconds) = timed(|| {
            for row in asked.by_ref().take(BATCH) {
                black_box(gate.decide(black_box(row.asked.attributes(&published.load()))));
            }
        });
        batches.push(seconds * 1e9);
    }
    Spread::of(batches)
}
