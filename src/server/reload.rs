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

type Parse<T, const N: usize> = Box<dyn Fn(&[Vec<u8>; N]) -> Result<T, BoxError> + Send>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A value made from files.
pub struct Reloading<T, const N: usize> {
    what: &'static str,
    files: [PathBuf; N],
    parse: Parse<T, N>,
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

impl<T: Send + Sync + 'static, const N: usize> Reloading<T, N> {
    /// Reads the files a first time; that has to succeed. `parse` gets their contents in the order given.
    pub fn load<E>(
        what: &'static str,
        files: [&Path; N],
        parse: impl Fn(&[Vec<u8>; N]) -> Result<T, E> + Send + 'static,
    ) -> Result<Self, Error>
    where
        E: Into<BoxError>,
    {
        let files = files.map(Path::to_path_buf);
        let contents = read(&files)?;
        let value = parse(&contents).map_err(|error| Error::Use {
            files: files.to_vec(),
            source: error.into(),
        })?;
        Ok(Self {
            what,
            files,
            parse: Box::new(move |contents| parse(contents).map_err(Into::into)),
            used: fingerprint(&contents),
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
            let Ok((back, result)) = refreshed.await else { return };
            self = back;
            match result {
                Ok(false) => trouble = None,
                Ok(true) => {
                    trouble = None;
                    metrics.reloaded(self.what, true);
                    info!(what = self.what, files = list(&self.files), "reloaded");
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
        let contents = read(&self.files)?;
        let found = fingerprint(&contents);
        if found == self.used {
            return Ok(false);
        }
        let value = (self.parse)(&contents).map_err(|source| Error::Use {
            files: self.files.to_vec(),
            source,
        })?;
        self.used = found;
        self.current.store(Arc::new(value));
        Ok(true)
    }
}

fn read<const N: usize>(files: &[PathBuf; N]) -> Result<[Vec<u8>; N], Error> {
    let mut contents = [const { Vec::new() }; N];
    for (path, content) in files.iter().zip(&mut contents) {
        *content = std::fs::read(path).map_err(|source| Error::Read {
            path: path.clone(),
            source,
        })?;
    }
    Ok(contents)
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

    fn parse([content]: &[Vec<u8>; 1]) -> Result<u32, BoxError> {
        Ok(String::from_utf8(content.clone())?.parse()?)
    }
}
