//! Runs this program again under callgrind, and reads what it has counted.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};

/// Where its files go.
pub(super) struct Valgrind {
    folder: PathBuf,
}

/// A process whose instructions are counted. It ends when this is dropped.
pub(super) struct Counting {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What the files of callgrind begin with; behind it comes a number.
    files: PathBuf,
    marks: usize,
}

/// What such a process is told, and what it says: on its input and output, a line each.
pub(super) const MARK: &str = "mark";
pub(super) const MARKED: &str = "marked";

/// One instruction copies or clears a large block, which counts as one a byte, though it takes no longer than the loop that small
/// blocks are copied with. So large ones take that loop too, and what is counted is nearer to what it costs.
const TUNABLES: &str = "glibc.cpu.x86_rep_movsb_threshold=2000000000:glibc.cpu.x86_rep_stosb_threshold=2000000000";

impl Valgrind {
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let there = Command::new("valgrind").arg("--version").output();
        if !there.is_ok_and(|output| output.status.success()) {
            bail!("counting instructions needs valgrind: apt-get install valgrind, or what your system has instead");
        }
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        Ok(Self { folder })
    }

    pub(super) fn start(&self, words: &[&str]) -> Result<Counting> {
        let name = words[0].trim_start_matches('-');
        let files = self.folder.join(name);
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--dump-before=*instructions*mark*"])
            // Nobody attaches to it, and it would leave pipes behind when it is killed.
            .arg("--vgdb=no")
            .env("GLIBC_TUNABLES", TUNABLES)
            .arg(format!("--callgrind-out-file={}", files.display()))
            .arg(format!("--log-file={}", files.with_extension("valgrind").display()))
            .arg(env::current_exe()?)
            .args(words)
            // The log of a gate goes somewhere too.
            .stderr(fs::File::create(files.with_extension("log"))?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().context("valgrind")?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok(Counting {
            child,
            input: input.context("no input")?,
            output: BufReader::new(output.context("no output")?),
            files,
            marks: 0,
        })
    }
}

impl Counting {
    /// What it says next; nothing when it has ended.
    pub(super) fn line(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line)?;
        Ok((length > 0).then(|| line.trim_end().to_owned()))
    }

    /// Tells it to begin a new count, and returns the instructions of the one before.
    pub(super) fn mark(&mut self) -> Result<u64> {
        writeln!(self.input, "{MARK}")?;
        let answer = self.line()?;
        ensure!(answer.as_deref() == Some(MARKED), "it ended early: {}", self.said());
        self.marked()
    }

    /// It has begun a new count: how many instructions the one before had.
    pub(super) fn marked(&mut self) -> Result<u64> {
        self.marks += 1;
        let file = self.part(self.marks);
        let text = fs::read_to_string(&file).with_context(|| format!("{} {}", file.display(), self.said()))?;
        let total = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
        let total = total.with_context(|| format!("{} has no total", file.display()))?;
        Ok(total.parse()?)
    }

    /// Names what was counted last, for people who look into the files.
    pub(super) fn name(&self, name: &str) -> Result<()> {
        let plain = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        fs::rename(self.part(self.marks), self.files.with_extension(plain))?;
        Ok(())
    }

    fn part(&self, number: usize) -> PathBuf {
        let mut name = self.files.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    /// The end of what it had to say.
    pub(super) fn said(&self) -> String {
        let read = |extension| fs::read_to_string(self.files.with_extension(extension)).unwrap_or_default();
        read("log") + &read("valgrind")
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
