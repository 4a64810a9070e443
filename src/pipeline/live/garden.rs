//! What a seed asks for, as upstream has it now.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{Asker, Live, Unknown, is_name};
use crate::{
    graph::{
        Anchor, Asserts, BackupBucket, BackupEntry, Bastion, ControllerInstallation, Edge, Gardenlet, Key, Kind,
        ManagedSeed, Project, Relation, Seed, SeedClientRequest, Shoot, Snapshot, Store, Template,
    },
    request::ResourceRequest,
    watch::Graph,
};

/// An object that the graph leads to the seed from, however it does that.
struct Known<'a> {
    key: Key<'a>,
    seed: &'a str,
}

impl Asserts for Known<'_> {
    fn key(&self) -> Key<'_> {
        self.key
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let seed = Key::cluster(Kind::Seed, self.seed);
        visit(Edge::new(seed, Template::SEED_NAME.field()));
    }
}

impl Live {
    /// As much of the graph as tells whether the object leads to the seed; nothing if the object says nothing about that, or is not
    /// there.
    pub(in crate::pipeline) async fn garden(
        &self,
        asker: Asker<'_>,
        key: Key<'_>,
        request: &ResourceRequest,
        (seed, graph): (&str, &Graph),
    ) -> Result<Option<Arc<Snapshot>>, Unknown> {
        let named = key.kind == Kind::CertificateSigningRequest || is_name(key.name);
        if !named || !is_name(key.namespace) || !is_name(&request.version) {
            // Nothing is called that.
            return Ok(None);
        }
        let object = match key.kind {
            Kind::BackupBucket => self.asserting::<BackupBucket>(asker, request).await?,
            Kind::BackupEntry => self.asserting::<BackupEntry>(asker, request).await?,
            Kind::Bastion => self.asserting::<Bastion>(asker, request).await?,
            Kind::CertificateSigningRequest => self.asserting::<SeedClientRequest>(asker, request).await?,
            Kind::ControllerInstallation => self.asserting::<ControllerInstallation>(asker, request).await?,
            Kind::Gardenlet => self.asserting::<Gardenlet>(asker, request).await?,
            Kind::ManagedSeed => self.asserting::<ManagedSeed>(asker, request).await?,
            Kind::Project => self.asserting::<Project>(asker, request).await?,
            Kind::Seed => self.asserting::<Seed>(asker, request).await?,
            Kind::Shoot => self.asserting::<Shoot>(asker, request).await?,
            // Others say about these whose they are.
            _ => None,
        };
        Ok(object.map(|object| leading(object.as_ref(), seed, &graph.load())))
    }

    async fn asserting<T: Asserts + DeserializeOwned + Send + Sync + 'static>(
        &self,
        asker: Asker<'_>,
        request: &ResourceRequest,
    ) -> Result<Option<Box<dyn Asserts + Send + Sync>>, Unknown> {
        let found = self.one::<T>(asker, request).await?;
        Ok(found.map(|object| Box::new(object) as Box<dyn Asserts + Send + Sync>))
    }
}

/// The object, and those next to it of which the graph knows that they lead to the seed.
fn leading(object: &dyn Asserts, seed: &str, graph: &Snapshot) -> Arc<Snapshot> {
    let mut store = Store::new(Anchor::Seed);
    store.apply(object);
    object.edges(&mut |edge| {
        let key = edge.other;
        let is_next = edge.field.relation() == Relation::BelongsTo && key.kind != Kind::Seed;
        if is_next && graph.reaches(seed, key) {
            store.apply(&Known { key, seed });
        }
    });
    store.publish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    /// A graph in which shoot garden-p1/s1 is on seed a, and s2 on seed b.
    fn known() -> Arc<Snapshot> {
        let mut store = Store::new(Anchor::Seed);
        for (name, seed) in [("s1", "a"), ("s2", "b")] {
            let shoot = json!({"metadata": {"namespace": "garden-p1", "name": name}, "spec": {"seedName": seed}});
            store.apply(&serde_json::from_value::<Shoot>(shoot).unwrap());
        }
        store.publish()
    }

    #[test_case("a", "s9" => true; "by itself")]
    #[test_case("c", "s1" => false; "on another seed")]
    #[test_case("c", "s9" => false; "on a seed that nothing is known of")]
    fn a_bucket(seed: &str, shoot: &str) -> bool {
        let bucket = json!({"metadata": {"name": "u"}, "spec": {"seedName": seed, "shootRef": {"namespace": "x", "name": shoot}}});
        let bucket: BackupBucket = serde_json::from_value(bucket).unwrap();
        leading(&bucket, "a", &known()).reaches("a", Key::cluster(Kind::BackupBucket, "u"))
    }

    #[test_case("s1" => true; "of a shoot of the seed")]
    #[test_case("s2" => false; "of a shoot of another")]
    #[test_case("s3" => false; "of a shoot that nothing is known of")]
    fn a_managed_seed(shoot: &str) -> bool {
        let managed =
            json!({"metadata": {"namespace": "garden-p1", "name": "child"}, "spec": {"shoot": {"name": shoot}}});
        let managed: ManagedSeed = serde_json::from_value(managed).unwrap();
        let graph = leading(&managed, "a", &known());
        let key = Key::new(Kind::ManagedSeed, "garden-p1", "child");
        // The seed that it becomes reaches it too, and by another way.
        assert!(!leading(&managed, "child", &known()).reaches_by("child", key, Kind::Shoot));
        graph.reaches_by("a", key, Kind::Shoot)
    }
}
