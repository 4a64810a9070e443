//! Audit logs that commands read.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    io::{self, BufRead, BufReader, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use jiff::Timestamp;

use crate::{
    api::printable,
    report::{Event, Log, When},
};

/// Which logs, and which time in them.
#[derive(Debug, clap::Args)]
pub(super) struct Logs {
    /// Audit logs of gates, in any order, with those that were put aside: audit.log audit.log.1; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only what came so long ago at most, or from this time on: 90m, 24h, 7d, 2026-03-02T08:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<When>,
    /// Only what came before; said in the same ways
    #[arg(long, value_name = "WHEN")]
    until: Option<When>,
}

const BUFFER: usize = 256 * 1024;

impl Logs {
    /// Hands every event of these nodes, or of anybody if there are none, to `take`. It is an error if there is none at all: what is
    /// said of a log must not be said of an empty one.
    pub(super) fn read(self, nodes: Vec<String>, mut take: impl FnMut(&Event<'_>)) -> anyhow::Result<Log> {
        once_each(&self.files)?;
        let now = Timestamp::now();
        let mut log = Log {
            since: self.since.map(|when| when.resolve(now)),
            until: self.until.map(|when| when.resolve(now)),
            nodes,
            ..Log::default()
        };
        for path in &self.files {
            let (name, from) = open(path)?;
            let read = log.read(from, &mut take);
            let events = read.with_context(|| format!("cannot read {name}"))?;
            if events == 0 {
                bail!(
                    "{name} has no event of a gate: is it the file that audit.path names? Compressed files are read as \
                     in zcat audit.log.1.gz | scopegate report -, and kube-apiserver's own audit log says nothing of rules"
                );
            }
        }
        if let (0, Some((first, last))) = (log.wanted.events, log.all.times) {
            bail!(
                "none of the {} events is of the nodes and the time that were asked for; they are from {first:.0} to {last:.0}",
                log.all.events
            );
        }
        hint(&self.files);
        Ok(log)
    }
}

/// Prints all of it. Somebody who stops reading has seen enough.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn open(path: &Path) -> anyhow::Result<(String, Box<dyn BufRead>)> {
    if path == Path::new("-") {
        return Ok(("standard input".to_owned(), Box::new(io::stdin().lock())));
    }
    let name = printable(&path.display().to_string());
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    Ok((name, Box::new(BufReader::with_capacity(BUFFER, file))))
}

/// What is read twice would be counted twice.
fn once_each(files: &[PathBuf]) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for path in files {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !seen.insert(real) {
            bail!("{} is named twice", printable(&path.display().to_string()));
        }
    }
    Ok(())
}

/// Older events may be in files that were put aside and not named.
fn hint(files: &[PathBuf]) {
    let all = files.iter().flat_map(|path| {
        let aside = (1..).map(move |n| put_aside(path, n));
        aside.take_while(|aside| aside.is_file())
    });
    let missing: Vec<_> = all.filter(|path| !files.contains(path)).collect();
    if !missing.is_empty() {
        let names: Vec<_> = missing
            .iter()
            .map(|path| printable(&path.display().to_string()))
            .collect();
        anstream::eprintln!(
            "scopegate: older events were put aside and not read; name these files too: {}",
            names.join(" ")
        );
    }
}

fn put_aside(path: &Path, n: usize) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{n}"));
    name.into()
}
