//! An API server that does what a test says.

use std::{
    collections::{BTreeMap, HashMap},
    future::pending,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::{BoxError, service_fn, util::BoxCloneSyncService};

use super::super::{Answer, Upstream};

pub(super) const CERTIFICATE_REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
pub(super) const PODS: &str = "/api/v1/pods";
pub(super) const RESOURCE_SLICES: &str = "/apis/resource.k8s.io/v1beta1/resourceslices";

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct Server(Arc<Mutex<Inner>>);

/// What the server makes of a wish for a streaming list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Streaming {
    Known,
    Refused,
    /// As a server of old times, which sends what there is and no end.
    Ignored,
}

pub(super) struct Inner {
    pub(super) version: u64,
    /// Versions before are forgotten.
    pub(super) oldest: u64,
    pub(super) streaming: Streaming,
    /// Answers nothing any more.
    pub(super) dead: bool,
    /// Sends no bookmarks but those at the end of lists.
    pub(super) quiet: bool,
    /// Codes for all requests to a path.
    pub(super) refused: HashMap<&'static str, u16>,
    /// Group versions, with the resources in them.
    pub(super) served: HashMap<&'static str, &'static str>,
    /// Paths and queries.
    pub(super) requests: Vec<String>,
    objects: BTreeMap<(&'static str, String), Value>,
    events: Vec<(u64, &'static str, String)>,
    watches: Vec<(String, mpsc::UnboundedSender<Bytes>)>,
}

impl Server {
    pub(super) fn new(streaming: Streaming) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            version: 100,
            oldest: 0,
            streaming,
            dead: false,
            quiet: false,
            refused: HashMap::new(),
            served: HashMap::from([("certificates.k8s.io/v1", "certificatesigningrequests")]),
            requests: Vec::new(),
            objects: BTreeMap::new(),
            events: Vec::new(),
            watches: Vec::new(),
        })))
    }

    pub(super) fn upstream(&self) -> Upstream {
        let server = self.clone();
        BoxCloneSyncService::new(service_fn(move |request| server.clone().respond(request)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    async fn respond(self, request: Request<()>) -> Result<Response<Answer>, BoxError> {
        if self.lock().dead {
            return pending().await;
        }
        Ok(self.lock().answer(&request))
    }
}

impl Inner {
    pub(super) fn put(&mut self, path: &'static str, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let known = self.objects.insert((path, name), object.clone()).is_some();
        self.happened(path, if known { "MODIFIED" } else { "ADDED" }, &object);
    }

    pub(super) fn delete(&mut self, path: &'static str, name: &str) {
        self.version += 1;
        let mut object = self.objects.remove(&(path, name.to_owned())).unwrap();
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.happened(path, "DELETED", &object);
    }

    /// Without telling anybody.
    pub(super) fn forget(&mut self, path: &'static str, name: &str) {
        self.version += 1;
        self.objects.remove(&(path, name.to_owned())).unwrap();
    }

    /// To the watches of a path, whatever it is.
    pub(super) fn say(&mut self, path: &str, data: impl Into<Bytes>) {
        let data = data.into();
        let watches = self.watches.iter().filter(|(watched, _)| watched == path);
        watches.for_each(|(_, watch)| drop(watch.send(data.clone())));
    }

    /// A bookmark to everybody.
    pub(super) fn beat(&mut self) {
        let bookmark = bookmark(self.version, &json!({}));
        if !self.dead && !self.quiet {
            self.watches
                .retain(|(_, watch)| watch.send(bookmark.clone().into()).is_ok());
        }
    }

    pub(super) fn cut(&mut self, path: &str) {
        self.watches.retain(|(watched, _)| watched != path);
    }

    /// How many requests to this path had this in their query.
    pub(super) fn asked(&self, path: &str, query: &str) -> usize {
        let alike = |request: &&String| {
            request
                .split_once('?')
                .is_some_and(|(p, q)| p == path && q.contains(query))
        };
        self.requests.iter().filter(alike).count()
    }

    fn happened(&mut self, path: &'static str, r#type: &str, object: &Value) {
        let line = line(r#type, object);
        self.events.push((self.version, path, line.clone()));
        self.say(path, line);
    }

    fn answer(&mut self, request: &Request<()>) -> Response<Answer> {
        self.requests.push(request.uri().to_string());
        let path = request.uri().path();
        let query: HashMap<&str, &str> = request
            .uri()
            .query()
            .unwrap_or_default()
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .collect();
        if let Some(code) = self.refused.get(path) {
            return status(*code);
        }
        if let Some(api) = path.strip_prefix("/apis/").filter(|api| api.matches('/').count() == 1) {
            return match self.served.get(api) {
                Some(resource) => {
                    let resource =
                        json!({"name": resource, "kind": "", "namespaced": false, "singularName": "", "verbs": []});
                    whole(
                        200,
                        &json!({"kind": "APIResourceList", "groupVersion": api, "resources": [resource]}),
                    )
                }
                None => status(404),
            };
        }
        match query.get("watch") {
            None => self.list(path, query.contains_key("limit")),
            Some(_) => self.watch(path, &query),
        }
    }

    fn list(&self, path: &str, limited: bool) -> Response<Answer> {
        assert!(limited, "lists are taken in pages");
        let items: Vec<&Value> = self.held(path).collect();
        let version = self.version.to_string();
        whole(
            200,
            &json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": version}, "items": items}),
        )
    }

    fn watch(&mut self, path: &str, query: &HashMap<&str, &str>) -> Response<Answer> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let say = |text: String| sender.send(text.into()).unwrap();
        if query.contains_key("sendInitialEvents") {
            assert_eq!(query.get("resourceVersion"), None, "what is true now");
            if self.streaming == Streaming::Refused {
                return status(422);
            }
            self.held(path).for_each(|object| say(line("ADDED", object)));
            if self.streaming == Streaming::Known {
                say(bookmark(self.version, &json!({"k8s.io/initial-events-end": "true"})));
            }
        } else {
            let since: u64 = query["resourceVersion"].parse().unwrap();
            if since < self.oldest {
                let gone =
                    json!({"kind": "Status", "status": "Failure", "message": "old", "reason": "Expired", "code": 410});
                say(line("ERROR", &gone));
            }
            let later = self.events.iter().filter(|(at, of, _)| *at > since && *of == path);
            later.for_each(|(_, _, line)| say(line.clone()));
        }
        self.watches.push((path.to_owned(), sender));
        let frames = stream::unfold(receiver, async |mut receiver| {
            let data = receiver.recv().await?;
            Some((Ok::<_, BoxError>(Frame::data(data)), receiver))
        });
        Response::new(StreamBody::new(frames).boxed_unsync())
    }

    fn held(&self, path: &str) -> impl Iterator<Item = &Value> {
        let here = self.objects.iter().filter(move |((of, _), _)| *of == path);
        here.map(|(_, object)| object)
    }
}

/// With the type first, as Go writes it.
fn line(r#type: &str, object: &Value) -> String {
    format!("{{\"type\":\"{type}\",\"object\":{object}}}\n")
}

fn bookmark(version: u64, annotations: &Value) -> String {
    let metadata = json!({"resourceVersion": version.to_string(), "annotations": annotations});
    line(
        "BOOKMARK",
        &json!({"kind": "X", "apiVersion": "v1", "metadata": metadata}),
    )
}

fn status(code: u16) -> Response<Answer> {
    let body = json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "No", "code": code});
    whole(code, &body)
}

fn whole(code: u16, body: &Value) -> Response<Answer> {
    let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response
}
