//! Holds every module to its rank: a file under `src/` may name only modules of a lower rank, or its own.

use std::{fs, path::Path};

/// Ranks as ARCHITECTURE.md draws them.
const RANKS: &[(&str, u8)] = &[
    ("api", 0),
    ("json", 0),
    ("rules", 0),
    ("threads", 0),
    ("body", 1),
    ("caller", 1),
    ("decision", 1),
    ("patch", 1),
    ("pki", 1),
    ("protobuf", 1),
    ("ready", 1),
    ("rejection", 1),
    ("request", 1),
    ("server", 1),
    ("graph", 2),
    ("quarantine", 2),
    ("review", 2),
    ("authorizer", 3),
    ("admission", 4),
    ("report", 4),
    ("why", 4),
    ("identity", 5),
    ("observe", 5),
    ("reply", 5),
    ("upstream", 5),
    ("watch", 5),
    ("pipeline", 6),
    ("config", 7),
    ("app", 8),
    ("demo", 9),
    ("cli", 10),
];

#[test]
fn modules_import_only_lower_ranks() {
    let mut wrong = Vec::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    visit(&src, &mut |path, text| {
        let relative = path.strip_prefix(&src).unwrap();
        let module = relative
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        if ["lib", "main", "layers"].contains(&module) {
            return;
        }
        let own = rank(module).unwrap_or_else(|| panic!("{module} has no rank"));
        for imported in imports(text) {
            let rank = rank(&imported).unwrap_or_else(|| panic!("{}: crate::{imported} has no rank", path.display()));
            if imported != module && rank >= own {
                wrong.push(format!(
                    "{} (rank {own}) imports {imported} (rank {rank})",
                    relative.display()
                ));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::{\n    api::{Verb, names},\n    caller::Caller,\n};\nuse crate::decision::Decision;\nfn f() { crate::pki::g() }";
    assert_eq!(imports(text), ["api", "caller", "decision", "pki"]);
}

fn rank(module: &str) -> Option<u8> {
    RANKS.iter().find(|(name, _)| *name == module).map(|(_, rank)| *rank)
}

/// The modules named behind `crate::`, also inside braces.
fn imports(text: &str) -> Vec<String> {
    let word = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap()
            .to_owned()
    };
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let Some(braced) = rest.strip_prefix('{') else {
            found.push(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut item = String::new();
        for c in braced.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => found.push(word(std::mem::take(&mut item).trim())),
                _ => {}
            }
            if depth == 0 && c != ',' {
                item.push(c);
            }
        }
        found.push(word(item.trim()));
    }
    found.retain(|module| !module.is_empty());
    found
}

fn visit(dir: &Path, look: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, look);
        } else {
            look(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}
