//! What one patch may cost.

use super::Error;
use crate::json::Object;

/// Steps, each about as much as looking at one value. An object and a patch of the largest size that is read need a quarter
/// of it; without an end, a patch that names one long list ten thousand times would cost its product.
const MAX_STEPS: usize = 2 * 1024 * 1024;

/// Bytes that are compared, hashed or copied in one step.
const STEP_BYTES: usize = 32;

/// The work that is left.
pub(super) struct Work(usize);

impl Work {
    pub(super) fn new() -> Self {
        Self(MAX_STEPS)
    }

    pub(super) fn steps(&mut self, steps: usize) -> Result<(), Error> {
        match self.0.checked_sub(steps) {
            Some(left) => self.0 = left,
            None => return Err(Error::TooLarge("the patch takes too much work to apply".to_owned())),
        }
        Ok(())
    }

    pub(super) fn bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.steps(bytes / STEP_BYTES + 1)
    }

    /// All keys of an object, walked through once.
    pub(super) fn keys(&mut self, object: &Object<'_>) -> Result<(), Error> {
        object.iter().try_for_each(|(key, _)| self.bytes(key.len()))
    }
}
