//! What static pods use, as a piece of configuration.
//!
//! Nodes write what is counted here, and a compromised one would like its labels to be allowed: what only one node uses is shown, but
//! left for an operator to decide. Nothing becomes YAML but keys and namespaces that are well-formed; the rest stands in comments,
//! made printable, so that none of it can end a line.

use std::fmt::{self, Write as _};

use jiff::Timestamp;

use super::{
    bounded::Bounded,
    summary::plural,
    usage::{Usage, Users},
};
use crate::api::{
    clip,
    pods::{
        SYSTEM_COMPONENT_LABEL, UNRESTRICTED_PREFIX, is_key, is_namespace, is_unrestricted_annotation,
        is_unrestricted_label,
    },
    printable,
};

/// For the gate's configuration, with the reason for every line.
#[derive(Debug)]
pub struct Recommendation<'a> {
    usage: &'a Usage,
    times: (Timestamp, Timestamp),
}

/// A line of a list.
struct Line<'a> {
    key: &'a str,
    users: &'a Users,
    /// Why it is not allowed, if it is not.
    against: Option<&'static str>,
}

/// Characters of the name of a pod or node.
const MAX_NAME: usize = 120;

/// Characters that most keys fit in.
const WIDTH: usize = 12;

const PLANTED: &str =
    "One node only: if it is compromised it may have planted this to have it allowed. Do you know what it is for?";
const SYSTEM: &str = "Not to be allowed: controllers of system components select their pods by it";
/// Words that would be something else than a text.
const YAML_WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

impl<'a> Recommendation<'a> {
    /// From events of this time.
    pub fn new(usage: &'a Usage, times: (Timestamp, Timestamp)) -> Self {
        Self { usage, times }
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { nodes, pods, .. } = self.usage;
        let (count, s) = (pods.len(), plural(pods.len() as u64));
        let having = nodes.iter().filter(|(_, has_any)| **has_any).count();
        let (first, last) = (self.times.0.strftime("%FT%TZ"), self.times.1.strftime("%FT%TZ"));
        let of = nodes.len();
        writeln!(
            f,
            "# {count} mirror pod{s} on {having} of {of} nodes, in events from {first} to {last}."
        )?;
        writeln!(
            f,
            "# A mirror pod is seen when it is created: static pods that ran all this time are missing."
        )?;
        writeln!(f, "# Read every line before you use it.")?;
        let notes = [
            (
                self.usage.beyond,
                "uses were not counted: there were too many different ones",
            ),
            (
                self.usage.cut,
                "times a pod had keys that the log does not keep: malformed ones, or too many",
            ),
            (self.usage.unreadable, "mirror pods could not be read"),
        ];
        for (count, what) in notes.into_iter().filter(|(count, _)| *count > 0) {
            writeln!(f, "# Warning: {count} {what}.")?;
        }
        Ok(())
    }

    /// The narrowest that accepts every kind of owner that more than one node uses.
    fn owner(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = ["Upstream", "Proposal", "None", "Other"];
        let used = |kind| {
            let users = self.usage.owners.iter().find(|(owner, _)| *owner == kind)?;
            Some(users.1)
        };
        let trusted = |kind| used(kind).is_some_and(|users| !self.is_odd(users));
        let (controlled, loose) = (trusted("Upstream"), trusted("Proposal") || trusted("None"));
        let owner = match (controlled, loose) {
            (true, false) => "Upstream",
            (false, true) => "Proposal",
            _ => "Either",
        };
        for kind in kinds {
            let Some(users) = used(kind) else { continue };
            let what = match kind {
                "Upstream" => "one reference to the node, as controller",
                "Proposal" => "one reference to the node, not as controller",
                "None" => "no owner reference",
                _ => "other owner references, which are refused",
            };
            writeln!(f, "  # {what}: {}", self.users(users))?;
            if self.is_odd(users) {
                writeln!(f, "  # {PLANTED}")?;
            }
        }
        writeln!(f, "  mirrorPodOwner: {owner}")
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, name: &str, lines: &[Line<'_>]) -> fmt::Result {
        let allowed = lines.iter().any(|line| line.against.is_none());
        writeln!(f, "  {name}:{}", if allowed { "" } else { " []" })?;
        self.items(f, lines)
    }

    /// An empty list would allow any namespace, so that it is left out if there is nothing to put in.
    fn namespaces(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines(&self.usage.namespaces, is_namespace, |_| None);
        if lines.iter().all(|line| line.against.is_some()) {
            writeln!(f, "  # mirrorPodNamespaces:  # any, as long as none is named here")?;
            return self.items(f, &lines);
        }
        self.list(f, "mirrorPodNamespaces", &lines)
    }

    fn items(&self, f: &mut fmt::Formatter<'_>, lines: &[Line<'_>]) -> fmt::Result {
        let mut told = None;
        for Line { key, users, against } in lines {
            if let Some(against) = against.filter(|_| told != *against) {
                writeln!(f, "    # {against}")?;
            }
            told = *against;
            let mark = if against.is_some() { "# " } else { "" };
            writeln!(f, "    {mark}- {:<WIDTH$}  # {}", scalar(key), self.users(users))?;
        }
        Ok(())
    }

    /// What the keys of labels are to become, and how.
    fn migration(&self, f: &mut fmt::Formatter<'_>, labels: &[Line<'_>]) -> fmt::Result {
        let moving = labels.iter().filter(|line| line.against != Some(PLANTED));
        let moving: Vec<_> = moving.map(|line| line.key).collect();
        if moving.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\n# To need none of these labels, move static pods to keys that are always allowed:"
        )?;
        for key in moving {
            let name = key.split_once('/').map_or(key, |(_, name)| name);
            writeln!(f, "#   {key} → {UNRESTRICTED_PREFIX}{name}")?;
        }
        writeln!(
            f,
            "# 1. Let the manifests of the static pods have both labels, the old and the new."
        )?;
        writeln!(
            f,
            "# 2. Change every selector (Services, NetworkPolicies, monitors) to the new one."
        )?;
        writeln!(
            f,
            "# 3. Take the old labels out of the manifests, then out of allowedLabels."
        )
    }

    /// Well-formed keys that are not allowed anyway, in order.
    fn lines(
        &self,
        used: &'a Bounded<Users>,
        well_formed: impl Fn(&str) -> bool,
        against: impl Fn(&str) -> Option<&'static str>,
    ) -> Vec<Line<'a>> {
        let well_formed = used.iter().filter(|(key, _)| well_formed(key));
        let mut lines: Vec<_> = well_formed
            .map(|(key, users)| Line {
                key,
                users,
                against: against(key).or(self.is_odd(users).then_some(PLANTED)),
            })
            .collect();
        // What is allowed first, and what is used most.
        lines.sort_by_key(|line| (line.against, std::cmp::Reverse(line.users.nodes.len()), line.key));
        lines
    }

    /// Whether only one of several nodes uses it. Where there is only one node, there is nobody to compare it with.
    fn is_odd(&self, users: &Users) -> bool {
        users.nodes.len() < 2 && self.usage.nodes.len() > 1
    }

    fn users(&self, users: &Users) -> String {
        let pods = users.pods.len();
        let mut text = format!("{pods} pod{}", plural(pods as u64));
        let show = |name: &str| printable(&clip(name, MAX_NAME));
        let _ = match (
            users.nodes.len(),
            users.nodes.first().and_then(|node| self.usage.nodes.name(*node)),
        ) {
            (1, Some(node)) => write!(text, " on {} only", show(node)),
            (nodes, _) => write!(text, " on {nodes} nodes"),
        };
        if let Some(pod) = users.pods.first().and_then(|pod| self.usage.pods.name(*pod)) {
            let _ = write!(text, ", such as {}", show(pod));
        }
        text
    }
}

impl fmt::Display for Recommendation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usage = self.usage;
        let system = |key: &str| (key == SYSTEM_COMPONENT_LABEL).then_some(SYSTEM);
        let labels = self.lines(&usage.labels, |key| is_key(key) && !is_unrestricted_label(key), system);
        let free = |key: &str| is_key(key) && !is_unrestricted_annotation(key);
        let annotations = self.lines(&usage.annotations, free, |_| None);
        let finalizers = self.lines(&usage.finalizers, is_key, |_| None);
        let lists = [&usage.labels, &usage.annotations, &usage.finalizers];
        let keys = lists.into_iter().flat_map(Bounded::iter);
        let malformed = keys.filter(|(key, _)| !is_key(key)).count();

        self.head(f)?;
        if malformed > 0 {
            writeln!(f, "# Warning: {malformed} keys are not well-formed and left out.")?;
        }
        writeln!(f, "podRestriction:")?;
        self.owner(f)?;
        self.list(f, "allowedLabels", &labels)?;
        self.list(f, "allowedAnnotations", &annotations)?;
        self.list(f, "allowedFinalizers", &finalizers)?;
        self.namespaces(f)?;
        writeln!(f, "featureGates:\n  NodeRestrictionPods: true")?;
        self.migration(f, &labels)
    }
}

/// A well-formed key or namespace as YAML that is read as a text.
fn scalar(text: &str) -> String {
    let word = YAML_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if word || !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return format!("\"{text}\"");
    }
    text.to_owned()
}
