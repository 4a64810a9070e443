//! What came of a part, printed as it comes and put into docs/performance.md where that is asked for.

use std::{fmt::Display, fs, path::PathBuf, process::Command};

use crate::options;

/// The section of a part, as Markdown.
pub(crate) struct Section {
    part: &'static str,
    text: String,
}

impl Section {
    pub(crate) fn new(part: &'static str) -> Self {
        println!("## {part}\n");
        Self {
            part,
            text: String::new(),
        }
    }

    /// A paragraph, a table or a picture.
    pub(crate) fn add(&mut self, block: impl Display) {
        let block = block.to_string();
        let block = block.trim_end();
        println!("{block}\n");
        self.text.push_str(block);
        self.text.push_str("\n\n");
    }

    /// The words in front of a table, of which it is the only heading.
    pub(crate) fn table(&mut self, heading: &str, table: impl Display) {
        self.add(heading);
        self.add(table);
    }

    /// Replaces what is between the markers of the part, and says on what machine that was.
    pub(crate) fn write(&self, machine: &str) {
        let path = docs("performance.md");
        let page = fs::read_to_string(&path).unwrap();
        let replaced = replace(&page, self.part, &format!("{}{machine}", self.text));
        fs::write(&path, replaced).unwrap();
        eprintln!("{} is written into {}", self.part, path.display());
    }
}

/// A file in the documentation, whose folder is made if need be.
pub(crate) fn docs(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn replace(page: &str, part: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {part} -->\n"), format!("<!-- /{part} -->"));
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("docs/performance.md has no {begin}"));
    let (_, after) = rest
        .split_once(&end)
        .unwrap_or_else(|| panic!("docs/performance.md has no {end}"));
    format!("{before}{begin}\n{}\n\n{end}{after}", text.trim_end())
}

/// The machine and the programs, in a line. To be asked before there is a load of our own.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name\t: "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg");
    let programs = [
        first("nginx", "-v", "nginx/"),
        first("haproxy", "-v", "HAProxy version "),
        format!("kube-apiserver {}", crate::release::version()),
        format!("Rust {}", first("rustc", "--version", "rustc ")),
    ];
    format!(
        "*{cores} cores of {}, load average {} before; nginx {}, haproxy {}, {}, {}; {} rounds, of {} s for requests; {}.*",
        cpu.unwrap_or("an unknown processor"),
        load.split(' ').next().unwrap_or_default(),
        programs[0],
        programs[1],
        programs[2],
        programs[3],
        options::number("rounds", options::ROUNDS),
        options::number("seconds", options::SECONDS),
        now()
    )
}

/// The word behind some text in what a program says of itself.
fn first(program: &str, flag: &str, behind: &str) -> String {
    let Ok(output) = Command::new(program).arg(flag).output() else {
        return "none".to_owned();
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let version = said.split(behind).nth(1).unwrap_or_default();
    version.split_whitespace().next().unwrap_or_default().to_owned()
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}
