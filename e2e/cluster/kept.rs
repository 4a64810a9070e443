//! Folders that are gone after a test, or stay if one has failed: their logs tell why.

use std::{
    panic,
    path::{Path, PathBuf},
    sync::{Mutex, Once},
};

use tempfile::TempDir;

/// Of a cluster: its certificates, what it has stored, and the logs of its processes and gates.
pub(super) struct Folder(Option<TempDir>);

/// Those in use, and whether a test has failed in the meantime.
static FOLDERS: Mutex<Vec<(PathBuf, bool)>> = Mutex::new(Vec::new());

impl Folder {
    pub(super) fn new() -> Self {
        tell_of_failures();
        let dir = tempfile::Builder::new().prefix("scopegate-e2e-").tempdir().unwrap();
        FOLDERS.lock().unwrap().push((dir.path().to_owned(), false));
        Self(Some(dir))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.as_ref().unwrap().path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let dir = self.0.take().unwrap();
        // The lock is never held while something panics.
        let mut folders = FOLDERS.lock().unwrap();
        let at = folders.iter().position(|(path, _)| path == dir.path());
        if at.is_some_and(|at| folders.remove(at).1) {
            let _ = dir.keep();
        }
    }
}

/// Clusters are shared, so that which folders are of use is known only when a test fails: all that there are then.
fn tell_of_failures() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |failure| {
            usual(failure);
            for (folder, failed) in FOLDERS.lock().unwrap().iter_mut() {
                *failed = true;
                println!("logs are kept in {}", folder.display());
            }
        }));
    });
}
