//! Changes of the garden, as readers get to see them.

use anyhow::Result;
use scopegate::graph::{Asserts, ControllerDeployment, CredentialsBinding, Key, Kind, Shoot, Snapshot};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    peer::Peer,
    world::{self, Shape, shoot_name},
};
use crate::{
    compare::{UPDATE, compare},
    measure::Cost,
    table::Table,
    updates::{Changes, ELSEWHERE, Graph, comes_and_goes, spread_over, unchanged},
};

/// Where to change something, for both.
struct Both<'a> {
    graph: &'a mut Graph,
    peer: Option<&'a mut Peer>,
}

/// All of them. What many seeds have to do with is in a table of its own.
pub(super) fn compare_all(
    table: &mut Table,
    shape: Shape,
    graph: &mut Graph,
    peer: Option<&mut Peer>,
) -> Result<Table> {
    let mut both = Both { graph, peer };
    let first = &[(0, 0)][..];
    let elsewhere = &spread_over(shape.seeds, shape.shoots_per_seed, ELSEWHERE);

    let (ours, theirs) = both.status(shape)?;
    compare(table, "a shoot again, with another status", ours, theirs, None);
    for (what, shoots, other) in [
        ("a shoot changed, visible", first, renamed as Other),
        ("another shoot changed each time, visible", elsewhere, renamed),
        ("a shoot moved to another seed, visible", first, moved),
        ("another shoot moved each time, visible", elsewhere, moved),
    ] {
        let (ours, theirs) = both.shoots(shape, shoots, other)?;
        compare(table, what, ours, theirs, Some(UPDATE));
    }
    let name = shoot_name(0, shape.shoots_per_seed);
    let shoot = Shoot::deserialize(shape.shoot(0, shape.shoots_per_seed))?;
    let added = comes_and_goes(both.graph, &shoot, |seen| {
        seen.reaches("seed0", shoot_key(&shape.namespace(0, shape.shoots_per_seed), &name))
    })?;
    compare(table, "a shoot added or deleted, visible", added, None, Some(UPDATE));
    both.shared()
}

type Other = fn(Shape, usize, usize) -> Value;

/// It gets another secret.
fn renamed(shape: Shape, seed: usize, shoot: usize) -> Value {
    let mut object = shape.shoot(seed, shoot);
    object["spec"]["dns"]["providers"][0]["credentialsRef"]["name"] = json!("another");
    object
}

/// It is on the next seed, with all that is named after it.
fn moved(shape: Shape, seed: usize, shoot: usize) -> Value {
    shape.shoot_on(seed, shoot, &format!("seed{}", (seed + 1) % shape.seeds))
}

impl Both<'_> {
    /// A status says much that the graph has no use for.
    fn status(&mut self, shape: Shape) -> Result<(Cost, Option<Cost>)> {
        let before = shape.shoot(0, 0);
        let mut after = before.clone();
        after["status"]["observedGeneration"] = json!(7);
        let ours = unchanged(self.graph, &Shoot::deserialize(&after)?)?;
        let theirs = self.peer.as_mut().map(|peer| peer.updates(&[after, before]));
        Ok((ours, theirs.transpose()?))
    }

    fn shoots(&mut self, shape: Shape, shoots: &[(usize, usize)], other: Other) -> Result<(Cost, Option<Cost>)> {
        let pairs = shoots
            .iter()
            .map(|(seed, shoot)| [other(shape, *seed, *shoot), shape.shoot(*seed, *shoot)]);
        let changed = pairs.clone().next().unwrap_or_default();
        let is_visible = |seen: &Snapshot| {
            let [changed, _] = &changed;
            let seed = changed["spec"]["seedName"].as_str().unwrap_or_default();
            let secret = &changed["spec"]["dns"]["providers"][0]["credentialsRef"]["name"];
            let namespace = changed["metadata"]["namespace"].as_str().unwrap_or_default();
            seen.reaches(
                seed,
                Key::new(Kind::Secret, namespace, secret.as_str().unwrap_or_default()),
            )
        };
        self.change::<Shoot>(pairs.collect(), is_visible)
    }

    /// What is to be visible has to be so after the first.
    fn change<T: Asserts + DeserializeOwned>(
        &mut self,
        pairs: Vec<[Value; 2]>,
        is_visible: impl Fn(&Snapshot) -> bool,
    ) -> Result<(Cost, Option<Cost>)> {
        let read = pairs
            .iter()
            .map(|[changed, original]| Ok([T::deserialize(changed)?, T::deserialize(original)?]));
        let ours = Changes::of(read.collect::<Result<_>>()?).measure(self.graph, is_visible)?;
        let theirs = self.peer.as_mut().map(|peer| {
            let (changed, original): (Vec<_>, Vec<_>) = pairs.into_iter().map(|[one, other]| (one, other)).unzip();
            peer.updates(&[changed, original].concat())
        });
        Ok((ours, theirs.transpose()?))
    }

    /// What is one object, and in the scopes of many.
    fn shared(&mut self) -> Result<Table> {
        let heads = ["", "seeds", "scopegate", "for a seed", "Gardener"];
        let mut table = Table::new(&heads);
        let namespace = "garden-p0";
        let binding = |secret| world::credentials_binding(namespace, 0, secret);
        let secret = Key::new(Kind::Secret, namespace, "another");
        let of_binding = self
            .change::<CredentialsBinding>(vec![[binding("another"), binding("credentials0")]], |seen| {
                seen.reaches("seed0", secret)
            })?;
        let bound = Key::new(Kind::CredentialsBinding, namespace, "binding0");
        let extension = [world::deployment(0, "another"), world::deployment(0, "pull")];
        let secret = Key::new(Kind::Secret, "garden", "another-extension0");
        let of_extension =
            self.change::<ControllerDeployment>(vec![extension], |seen| seen.reaches("seed0", secret))?;
        let deployment = Key::cluster(Kind::ControllerDeployment, "extension0");
        for (what, key, (ours, theirs)) in [
            ("a binding of a project changed, visible", bound, of_binding),
            ("an extension of all seeds changed, visible", deployment, of_extension),
        ] {
            let seeds = self.graph.published.load().readers(key).len();
            let theirs = theirs.map_or("–".to_owned(), |theirs| theirs.to_string());
            let each = Cost {
                nanoseconds: ours.nanoseconds / seeds as f64,
                ..ours
            };
            table.row(&[&what, &seeds, &ours, &each.time(), &theirs]);
        }
        Ok(table)
    }
}

fn shoot_key<'a>(namespace: &'a str, name: &'a str) -> Key<'a> {
    Key::new(Kind::Shoot, namespace, name)
}
