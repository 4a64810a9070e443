//! Which lists a strategic merge patch merges: what the tags `patchStrategy` and `patchMergeKey` of the Go types say
//! (k8s.io/api and apimachinery's ObjectMeta, 1.36). e2e/patch.rs holds every list against these tags.
//!
//! A list that is not here is replaced. `retainKeys`, which some of them have beside `merge`, tells clients how to write a
//! patch and changes nothing about how it is applied. Lists inside a list that is replaced are left out, being never merged.

mod pod;
mod workload;

pub use self::{
    pod::POD,
    workload::{
        CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, POD_TEMPLATE, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET,
    },
};

/// The lists of one kind.
#[derive(Debug)]
pub struct Schema(Fields);

/// How the items of two lists are told to be the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Merge {
    /// By this key of theirs.
    Key(&'static str),
    /// They are texts or numbers.
    Scalars,
}

/// A place in an object: how the list there is merged, and what is below it, or below its items.
#[derive(Clone, Copy)]
pub(super) struct Place {
    merge: Option<Merge>,
    fields: Fields,
}

/// A field that is a list which is merged, or has such lists below it.
#[derive(Debug)]
struct Field {
    name: &'static str,
    merge: Option<Merge>,
    fields: Fields,
}

/// In the order of their names.
type Fields = &'static [Field];

pub static NODE: Schema = Schema(&[
    METADATA,
    object("spec", &[scalars("podCIDRs")]),
    object("status", &[items("addresses", "type", &[]), CONDITIONS]),
]);

/// What every kind has.
pub static OTHER: Schema = Schema(&[METADATA]);

pub static PERSISTENT_VOLUME_CLAIM: Schema = Schema(&[METADATA, object("status", &[CONDITIONS])]);

const METADATA: Field = object(
    "metadata",
    &[scalars("finalizers"), items("ownerReferences", "uid", &[])],
);

const CONDITIONS: Field = items("conditions", "type", &[]);

const fn object(name: &'static str, fields: Fields) -> Field {
    let merge = None;
    Field { name, merge, fields }
}

const fn items(name: &'static str, key: &'static str, fields: Fields) -> Field {
    let merge = Some(Merge::Key(key));
    Field { name, merge, fields }
}

const fn scalars(name: &'static str) -> Field {
    let merge = Some(Merge::Scalars);
    Field {
        name,
        merge,
        fields: &[],
    }
}

impl Schema {
    /// Every list that is merged: where it stands, and the key of its items unless they are scalars.
    pub fn lists(&self) -> Vec<(Vec<&'static str>, Option<&'static str>)> {
        let mut lists = Vec::new();
        collect(self.0, &[], &mut lists);
        lists
    }

    pub(super) fn root(&self) -> Place {
        Place {
            merge: None,
            fields: self.0,
        }
    }
}

impl Place {
    /// Where a key leads, also from an item of a list.
    pub(super) fn child(self, key: &str) -> Self {
        let at = self.fields.binary_search_by_key(&key, |field| field.name).ok();
        let field = at.and_then(|at| self.fields.get(at));
        Self {
            merge: field.and_then(|field| field.merge),
            fields: field.map_or(&[], |field| field.fields),
        }
    }

    /// How the list here is merged, unless it is replaced.
    pub(super) fn merge(self) -> Option<Merge> {
        self.merge
    }
}

fn collect(fields: Fields, above: &[&'static str], lists: &mut Vec<(Vec<&'static str>, Option<&'static str>)>) {
    for field in fields {
        let path = [above, &[field.name]].concat();
        match field.merge {
            Some(Merge::Key(key)) => lists.push((path.clone(), Some(key))),
            Some(Merge::Scalars) => lists.push((path.clone(), None)),
            None => {}
        }
        collect(field.fields, &path, lists);
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(&NODE, 5; "node")]
    #[test_case(&OTHER, 2; "others")]
    #[test_case(&PERSISTENT_VOLUME_CLAIM, 3; "claim")]
    #[test_case(&POD, 29; "pod")]
    #[test_case(&POD_TEMPLATE, 2 + 25; "pod template")]
    #[test_case(&REPLICATION_CONTROLLER, 3 + 25; "replication controller")]
    #[test_case(&REPLICA_SET, 3 + 25; "replica set")]
    #[test_case(&DEPLOYMENT, 3 + 25; "deployment")]
    #[test_case(&STATEFUL_SET, 3 + 25; "stateful set")]
    #[test_case(&DAEMON_SET, 3 + 25; "daemon set")]
    #[test_case(&JOB, 3 + 25; "job")]
    #[test_case(&CRON_JOB, 4 + 25; "cron job")]
    fn every_list_is_found(schema: &Schema, count: usize) {
        let lists = schema.lists();
        assert_eq!(lists.len(), count);
        assert!(lists.is_sorted_by(|a, b| a.0 < b.0), "{lists:?}");
        for (path, key) in lists {
            let place = path.iter().fold(schema.root(), |place, key| place.child(key));
            let merge = key.map_or(Merge::Scalars, Merge::Key);
            assert_eq!(place.merge(), Some(merge), "{path:?}");
        }
    }

    #[test_case(&["spec"] => None; "above")]
    #[test_case(&["spec", "taints"] => None; "replaced")]
    #[test_case(&["spec", "podCIDRs", "x"] => None; "below")]
    #[test_case(&["Spec", "podCIDRs"] => None; "other case")]
    #[test_case(&["spec", "podCIDRs"] => Some(Merge::Scalars); "merged")]
    fn other_places(path: &[&str]) -> Option<Merge> {
        place(&NODE, path)
    }

    #[test_case(&["spec", "template", "spec", "containers"] => Some(Merge::Key("name")); "in the template")]
    #[test_case(&["spec", "template", "status", "conditions"] => None; "a template has no status")]
    #[test_case(&["template", "spec", "containers"] => None; "not where the template is")]
    #[test_case(&["spec", "containers"] => None; "nor is it a pod")]
    #[test_case(&["spec", "volumeClaimTemplates"] => None; "replaced")]
    #[test_case(&["spec", "volumeClaimTemplates", "metadata", "finalizers"] => None; "within what is replaced")]
    fn places_of_a_stateful_set(path: &[&str]) -> Option<Merge> {
        place(&STATEFUL_SET, path)
    }

    fn place(schema: &Schema, path: &[&str]) -> Option<Merge> {
        path.iter().fold(schema.root(), |place, key| place.child(key)).merge()
    }
}
