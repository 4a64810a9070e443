//! Single objects, as upstream has them now: what a write is judged against.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Account, Asker, Live, Unknown, is_name, target};
use crate::{
    admission::{Fact, Wanted},
    graph::{Asserts, CsiDriver, Kind, Node, PersistentVolume, PersistentVolumeClaim, Pod, ServiceAccount},
    request::ResourceRequest,
};

/// What nodes write that is in no namespace.
const IN_NO_NAMESPACE: &[&str] = &["certificatesigningrequests", "csinodes", "nodes", "resourceslices"];

impl Live {
    /// The object that a request writes; nothing if there is none.
    pub(in crate::pipeline) async fn stored(
        &self,
        asker: Asker<'_>,
        request: &ResourceRequest,
    ) -> Result<Option<Bytes>, Unknown> {
        let is_nodes = matches!(asker.account, Account::Decisions | Account::Events | Account::Records);
        if is_nodes && request.namespace.is_empty() && !IN_NO_NAMESPACE.contains(&request.resource.resource.as_str()) {
            // There is no such place; upstream would look through all namespaces for it.
            return Ok(None);
        }
        let found = self.one::<Box<RawValue>>(asker, request).await?;
        Ok(found.map(|object| Bytes::from(Box::<str>::from(object).into_string())))
    }

    /// What rules want to know of an object; nothing if it is not there.
    pub(in crate::pipeline) async fn fact(&self, asker: Asker<'_>, wanted: &Wanted) -> Result<Option<Fact>, Unknown> {
        let (group, version, resource) = match wanted.kind {
            Kind::CsiDriver => ("storage.k8s.io", "v1", "csidrivers"),
            Kind::Node => ("", "v1", "nodes"),
            Kind::PersistentVolume => ("", "v1", "persistentvolumes"),
            Kind::PersistentVolumeClaim => ("", "v1", "persistentvolumeclaims"),
            Kind::Pod => ("", "v1", "pods"),
            Kind::ServiceAccount => ("", "v1", "serviceaccounts"),
            kind => return Err(Unknown::Upstream(format!("no rule asks for a {}", kind.as_str()))),
        };
        let is_namespaced = matches!(
            wanted.kind,
            Kind::PersistentVolumeClaim | Kind::Pod | Kind::ServiceAccount
        );
        let is_somewhere = wanted.namespace.is_empty() != is_namespaced && !wanted.name.is_empty();
        if !is_somewhere || !is_name(&wanted.namespace) || !is_name(&wanted.name) {
            // Nothing of these kinds is called that.
            return Ok(None);
        }
        let request = ResourceRequest::object((group, version, resource), &wanted.namespace, &wanted.name);
        Ok(match wanted.kind {
            Kind::Pod => self.one::<Pod>(asker, &request).await?.map(Box::new).map(Fact::Pod),
            Kind::CsiDriver => self.facts::<CsiDriver>(asker, &request).await?,
            Kind::Node => self.facts::<Node>(asker, &request).await?,
            Kind::PersistentVolume => self.facts::<PersistentVolume>(asker, &request).await?,
            Kind::PersistentVolumeClaim => self.facts::<PersistentVolumeClaim>(asker, &request).await?,
            _ => self.facts::<ServiceAccount>(asker, &request).await?,
        })
    }

    async fn facts<T: Asserts + DeserializeOwned>(
        &self,
        asker: Asker<'_>,
        request: &ResourceRequest,
    ) -> Result<Option<Fact>, Unknown> {
        let found = self.one::<T>(asker, request).await?;
        Ok(found.and_then(|object| object.facts()).map(Fact::Other))
    }

    /// As a list of one, for which the gate has the right already. Any letter may stand in the name of an event, and is escaped.
    pub(super) async fn one<T: DeserializeOwned>(
        &self,
        asker: Asker<'_>,
        request: &ResourceRequest,
    ) -> Result<Option<T>, Unknown> {
        if matches!(request.name.as_str(), "" | "." | "..") {
            return Err(Unknown::Upstream("nothing can be asked for by such a name".to_owned()));
        }
        self.turn(asker).await?;
        let known = self.node(asker.node);
        let _reading = match asker.account {
            Account::Records => known.reading.try_acquire().ok(),
            Account::Decisions | Account::Events | Account::Others => known.reading.acquire().await.ok(),
        }
        .ok_or(Unknown::Limited)?;
        let found = self.read::<T>(asker.account, &target(request)).await?;
        Ok(found.into_iter().next())
    }
}
