//! Patches: whatever the bytes are, what is not touched stays as it was, a patch that is written can be read, and one that is
//! pinned comes out with the pin or not at all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate::{
    json::Json,
    patch::{NODE, POD, Patch, Type},
};

/// Among them all that rules are about.
const PATHS: &[&[&str]] = &[
    &[],
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "annotations", "kubernetes.io/config.mirror"],
    &["metadata", "labels"],
    &["metadata", "finalizers"],
    &["metadata", "ownerReferences"],
    &["metadata", "uid"],
    &["spec", "configSource"],
    &["spec", "taints"],
    &["spec", "containers"],
    &["status", "conditions"],
    &["status", "extendedResourceClaimStatus"],
    &["status", "resourceClaimStatuses"],
];

/// What a claim's status may be patched in.
const REPORTED: &[&[&str]] = &[&["status", "capacity"], &["status", "conditions"]];

fuzz_target!(|input: (&[u8], &[u8])| {
    let (old, body) = input;
    let Ok(old @ Json::Object(_)) = Json::parse(old) else {
        return;
    };
    for kind in [Type::Json, Type::Merge, Type::Strategic] {
        let Ok(patch) = Patch::read(kind, body) else {
            continue;
        };
        let written = patch.to_vec();
        assert_eq!(Patch::read(kind, &written).as_ref(), Ok(&patch));
        for schema in [&NODE, &POD] {
            if let Ok(new) = patch.apply(schema, old.clone()) {
                for path in PATHS {
                    assert!(patch.touches(path) || old.at(path) == new.at(path), "{path:?}");
                }
                // Only where it is an object can something be set in it alone.
                if patch.touches_only(REPORTED) && old.get("status").is_some_and(|status| status.as_object().is_some())
                {
                    for path in PATHS
                        .iter()
                        .filter(|path| ![&[][..], &["status", "conditions"]].contains(path))
                    {
                        assert_eq!(old.at(path), new.at(path), "{path:?}");
                    }
                }
            }
            let mut pinned = patch.clone();
            if pinned.pin_version("4711").is_ok()
                && let Ok(new) = pinned.apply(schema, old.clone())
            {
                let version = new.at(&["metadata", "resourceVersion"]);
                assert_eq!(version.and_then(Json::as_str), Some("4711"));
            }
        }
    }
});
