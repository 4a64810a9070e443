//! What has to happen before the gate is ready, by name.
//!
//! Whoever must be waited for holds a [`Pending`]; dropping it means done.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// All conditions of readiness. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Ready(Arc<Mutex<BTreeMap<&'static str, bool>>>);

/// Something the gate is not ready without.
#[derive(Debug)]
#[must_use = "dropping it says that the condition is met"]
pub struct Pending {
    name: &'static str,
    ready: Ready,
}

impl Ready {
    /// Not ready until the handle is dropped.
    pub fn task(&self, name: &'static str) -> Pending {
        self.lock().insert(name, false);
        Pending {
            name,
            ready: self.clone(),
        }
    }

    /// Every condition and whether it is met, in order of name.
    pub fn conditions(&self) -> Vec<(&'static str, bool)> {
        self.lock().iter().map(|(name, met)| (*name, *met)).collect()
    }

    pub fn is_ready(&self) -> bool {
        self.lock().values().all(|met| *met)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, bool>> {
        // Only probes and start-up take it; a panic elsewhere leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.ready.lock().insert(self.name, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_met_when_its_handle_is_dropped() {
        let ready = Ready::default();
        let pods = ready.task("pods informer");
        let upstream = ready.task("upstream");
        assert_eq!(ready.conditions(), [("pods informer", false), ("upstream", false)]);
        drop(pods);
        assert_eq!(ready.conditions(), [("pods informer", true), ("upstream", false)]);
        assert!(!ready.is_ready());
        drop(upstream);
        assert!(ready.is_ready());
    }
}
