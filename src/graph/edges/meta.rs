//! The metadata of an object.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

use crate::{
    api::names::MIRROR_POD_ANNOTATION,
    graph::{Key, Kind},
};

/// What names an object, and one state of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    #[serde(default, rename = "annotations", deserialize_with = "has_mirror_annotation")]
    mirror: bool,
}

/// An annotation's key, compared where it stands.
struct IsMirror(bool);

impl Meta {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Empty for kinds that have none.
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    pub fn uid(&self) -> &str {
        self.uid.as_deref().unwrap_or_default()
    }

    pub fn resource_version(&self) -> &str {
        self.resource_version.as_deref().unwrap_or_default()
    }

    /// Whether a pod is the mirror of one that the kubelet has from elsewhere.
    pub fn is_mirror(&self) -> bool {
        self.mirror
    }

    pub(super) fn key(&self, kind: Kind) -> Key<'_> {
        Key::new(kind, self.namespace(), self.name())
    }
}

/// Looks for the one key among annotations that can be hundreds of kilobytes, keeping none.
fn has_mirror_annotation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Annotations;

    impl<'de> Visitor<'de> for Annotations {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("annotations")
        }

        fn visit_unit<E>(self) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
            let mut found = false;
            while let Some((IsMirror(mirror), IgnoredAny)) = map.next_entry()? {
                found |= mirror;
            }
            Ok(found)
        }
    }

    deserializer.deserialize_any(Annotations)
}

impl<'de> Deserialize<'de> for IsMirror {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnnotationKey;

        impl Visitor<'_> for AnnotationKey {
            type Value = IsMirror;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the key of an annotation")
            }

            fn visit_str<E>(self, key: &str) -> Result<IsMirror, E> {
                Ok(IsMirror(key == MIRROR_POD_ANNOTATION))
            }
        }

        deserializer.deserialize_str(AnnotationKey)
    }
}
