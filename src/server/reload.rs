//! Files that are taken up again when they change.
//!
//! Contents are compared, not times or inodes, so that writing in place, renaming over the file and the symlink
//! swap of a Kubernetes volume all count. A version that cannot be used is reported once and the last good one
//! stays: a bad rotation must not take the gate down.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use aws_lc_rs::digest;
use tracing::{info, warn};

use super::Metrics;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// Looks at the files: nothing if they are those of the fingerprint, else their fingerprint and what they make.
type Look<T> = Box<dyn Fn(Option<&[u8]>) -> Result<Option<(Vec<u8>, T)>, Error> + Send>;

/// A value made from files.
pub struct Reloading<T> {
    what: &'static str,
    look: Look<T>,
    /// Digest of what is in use. Contents are not kept: keys are among them.
    used: Vec<u8>,
    current: Arc<ArcSwap<T>>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot use {}: {source}", list(files))]
    Use { files: Vec<PathBuf>, source: BoxError },
}

impl<T: Send + Sync + 'static> Reloading<T> {
    /// Reads the files a first time; that has to succeed. `parse` gets their contents in the order given.
    pub fn load<const N: usize, E>(
        what: &'static str,
        files: [&Path; N],
        parse: impl Fn(&[Vec<u8>; N]) -> Result<T, E> + Send + 'static,
    ) -> Result<Self, Error>
    where
        E: Into<BoxError>,
    {
        let files = files.map(Path::to_path_buf);
        let look = move |used: Option<&[u8]>| {
            let mut contents = [const { Vec::new() }; N];
            for (path, content) in files.iter().zip(&mut contents) {
                *content = read(path)?;
            }
            news(used, &contents, &files, || parse(&contents))
        };
        Self::first(what, Box::new(look))
    }

    /// The same for files of which one may name others: `list` finds them all, `make` reads them by itself.
    pub fn load_listed<E>(
        what: &'static str,
        list: impl Fn() -> Result<Vec<PathBuf>, E> + Send + 'static,
        make: impl Fn() -> Result<T, E> + Send + 'static,
    ) -> Result<Self, Error>
    where
        E: Into<BoxError>,
    {
        let look = move |used: Option<&[u8]>| {
            let files = list().map_err(|error| Error::Use {
                files: Vec::new(),
                source: error.into(),
            })?;
            let contents = files.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
            news(used, &contents, &files, &make)
        };
        Self::first(what, Box::new(look))
    }

    fn first(what: &'static str, look: Look<T>) -> Result<Self, Error> {
        // Without a fingerprint to compare with, everything is news.
        let Some((used, value)) = look(None)? else {
            return Err(Error::Use {
                files: Vec::new(),
                source: "nothing was read".into(),
            });
        };
        Ok(Self {
            what,
            look,
            used,
            current: Arc::new(ArcSwap::from_pointee(value)),
        })
    }

    /// The newest good value, for as many readers as like.
    pub fn current(&self) -> Arc<ArcSwap<T>> {
        Arc::clone(&self.current)
    }

    /// Looks at the files every so often, for ever.
    pub async fn run(mut self, every: Duration, metrics: Metrics) {
        // The same trouble is told once, not at every look.
        let mut trouble = None;
        loop {
            tokio::time::sleep(every).await;
            // Files may lie on something slow.
            let refreshed = tokio::task::spawn_blocking(move || {
                let result = self.refresh();
                (self, result)
            });
            let result;
            (self, result) = match refreshed.await {
                Ok(refreshed) => refreshed,
                // What looks after this task has to know.
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => return,
            };
            match result {
                Ok(false) => trouble = None,
                Ok(true) => {
                    trouble = None;
                    metrics.reloaded(self.what, true);
                    info!(what = self.what, "reloaded");
                }
                Err(error) => {
                    let told = Some(error.to_string());
                    if trouble != told {
                        metrics.reloaded(self.what, false);
                        warn!(what = self.what, %error, "not reloaded; the last good version stays in use");
                        trouble = told;
                    }
                }
            }
        }
    }

    /// Whether there was something new, and it is now in use.
    fn refresh(&mut self) -> Result<bool, Error> {
        let Some((found, value)) = (self.look)(Some(&self.used))? else {
            return Ok(false);
        };
        self.used = found;
        self.current.store(Arc::new(value));
        Ok(true)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })
}

fn news<T, E: Into<BoxError>>(
    used: Option<&[u8]>,
    contents: &[Vec<u8>],
    files: &[PathBuf],
    make: impl FnOnce() -> Result<T, E>,
) -> Result<Option<(Vec<u8>, T)>, Error> {
    let found = fingerprint(contents);
    if used == Some(found.as_slice()) {
        return Ok(None);
    }
    let value = make().map_err(|error| Error::Use {
        files: files.to_vec(),
        source: error.into(),
    })?;
    Ok(Some((found, value)))
}

fn fingerprint(contents: &[Vec<u8>]) -> Vec<u8> {
    let digests = contents.iter().map(|content| digest::digest(&digest::SHA256, content));
    digests.flat_map(|digest| digest.as_ref().to_vec()).collect()
}

fn list(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_by_any_means_is_taken_up_and_a_bad_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("number");
        fs::write(&file, "1").unwrap();
        let mut number = Reloading::load("number", [&file], parse).unwrap();
        let current = number.current();
        assert!(!number.refresh().unwrap(), "nothing changed");

        fs::write(&file, "2").unwrap();
        assert!(number.refresh().unwrap(), "written in place");
        assert_eq!(**current.load(), 2);

        fs::write(dir.path().join("next"), "3").unwrap();
        fs::rename(dir.path().join("next"), &file).unwrap();
        assert!(number.refresh().unwrap(), "renamed over");
        assert_eq!(**current.load(), 3);

        fs::write(&file, "three").unwrap();
        let error = number.refresh().unwrap_err().to_string();
        assert!(error.contains("number"), "{error}");
        assert_eq!(**current.load(), 3, "the last good one stays");

        fs::remove_file(&file).unwrap();
        assert!(number.refresh().is_err());
        assert_eq!(**current.load(), 3, "also when the file is gone");
    }

    #[test]
    fn the_symlink_swap_of_a_volume_is_taken_up() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (version, content) in [("v1", "1"), ("v2", "2")] {
            fs::create_dir(at(version)).unwrap();
            fs::write(at(version).join("number"), content).unwrap();
        }
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
        link("v1", "..data");
        link("..data/number", "number");
        let mut number = Reloading::load("number", [&at("number")], parse).unwrap();
        link("v2", "..data_tmp");
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert!(number.refresh().unwrap());
        assert_eq!(**number.current().load(), 2);
    }

    /// A file may name others, and which ones may change.
    #[test]
    fn files_that_are_named_by_others_count_too() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a"), "1").unwrap();
        fs::write(at("b"), "2").unwrap();
        fs::write(at("index"), "a").unwrap();
        let index = at("index");
        let named = move || Ok::<_, io::Error>(index.with_file_name(fs::read_to_string(&index)?));
        let (list, index) = (named.clone(), at("index"));
        let mut number = Reloading::load_listed(
            "number",
            move || Ok::<_, BoxError>(vec![index.clone(), list()?]),
            move || Ok(fs::read_to_string(named()?)?.parse::<u32>()?),
        )
        .unwrap();
        let current = number.current();
        assert!(!number.refresh().unwrap(), "nothing changed");
        fs::write(at("a"), "3").unwrap();
        assert!(number.refresh().unwrap());
        assert_eq!(**current.load(), 3);
        fs::write(at("index"), "b").unwrap();
        assert!(number.refresh().unwrap());
        assert_eq!(**current.load(), 2);
        fs::write(at("index"), "gone").unwrap();
        assert!(number.refresh().is_err());
        assert_eq!(**current.load(), 2, "the last good one stays");
    }

    fn parse([content]: &[Vec<u8>; 1]) -> Result<u32, BoxError> {
        Ok(String::from_utf8(content.clone())?.parse()?)
    }
}
