//! The objects, and the log of what happened to them. Each change gets the next resource version
//! and a line in the log; watches read on from the version they know. Nothing here knows HTTP.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::watch;

use super::{answer::Refusal, kinds::Kind, object::set_meta};

/// How many changes a watch may be behind before it must list again.
const LOG: usize = 1024;

/// Which object: `namespace` is empty for a cluster-scoped kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: &'static Kind,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// One change. It keeps both sides because a selector may match one of them only.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) revision: u64,
    pub(super) key: Key,
    pub(super) before: Option<Arc<Value>>,
    pub(super) after: Option<Arc<Value>>,
}

/// Everything the stand-in holds.
#[derive(Debug, Default)]
pub(super) struct Store {
    state: Mutex<State>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    revision: u64,
    objects: BTreeMap<Key, Arc<Value>>,
    log: VecDeque<Arc<Change>>,
    /// The newest revision that fell off the log.
    forgotten: u64,
}

impl Store {
    pub(super) fn get(&self, key: &Key) -> Result<Arc<Value>, Refusal> {
        self.state().held(key)
    }

    /// The objects that pass, and the revision at which that was so.
    pub(super) fn list(&self, pass: impl Fn(&Key, &Value) -> bool) -> (Vec<Arc<Value>>, u64) {
        let state = self.state();
        let objects = state
            .objects
            .iter()
            .filter(|(key, object)| pass(key, object))
            .map(|(_, object)| Arc::clone(object))
            .collect();
        (objects, state.revision)
    }

    pub(super) fn create(&self, key: Key, object: Value) -> Result<Arc<Value>, Refusal> {
        let mut state = self.state();
        if state.objects.contains_key(&key) {
            return Err(Refusal::already_exists(&key));
        }
        Ok(self.write(&mut state, key, None, object))
    }

    /// Replaces an object by what `change` makes of it, with nothing able to come between.
    /// A change that changes nothing gets no revision and wakes no watch.
    pub(super) fn update(
        &self,
        key: &Key,
        change: impl FnOnce(&Value) -> Result<Value, Refusal>,
    ) -> Result<Arc<Value>, Refusal> {
        let mut state = self.state();
        let before = state.held(key)?;
        let after = change(&before)?;
        if after == *before {
            return Ok(before);
        }
        Ok(self.write(&mut state, key.clone(), Some(before), after))
    }

    /// Removes an object and returns what it was.
    pub(super) fn delete(&self, key: &Key) -> Result<Arc<Value>, Refusal> {
        let mut state = self.state();
        let Some(before) = state.objects.remove(key) else {
            return Err(Refusal::not_found(key));
        };
        self.record(&mut state, key.clone(), Some(Arc::clone(&before)), None);
        Ok(before)
    }

    /// What happened after `revision`, and the revision that brings a reader up to.
    pub(super) fn since(&self, revision: u64) -> Result<(Vec<Arc<Change>>, u64), Refusal> {
        let state = self.state();
        // A revision of the future is from before a restart: waiting for it would skip changes.
        if revision < state.forgotten || revision > state.revision {
            return Err(Refusal::expired(revision));
        }
        let newer = state
            .log
            .iter()
            .skip_while(|change| change.revision <= revision)
            .cloned()
            .collect();
        Ok((newer, state.revision))
    }

    /// Wakes at each change from now on; what changed is for [`Store::since`] to say.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    fn write(&self, state: &mut State, key: Key, before: Option<Arc<Value>>, mut object: Value) -> Arc<Value> {
        let revision = state.revision.saturating_add(1);
        set_meta(&mut object, "resourceVersion", revision.to_string());
        let object = Arc::new(object);
        state.objects.insert(key.clone(), Arc::clone(&object));
        self.record(state, key, before, Some(Arc::clone(&object)));
        object
    }

    fn record(&self, state: &mut State, key: Key, before: Option<Arc<Value>>, after: Option<Arc<Value>>) {
        state.revision = state.revision.saturating_add(1);
        let change = Change {
            revision: state.revision,
            key,
            before,
            after,
        };
        state.log.push_back(Arc::new(change));
        if state.log.len() > LOG
            && let Some(oldest) = state.log.pop_front()
        {
            state.forgotten = oldest.revision;
        }
        self.revision.send_replace(state.revision);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn held(&self, key: &Key) -> Result<Arc<Value>, Refusal> {
        self.objects.get(key).cloned().ok_or_else(|| Refusal::not_found(key))
    }
}
