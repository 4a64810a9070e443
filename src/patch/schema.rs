//! Which lists a strategic merge patch merges: what the tags `patchStrategy` and `patchMergeKey` of the Go types say
//! (k8s.io/api/core/v1/types.go and apimachinery's ObjectMeta, 1.36).
//!
//! A list that is not here is replaced. `retainKeys`, which some of them have beside `merge`, tells clients how to write a
//! patch and changes nothing about how it is applied. Lists inside a list that is replaced are left out, being never merged.

/// The lists of one kind.
#[derive(Debug)]
pub struct Schema(&'static [Row]);

/// How the items of two lists are told to be the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Merge {
    /// By this key of theirs.
    Key(&'static str),
    /// They are texts or numbers.
    Scalars,
}

/// A place in an object: the rows of the table that are below it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    rows: &'static [Row],
    depth: usize,
}

type Row = (&'static [&'static str], Merge);

pub static NODE: Schema = Schema(&[
    (&["metadata", "finalizers"], Merge::Scalars),
    (&["metadata", "ownerReferences"], Merge::Key("uid")),
    (&["spec", "podCIDRs"], Merge::Scalars),
    (&["status", "addresses"], Merge::Key("type")),
    (&["status", "conditions"], Merge::Key("type")),
]);

/// What every kind has.
pub static OTHER: Schema = Schema(&[
    (&["metadata", "finalizers"], Merge::Scalars),
    (&["metadata", "ownerReferences"], Merge::Key("uid")),
]);

pub static PERSISTENT_VOLUME_CLAIM: Schema = Schema(&[
    (&["metadata", "finalizers"], Merge::Scalars),
    (&["metadata", "ownerReferences"], Merge::Key("uid")),
    (&["status", "conditions"], Merge::Key("type")),
]);

pub static POD: Schema = Schema(&[
    (&["metadata", "finalizers"], Merge::Scalars),
    (&["metadata", "ownerReferences"], Merge::Key("uid")),
    (&["spec", "containers"], Merge::Key("name")),
    (&["spec", "containers", "env"], Merge::Key("name")),
    (&["spec", "containers", "ports"], Merge::Key("containerPort")),
    (&["spec", "containers", "volumeDevices"], Merge::Key("devicePath")),
    (&["spec", "containers", "volumeMounts"], Merge::Key("mountPath")),
    (&["spec", "ephemeralContainers"], Merge::Key("name")),
    (&["spec", "ephemeralContainers", "env"], Merge::Key("name")),
    (&["spec", "ephemeralContainers", "ports"], Merge::Key("containerPort")),
    (
        &["spec", "ephemeralContainers", "volumeDevices"],
        Merge::Key("devicePath"),
    ),
    (
        &["spec", "ephemeralContainers", "volumeMounts"],
        Merge::Key("mountPath"),
    ),
    (&["spec", "hostAliases"], Merge::Key("ip")),
    (&["spec", "imagePullSecrets"], Merge::Key("name")),
    (&["spec", "initContainers"], Merge::Key("name")),
    (&["spec", "initContainers", "env"], Merge::Key("name")),
    (&["spec", "initContainers", "ports"], Merge::Key("containerPort")),
    (&["spec", "initContainers", "volumeDevices"], Merge::Key("devicePath")),
    (&["spec", "initContainers", "volumeMounts"], Merge::Key("mountPath")),
    (&["spec", "resourceClaims"], Merge::Key("name")),
    (&["spec", "schedulingGates"], Merge::Key("name")),
    (&["spec", "topologySpreadConstraints"], Merge::Key("topologyKey")),
    (&["spec", "volumes"], Merge::Key("name")),
    (
        &[
            "spec",
            "volumes",
            "ephemeral",
            "volumeClaimTemplate",
            "metadata",
            "finalizers",
        ],
        Merge::Scalars,
    ),
    (
        &[
            "spec",
            "volumes",
            "ephemeral",
            "volumeClaimTemplate",
            "metadata",
            "ownerReferences",
        ],
        Merge::Key("uid"),
    ),
    (&["status", "conditions"], Merge::Key("type")),
    (&["status", "hostIPs"], Merge::Key("ip")),
    (&["status", "podIPs"], Merge::Key("ip")),
    (&["status", "resourceClaimStatuses"], Merge::Key("name")),
]);

impl Schema {
    pub(super) fn root(&self) -> Place {
        Place { rows: self.0, depth: 0 }
    }
}

impl Place {
    /// Where a key leads, also from an item of a list.
    pub(super) fn child(self, key: &str) -> Self {
        let name = |row: &Row| row.0.get(self.depth).copied();
        // A row that ends here has no name and stands before those below it.
        let start = self.rows.partition_point(|row| name(row) < Some(key));
        let end = self.rows.partition_point(|row| name(row) <= Some(key));
        Self {
            rows: self.rows.get(start..end).unwrap_or_default(),
            depth: self.depth + 1,
        }
    }

    /// How the list here is merged, unless it is replaced.
    pub(super) fn merge(self) -> Option<Merge> {
        let (path, merge) = self.rows.first()?;
        (path.len() == self.depth).then_some(*merge)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(&NODE; "node")]
    #[test_case(&OTHER; "others")]
    #[test_case(&PERSISTENT_VOLUME_CLAIM; "claim")]
    #[test_case(&POD; "pod")]
    fn every_row_is_found(schema: &Schema) {
        assert!(schema.0.is_sorted_by(|a, b| a.0 < b.0));
        for (path, merge) in schema.0 {
            let place = path.iter().fold(schema.root(), |place, key| place.child(key));
            assert_eq!(place.merge(), Some(*merge), "{path:?}");
        }
    }

    #[test_case(&["spec"] => None; "above")]
    #[test_case(&["spec", "taints"] => None; "replaced")]
    #[test_case(&["spec", "podCIDRs", "x"] => None; "below")]
    #[test_case(&["Spec", "podCIDRs"] => None; "other case")]
    #[test_case(&["spec", "podCIDRs"] => Some(Merge::Scalars); "merged")]
    fn other_places(path: &[&str]) -> Option<Merge> {
        path.iter().fold(NODE.root(), |place, key| place.child(key)).merge()
    }
}
