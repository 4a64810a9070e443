use http_body_util::BodyExt as _;
use jiff::Timestamp;
use test_case::test_case;

use super::*;
use crate::{
    authorizer::{Fallback, Profile, SeedRules},
    graph::{Anchor, Asserts, Edge, Key, Kind, Pod, Shoot, Store, Template},
    observe::refusals::Refusal,
    why::{View, tests::GATE},
};

/// What could become markup if it were not escaped, in every place.
const NASTY: &str = "<script>alert('x')</script>\"&";

fn pod(namespace: &str, name: &str, node: &str, secret: &str) -> Pod {
    let pod = serde_json::json!({"metadata": {"namespace": namespace, "name": name},
        "spec": {"nodeName": node, "volumes": [{"name": "s", "secret": {"secretName": secret}}]}});
    serde_json::from_value(pod).unwrap()
}

fn graph(name: &'static str, graph: &Arc<Snapshot>) -> Graph {
    let graph = Arc::clone(graph);
    let look = Arc::new(move || Seen {
        graph: Arc::clone(&graph),
        doubt: None,
    });
    Graph { name, look }
}

/// Pods on nodes, ten each, all with one secret.
fn pods(count: usize) -> Arc<Snapshot> {
    let mut store = Store::default();
    for number in 0..count {
        let (name, node) = (format!("pod-{number:06}"), format!("node-{:05}", number / 10));
        store.apply(&pod("default", &name, &node, "shared"));
    }
    store.publish()
}

fn query(text: &str) -> Query {
    Query::parse(text).unwrap()
}

fn shown(graph_of: &Arc<Snapshot>, text: &str) -> String {
    let html = super::graph::page(&[graph("nodes", graph_of)], &query(text));
    html.into_string()
}

/// The text of the blocks, as a browser would print them.
fn blocks(html: &str) -> Vec<String> {
    let sections = html.split("<section>").skip(1);
    let texts = sections.map(|section| {
        let section = section.split("</section>").next().unwrap();
        let lines = section
            .replace("</h2>", "\n")
            .replace("</h3>", "\n")
            .replace("</li>", "\n");
        let lines = lines.replace("</div>", "\n");
        let mut text = String::new();
        let mut in_tag = false;
        for c in lines.chars() {
            match c {
                '<' => in_tag = true,
                '>' => in_tag = false,
                c if !in_tag => text.push(c),
                _ => {}
            }
        }
        text.replace("&lt;", "<").replace("&gt;", ">")
    });
    texts.collect()
}

#[test]
fn a_block_looks_as_it_always_did() {
    let mut store = Store::default();
    store.apply(&pod("default", "web", "node-a", "key"));
    store.apply(&pod("default", "lost", "", "nobody-s"));
    store.apply(&pod("default", "more", "node-a", "key"));
    let html = shown(&store.publish(), "");
    let rule = "-".repeat(79);
    let expected = [
        "| # Node:node-a\n|   <- (2)\n|     Pod:default/more\n|     Pod:default/web\n",
        "| # Pod:default/lost\n|   leads to no node\n",
        "| # Pod:default/more\n|   <- (1)\n|     Secret:default/key\n|   -> (1)\n|     Node:node-a\n",
        "| # Pod:default/web\n|   <- (1)\n|     Secret:default/key\n|   -> (1)\n|     Node:node-a\n",
        "| # Secret:default/key\n|   -> (2)\n|     Pod:default/more\n|     Pod:default/web\n",
        "| # Secret:default/nobody-s\n|   leads to no node\n",
    ];
    assert_eq!(blocks(&html), expected.map(|block| format!("{rule}\n|\n{block}|\n")));
    let link = "<a href=\"/debug/resource-dependency-graph?kind=Pod";
    for part in [
        format!("{link}\">Pod</a>:{link}&amp;namespace=default\">default</a>/"),
        format!("/{link}&amp;namespace=default&amp;name=web\">web</a>"),
    ] {
        assert!(html.contains(&part), "{part} in {html}");
    }
}

#[test_case("kind=Secret" => 2; "of a kind")]
#[test_case("kind=secret" => 0; "as it is written")]
#[test_case("kind=Pod&namespace=a&name=x" => 1; "all three")]
#[test_case("namespace=a" => 2; "of a namespace")]
#[test_case("name=x" => 2; "of a name")]
#[test_case("kind=&namespace=&name=" => 6; "nothing filters nothing")]
#[test_case("kind=Pod&kind=Secret" => 2; "the first counts")]
#[test_case("kind=Frobnicator" => 0; "no kind")]
#[test_case("kind=Shoot" => 0; "a kind of the other graph")]
fn filters(text: &str) -> usize {
    let mut store = Store::default();
    store.apply(&pod("a", "x", "n1", "s"));
    store.apply(&pod("b", "x", "n2", "s"));
    blocks(&shown(&store.publish(), text)).len()
}

#[test]
fn more_than_two_thousand_are_not_shown_at_once() {
    // With its nodes and the secret that makes 2000, and one more.
    let (few, many) = (pods(1817), pods(1818));
    assert_eq!((few.sizes().vertices, many.sizes().vertices), (2000, 2001));
    let few = shown(&few, "");
    assert!(
        few.contains("1 to 100 of 2,000 objects") && few.contains("<option value=\"\" selected>all"),
        "{few}"
    );
    let many = shown(&many, "");
    assert!(many.contains("<option value=\"Node\" selected>Node"), "{many}");
    assert!(
        many.contains("1 to 100 of 182 objects") && many.contains("more than 2,000 objects"),
        "{many}"
    );
    assert!(blocks(&many).iter().all(|block| block.contains("# Node:")));
}

#[test]
fn long_lists_have_parts() {
    let graph = pods(1500);
    let page = shown(&graph, "kind=Pod&page=15");
    assert!(page.contains("1,401 to 1,500 of 1,500 objects"), "{page}");
    assert!(
        page.contains("page=14\">previous") && !page.contains("next</a>"),
        "{page}"
    );
    assert_eq!(blocks(&page).len(), 100);
    assert_eq!(page, shown(&graph, "kind=Pod&page=99999999999999"), "the last, at most");
    assert_eq!(
        shown(&graph, "kind=Pod"),
        shown(&graph, "kind=Pod&page=x"),
        "the first, at least"
    );

    let alone = shown(&graph, "kind=Secret&name=shared&out=3");
    assert!(
        alone.contains("-&gt; (1500)") && alone.contains("1,001 to 1,500 of 1,500 of these"),
        "{alone}"
    );
    assert!(alone.contains("out=2\">previous"), "{alone}");
    let among = shown(&graph, "name=shared&namespace=default");
    assert_eq!(blocks(&among).len(), 1);
    let mut store = Store::default();
    for number in 0..30 {
        store.apply(&pod("default", &format!("pod-{number}"), "node-a", "shared"));
    }
    let cut = shown(&store.publish(), "");
    assert!(cut.contains("<- (30)") || cut.contains("&lt;- (30)"), "{cut}");
    assert_eq!(cut.matches("name=node-a\">10 more</a>").count(), 1, "{cut}");
}

#[test]
fn names_and_parameters_are_only_text() {
    let mut store = Store::default();
    store.apply(&pod(NASTY, NASTY, NASTY, NASTY));
    let encoded: String = NASTY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let snapshot = store.publish();
    let mut pages = vec![shown(&snapshot, "")];
    for parameter in ["kind", "namespace", "name", "page", "in", "graph"] {
        pages.push(shown(&snapshot, &format!("{parameter}={encoded}")));
    }
    let known = known(&snapshot);
    for parameter in [
        "caller",
        "verb",
        "resource",
        "namespace",
        "name",
        "fieldSelector",
        "labelSelector",
    ] {
        // The first of each counts.
        let asked = format!("{parameter}={encoded}&caller=a&verb=get&resource=secrets&name=b");
        pages.push(why::page(&query(&asked), &GATE, &known).into_string());
    }
    let told = Refusals::default();
    let all = || NASTY.to_owned();
    let refusal = Refusal {
        caller: format!("system:node:{NASTY}"),
        acting_as: all(),
        address: all(),
        verb: all(),
        object: all(),
        resource: all(),
        namespace: all(),
        name: all(),
        field_selector: all(),
        label_selector: all(),
        code: 403,
        rule: all(),
        reason: all(),
    };
    told.note(refusal.clone(), Timestamp::UNIX_EPOCH);
    let asked = Refusal {
        acting_as: String::new(),
        verb: "get".to_owned(),
        ..refusal
    };
    told.note(asked, Timestamp::UNIX_EPOCH);
    pages.push(refusals::page(&told.recent(), &query(&format!("refresh={encoded}"))).into_string());
    for page in pages {
        for raw in ["<script", "'x'", "script>\"", "script&gt;\""] {
            assert!(!page.contains(raw), "{raw} in {page}");
        }
    }
}

#[test]
fn there_may_be_several_graphs() {
    struct Placed;
    impl Asserts for Placed {
        fn key(&self) -> Key<'_> {
            Key::new(Kind::Shoot, "garden", "s")
        }
        fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
            visit(Edge::new(
                Key::cluster(Kind::Seed, "my-seed"),
                Template::NODE_NAME.field(),
            ));
        }
    }
    let mut store = Store::new(Anchor::Seed);
    store.apply(&Placed);
    let graphs = [graph("seeds", &store.publish()), graph("nodes", &pods(3))];
    let page = |text: &str| super::graph::page(&graphs, &query(text)).into_string();
    for text in ["", "graph=seeds", "graph=else"] {
        let page = page(text);
        let first = &blocks(&page)[0];
        assert!(
            first.contains("| # Seed:my-seed\n|   <- (1)\n|     Shoot:garden/s\n"),
            "{first}"
        );
        assert!(page.contains("?graph=nodes\">nodes</a>"), "{page}");
    }
    let nodes = page("graph=nodes&kind=Node");
    assert!(
        nodes.contains("# <a href=\"/debug/resource-dependency-graph?kind=Node&amp;graph=nodes\">"),
        "{nodes}"
    );
    assert!(
        nodes.contains("<input type=\"hidden\" name=\"graph\" value=\"nodes\">"),
        "{nodes}"
    );
}

#[test]
fn a_path_is_drawn_and_what_is_unclear_is_said() {
    let mut store = Store::default();
    store.apply(&pod("default", "web", "node-a", "key"));
    let known = known(&store.publish());
    let why = |text: &str| why::page(&query(text), &GATE, &known).into_string();
    let allowed = why("node=node-a&verb=get&resource=secrets&name=key");
    assert!(
        allowed.contains("ALLOWED: node-a may get secrets default/key"),
        "{allowed}"
    );
    assert_eq!(allowed.matches("<svg").count(), 1);
    assert!(
        allowed.contains(">spec.volumes[0].secret.secretName</text>"),
        "{allowed}"
    );
    let refused = why("node=node-b&verb=get&resource=secrets&name=key");
    assert!(
        refused.contains("REFUSED") && refused.contains("leads to another node"),
        "{refused}"
    );
    assert!(
        refused.contains("value=\"node-b\"") && refused.contains("<option value=\"get\" selected>"),
        "{refused}"
    );
    let unclear = why("node=node-a&verb=get&resource=secrest&name=key");
    assert!(
        unclear.contains("did you mean secrets?") && !unclear.contains("<svg"),
        "{unclear}"
    );
    assert!(!why("").contains("class=\"note\""), "nothing was asked yet");
}

#[test]
fn a_path_of_a_seed_is_drawn_from_the_seed() {
    let gate = Authorizer {
        seeds: Some(SeedRules {
            profile: Profile::Current,
            fallback: Fallback::Deny,
        }),
        ..GATE
    };
    let mut store = Store::new(Anchor::Seed);
    let shoot =
        serde_json::json!({"metadata": {"namespace": "garden-p1", "name": "s"}, "spec": {"seedName": "seed-a"}});
    store.apply(&serde_json::from_value::<Shoot>(shoot).unwrap());
    let mut known = known(&pods(1));
    known.seeds = Some(View {
        graph: store.publish(),
        ..known.nodes.clone()
    });
    let text = "caller=seed/seed-a&verb=get&resource=secrets&namespace=garden-p1&name=s.monitoring";
    let allowed = why::page(&query(text), &gate, &known).into_string();
    for part in [
        "ALLOWED: seed seed-a may get secrets garden-p1/s.monitoring",
        ">Seed</text>",
        ">Shoot</text>",
        "What leads from the object to the seed;",
        "value=\"seed/seed-a\"",
        "labelSelector",
    ] {
        assert!(allowed.contains(part), "{part} in {allowed}");
    }
}

#[test_case("system:node:n1" => Some("n1".to_owned()); "a node")]
#[test_case("gardener.cloud:system:seed:s1" => Some("gardener.cloud%3Asystem%3Aseed%3As1".to_owned()); "a seed")]
#[test_case("system:serviceaccount:seed-s1:extension-x" => Some("system%3Aserviceaccount%3Aseed-s1%3Aextension-x".to_owned()); "an extension")]
#[test_case("system:serviceaccount:default:default" => None; "another account")]
#[test_case("n1" => None; "a user with the name of a node")]
fn refusals_of_nodes_and_seeds_have_a_question(caller: &str) -> Option<String> {
    let told = Refusals::default();
    let refusal = Refusal {
        caller: caller.to_owned(),
        verb: "list".to_owned(),
        resource: "shoots.core.gardener.cloud".to_owned(),
        label_selector: "a=b".to_owned(),
        ..Refusal::default()
    };
    told.note(refusal, Timestamp::UNIX_EPOCH);
    let page = refusals::page(&told.recent(), &query("")).into_string();
    let (_, rest) = page.split_once("&amp;caller=")?;
    let (caller, rest) = rest.split_once("&amp;").unwrap();
    assert!(
        rest.starts_with("verb=list&amp;resource=shoots.core.gardener.cloud&amp;labelSelector=a%3Db\""),
        "{rest}"
    );
    Some(caller.to_owned())
}

#[test]
fn refusals_lead_to_the_question() {
    let told = Refusals::default();
    let page = |told: &Refusals, text: &str| refusals::page(&told.recent(), &query(text)).into_string();
    assert!(page(&told, "").contains("Nobody was refused anything"));
    told.note(
        Refusal {
            caller: "system:node:node-a".to_owned(),
            verb: "get".to_owned(),
            object: "secrets default/key".to_owned(),
            resource: "secrets".to_owned(),
            namespace: "default".to_owned(),
            name: "key".to_owned(),
            code: 403,
            ..Refusal::default()
        },
        Timestamp::UNIX_EPOCH,
    );
    let still = page(&told, "");
    let link = "<a href=\"/debug/why?format=html&amp;caller=node-a&amp;verb=get&amp;resource=secrets&amp;namespace=default&amp;\
                name=key\">get secrets default/key</a>";
    assert!(
        still.contains(link) && still.contains("1970-01-01T00:00:00Z"),
        "{still}"
    );
    assert!(!still.contains("http-equiv"), "{still}");
    assert!(page(&told, "refresh=0").contains("<meta http-equiv=\"refresh\" content=\"2\">"));
}

#[tokio::test]
async fn pages_run_nothing_and_few_are_made_at_a_time() {
    let pages = Pages::new(vec![graph("nodes", &pods(3))], Arc::default());
    let response = pages.graph(query("")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers();
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(
        policy.contains("frame-ancestors 'none'") && !policy.contains("script-src"),
        "{policy}"
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(headers[name], value);
    }
    let _turns: Vec<_> = (0..AT_A_TIME).map(|_| pages.turns.try_acquire().unwrap()).collect();
    let busy = pages.graph(query("")).await;
    assert_eq!(busy.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(busy.headers()["retry-after"], "1");
    let told = busy.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&told).contains("try again in a moment"));
    assert_eq!(pages.refusals(&query("")).status(), StatusCode::OK, "it costs nothing");
}

fn known(graph: &Arc<Snapshot>) -> Known {
    Known {
        nodes: View {
            graph: Arc::clone(graph),
            origin: "upstream".to_owned(),
            age: None,
            doubt: None,
        },
        seeds: None,
        quarantine: Some(Arc::default()),
    }
}
