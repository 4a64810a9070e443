//! Lists: merged by the key of their items, as sets of scalars, or replaced.

use std::collections::HashSet;

use super::{
    Error, Json, Kind, Merger, Object, PATCH, Place, chance,
    key::{Index, Items, Key, arrange},
    kind, unknown_directive, without_directives,
};
use crate::patch::{schema::Merge, text::go_type};

/// A merged list, and what upstream takes for the order on the server afterwards.
struct Merged<'a> {
    items: Items<'a>,
    server: Vec<Key<'a>>,
}

impl Merger {
    pub(super) fn lists<'a>(
        &mut self,
        old: Vec<Json<'a>>,
        patch: Vec<Json<'a>>,
        place: Place,
        delete: bool,
    ) -> Result<Vec<Json<'a>>, Error> {
        let merge = place.merge();
        if merge.is_none() && !delete {
            return Ok(patch);
        }
        match (element_kind(&old, &patch)?, merge) {
            (None, _) => Ok(old),
            (Some(Kind::Object), Some(Merge::Key(name))) => Ok(values(self.by_key(old, patch, name, place)?.items)),
            (Some(Kind::Object), _) => Err(Error::Untyped("cannot merge lists without merge key".to_owned())),
            (Some(_), _) if delete => {
                let patch = self.keys(&patch)?;
                let dropped: HashSet<_> = patch.iter().collect();
                let mut items = self.scalars(old)?;
                items.retain(|(key, _)| !dropped.contains(key));
                Ok(values(items))
            }
            (Some(_), Some(Merge::Key(_))) => Err(not_objects()),
            (Some(_), _) => Ok(values(self.union(old, patch)?.items)),
        }
    }

    /// `$setElementOrder/<key>`, together with the list that it is about.
    pub(super) fn order<'a>(
        &mut self,
        old: &mut Object<'a>,
        patch: &mut Object<'a>,
        key: &str,
        order: Json<'a>,
        place: Place,
    ) -> Result<(), Error> {
        let order = list(order)?;
        let place = place.child(key);
        // Upstream knows more lists than those that are merged, but whoever makes a patch gives no order for them.
        let Some(merge) = place.merge() else {
            return Err(Error::Untyped(format!("{key} is no list that can be ordered")));
        };
        let current = old.get_mut(key).map(std::mem::take).map(list).transpose()?;
        let wanted = patch.remove(key).map(list).transpose()?;
        self.check_order(wanted.as_deref().unwrap_or_default(), &order, merge)?;
        let empty = || Error::Untyped("no elements in any of the given slices".to_owned());
        let both = (
            current.as_deref().unwrap_or_default(),
            wanted.as_deref().unwrap_or_default(),
        );
        let kind = match (&current, &wanted) {
            (None, None) => return Ok(()),
            _ => element_kind(both.0, both.1)?.ok_or_else(empty)?,
        };
        if matches!(merge, Merge::Key(_)) != (kind == Kind::Object) {
            return Err(not_objects());
        }
        let merged = match (current, wanted) {
            (Some(current), Some(wanted)) => match merge {
                Merge::Key(name) => self.by_key(current, wanted, name, place)?,
                Merge::Scalars => self.union(current, wanted)?,
            },
            (Some(current), None) => {
                let items = self.items(current, merge)?;
                let server = items.iter().map(|(key, _)| key.clone()).collect();
                Merged { items, server }
            }
            (None, wanted) => {
                let wanted = wanted.into_iter().flatten().filter_map(without_directives);
                let items = self.items(wanted.collect(), merge)?;
                let server = Vec::new();
                Merged { items, server }
            }
        };
        let order = self.order_keys(&order, merge)?;
        let items = arrange(merged.items, &Index::new(&order), &Index::new(&merged.server))?;
        old.insert(key.to_owned().into(), Json::Array(values(items)));
        Ok(())
    }

    /// Lists of objects with a key.
    fn by_key<'a>(
        &mut self,
        old: Vec<Json<'a>>,
        patch: Vec<Json<'a>>,
        name: &'static str,
        place: Place,
    ) -> Result<Merged<'a>, Error> {
        let mut additions = Vec::with_capacity(patch.len());
        let mut deleted = HashSet::new();
        let mut replace = false;
        for item in patch {
            match item.as_object().and_then(|object| Some((object, object.get(PATCH)?))) {
                None => additions.push(item),
                Some((object, directive)) => match directive.as_str() {
                    Some("delete") => {
                        deleted.insert(Key::of_item(&item, name, &mut self.work)?);
                    }
                    Some("replace") => replace = true,
                    Some("merge") => {
                        let text = "merging lists cannot yet be specified in the patch";
                        return Err(Error::Untyped(text.to_owned()));
                    }
                    _ => return Err(unknown_directive(object)),
                },
            }
        }
        let before = old.len();
        if replace {
            if !deleted.is_empty() {
                return Err(chance("items that are deleted from a list that is replaced"));
            }
            let items = self.items(additions, Merge::Key(name))?;
            let itself = items.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
            let server = self.items(old, Merge::Key(name))?;
            return Ok(Merged {
                items: arrange(items, &Index::new([]), &Index::new(&itself))?,
                server: server.into_iter().map(|(key, _)| key).collect(),
            });
        }
        let mut items = self.items(old, Merge::Key(name))?;
        items.retain(|(key, _)| !deleted.contains(key));
        let mut server: Vec<_> = items.iter().map(|(key, _)| key.clone()).collect();
        let order = additions
            .iter()
            .map(|item| Key::of_item(item, name, &mut self.work))
            .collect::<Result<Vec<_>, _>>()?;
        let (survivors, mut found) = (Index::new(&server), Index::new(&server));
        for (key, item) in order.iter().zip(additions) {
            match found.get(key).and_then(|at| items.get_mut(at)) {
                // The key itself goes with a null, and then the item has none.
                Some(_) if *key == Key::Null => {
                    return Err(Error::Untyped(format!(
                        "an item does not contain declared merge key: {name}"
                    )));
                }
                Some((_, current)) => *current = self.values(std::mem::take(current), item, place, false)?,
                None => {
                    found.insert(key.clone(), items.len());
                    items.push((key.clone(), item));
                }
            }
        }
        // Upstream appends in place, so what it remembers of the old list are new items where there had been old ones.
        let appended = items.iter().skip(server.len()).map(|(key, _)| key.clone());
        let refilled: Vec<_> = appended.take(before.saturating_sub(server.len())).collect();
        let items = arrange(items, &Index::new(&order), &survivors)?;
        server.extend(refilled);
        Ok(Merged { items, server })
    }

    /// Lists of scalars: each one once.
    fn union<'a>(&mut self, old: Vec<Json<'a>>, patch: Vec<Json<'a>>) -> Result<Merged<'a>, Error> {
        let server = self.keys(&old)?;
        let order = self.keys(&patch)?;
        let mut items = self.scalars(old)?;
        items.extend(self.scalars(patch)?);
        let mut seen = HashSet::with_capacity(items.len());
        items.retain(|(key, _)| seen.insert(key.clone()));
        let items = arrange(items, &Index::new(&order), &Index::new(&server))?;
        Ok(Merged { items, server })
    }

    /// The items that a patch has must stand in the order that it gives, if it gives one.
    fn check_order(&mut self, patch: &[Json<'_>], order: &[Json<'_>], merge: Merge) -> Result<(), Error> {
        if patch.is_empty() || order.is_empty() {
            return Ok(());
        }
        let mut order_left = order.iter();
        for item in patch {
            match item.get(PATCH) {
                Some(directive) if directive.as_str() == Some("delete") => continue,
                Some(_) if order_left.len() > 0 => continue,
                Some(_) => return Err(out_of_order()),
                None => {}
            }
            let key = self.key(item, merge)?;
            loop {
                let next = order_left.next().ok_or_else(out_of_order)?;
                if self.key(next, merge)? == key {
                    break;
                }
            }
        }
        Ok(())
    }

    fn order_keys<'a>(&mut self, order: &[Json<'a>], merge: Merge) -> Result<Vec<Key<'a>>, Error> {
        order.iter().map(|item| self.key(item, merge)).collect()
    }

    fn keys<'a>(&mut self, scalars: &[Json<'a>]) -> Result<Vec<Key<'a>>, Error> {
        self.order_keys(scalars, Merge::Scalars)
    }

    fn scalars<'a>(&mut self, values: Vec<Json<'a>>) -> Result<Items<'a>, Error> {
        self.items(values, Merge::Scalars)
    }

    fn items<'a>(&mut self, values: Vec<Json<'a>>, merge: Merge) -> Result<Items<'a>, Error> {
        let item = |item| Ok((self.key(&item, merge)?, item));
        values.into_iter().map(item).collect()
    }

    fn key<'a>(&mut self, item: &Json<'a>, merge: Merge) -> Result<Key<'a>, Error> {
        match merge {
            Merge::Key(name) => Key::of_item(item, name, &mut self.work),
            Merge::Scalars => Key::of(item, &mut self.work),
        }
    }
}

/// The one kind that all items have, unless there are none.
fn element_kind(old: &[Json<'_>], patch: &[Json<'_>]) -> Result<Option<Kind>, Error> {
    let mut items = old.iter().chain(patch).map(kind);
    let Some(first) = items.next() else {
        return Ok(None);
    };
    match first {
        Kind::List => return Err(Error::Rejected("lists of lists are not supported".to_owned())),
        Kind::Null => return Err(Error::Untyped("a list item is null".to_owned())),
        _ => {}
    }
    if items.any(|kind| kind != first) {
        return Err(Error::Untyped("list element types are not identical".to_owned()));
    }
    Ok(Some(first))
}

fn list(value: Json<'_>) -> Result<Vec<Json<'_>>, Error> {
    match value {
        Json::Array(items) => Ok(items),
        other => Err(not_a_list(&other)),
    }
}

fn values(items: Items<'_>) -> Vec<Json<'_>> {
    items.into_iter().map(|(_, value)| value).collect()
}

fn out_of_order() -> Error {
    Error::Untyped("The order in patch list doesn't match $setElementOrder list".to_owned())
}

pub(super) fn not_a_list(value: &Json<'_>) -> Error {
    Error::Untyped(format!(
        "expected a []interface {{}}, but received a {}",
        go_type(value)
    ))
}

fn not_objects() -> Error {
    Error::Untyped("expected a map[string]interface {}, but received something else".to_owned())
}
