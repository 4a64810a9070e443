//! A graph from a file of objects, as kubectl writes it: JSON or YAML, one object, many, or lists of them.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context as _;
use serde_json::Value;

use crate::{
    graph::{
        CertificateSigningRequest, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodCertificateRequest,
        ResourceSlice, ServiceAccount, Store, VolumeAttachment, Watched,
    },
    why::Known,
};

/// What the graph is made of. Other kinds in the file say nothing about who refers to whom.
struct Kind {
    group: &'static str,
    kind: &'static str,
    /// What people call many of them.
    plural: &'static str,
    /// Whether answers are poorer without them.
    expected: bool,
    apply: fn(&Value, &mut Store) -> anyhow::Result<()>,
}

const KINDS: &[Kind] = &[
    kind::<Pod>("", "Pod", "pods", true),
    kind::<PersistentVolume>("", "PersistentVolume", "persistentvolumes", true),
    kind::<VolumeAttachment>("storage.k8s.io", "VolumeAttachment", "volumeattachments", true),
    kind::<ResourceSlice>("resource.k8s.io", "ResourceSlice", "resourceslices", true),
    kind::<PodCertificateRequest>(
        "certificates.k8s.io",
        "PodCertificateRequest",
        "podcertificaterequests",
        false,
    ),
    kind::<CertificateSigningRequest>(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        false,
    ),
    kind::<Node>("", "Node", "nodes", false),
    kind::<PersistentVolumeClaim>("", "PersistentVolumeClaim", "persistentvolumeclaims", false),
    kind::<ServiceAccount>("", "ServiceAccount", "serviceaccounts", false),
];

const fn kind<T: Watched>(group: &'static str, kind: &'static str, plural: &'static str, expected: bool) -> Kind {
    Kind {
        group,
        kind,
        plural,
        expected,
        apply: apply::<T>,
    }
}

/// What was found so far.
#[derive(Default)]
struct Objects {
    store: Store,
    counts: BTreeMap<&'static str, usize>,
    skipped: usize,
}

pub(super) fn read(name: &str, text: &str) -> anyhow::Result<Known> {
    let mut objects = Objects::default();
    for document in documents(text)? {
        objects.take(document)?;
    }
    if objects.counts.is_empty() {
        anyhow::bail!("there are no pods in it, nor anything else that nodes are decided about by");
    }
    Ok(Known {
        origin: format!("{name} ({})", objects.summary()),
        graph: objects.store.publish(),
        quarantine: Some(Arc::default()),
        age: None,
        doubt: None,
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
        let Some(known) = KINDS.iter().find(|known| known.group == group && known.kind == kind) else {
            self.skipped += 1;
            return Ok(());
        };
        (known.apply)(object, &mut self.store).with_context(|| format!("a {kind} in it cannot be read"))?;
        *self.counts.entry(known.plural).or_default() += 1;
        Ok(())
    }

    /// What an answer rests on, and what it would have to rest on too.
    fn summary(&self) -> String {
        let parts = KINDS.iter().filter_map(|kind| match self.counts.get(kind.plural) {
            Some(1) => Some(format!("1 {}", kind.kind.to_lowercase())),
            Some(count) => Some(format!("{count} {}", kind.plural)),
            None => kind.expected.then(|| format!("no {}", kind.plural)),
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

fn apply<T: Watched>(object: &Value, store: &mut Store) -> anyhow::Result<()> {
    let object = T::deserialize(object)?;
    if object.meta().name().is_empty() {
        anyhow::bail!("it has no name");
    }
    store.apply(&object);
    Ok(())
}

#[cfg(test)]
mod tests;
