mod server;

use serde_json::{Value, json};
use test_case::test_case;
use tokio::{task::JoinSet, time::sleep};

use self::server::{CERTIFICATE_REQUESTS, PODS, RESOURCE_SLICES, Server, Streaming};
use super::*;
use crate::graph::{Key, Kind};

struct Gate {
    server: Server,
    graph: Graph,
    ready: Ready,
    _tasks: JoinSet<()>,
}

fn all(tasks: Tasks) -> impl Iterator<Item = Task> {
    tasks.following.into_iter().chain([tasks.freshness])
}

/// Before a server, which sends a bookmark twice a minute.
fn gate(server: &Server, config: &Config) -> Gate {
    let ready = Ready::default();
    let (graph, tasks) = start(server.upstream(), config, &ready, &Haste::default());
    let mut running: JoinSet<()> = all(tasks).map(|(_, task)| task).collect();
    let beating = server.clone();
    running.spawn(async move {
        loop {
            sleep(Duration::from_secs(30)).await;
            beating.lock().beat();
        }
    });
    Gate {
        server: server.clone(),
        graph,
        ready,
        _tasks: running,
    }
}

impl Gate {
    /// Whether node-a reaches the secret of a pod.
    fn reaches(&self, secret: &str) -> bool {
        let secret = Key::new(Kind::Secret, "default", secret);
        self.graph.load().reaches("node-a", secret)
    }

    fn not_ready(&self) -> Vec<&'static str> {
        let conditions = self.ready.conditions().into_iter();
        conditions.filter(|(_, met)| !met).map(|(name, _)| name).collect()
    }

    /// Time for everything that is not waited for on purpose.
    async fn settle(&self) {
        seconds(5).await;
    }
}

async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

/// On node-a, with a secret of the same name.
fn pod(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": "node-a", "volumes": [{"name": "v", "secret": {"secretName": name}}]},
    })
}

#[test_case(Streaming::Known; "streaming")]
#[test_case(Streaming::Refused; "in pages, since streaming is refused")]
#[test_case(Streaming::Ignored; "in pages, since streaming is not known")]
#[tokio::test(start_paused = true)]
async fn lists_and_then_watches(streaming: Streaming) {
    let server = Server::new(streaming);
    server.lock().put(PODS, pod("one"));
    let gate = gate(&server, &Config::default());
    assert!(matches!(gate.graph.freshness(), Freshness::Unsynced(_)));
    assert_eq!(gate.graph.age(), None);
    assert_eq!(gate.not_ready().len(), 10);
    seconds(20).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    assert!(gate.graph.age().is_some_and(|age| age <= Duration::from_secs(20)));
    assert_eq!(gate.not_ready(), [""; 0]);
    assert!(gate.reaches("one"));

    server.lock().put(PODS, pod("two"));
    let mut published = gate.graph.published();
    tokio::time::timeout(Duration::from_millis(1), published.next())
        .await
        .unwrap();
    assert!(gate.reaches("two"));
    server.lock().delete(PODS, "one");
    published.next().await;
    assert!(!gate.reaches("one"));

    let pages = server.lock().asked(PODS, "limit=500");
    assert_eq!(pages, usize::from(streaming != Streaming::Known));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_in_a_streaming_list_is_not_passed_over() {
    let server = Server::new(Streaming::Ignored);
    server.lock().put(PODS, pod("gone"));
    let gate = gate(&server, &Config::default());
    seconds(1).await;
    server.lock().delete(PODS, "gone");
    gate.settle().await;
    assert_eq!(server.lock().asked(PODS, "limit=500"), 1, "pages have no such thing");
    assert!(!gate.reaches("gone"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_cut_goes_on_where_it_was() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    gate.server.lock().put(PODS, pod("one"));
    gate.settle().await;
    gate.server.lock().cut(PODS);
    gate.server.lock().put(PODS, pod("two"));
    gate.server.lock().delete(PODS, "one");
    gate.settle().await;
    assert!(gate.reaches("two"));
    assert!(!gate.reaches("one"));
    assert_eq!(gate.server.lock().asked(PODS, "sendInitialEvents"), 1);
}

#[test_case(false; "after a cut")]
#[test_case(true; "among the events")]
#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_is_listed_again(among_events: bool) {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    gate.server.lock().put(PODS, pod("gone"));
    gate.server.lock().put(PODS, pod("left"));
    gate.settle().await;
    assert!(gate.reaches("gone"));
    {
        let mut server = gate.server.lock();
        server.forget(PODS, "gone");
        server.oldest = server.version;
        if among_events {
            let gone = "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"\",\"reason\":\"Gone\"}}\n";
            server.say(PODS, gone);
        } else {
            server.cut(PODS);
        }
    }
    gate.settle().await;
    assert!(!gate.reaches("gone"), "what vanished is dropped");
    assert!(gate.reaches("left"));
}

#[test_case(b"garbage\n"; "no JSON")]
#[test_case(b"{\"type\":\"DELETED\",\"object\":{\"metadata\":{}\n"; "broken off")]
#[test_case(b"{\"type\":\"DEL\n"; "broken off early")]
#[test_case(b"{\"type\":\"VANISHED\",\"object\":{}}\n"; "an unknown type")]
#[test_case(b"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"resourceVersion\":\"500\"}}}\n"; "no name")]
#[test_case(b"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"gone\"}}}\n"; "no version")]
#[test_case(b"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":7}}}\n"; "a wrong type")]
#[test_case(b"{\"type\":\"DELETED\",\"object\":null}\n"; "no object")]
#[test_case(b"{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"\",\"reason\":\"\"}}\n"; "an error")]
#[test_case(b"{\"type\":\"DELETED\",\"object\":\"\xff\"}\n"; "no text")]
#[test_case(b"[]\n"; "a list")]
#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_hides_nothing(event: &'static [u8]) {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    gate.server.lock().put(PODS, pod("gone"));
    gate.settle().await;
    assert!(gate.reaches("gone"));
    gate.server.lock().forget(PODS, "gone");
    gate.server.lock().say(PODS, event);
    gate.settle().await;
    assert!(!gate.reaches("gone"));
    gate.server.lock().put(PODS, pod("next"));
    gate.settle().await;
    assert!(gate.reaches("next"));
}

#[tokio::test(start_paused = true)]
async fn what_can_never_be_read_is_silence() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    gate.server
        .lock()
        .put(PODS, json!({"metadata": {"name": "bad"}, "spec": 7}));
    seconds(119).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    seconds(60).await;
    assert!(matches!(gate.graph.freshness(), Freshness::Silent("pods", _)));
    assert!(gate.graph.age().is_some_and(|age| age > Duration::from_secs(120)));
    assert_eq!(gate.not_ready(), ["informer-pods"]);
    gate.server.lock().delete(PODS, "bad");
    seconds(20).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    assert_eq!(gate.not_ready(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_not_served_is_looked_for_again() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh, "counts as empty");

    let slice = Key::cluster(Kind::ResourceSlice, "slice");
    let object = json!({"metadata": {"name": "slice"}, "spec": {"nodeName": "node-a"}});
    gate.server.lock().put(RESOURCE_SLICES, object);
    gate.server
        .lock()
        .served
        .insert("resource.k8s.io/v1beta1", "resourceslices");
    seconds(65).await;
    assert!(gate.graph.load().reaches("node-a", slice));

    gate.server.lock().served.clear();
    gate.server.lock().refused.insert(RESOURCE_SLICES, 404);
    gate.server.lock().cut(RESOURCE_SLICES);
    seconds(300).await;
    assert!(!gate.graph.load().reaches("node-a", slice));
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
}

#[test_case(404; "not served")]
#[test_case(403; "forbidden")]
#[tokio::test(start_paused = true)]
async fn pods_are_not_done_without(code: u16) {
    let server = Server::new(Streaming::Known);
    server.lock().refused.insert(PODS, code);
    let gate = gate(&server, &Config::default());
    seconds(60).await;
    assert_eq!(gate.graph.freshness(), Freshness::Unsynced("pods"));
    assert_eq!(gate.not_ready(), ["informer-pods"]);
    assert!(
        server.lock().asked(PODS, "watch=true") < 15,
        "tries less and less often"
    );
    server.lock().refused.clear();
    seconds(20).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    assert_eq!(gate.not_ready(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn upstream_that_has_gone_back_in_time_is_listed_again() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    gate.server.lock().put(PODS, pod("gone"));
    gate.settle().await;
    {
        let mut server = gate.server.lock();
        server.cut(PODS);
        server.forget(PODS, "gone");
        server.version = 7;
        server.put(PODS, pod("restored"));
    }
    gate.settle().await;
    assert!(!gate.reaches("gone"));
    assert!(gate.reaches("restored"));
    gate.server.lock().put(PODS, pod("later"));
    gate.settle().await;
    assert!(gate.reaches("later"));
}

#[test_case(false; "stale")]
#[test_case(true; "fail static")]
#[tokio::test(start_paused = true)]
async fn silence_makes_stale(fail_static: bool) {
    let config = Config {
        fail_static,
        ..Config::default()
    };
    let gate = gate(&Server::new(Streaming::Known), &config);
    seconds(600).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh, "quiet is not silent");
    gate.server.lock().dead = true;
    seconds(50).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    seconds(75).await;
    if fail_static {
        assert_eq!(gate.graph.freshness(), Freshness::Fresh);
        assert_eq!(gate.not_ready(), [""; 0]);
    } else {
        assert!(matches!(gate.graph.freshness(), Freshness::Silent(..)));
        assert_eq!(gate.not_ready().len(), 10);
    }
    gate.server.lock().dead = false;
    gate.server.lock().put(PODS, pod("one"));
    // What was asked while it was dead gets no answer, and is given up.
    seconds(150).await;
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    assert_eq!(gate.not_ready(), [""; 0]);
    assert!(gate.reaches("one"));
    let lists = gate.server.lock().asked(PODS, "sendInitialEvents");
    assert_eq!(lists, 2, "nobody waits for something to happen");
}

/// Where nothing happens to a kind, but much to others, and upstream sends no bookmarks.
#[tokio::test(start_paused = true)]
async fn quiet_without_bookmarks_is_not_silence() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.server.lock().put(PODS, pod("one"));
    gate.server.lock().quiet = true;
    gate.settle().await;
    for second in 0..600 {
        gate.server.lock().version += 1;
        if second % 70 == 60 {
            gate.server.lock().cut(PODS);
        }
        sleep(Duration::from_secs(1)).await;
        assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    }
    assert!(gate.reaches("one"));
    let lists = gate.server.lock().asked(PODS, "sendInitialEvents");
    assert!((2..=10).contains(&lists), "listed {lists} times");
}

#[tokio::test(start_paused = true)]
async fn an_unsynced_start_is_not_static() {
    let server = Server::new(Streaming::Known);
    server.lock().dead = true;
    let config = Config {
        fail_static: true,
        ..Config::default()
    };
    let gate = gate(&server, &config);
    seconds(500).await;
    assert!(matches!(gate.graph.freshness(), Freshness::Unsynced(_)));
    assert_eq!(gate.not_ready().len(), 10);
}

#[test_case(Need::Enforced; "enforced")]
#[test_case(Need::Recorded; "recorded")]
#[test_case(Need::None; "off")]
#[tokio::test(start_paused = true)]
async fn certificate_requests_can_be_done_without(certificate_requests: Need) {
    let server = Server::new(Streaming::Known);
    server.lock().refused.insert(CERTIFICATE_REQUESTS, 403);
    let config = Config {
        certificate_requests,
        ..Config::default()
    };
    let gate = gate(&server, &config);
    seconds(60).await;
    let (watched, vital) = (
        certificate_requests != Need::None,
        certificate_requests == Need::Enforced,
    );
    let expected = vital.then_some("informer-certificatesigningrequests");
    assert_eq!(gate.not_ready(), Vec::from_iter(expected));
    assert_eq!(gate.graph.freshness() == Freshness::Fresh, !vital);
    assert_eq!(gate.graph.age().is_some(), !vital);
    let lacks = || gate.graph.lacks(Kind::CertificateSigningRequest);
    assert_eq!(lacks(), certificate_requests == Need::Recorded);
    assert!(!gate.graph.lacks(Kind::Pod));
    assert_eq!(server.lock().asked(CERTIFICATE_REQUESTS, "watch=true") > 0, watched);

    let object = json!({
        "metadata": {"name": "csr-1"},
        "spec": {"username": "system:node:node-a", "groups": ["system:nodes"]},
    });
    server.lock().refused.clear();
    server.lock().put(CERTIFICATE_REQUESTS, object);
    seconds(60).await;
    let request = Key::cluster(Kind::CertificateSigningRequest, "csr-1");
    assert_eq!(gate.graph.load().reaches("node-a", request), watched);
    assert_eq!((gate.not_ready(), lacks()), (vec![], false));
}

/// What nobody waits for may also fall silent.
#[tokio::test(start_paused = true)]
async fn what_is_only_recorded_may_be_silent() {
    let server = Server::new(Streaming::Known);
    let config = Config {
        certificate_requests: Need::Recorded,
        ..Config::default()
    };
    let gate = gate(&server, &config);
    gate.settle().await;
    assert!(!gate.graph.lacks(Kind::CertificateSigningRequest));
    server.lock().refused.insert(CERTIFICATE_REQUESTS, 403);
    server.lock().cut(CERTIFICATE_REQUESTS);
    seconds(300).await;
    assert!(gate.graph.lacks(Kind::CertificateSigningRequest));
    assert_eq!(gate.graph.freshness(), Freshness::Fresh);
    assert_eq!(gate.not_ready(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_published_in_few_batches() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    let before = *gate.graph.generation.borrow();
    (0..1000).for_each(|at| gate.server.lock().put(PODS, pod(&format!("pod-{at}"))));
    gate.settle().await;
    assert!(gate.reaches("pod-999"));
    let batches = *gate.graph.generation.borrow() - before;
    assert!((1..=20).contains(&batches), "{batches}");
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_not_a_flood() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    for _ in 0..100 {
        sleep(Duration::from_millis(100)).await;
        gate.server.lock().cut(PODS);
    }
    assert!(gate.server.lock().asked(PODS, "watch=true") < 15);
}

#[tokio::test(start_paused = true)]
async fn the_manifests_grant_what_is_watched() {
    let config = Config {
        seeds: Some(Profile::Current),
        ..Config::default()
    };
    let informers = include_str!("../../config/kubernetes/informers.yaml");
    let gardener = include_str!("../../config/kubernetes/gardener.yaml");
    let mut counts = [0, 0];
    for watched in watched(&config) {
        let (manifest, count) = match watched.manifest {
            "informers.yaml" => (informers, &mut counts[0]),
            _ => (gardener.split("\n---\n").next().unwrap(), &mut counts[1]),
        };
        let granted = |line: &str| line.trim_start().starts_with("resources:") && line.contains(watched.resource);
        assert!(manifest.lines().any(granted), "{watched:?}");
        *count += 1;
    }
    assert_eq!(counts, [12, 12]);
    // Each of these is a task, and no two have the same name.
    let server = Server::new(Streaming::Known);
    let (_, tasks) = start(server.upstream(), &config, &Ready::default(), &Haste::default());
    let (_, garden_tasks) = start_seeds(server.upstream(), &config, &Ready::default(), &Haste::default()).unwrap();
    let tasks: Vec<Task> = all(tasks).chain(all(garden_tasks)).collect();
    let names = tasks.iter().map(|(name, _)| *name);
    let names: std::collections::BTreeSet<&str> = names.collect();
    assert_eq!(names.len(), tasks.len());
    assert_eq!(names.iter().filter(|name| name.starts_with("informer-")).count(), 24);
}

#[tokio::test(start_paused = true)]
async fn metrics_tell_how_it_goes() {
    let gate = gate(&Server::new(Streaming::Known), &Config::default());
    gate.settle().await;
    gate.server.lock().put(PODS, pod("one"));
    gate.server.lock().put(PODS, pod("two"));
    gate.server.lock().delete(PODS, "one");
    gate.settle().await;
    let mut registry = prometheus_client::registry::Registry::default();
    gate.graph.metrics().register(&mut registry);
    gate.graph.metrics().register_upstream(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    for wanted in [
        "informer_synced{informer=\"pods\"} 1",
        "informer_silence_seconds{informer=\"pods\"} ",
        "informer_events_total{informer=\"pods\",type=\"applied\"} 2",
        "informer_events_total{informer=\"pods\",type=\"deleted\"} 1",
        "informer_lists_total{informer=\"pods\"} 1",
        "graph_objects{kind=\"pod\"} 1",
        "graph_publish_lag_seconds_count ",
        "node_authorizer_graph_actions_duration_seconds_bucket{le=\"0.0001\",operation=\"AddPod\"}",
        "node_authorizer_graph_actions_duration_seconds_bucket{le=\"0.2048\",operation=\"AddPod\"}",
        "node_authorizer_graph_actions_duration_seconds_count{operation=\"DeletePod\"} 1",
    ] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
}
