//! What the API server itself needs to tell all that there is: the lists that the gate asks for, in the same way and over one
//! connection, by somebody who looks for their end and throws the rest away.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http2::SendRequest;
use tokio::task::JoinSet;

use crate::{
    cluster::Cluster,
    gate::{get, http2},
};

/// What came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Came {
    pub(crate) within: Duration,
    pub(crate) bytes: usize,
    pub(crate) objects: usize,
}

/// What informers of the gate list. Of most there is nothing here.
const KINDS: &[&str] = &[
    "/api/v1/nodes",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/persistentvolumes",
    "/api/v1/pods",
    "/api/v1/serviceaccounts",
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "/apis/certificates.k8s.io/v1/podcertificaterequests",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/storage.k8s.io/v1/csidrivers",
    "/apis/storage.k8s.io/v1/volumeattachments",
];

/// As kube asks for a streaming list, made consistent.
const STREAMED: &str =
    "watch=true&timeoutSeconds=290&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

/// A list ends with a bookmark.
const BOOKMARK: &[u8] = b"{\"type\":\"BOOKMARK\"";

/// All of them at the same time, as the gate's own user. Why not, if the API server cannot tell yet.
pub(crate) async fn list(cluster: &Cluster) -> Result<Came, String> {
    let began = Instant::now();
    let (client, connection) = http2(&cluster.file(""), cluster.api, "gate").await;
    let mut all = JoinSet::new();
    for kind in KINDS {
        all.spawn(one(client.clone(), kind));
    }
    let mut came = Came::default();
    for one in all.join_all().await {
        let one = one?;
        came.bytes += one.bytes;
        came.objects += one.objects;
    }
    came.within = began.elapsed();
    connection.abort();
    Ok(came)
}

async fn one(mut client: SendRequest<Empty<Bytes>>, kind: &str) -> Result<Came, String> {
    let answer = client.send_request(get(&format!("{kind}?{STREAMED}"))).await;
    let answer = answer.map_err(|error| error.to_string())?;
    let (mut came, mut start) = (Came::default(), Vec::new());
    match answer.status() {
        StatusCode::OK => {}
        // No such API in this release, or not unless asked for.
        StatusCode::NOT_FOUND => return Ok(came),
        code => return Err(format!("{kind}: {code}")),
    }
    let mut body = answer.into_body();
    loop {
        let Some(frame) = body.frame().await else {
            return Err(format!("{kind}: the list has no end"));
        };
        let Ok(data) = frame.map_err(|error| error.to_string())?.into_data() else {
            continue;
        };
        came.bytes += data.len();
        for (at, part) in data.split(|byte| *byte == b'\n').enumerate() {
            if at > 0 {
                came.objects += 1;
                start.clear();
            }
            let missing = BOOKMARK.len() - start.len();
            start.extend_from_slice(&part[..missing.min(part.len())]);
            if start == BOOKMARK {
                return Ok(came);
            }
        }
    }
}
