//! The graphs from a file of objects, as kubectl writes it: JSON or YAML, one object, many, or lists of them.

mod kinds;

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::Value;

use self::kinds::KINDS;
use crate::{
    authorizer::Profile,
    graph::{Anchor, Store},
    why::{Known, View},
};

/// What was found so far.
struct Objects {
    nodes: Store,
    seeds: Store,
    /// The rules for seeds, if there are any: older ones know fewer kinds.
    profile: Option<Profile>,
    counts: BTreeMap<(&'static str, &'static str), usize>,
    skipped: usize,
}

pub(super) fn read(name: &str, text: &str, profile: Option<Profile>) -> anyhow::Result<Known> {
    let mut objects = Objects {
        nodes: Store::new(Anchor::Node),
        seeds: Store::new(Anchor::Seed),
        profile,
        counts: BTreeMap::new(),
        skipped: 0,
    };
    for document in documents(text)? {
        objects.take(document)?;
    }
    if objects.counts.is_empty() {
        let of = if profile.is_some() { "nodes or seeds" } else { "nodes" };
        anyhow::bail!("there are no pods in it, nor anything else that {of} are decided about by");
    }
    objects.settle();
    Ok(Known {
        nodes: objects.view(name, Anchor::Node),
        seeds: profile.map(|_| objects.view(name, Anchor::Seed)),
        quarantine: Some(Arc::default()),
    })
}

fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    if text.trim_start().starts_with('{') {
        let documents = serde_json::Deserializer::from_str(text).into_iter();
        return documents.collect::<Result<_, _>>().context("it is not JSON");
    }
    // A cluster is larger than any configuration, and whoever asks has chosen the file.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_documents: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
        },
    };
    serde_saphyr::from_multiple_with_options(text, options).context("it is neither YAML nor JSON")
}

impl Objects {
    fn take(&mut self, document: Value) -> anyhow::Result<()> {
        let mut ahead = vec![document];
        while let Some(mut object) = ahead.pop() {
            let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (version, kind) = (text("apiVersion"), text("kind"));
            let items = object.get_mut("items").and_then(Value::as_array_mut);
            if let (Some(of), Some(items)) = (kind.strip_suffix("List"), items) {
                let mut items = std::mem::take(items);
                items.iter_mut().for_each(|item| name_kind(item, &version, of));
                ahead.append(&mut items);
            } else if !object.is_null() {
                self.object(&version, &kind, &object)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, version: &str, kind: &str, object: &Value) -> anyhow::Result<()> {
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let mut known = None;
        let rows = KINDS.iter().filter(|row| row.group == group && row.kind == kind);
        for row in rows.filter(|row| row.is_for(self.profile)) {
            let store = match row.anchor {
                Anchor::Node => &mut self.nodes,
                Anchor::Seed => &mut self.seeds,
            };
            (row.apply)(object, store).with_context(|| format!("a {kind} in it cannot be read"))?;
            known = Some((row.group, row.kind));
        }
        match known {
            Some(kind) => *self.counts.entry(kind).or_default() += 1,
            None => self.skipped += 1,
        }
        Ok(())
    }

    /// Which gardenlets may begin anew depends on the time.
    fn settle(&mut self) {
        let now = Timestamp::now().as_second();
        for (namespace, name) in self.seeds.beginners() {
            self.seeds.settle_bootstrap(&namespace, &name, now);
        }
    }

    fn view(&mut self, name: &str, anchor: Anchor) -> View {
        let origin = format!("{name} ({})", self.summary(anchor));
        let store = match anchor {
            Anchor::Node => &mut self.nodes,
            Anchor::Seed => &mut self.seeds,
        };
        View {
            graph: store.publish(),
            origin,
            age: None,
            doubt: None,
        }
    }

    /// What an answer rests on, and what it would have to rest on too.
    fn summary(&self, anchor: Anchor) -> String {
        let rows = KINDS
            .iter()
            .filter(|row| row.anchor == anchor && row.is_for(self.profile));
        let parts = rows.filter_map(|row| match self.counts.get(&(row.group, row.kind)) {
            Some(1) => Some(format!("1 {}", row.kind.to_lowercase())),
            Some(count) => Some(format!("{count} {}", row.plural)),
            None => row.expected.then(|| format!("no {}", row.plural)),
        });
        let skipped = (self.skipped > 0).then(|| format!("{} of other kinds skipped", self.skipped));
        parts.chain(skipped).collect::<Vec<_>>().join(", ")
    }
}

/// The items of a list that is of one kind do not name it themselves.
fn name_kind(item: &mut Value, version: &str, kind: &str) {
    if let Value::Object(fields) = item
        && !kind.is_empty()
    {
        fields.entry("apiVersion").or_insert_with(|| version.into());
        fields.entry("kind").or_insert_with(|| kind.into());
    }
}

#[cfg(test)]
mod tests;
