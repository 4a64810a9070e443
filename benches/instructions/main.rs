//! How many instructions the gate takes: for a decision, for a head, for judging a body, and for a whole request from the socket
//! to the socket. Counted, not timed, so that a busy machine does not matter, and compared with what is stored in
//! `stored.txt`: a change that makes the gate dearer fails in CI. `make counts` runs it; docs/performance.md explains.
//!
//! Callgrind counts. What is counted runs in processes of their own under it, which call [`mark`] where a count begins or ends;
//! clients and the API server run in this one, beside it, so that they are not counted and nothing has to be subtracted.
//! There are harnesses for this (iai-callgrind). They need a runner of the same version to be installed, and count functions
//! that return, not a server that others talk to; what is needed of valgrind here is a page of code.
//!
//! `-- --store` writes the figures down, `-- --keep DIR` keeps what callgrind has found, for `callgrind_annotate`.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for people to read, which may end with a message"
)]

/// What is sent.
#[path = "../writes/bodies.rs"]
#[allow(dead_code, reason = "the benchmark of writes sends more")]
mod bodies;
/// The graph that decisions are made from.
#[path = "../graph/cluster.rs"]
#[allow(dead_code, reason = "the graph's benchmark has it in more shapes")]
mod cluster;
/// A gate that is counted.
mod gate;
/// Whole requests.
mod path;
/// What surrounds the gate: clients and an API server.
#[allow(dead_code, unused_imports, reason = "what a release learns from does more with them")]
mod peers;
/// What needs no socket.
mod pure;
/// What is decided.
#[path = "../graph/rows.rs"]
#[allow(dead_code, reason = "the graph's benchmark asks more")]
mod rows;
/// What is stored, and whether it still holds.
mod stored;
/// How it is printed.
#[path = "../graph/table.rs"]
mod table;
/// Who counts.
mod valgrind;
/// Judging what nodes write.
#[path = "../writes/gate.rs"]
mod writes;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};

use self::{
    stored::{Counted, Stored, Verdict},
    table::Table,
    valgrind::Valgrind,
};

/// Where the figures are.
const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions/stored.txt");
/// Set where a comparison that cannot be made is a failure.
const REQUIRED: &str = "SCOPEGATE_COUNTS";

fn main() -> Result<ExitCode> {
    scopegate::server::tls::install_crypto();
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (mut store, mut keep) = (false, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            // Cargo adds it.
            "--bench" => {}
            "--store" => store = true,
            "--keep" => keep = Some(PathBuf::from(words.next().context("--keep needs a folder")?)),
            // How this program calls itself.
            pure::WORD => return pure::run().map(|()| ExitCode::SUCCESS),
            gate::WORD => {
                let folder = words.next().context("a gate needs a folder")?;
                return gate::run(Path::new(folder)).map(|()| ExitCode::SUCCESS);
            }
            other => bail!("{other} is not known; there are --store and --keep DIR"),
        }
    }
    let folder = tempfile::tempdir()?;
    let valgrind = Valgrind::new(keep.as_deref().unwrap_or(folder.path()))?;
    eprintln!("counting instructions under valgrind, which takes about a minute");
    let mut counted = pure::count(&valgrind)?;
    counted.extend(path::count(&valgrind)?);
    let place = place()?;
    let old = Stored::read(&fs::read_to_string(STORED).unwrap_or_default())?;
    if store {
        print(&old, &counted);
        fs::write(STORED, old.replaced(&place, &counted).to_string())?;
        println!("Stored.");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(compare(&old, &place, &counted))
}

/// Prints all of it, and says in one sentence what to do.
fn compare(old: &Stored, place: &str, counted: &[Counted]) -> ExitCode {
    print(old, counted);
    let verdicts: Vec<Verdict> = counted.iter().map(|counted| old.verdict(counted)).collect();
    let any = |wanted: Verdict| verdicts.contains(&wanted);
    let binding = old.place == place;
    if !binding {
        println!("The figures were stored for {}, and this is {place}.", old.place);
        if env::var(REQUIRED).is_ok_and(|value| value == "required") {
            println!("Store them for this one in the same change: cargo bench --bench instructions -- --store");
            return ExitCode::FAILURE;
        }
        println!("So nothing fails, and nothing is proved.");
    }
    if any(Verdict::Unknown) {
        println!("Nothing is stored for some of it: cargo bench --bench instructions -- --store");
        return ExitCode::from(u8::from(binding));
    }
    if any(Verdict::More) {
        println!(
            "The gate takes more instructions than is stored: make it cheaper, or, if they are worth it, say why in the commit \
             and store the new figures with it (cargo bench --bench instructions -- --store)."
        );
        return ExitCode::from(u8::from(binding));
    }
    if any(Verdict::Less) {
        println!("It got better: store the new figures (cargo bench --bench instructions -- --store).");
    }
    ExitCode::SUCCESS
}

fn print(old: &Stored, counted: &[Counted]) {
    let mut table = Table::new(&["", "instructions", "stored", "difference", "tolerance", ""]);
    for counted in counted {
        let figure = old.figure(&counted.name);
        let difference = old.difference(counted).map(|percent| format!("{percent:+.2} %"));
        table.row(&[
            &counted.name,
            &counted.instructions,
            &figure.map(|figure| figure.instructions.to_string()).unwrap_or_default(),
            &difference.unwrap_or_default(),
            &format!("{} %", figure.map_or(counted.tolerance, |figure| figure.tolerance)),
            &old.verdict(counted),
        ]);
    }
    table.print();
}

/// What decides how many instructions a source becomes: other places have other figures. Libraries choose their code by what
/// the CPU can, of which valgrind lets them see no more than AVX2.
fn place() -> Result<String> {
    let rustc = Command::new("rustc").arg("--version").output().context("rustc")?;
    let rustc = String::from_utf8_lossy(&rustc.stdout).trim().to_owned();
    #[cfg(target_arch = "x86_64")]
    let wide = if is_x86_feature_detected!("avx2") {
        " with AVX2"
    } else {
        ""
    };
    #[cfg(not(target_arch = "x86_64"))]
    let wide = "";
    Ok(format!("{}{wide}, {rustc}", env::consts::ARCH))
}

/// Callgrind begins a new count wherever this is called; it knows it by its name.
#[inline(never)]
fn mark() {
    std::hint::black_box(());
}
