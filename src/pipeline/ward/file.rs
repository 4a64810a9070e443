//! The list in a file, which replicas may share. Whoever writes holds a lock.

use std::{
    fmt, fs, io,
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::Mutex, task::spawn_blocking, time::timeout};

use super::store::{NotKept, change};
use crate::quarantine::{Change, List};

/// A file, and whoever is at it.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    alone: Arc<Mutex<()>>,
}

/// How long a lock is waited for that another has.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a file system may take over it.
const HANGING: Duration = Duration::from_secs(10);
/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(20);
/// Operators may read the list.
const READABLE: u32 = 0o644;
/// Whoever can open the lock can hold it, and keep the gate from writing.
const SECRET: u32 = 0o600;

impl File {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            alone: Arc::default(),
        }
    }

    pub(super) async fn read(&self) -> Result<Option<List>, NotKept> {
        let path = self.path.clone();
        self.blocking(move || read(&path)).await
    }

    pub(super) async fn update(&self, changes: &[Change], known: List) -> Result<List, NotKept> {
        let (path, changes) = (self.path.clone(), changes.to_vec());
        self.blocking(move || update(&path, &changes, known)).await
    }

    /// On a thread of its own, since a network file system may take its time; but on one, however long it takes.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, NotKept> + Send + 'static,
    ) -> Result<T, NotKept> {
        let hangs = || NotKept(format!("{self} has been hanging for a while"));
        let alone = Arc::clone(&self.alone).try_lock_owned().map_err(|_| hangs())?;
        let work = spawn_blocking(move || {
            let _alone = alone;
            work()
        });
        match timeout(HANGING, work).await {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => Err(NotKept(error.to_string())),
            Err(_) => Err(hangs()),
        }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

fn read(path: &Path) -> Result<Option<List>, NotKept> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        // A folder that is not there is a disk that is not there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder(path).is_dir() => return Ok(None),
        Err(error) => return Err(NotKept(format!("cannot read {}: {error}", path.display()))),
    };
    let list = List::parse(&text);
    list.map(Some)
        .map_err(|error| NotKept(format!("{} is not a quarantine list: {error}", path.display())))
}

fn update(path: &Path, changes: &[Change], known: List) -> Result<List, NotKept> {
    // What a link leads to now is replaced, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |error: io::Error| NotKept(format!("cannot write {}: {error}", path.display()));
    let _locked = lock(path).map_err(failed)?;
    let mut list = read(path)?.unwrap_or(known);
    change(&mut list, changes);
    let text = list.write().map_err(|error| NotKept(error.to_string()))?;
    replace(path, &text).map_err(failed)?;
    Ok(list)
}

/// Holds other gates off until it is dropped. The file itself is replaced, so another one stands for it.
fn lock(path: &Path) -> io::Result<fs::File> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let mut options = fs::File::options();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .mode(SECRET)
        .open(beside)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Readers find the old text or the new one, also after the power has failed.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = folder(path);
    let mut file = tempfile::Builder::new()
        .prefix(".quarantine")
        .permissions(fs::Permissions::from_mode(READABLE))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(folder)?.sync_all()
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
