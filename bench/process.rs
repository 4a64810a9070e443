//! What a process and those it has started have used of the machine, as the kernel counts it.

use std::{fs, time::Duration};

/// A process with its children: nginx works in others than the one that was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched(u32);

/// The kernel's ticks are hundredths of a second, on every architecture that matters.
const TICK: Duration = Duration::from_millis(10);

impl Watched {
    pub(crate) fn new(pid: u32) -> Self {
        Self(pid)
    }

    /// Time on a CPU since it began, in user space and in the kernel. Of threads that have ended, too.
    pub(crate) fn cpu(self) -> Duration {
        self.all().into_iter().map(cpu).sum()
    }

    /// Resident memory, in bytes. What is shared between processes counts once for each.
    pub(crate) fn resident(self) -> u64 {
        self.all().into_iter().map(|pid| status(pid, "VmRSS:")).sum()
    }

    /// The most resident memory that it has ever had, in bytes.
    pub(crate) fn peak(self) -> u64 {
        self.all().into_iter().map(|pid| status(pid, "VmHWM:")).sum()
    }

    fn all(self) -> Vec<u32> {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.0)).unwrap_or_default();
        let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
        std::iter::once(self.0).chain(children).collect()
    }
}

fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program is in brackets and may hold anything.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).map_or(0, |ticks| ticks.parse::<u32>().unwrap());
    TICK * (ticks(11) + ticks(12))
}

/// Something that the kernel counts in kibibytes, in bytes.
fn status(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |line| {
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    })
}
