//! Where the quarantine list is kept: nowhere but here, in a file, or in a ConfigMap upstream.
//!
//! Writers do not lose each other's words: whoever writes a file holds a lock, and a ConfigMap is replaced only in the version that
//! was read.

use std::{
    fmt, fs, io,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    quarantine::{Change, List},
    upstream::{Upstream, chain},
};

/// The `quarantine` section of the configuration.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Place {
    /// In memory; a restart forgets it.
    #[default]
    Nowhere,
    File(PathBuf),
    ConfigMap {
        namespace: String,
        name: String,
    },
}

/// A place, and the way there.
#[derive(Debug)]
pub enum Store {
    Memory(Mutex<List>),
    File(PathBuf),
    ConfigMap {
        namespace: String,
        name: String,
        upstream: Upstream,
    },
}

/// Why a list could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotKept(String);

/// The key of the ConfigMap that has the document.
const KEY: &str = "quarantine.json";
/// How long a file may take, locked by another or on a file system that hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(20);
/// How often a ConfigMap is read again because somebody else has written it.
const TRIES: u32 = 10;
/// Replicas may run as different users.
const READABLE: u32 = 0o644;

impl Place {
    pub fn open(&self, upstream: &Upstream) -> Store {
        match self {
            Self::Nowhere => Store::Memory(Mutex::default()),
            Self::File(path) => Store::File(path.clone()),
            Self::ConfigMap { namespace, name } => Store::ConfigMap {
                namespace: namespace.clone(),
                name: name.clone(),
                upstream: upstream.clone(),
            },
        }
    }
}

impl Store {
    pub async fn read(&self) -> Result<List, NotKept> {
        match self {
            Self::Memory(list) => Ok(list.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            Self::File(path) => {
                let path = path.clone();
                blocking(move || read_file(&path)).await
            }
            Self::ConfigMap {
                namespace,
                name,
                upstream,
            } => Ok(ConfigMap::read(upstream, namespace, name).await?.list),
        }
    }

    /// Makes the changes to what is there, and says what is there then.
    pub(super) async fn update(&self, changes: &[Change]) -> Result<List, NotKept> {
        match self {
            Self::Memory(list) => {
                let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
                changed(&mut list, changes);
                Ok(list.clone())
            }
            Self::File(path) => {
                let (path, changes) = (path.clone(), changes.to_vec());
                blocking(move || update_file(&path, &changes)).await
            }
            Self::ConfigMap {
                namespace,
                name,
                upstream,
            } => {
                for attempt in 1..=TRIES {
                    let mut found = ConfigMap::read(upstream, namespace, name).await?;
                    changed(&mut found.list, changes);
                    if found.write(upstream, namespace, name).await? {
                        return Ok(found.list);
                    }
                    sleep(jitter() * attempt).await;
                }
                Err(NotKept(format!(
                    "ConfigMap {namespace}/{name} is changed by others all the time"
                )))
            }
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(_) => f.write_str("memory"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::ConfigMap { namespace, name, .. } => write!(f, "ConfigMap {namespace}/{name}"),
        }
    }
}

fn changed(list: &mut List, changes: &[Change]) {
    changes.iter().for_each(|change| list.apply(change));
    // Whoever writes also tidies up.
    list.expire(Timestamp::now());
}

/// Not the same for two replicas that have just met.
fn jitter() -> Duration {
    PAUSE + Duration::from_nanos(u64::from(Timestamp::now().subsec_nanosecond().unsigned_abs()) % 50_000_000)
}

/// A ConfigMap as it was found. What it has besides the list is left alone.
struct ConfigMap {
    /// Nothing if there is none yet.
    object: Option<Value>,
    list: List,
}

impl ConfigMap {
    async fn read(upstream: &Upstream, namespace: &str, name: &str) -> Result<Self, NotKept> {
        let what = format!("ConfigMap {namespace}/{name}");
        let target = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
        match ask(upstream, Method::GET, &target, None, &what).await? {
            (StatusCode::OK, object) => {
                let text = object
                    .get("data")
                    .and_then(|data| data.get(KEY))
                    .and_then(Value::as_str);
                let list = List::parse(text.unwrap_or_default());
                Ok(Self {
                    list: list
                        .map_err(|error| NotKept(format!("{KEY} in {what} is not a quarantine list: {error}")))?,
                    object: Some(object),
                })
            }
            (StatusCode::NOT_FOUND, _) => Ok(Self {
                object: None,
                list: List::default(),
            }),
            (code, answer) => Err(refused(&what, code, &answer)),
        }
    }

    /// Whether it was still as it was found.
    async fn write(&self, upstream: &Upstream, namespace: &str, name: &str) -> Result<bool, NotKept> {
        let text = self.list.write().map_err(|error| NotKept(error.to_string()))?;
        let what = format!("ConfigMap {namespace}/{name}");
        let all = format!("/api/v1/namespaces/{namespace}/configmaps");
        let (method, target, body) = match self.object.clone() {
            None => {
                let metadata = json!({"namespace": namespace, "name": name});
                let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {KEY: text}});
                (Method::POST, all, body)
            }
            // With the version that was read: another than that is not replaced.
            Some(mut object) => {
                if let Value::Object(fields) = &mut object {
                    let data = fields.entry("data").or_insert_with(|| json!({}));
                    if let Value::Object(data) = data {
                        data.insert(KEY.to_owned(), text.into());
                    }
                }
                (Method::PUT, format!("{all}/{name}"), object)
            }
        };
        match ask(upstream, method, &target, Some(&body), &what).await? {
            (StatusCode::OK | StatusCode::CREATED, _) => Ok(true),
            (StatusCode::CONFLICT, _) => Ok(false),
            (code, answer) => Err(refused(&what, code, &answer)),
        }
    }
}

async fn ask(
    upstream: &Upstream,
    method: Method,
    target: &str,
    body: Option<&Value>,
    what: &str,
) -> Result<(StatusCode, Value), NotKept> {
    let asked = upstream.ask(method, target, None, body).await;
    asked.map_err(|error| {
        NotKept(format!(
            "{what}: upstream could not be asked: {}",
            chain(error.as_ref())
        ))
    })
}

fn refused(what: &str, code: StatusCode, answer: &Value) -> NotKept {
    let message = answer.get("message").and_then(Value::as_str).unwrap_or_default();
    let hint = if code == StatusCode::FORBIDDEN {
        "; config/kubernetes/quarantine.yaml has the rights that the gate needs"
    } else {
        ""
    };
    NotKept(format!("{what}: upstream answered {}: {message}{hint}", code.as_u16()))
}

/// On a thread of its own: a network file system may take its time.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, NotKept> + Send + 'static) -> Result<T, NotKept> {
    match timeout(PATIENCE * 2, spawn_blocking(work)).await {
        Ok(Ok(done)) => done,
        Ok(Err(error)) => Err(NotKept(error.to_string())),
        Err(_) => Err(NotKept(format!("it took more than {} s", PATIENCE.as_secs() * 2))),
    }
}

fn read_file(path: &Path) -> Result<List, NotKept> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(List::default()),
        Err(error) => return Err(NotKept(format!("cannot read {}: {error}", path.display()))),
    };
    List::parse(&text).map_err(|error| NotKept(format!("{} is not a quarantine list: {error}", path.display())))
}

fn update_file(path: &Path, changes: &[Change]) -> Result<List, NotKept> {
    let failed = |error: io::Error| NotKept(format!("cannot write {}: {error}", path.display()));
    let _locked = lock(path).map_err(failed)?;
    let mut list = read_file(path)?;
    changed(&mut list, changes);
    let text = list.write().map_err(|error| NotKept(error.to_string()))?;
    replace(path, &text).map_err(failed)?;
    Ok(list)
}

/// Holds other gates off until it is dropped. The file itself is replaced, so another one stands for it.
fn lock(path: &Path) -> io::Result<fs::File> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let file = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
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
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".quarantine")
        .permissions(fs::Permissions::from_mode(READABLE))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(folder)?.sync_all()
}
