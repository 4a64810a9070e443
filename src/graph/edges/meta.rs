//! The metadata of an object.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

use crate::{
    api::{
        garden::{ISSUER_ANNOTATION, MANAGED_ISSUER, OPERATION_ANNOTATION, RENEW_KUBECONFIG},
        names::MIRROR_POD_ANNOTATION,
    },
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
    #[serde(default)]
    annotations: Annotations,
}

/// What the annotations say, as far as anybody asks. They can be hundreds of kilobytes, of which none is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Annotations {
    mirror: bool,
    renews: bool,
    managed_issuer: bool,
}

/// An annotation's key, compared where it stands.
enum AnnotationKey {
    Issuer,
    Mirror,
    Operation,
    Other,
}

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
        self.annotations.mirror
    }

    /// Whether a ManagedSeed or Gardenlet is told to begin anew.
    pub(super) fn renews(&self) -> bool {
        self.annotations.renews
    }

    /// Whether the garden tells the world who issues the tokens of a shoot.
    pub(super) fn has_managed_issuer(&self) -> bool {
        self.annotations.managed_issuer
    }

    pub(super) fn key(&self, kind: Kind) -> Key<'_> {
        Key::new(kind, self.namespace(), self.name())
    }
}

impl<'de> Deserialize<'de> for Annotations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Annotations;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("annotations")
            }

            fn visit_unit<E>(self) -> Result<Annotations, E> {
                Ok(Annotations::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Annotations, A::Error> {
                let mut found = Annotations::default();
                while let Some(key) = map.next_key()? {
                    match key {
                        AnnotationKey::Issuer => found.managed_issuer = is(&mut map, MANAGED_ISSUER)?,
                        AnnotationKey::Operation => found.renews = is(&mut map, RENEW_KUBECONFIG)?,
                        AnnotationKey::Mirror => {
                            let IgnoredAny = map.next_value()?;
                            found.mirror = true;
                        }
                        AnnotationKey::Other => {
                            let IgnoredAny = map.next_value()?;
                        }
                    }
                }
                Ok(found)
            }
        }

        deserializer.deserialize_any(All)
    }
}

fn is<'de, A: MapAccess<'de>>(map: &mut A, expected: &str) -> Result<bool, A::Error> {
    let value: Option<String> = map.next_value()?;
    Ok(value.as_deref() == Some(expected))
}

impl<'de> Deserialize<'de> for AnnotationKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = AnnotationKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the key of an annotation")
            }

            fn visit_str<E>(self, key: &str) -> Result<AnnotationKey, E> {
                Ok(match key {
                    ISSUER_ANNOTATION => AnnotationKey::Issuer,
                    MIRROR_POD_ANNOTATION => AnnotationKey::Mirror,
                    OPERATION_ANNOTATION => AnnotationKey::Operation,
                    _ => AnnotationKey::Other,
                })
            }
        }

        deserializer.deserialize_str(Text)
    }
}
