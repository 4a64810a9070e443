//! The list in a ConfigMap upstream. It is replaced only in the version that was read.

use std::{fmt, time::Duration};

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::store::{NotKept, change};
use crate::{
    quarantine::{Change, List},
    upstream::{Upstream, chain},
};

/// A ConfigMap, which need not be there.
#[derive(Debug)]
pub struct ConfigMap {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) upstream: Upstream,
}

/// What was found of it.
struct Found {
    /// Nothing if there is none.
    object: Option<Value>,
    /// Nothing if there is none in it.
    list: Option<List>,
}

/// The key that has the document.
const KEY: &str = "quarantine.json";
/// How often it is read again because somebody else has written it.
const TRIES: u32 = 10;

impl ConfigMap {
    pub(super) async fn read(&self) -> Result<Option<List>, NotKept> {
        Ok(self.find().await?.list)
    }

    pub(super) async fn update(&self, changes: &[Change], known: &List) -> Result<List, NotKept> {
        for attempt in 1..=TRIES {
            let Found { object, list } = self.find().await?;
            let mut list = list.unwrap_or_else(|| known.clone());
            change(&mut list, changes);
            if self.write(object, &list).await? {
                return Ok(list);
            }
            sleep(jitter() * attempt).await;
        }
        Err(NotKept(format!("{self} is changed by others all the time")))
    }

    async fn find(&self) -> Result<Found, NotKept> {
        match self.ask(Method::GET, &self.target(), None).await? {
            (StatusCode::OK, object) => {
                let text = object
                    .get("data")
                    .and_then(|data| data.get(KEY))
                    .and_then(Value::as_str);
                let list = text.map(List::parse).transpose();
                Ok(Found {
                    list: list
                        .map_err(|error| NotKept(format!("{KEY} in {self} is not a quarantine list: {error}")))?,
                    object: Some(object),
                })
            }
            (StatusCode::NOT_FOUND, _) => Ok(Found {
                object: None,
                list: None,
            }),
            (code, answer) => Err(self.refused(code, &answer)),
        }
    }

    /// Whether it was still as it was found. What it has besides the list is left alone.
    async fn write(&self, found: Option<Value>, list: &List) -> Result<bool, NotKept> {
        let text = list.write().map_err(|error| NotKept(error.to_string()))?;
        let (method, target, body) = match found {
            None => {
                let metadata = json!({"namespace": self.namespace, "name": self.name});
                let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {KEY: text}});
                (Method::POST, self.collection(), body)
            }
            // With the version that was read: another than that is not replaced.
            Some(mut object) => {
                if let Value::Object(fields) = &mut object
                    && let Value::Object(data) = fields.entry("data").or_insert_with(|| json!({}))
                {
                    data.insert(KEY.to_owned(), text.into());
                }
                (Method::PUT, self.target(), object)
            }
        };
        match self.ask(method, &target, Some(&body)).await? {
            (StatusCode::OK | StatusCode::CREATED, _) => Ok(true),
            (StatusCode::CONFLICT, _) => Ok(false),
            (code, answer) => Err(self.refused(code, &answer)),
        }
    }

    async fn ask(&self, method: Method, target: &str, body: Option<&Value>) -> Result<(StatusCode, Value), NotKept> {
        let asked = self.upstream.ask(method, target, None, body).await;
        asked.map_err(|error| {
            NotKept(format!(
                "{self}: upstream could not be asked: {}",
                chain(error.as_ref())
            ))
        })
    }

    fn refused(&self, code: StatusCode, answer: &Value) -> NotKept {
        let message = answer.get("message").and_then(Value::as_str).unwrap_or_default();
        let hint = if code == StatusCode::FORBIDDEN {
            "; config/kubernetes/quarantine.yaml has the rights that the gate needs"
        } else {
            ""
        };
        NotKept(format!("{self}: upstream answered {}: {message}{hint}", code.as_u16()))
    }

    fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace)
    }

    fn target(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }
}

impl fmt::Display for ConfigMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigMap {}/{}", self.namespace, self.name)
    }
}

/// Not the same for two replicas that have just met.
fn jitter() -> Duration {
    let nanos = Timestamp::now().subsec_nanosecond().unsigned_abs();
    Duration::from_millis(20) + Duration::from_nanos(u64::from(nanos) % 50_000_000)
}
