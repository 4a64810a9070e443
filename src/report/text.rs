//! A summary for people. Everything from the log is made printable: nodes choose names, and names end up in messages.

use std::fmt;

use jiff::Timestamp;

use super::{
    summary::{Step, Summary, plural},
    tally::{Count, Section},
};
use crate::api::printable;

/// Rows of a table before the rest is only counted.
const ROWS: usize = 20;
/// Characters of the longest bar.
const BAR: u64 = 40;
const DAY: i64 = 24 * 60 * 60;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (events, nodes) = (self.events, self.nodes);
        let (s, t) = (plural(events), plural(nodes as u64));
        write!(f, "{events} event{s} from {} to {}", time(self.first), time(self.last))?;
        write!(f, ", by {nodes} node{t}")?;
        match self.other_callers {
            0 => writeln!(f)?,
            1 => writeln!(f, " and 1 other caller")?,
            others => writeln!(f, " and {others} other callers")?,
        }
        match self.not_events {
            0 => {}
            1 => writeln!(f, "1 line is no event of a gate and was passed over")?,
            lines => writeln!(f, "{lines} lines are no events of a gate and were passed over")?,
        }
        writeln!(f)?;
        self.section(f, "Would have been refused", &self.findings, |step| step.findings)?;
        writeln!(f)?;
        self.section(f, "Were refused", &self.refusals, |step| step.refusals)?;
        writeln!(f)?;
        writeln!(f, "{}", self.conclusion)?;
        writeln!(f, "What happens more rarely than in {} was not seen.", self.length())
    }
}

impl Summary {
    fn section(
        &self,
        f: &mut fmt::Formatter<'_>,
        title: &str,
        section: &Section,
        count: impl Fn(&Step) -> u64,
    ) -> fmt::Result {
        let requests = section.requests;
        if requests == 0 {
            return writeln!(f, "{title}: nothing");
        }
        writeln!(f, "{title}: {requests} request{}", plural(requests))?;
        writeln!(f, "  by rule")?;
        for rule in &section.rules {
            let (requests, nodes) = (rule.requests, rule.nodes);
            writeln!(
                f,
                "    {requests:>6}  {}  {nodes} node{}, {} to {}",
                printable(&rule.rule),
                plural(nodes as u64),
                time(rule.first),
                time(rule.last)
            )?;
            writeln!(f, "            {}", printable(&rule.example))?;
        }
        counts(f, "by node", &section.nodes, 0)?;
        counts(f, "by object", &section.objects, section.other_objects)?;
        self.chart(f, count)
    }

    fn chart(&self, f: &mut fmt::Formatter<'_>, count: impl Fn(&Step) -> u64) -> fmt::Result {
        writeln!(f, "  over time, UTC, {} a line", duration(self.step_seconds))?;
        let most = self.over_time.iter().map(&count).max().unwrap_or_default().max(1);
        let format = if self.step_seconds < DAY { "%F %H:%M" } else { "%F" };
        for step in &self.over_time {
            let count = count(step);
            // Whatever happened is seen, however rare it was.
            let bar = "#".repeat(usize::try_from((count * BAR).div_ceil(most)).unwrap_or_default());
            let line = format!("{} {count:>6} {bar}", step.from.strftime(format));
            writeln!(f, "    {}", line.trim_end())?;
        }
        Ok(())
    }

    /// How long the log is, roughly.
    fn length(&self) -> String {
        match self.last.as_second() - self.first.as_second() {
            seconds @ ..60 => format!("{seconds} s"),
            seconds @ 60..3600 => format!("{} min", seconds / 60),
            seconds @ 3600..172_800 => format!("{} h", seconds / 3600),
            seconds => format!("{} d", seconds / DAY),
        }
    }
}

fn counts(f: &mut fmt::Formatter<'_>, title: &str, counts: &[Count], others: u64) -> fmt::Result {
    writeln!(f, "  {title}")?;
    for Count { name, requests } in counts.iter().take(ROWS) {
        writeln!(f, "    {requests:>6}  {}", printable(name))?;
    }
    let rest = counts.get(ROWS..).unwrap_or_default();
    let requests: u64 = rest.iter().map(|count| count.requests).sum();
    match rest.len() {
        0 => {}
        more => writeln!(f, "    {requests:>6}  and {more} more")?,
    }
    match others {
        0 => Ok(()),
        others => writeln!(f, "    {others:>6}  and others, too many to tell them apart"),
    }
}

/// To the second: nobody reads more digits.
fn time(time: Timestamp) -> impl fmt::Display {
    time.strftime("%FT%TZ")
}

fn duration(seconds: i64) -> String {
    let units = [(DAY, "d"), (3600, "h"), (60, "min")];
    let fitting = units.into_iter().find(|(unit, _)| seconds % unit == 0);
    let (unit, name) = fitting.unwrap_or((1, "s"));
    format!("{} {name}", seconds / unit)
}
