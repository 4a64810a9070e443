//! Events: a node reports on itself and on its pods, and says that it is the one who reports.

use super::{Extended, Known, No, Operation, Write, read};
use crate::{
    admission::{Content, Edit},
    api::{clip, quote},
    json::Json,
    patch::Patch,
    rejection::Rejection,
    rules::{Mode, Rule},
};

/// Where the two forms of an event have what is looked at: core and `events.k8s.io`.
struct Form {
    /// What it is about.
    about: &'static str,
    /// Who reports, in the old way.
    source: &'static str,
}

const CORE: Form = Form {
    about: "involvedObject",
    source: "source",
};
const EVENTS: Form = Form {
    about: "regarding",
    source: "deprecatedSource",
};
/// Who reports and what else it is about, in both forms.
const ALIKE: &[&str] = &["related", "reportingController", "reportingInstance"];
const RULES: &[Rule] = &[Rule::EventsObject, Rule::EventsSource];
const MAX_SHOWN: usize = 64;

impl Extended {
    /// What becomes of an event is judged as it was and as it would be: it must be the node's before and after.
    pub(in super::super) fn event<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let form = match write.request.resource.group.as_str() {
            "" => CORE,
            _ => EVENTS,
        };
        match (&write.content, write.operation) {
            (Content::Apply(_), _) => {
                for rule in RULES {
                    write.refuse(*rule, "this gate cannot tell what becomes of an applied event")?;
                }
                Ok(Edit::default())
            }
            (Content::Object(sent), operation) => {
                form.judge(write, &sent.json, known)?;
                // To put an event where there is none creates it.
                if operation == Operation::Create || known.stored()?.is_none() {
                    return Ok(Edit::default());
                }
                let change = write.change(known)?;
                form.judge(write, &change.old, known)?;
                write.at_version(&change)
            }
            // What kubelets send all day, that something has happened again, is not worth a question if nothing can come of it
            // but a record.
            (Content::Patch(patch), _)
                if is_only_recorded(write) && known.stored().is_err() && !form.touches(patch) =>
            {
                Ok(Edit::default())
            }
            _ => {
                let change = write.change(known)?;
                form.judge(write, &change.old, known)?;
                form.judge(write, &change.new, known)?;
                write.at_version(&change)
            }
        }
    }
}

impl Form {
    /// Whether a patch may change what is looked at.
    fn touches(&self, patch: &Patch<'_>) -> bool {
        let own = [self.about, self.source];
        own.iter().chain(ALIKE).any(|key| patch.touches(&[key]))
    }

    fn judge<'a>(&self, write: &Write<'a>, event: &Json<'_>, known: &Known<'a>) -> Result<(), No> {
        if write.minds(Rule::EventsObject) {
            self.judge_object(write, event, known)?;
        }
        if write.minds(Rule::EventsSource) {
            self.judge_source(write, event)?;
        }
        Ok(())
    }

    fn judge_object<'a>(&self, write: &Write<'a>, event: &Json<'_>, known: &Known<'a>) -> Result<(), No> {
        let node = quote(write.node);
        let about = read::field(event, self.about)?.unwrap_or(&Json::Null);
        let related = read::field(event, "related")?;
        for object in [Some(about), related].into_iter().flatten() {
            if !is_own(write, object, known)? {
                let (kind, name) = (read::text(object, "kind")?, read::text(object, "name")?);
                let (kind, name) = (clip(kind, MAX_SHOWN), quote(&clip(name, MAX_SHOWN)));
                let why = format_args!(
                    "node {node} can only write events about itself and pods bound to it, not about {kind} {name}"
                );
                return write.refuse(Rule::EventsObject, why);
            }
        }
        Ok(())
    }

    fn judge_source(&self, write: &Write<'_>, event: &Json<'_>) -> Result<(), No> {
        let node = quote(write.node);
        let source = read::field(event, self.source)?.unwrap_or(&Json::Null);
        let sources = [read::text(source, "host")?, read::text(event, "reportingInstance")?];
        let mut named = sources.into_iter().filter(|source| !source.is_empty()).peekable();
        if named.peek().is_none() || named.any(|source| source != write.node) {
            let why = format_args!("node {node} can only write events with itself as source and reporting instance");
            write.refuse(Rule::EventsSource, why)?;
        }
        Ok(())
    }
}

fn is_only_recorded(write: &Write<'_>) -> bool {
    RULES.iter().all(|rule| write.mode(*rule) != Mode::Enforce)
}

/// Whether a pod is called as kubelets call those that they run by themselves. They report on them before there is a mirror pod, too.
fn is_static(name: &str, node: &str) -> bool {
    name.strip_suffix(node)
        .is_some_and(|rest| rest.len() > 1 && rest.ends_with('-'))
}

/// Whether it is the node or a pod of its. The uid does not matter: a kubelet has its own for static pods, and for its node.
fn is_own(write: &Write<'_>, object: &Json<'_>, known: &Known<'_>) -> Result<bool, Rejection> {
    let name = read::text(object, "name")?;
    if !matches!(read::text(object, "apiVersion")?, "" | "v1") {
        return Ok(false);
    }
    Ok(match read::text(object, "kind")? {
        "Node" => name == write.node,
        "Pod" if name.is_empty() => false,
        "Pod" => {
            let namespace = read::text(object, "namespace")?;
            match known.pod(write.node, namespace, name) {
                Some(pod) => pod.is_own,
                None => !namespace.is_empty() && is_static(name, write.node) && known.is_no_pod(namespace, name),
            }
        }
        _ => false,
    })
}
