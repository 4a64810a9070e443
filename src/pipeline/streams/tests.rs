use std::sync::atomic::AtomicU16;

use arc_swap::ArcSwap;
use http::StatusCode;
use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::{
    caller::User,
    graph::{Store, VolumeAttachment},
    identity::{
        token::{Ask, Tokens},
        x509::{ClientCa, Options},
    },
    pipeline::ward::{Metrics, Place},
    pki::Authority,
    quarantine::{Change, Entry, Mode, Target},
    request::Head,
    server::Peer,
};

/// A token that is withdrawn takes its streams with it, at the next look or, if upstream could not tell then, soon after.
#[tokio::test(start_paused = true)]
async fn streams_end_with_their_token() {
    let answer = Arc::new(AtomicU16::new(200));
    let says = Arc::clone(&answer);
    let ask: Ask = Arc::new(move |_| {
        let code = says.load(Ordering::Relaxed);
        let status = json!({"authenticated": code == 200, "user": {"username": "u"}});
        let answer = match code {
            503 => Err("connection refused".to_owned()),
            _ => Ok((StatusCode::CREATED, json!({"status": status}))),
        };
        Box::pin(std::future::ready(answer))
    });
    let ca = Authority::new("ca").unwrap();
    let client_ca = ClientCa::from_pem(ca.certificate.as_bytes(), Options { uid: true }).unwrap();
    let authenticator = Authenticator {
        client_ca: Arc::new(ArcSwap::from_pointee(client_ca)),
        // Shorter than the pauses; it does not run by the paused clock.
        tokens: Some(Tokens::new(ask, Duration::from_nanos(1))),
    };
    let streams = Arc::new(Streams::default());
    let connection = Arc::new(Connection::new(Peer {
        address: ([127, 0, 0, 1], 1).into(),
        certificates: Vec::new(),
    }));
    let mut cut = streams.open(&connection, Some(Token::new("t")), None, (&caller(), &watch()));
    let watching = Arc::clone(&streams);
    tokio::spawn(async move { watching.watch_tokens(&authenticator).await });

    sleep(EVERY_TOKEN * 2).await;
    assert!(cut.try_recv().is_err(), "cut while it was good");
    answer.store(503, Ordering::Relaxed);
    sleep(EVERY_TOKEN * 2).await;
    assert!(cut.try_recv().is_err(), "cut because nothing was known");
    answer.store(401, Ordering::Relaxed);
    sleep(SOON * 2).await;
    assert_eq!(cut.try_recv(), Ok(End::Lapsed));
}

/// What the graph has known is over with it; what it has not known yet may take a while, once.
#[tokio::test(start_paused = true)]
async fn a_dependency_holds_for_as_long_as_the_graph_says() {
    let key = Key::new(Kind::VolumeAttachment, "", "a");
    let attachment = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}});
    let attachment: VolumeAttachment = serde_json::from_value(attachment).unwrap();
    let mut store = Store::default();
    let without = store.publish();
    store.apply(&attachment);
    let with = store.publish();

    let moment = Duration::from_secs(1);
    let mut known = Dependency::new((Anchor::Node, "n"), key, true);
    assert!(known.holds(&with, Instant::now(), moment));
    assert!(!known.holds(&without, Instant::now(), moment));
    let mut pending = Dependency::new((Anchor::Node, "n"), key, false);
    assert!(pending.holds(&without, Instant::now(), moment));
    assert!(pending.holds(&with, Instant::now(), moment));
    assert!(!pending.holds(&without, Instant::now(), moment), "it was known");
    let mut pending = Dependency::new((Anchor::Node, "n"), key, false);
    assert!(!pending.holds(&without, Instant::now() + moment, moment));
}

#[tokio::test]
async fn a_stop_ends_watches_only_and_those_that_come_late() {
    let streams = Streams::default();
    let connection = Arc::new(Connection::new(Peer {
        address: ([127, 0, 0, 1], 1).into(),
        certificates: Vec::new(),
    }));
    let mut watched = streams.open(&connection, None, None, (&caller(), &watch()));
    let mut session = streams.open(&connection, None, None, (&caller(), &session()));
    streams.stop();
    assert_eq!(watched.try_recv(), Ok(End::GateStopped));
    assert!(session.try_recv().is_err());
    let mut late = streams.open(&connection, None, None, (&caller(), &watch()));
    assert_eq!(late.try_recv(), Ok(End::GateStopped));
}

/// Whoever comes into quarantine loses what that leaves no right to, at once; others do not notice.
#[tokio::test]
async fn streams_end_with_quarantine() {
    let streams = Arc::new(Streams::default());
    let ward = Arc::new(Ward::new(
        Place::Nowhere.open(&crate::pipeline::tests::nowhere()),
        Metrics::default(),
    ));
    let connection = Arc::new(Connection::new(Peer {
        address: ([127, 0, 0, 1], 1).into(),
        certificates: Vec::new(),
    }));
    let open = |caller: &Caller, info: &RequestInfo| streams.open(&connection, None, None, (caller, info));
    let (mut reads, mut acts) = (open(&caller(), &watch()), open(&caller(), &session()));
    let mut others = open(&Caller::from(User::default()), &session());
    let (watching, at) = (Arc::clone(&streams), Arc::clone(&ward));
    tokio::spawn(async move { watching.watch_quarantine(&at).await });

    let hold = |mode| {
        Change::Hold(Entry {
            target: Target::Node("n".to_owned()),
            mode,
            reason: String::new(),
            by: String::new(),
            since: Timestamp::now(),
            until: None,
        })
    };
    ward.change(hold(Mode::ReadOnly)).await.unwrap();
    assert_eq!((&mut acts).await, Ok(End::Quarantined));
    assert!(reads.try_recv().is_err(), "a watch only reads");
    ward.change(hold(Mode::HeartbeatOnly)).await.unwrap();
    assert_eq!((&mut reads).await, Ok(End::Quarantined));
    assert!(others.try_recv().is_err());
}

fn caller() -> Caller {
    Caller::from(User {
        name: "system:node:n".to_owned(),
        groups: vec!["system:nodes".to_owned()],
        ..User::default()
    })
}

fn watch() -> RequestInfo {
    info("/api/v1/pods?watch=1")
}

fn session() -> RequestInfo {
    info("/api/v1/namespaces/ns/pods/p/exec")
}

fn info(target: &str) -> RequestInfo {
    let request = http::Request::get(target).body(()).unwrap();
    Head::read(request.into_parts().0).unwrap().info().as_ref().clone()
}
