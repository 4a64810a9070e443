//! The pages that people look at the graph by, which nobody else waits for.

use std::sync::Arc;

use anyhow::{Result, ensure};
use http::StatusCode;
use http_body::Body as _;
use scopegate::{
    graph::Snapshot,
    observe::{
        page::{Graph, Pages, Seen},
        refusals::Refusals,
    },
    request::Query,
};

use crate::{
    measure::{Time, timed},
    table::Table,
};

const QUERIES: &[&str] = &[
    "",
    "kind=Seed",
    "kind=Seed&name=seed42",
    "kind=Shoot&page=200",
    "kind=Secret&page=2000",
    "namespace=garden-p7",
    "kind=CloudProfile&name=cloud0",
    "name=nothing-has-it",
];

/// The fastest of a few.
const ROUNDS: usize = 5;

pub(super) fn print(graph: &Arc<Snapshot>) -> Result<()> {
    let seen = Seen {
        graph: Arc::clone(graph),
        doubt: None,
    };
    let look = Arc::new(move || seen.clone());
    let pages = Pages::new(vec![Graph { name: "seeds", look }], Arc::new(Refusals::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut table = Table::new(&["page", "made in", "size"]);
    for text in QUERIES {
        let mut fastest = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let query = Query::parse(text)?;
            let (page, seconds) = timed(|| runtime.block_on(pages.graph(query)));
            ensure!(
                page.status() == StatusCode::OK,
                "?{text} is answered with {}",
                page.status()
            );
            let bytes = page.body().size_hint().lower();
            fastest = (fastest.0.min(seconds), bytes);
        }
        let (seconds, bytes) = fastest;
        table.row(&[&format!("`?{text}`"), &Time(seconds), &format!("{} kB", bytes / 1000)]);
    }
    println!("\n## Pages of a graph of {} vertices", graph.sizes().vertices);
    table.print();
    Ok(())
}
