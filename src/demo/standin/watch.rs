//! Watches: a response that goes on, one JSON line an event. A task reads the store's log from
//! where the client is and feeds the body, at the pace the client reads it.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, interval_at},
};

use super::{
    Body,
    answer::{Refusal, response},
    object::set_meta,
    routes::Query,
    select::Cover,
    store::{Change, Store},
};

/// Lines that may wait for the client to read them.
const AHEAD: usize = 16;
/// How often a client that wants them gets bookmarks, from which it knows that the server lives.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// The body of a watch; the sender going away ends it.
struct Lines(mpsc::Receiver<Bytes>);

impl http_body::Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let line = self.0.poll_recv(context);
        line.map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

/// Answers with a watch over what `cover` covers.
pub(super) fn open(store: &Arc<Store>, cover: Cover, query: &Query) -> Result<Response<Body>, Refusal> {
    let (lines, revision) = start(store, &cover, query)?;
    let limit = query.number("timeoutSeconds")?.filter(|limit| *limit > 0);
    let (sender, receiver) = mpsc::channel(AHEAD);
    let bookmarks = query.flag("allowWatchBookmarks") == Some(true);
    let feed = feed(Arc::clone(store), cover, lines, revision, bookmarks, sender);
    tokio::spawn(async move {
        match limit {
            // Running out of time is the ordinary end of a watch: the client opens the next one.
            Some(limit) => drop(tokio::time::timeout(Duration::from_secs(limit), feed).await),
            None => feed.await,
        }
    });
    let body = Lines(receiver).boxed_unsync();
    Ok(response(StatusCode::OK, "application/json", body))
}

/// What is sent before the first change, and the revision it brings the client up to.
fn start(store: &Store, cover: &Cover, query: &Query) -> Result<(Vec<Bytes>, u64), Refusal> {
    let asked = query.number("resourceVersion")?.filter(|asked| *asked > 0);
    let initial = query.flag("sendInitialEvents");
    let (held, now) = store.list(|key, object| cover.covers(key, object));
    if !initial.unwrap_or(asked.is_none()) {
        let revision = asked.unwrap_or(now);
        store.since(revision)?;
        return Ok((Vec::new(), revision));
    }
    let mut lines: Vec<Bytes> = held.iter().map(|object| line("ADDED", object)).collect();
    if initial == Some(true) {
        lines.push(bookmark(cover, now, &json!({ "k8s.io/initial-events-end": "true" })));
    }
    Ok((lines, now))
}

/// Feeds a watch until the client leaves or cannot be served any further.
async fn feed(
    store: Arc<Store>,
    cover: Cover,
    mut lines: Vec<Bytes>,
    mut revision: u64,
    bookmarks: bool,
    sender: mpsc::Sender<Bytes>,
) {
    let mut due = interval_at(Instant::now() + BOOKMARKS, BOOKMARKS);
    // Subscribed before the log is read: a change in between is then read or wakes, never lost.
    let mut changes = store.changes();
    loop {
        let (newer, now) = match store.since(revision) {
            Ok(read) => read,
            Err(refusal) => {
                // The client fell off the log: it is told to list again, if it is still there.
                drop(sender.send(line("ERROR", &refusal.status())).await);
                return;
            }
        };
        lines.extend(newer.iter().filter_map(|change| event(&cover, change)));
        revision = now;
        for line in lines.drain(..) {
            if sender.send(line).await.is_err() {
                return;
            }
        }
        let go_on = tokio::select! {
            changed = changes.changed() => changed.is_ok(),
            _ = due.tick(), if bookmarks => {
                lines.push(bookmark(&cover, revision, &json!({})));
                true
            }
            () = sender.closed() => false,
        };
        if !go_on {
            return;
        }
    }
}

/// The event a change is to this watch: an object that comes to match is added, one that no
/// longer does is deleted, whatever happened to the object itself.
fn event(cover: &Cover, change: &Change) -> Option<Bytes> {
    let seen = |object: &&Arc<Value>| cover.covers(&change.key, object);
    let before = change.before.as_ref().filter(seen);
    let after = change.after.as_ref().filter(seen);
    match (before, after) {
        (None, Some(after)) => Some(line("ADDED", after)),
        (Some(_), Some(after)) => Some(line("MODIFIED", after)),
        (Some(before), None) => {
            let mut last = Value::clone(before);
            set_meta(&mut last, "resourceVersion", change.revision.to_string());
            Some(line("DELETED", &last))
        }
        (None, None) => None,
    }
}

/// That the client has seen everything up to this revision.
fn bookmark(cover: &Cover, revision: u64, annotations: &Value) -> Bytes {
    let bookmark = json!({
        "kind": cover.kind.kind,
        "apiVersion": cover.kind.api_version(),
        "metadata": { "resourceVersion": revision.to_string(), "annotations": annotations },
    });
    line("BOOKMARK", &bookmark)
}

fn line(kind: &str, object: &Value) -> Bytes {
    let mut line = json!({ "type": kind, "object": object }).to_string();
    line.push('\n');
    Bytes::from(line)
}
