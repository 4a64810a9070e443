//! What a run has shown, for docs/conformance.md: each area leaves its figures in the folder that `SCOPEGATE_REPORT` names, one
//! file for each release and area. `make conformance` collects them and writes the page.

mod findings;
mod page;

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::{Value, json};

use crate::release;

/// Keeps what an area has to report; nothing where nobody collects it.
pub(crate) fn note(area: &str, figures: &Value) {
    println!("{area}: {figures}");
    let Some(folder) = folder() else { return };
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{} {area}.json", release::version()));
    fs::write(path, serde_json::to_string_pretty(figures).unwrap()).unwrap();
}

/// So many of these were compared, and none was different but for what is meant to be.
pub(crate) fn compared(area: &str, what: &str, count: usize) {
    note(area, &json!({"what": what, "compared": count}));
}

/// Fails unless each of the tests is there: `<file> <function>`, relative to the repository. One that was renamed or is gone shows
/// nothing. Under `e2e/` it may be a part of a test.
pub(crate) fn exist(tests: &[&str]) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for test in tests {
        let (file, name) = test.trim_start_matches('*').split_once(' ').unwrap();
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
        let called = format!("fn {name}(");
        let found = lines.iter().enumerate().any(|(at, line)| {
            // Up to the end of what stands before it.
            let mut attributes = lines[..at].iter().rev().take_while(|line| !matches!(**line, "" | "}"));
            line.contains(&called)
                && (file.starts_with("e2e/") || attributes.any(|line| line.starts_with("#[") && line.contains("test")))
        });
        assert!(found, "there is no test {name} in {file}");
    }
}

fn folder() -> Option<PathBuf> {
    std::env::var_os("SCOPEGATE_REPORT").map(PathBuf::from)
}

/// All notes there are: by release, the oldest first, and area.
fn notes() -> BTreeMap<String, BTreeMap<String, Value>> {
    let folder = folder().expect("SCOPEGATE_REPORT names the folder of the notes; run `make conformance`");
    let mut notes: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (release, area) = name.split_once(' ').unwrap();
        let figures = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        notes
            .entry(release.to_owned())
            .or_default()
            .insert(area.to_owned(), figures);
    }
    notes
}

/// Not a test: `make conformance` calls it when all notes are there.
#[test]
#[ignore = "writes docs/conformance.md; run `make conformance`"]
fn write_the_page() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    fs::write(&path, page::page(&notes())).unwrap();
    println!("written: {}", path.display());
}
