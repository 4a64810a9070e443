//! Slim objects in the form that kube watches.

use std::borrow::Cow;

use kube::{
    Resource,
    core::{ApiResource, DynamicResourceScope, ObjectMeta},
};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::graph::Watched;

/// A slim object, and what kube wants to know of its metadata.
#[derive(Clone, Debug)]
pub(super) struct Object<T> {
    meta: ObjectMeta,
    pub(super) slim: T,
}

impl<'de, T: Watched> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let slim = T::deserialize(deserializer)?;
        let meta = slim.meta();
        // Taken for an object, it would stand for another one, or its end would end nothing.
        if meta.name().is_empty() {
            return Err(D::Error::custom("an object without a name"));
        }
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let meta = ObjectMeta {
            name: given(meta.name()),
            namespace: given(meta.namespace()),
            resource_version: given(meta.resource_version()),
            uid: given(meta.uid()),
            ..ObjectMeta::default()
        };
        Ok(Self { meta, slim })
    }
}

/// The version of the API is known when it runs, and not before.
impl<T> Resource for Object<T> {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(api: &ApiResource) -> Cow<'_, str> {
        Cow::from(&api.kind)
    }

    fn group(api: &ApiResource) -> Cow<'_, str> {
        Cow::from(&api.group)
    }

    fn version(api: &ApiResource) -> Cow<'_, str> {
        Cow::from(&api.version)
    }

    fn plural(api: &ApiResource) -> Cow<'_, str> {
        Cow::from(&api.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}
