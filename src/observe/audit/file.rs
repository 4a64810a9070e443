//! A file that is put aside when it has grown enough: `audit.log` → `audit.log.1` → `audit.log.2` …

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use tracing::warn;

#[derive(Debug)]
pub(super) struct RotatingFile {
    path: PathBuf,
    max_size: u64,
    max_backups: usize,
    out: BufWriter<File>,
    size: u64,
}

const BUFFER: usize = 64 * 1024;

impl RotatingFile {
    /// Appends to what is there: a restart loses nothing.
    pub(super) fn open(path: &Path, max_size: u64, max_backups: usize) -> io::Result<Self> {
        let file = append(path)?;
        let size = file.metadata()?.len();
        Ok(Self {
            path: path.to_owned(),
            max_size,
            max_backups,
            out: BufWriter::with_capacity(BUFFER, file),
            size,
        })
    }

    /// Puts the file aside and begins a new one. If that fails the old one is written on: losing the limit is better than
    /// losing events.
    fn rotate(&mut self) -> io::Result<()> {
        self.out.flush()?;
        let fresh = self.beside("new");
        let file = append(&fresh)?;
        let moved = self.put_aside().and_then(|()| fs::rename(&fresh, &self.path));
        if let Err(error) = moved {
            let _ = fs::remove_file(&fresh);
            return Err(error);
        }
        self.out = BufWriter::with_capacity(BUFFER, file);
        self.size = 0;
        Ok(())
    }

    fn put_aside(&self) -> io::Result<()> {
        if self.max_backups == 0 {
            return Ok(());
        }
        for n in (1..self.max_backups).rev() {
            rename_if_there(&self.aside(n), &self.aside(n + 1))?;
        }
        rename_if_there(&self.path, &self.aside(1))
    }

    fn aside(&self, n: usize) -> PathBuf {
        self.beside(&n.to_string())
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(ending);
        name.into()
    }
}

impl Write for RotatingFile {
    /// One call is one event; an event is never split over two files.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let length = event.len() as u64;
        let full = self.size > 0 && self.size + length > self.max_size;
        if full && let Err(error) = self.rotate() {
            warn!(%error, path = %self.path.display(), "cannot put the audit file aside; it grows on");
            // Tried again when as much has been written once more, not at every event.
            self.size = 0;
        }
        self.out.write_all(event)?;
        self.size += length;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Somebody may have moved a file away; then there is nothing to do.
fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Readable by the owner alone: who asked for what is nobody else's business.
fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_put_aside_whole_and_the_oldest_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.log");
        let mut file = RotatingFile::open(&path, 10, 2).unwrap();
        for event in ["one 56\n", "two 56\n", "three\n", "four 6\n"] {
            file.write_all(event.as_bytes()).unwrap();
        }
        file.flush().unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(read("audit.log").as_deref(), Some("four 6\n"));
        assert_eq!(read("audit.log.1").as_deref(), Some("three\n"));
        assert_eq!(read("audit.log.2").as_deref(), Some("two 56\n"));
        assert_eq!(read("audit.log.3"), None);
    }

    #[test]
    fn nothing_is_lost_when_somebody_takes_the_file_away() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.log");
        let mut file = RotatingFile::open(&path, 10, 2).unwrap();
        file.write_all(b"one 56\n").unwrap();
        fs::rename(&path, dir.path().join("taken")).unwrap();
        for event in ["two 56\n", "three\n"] {
            file.write_all(event.as_bytes()).unwrap();
        }
        file.flush().unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            (read("taken"), read("audit.log.1"), read("audit.log")),
            ("one 56\n".into(), "two 56\n".into(), "three\n".into())
        );
    }

    #[test]
    fn a_file_that_cannot_be_put_aside_is_written_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.log");
        // A folder in the way of the backup.
        fs::create_dir_all(dir.path().join("audit.log.1/full")).unwrap();
        let mut file = RotatingFile::open(&path, 10, 1).unwrap();
        for event in ["one 56\n", "two 56\n"] {
            file.write_all(event.as_bytes()).unwrap();
        }
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "one 56\ntwo 56\n");
    }

    #[test]
    fn a_restart_appends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.log");
        for event in ["a\n", "b\n"] {
            let mut file = RotatingFile::open(&path, 100, 2).unwrap();
            file.write_all(event.as_bytes()).unwrap();
            file.flush().unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap(), "a\nb\n");
    }
}
