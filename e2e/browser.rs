mod chromium;

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;

use self::chromium::Chromium;
use crate::gate::{Gate, eventually};

const GRAPH: &str = "/debug/resource-dependency-graph";
const FOREIGN: &str = "/api/v1/namespaces/default/secrets/secret-of-web-on-node-b";
/// A phone, which is as narrow as they come.
const WIDTH: u32 = 360;

async fn gate() -> Gate {
    let gate = Gate::start(FRONT_PROXY, "").await;
    assert_eq!(gate.get("node-a", FOREIGN).await.code, StatusCode::FORBIDDEN);
    // What somebody else has chosen is not what the page does.
    gate.get("node-a", "/api/v1/namespaces/default/secrets/%3Cimg%20src=x%3E")
        .await;
    gate.get("nobody", "/%3Cscript%3E%22'").await;
    gate
}

/// Nothing sticks out, nothing went wrong, and nobody else was asked.
fn is_sound(browser: &mut Chromium, gate: &Gate) {
    let width = browser.look("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(
        width <= u64::from(WIDTH),
        "{width} wide: {}",
        browser.look("location.href")
    );
    let own = format!("http://{}/", gate.admin);
    for event in browser.events() {
        match event["method"].as_str().unwrap() {
            "Log.entryAdded" | "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" => panic!("{event}"),
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str().unwrap();
                assert!(
                    url.starts_with(&own) || url == "data:," || url == "about:blank",
                    "{url}"
                );
            }
            _ => {}
        }
    }
}

/// The graph, a question and the refusals, without scripts and on a phone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_work_in_a_browser() {
    let gate = gate().await;
    let Some(mut browser) = Chromium::start() else { return };
    browser.resize(WIDTH, 800, 1.0);
    let url = |path: &str| format!("http://{}{path}", gate.admin);

    browser.open(&url(GRAPH));
    is_sound(&mut browser, &gate);
    let blocks = browser.texts("h2");
    assert!(
        blocks.contains(&"| # Pod:default/web-on-node-a".to_owned()),
        "{blocks:?}"
    );
    assert!(blocks.is_sorted(), "{blocks:?}");
    assert_eq!(browser.texts("section .r")[0], "-".repeat(79));

    // A link to one object, and from there to a neighbour.
    browser.leave("[...document.querySelectorAll('h2 a')].find(a => a.textContent == 'web-on-node-a').click()");
    is_sound(&mut browser, &gate);
    assert_eq!(browser.texts("h2"), ["| # Pod:default/web-on-node-a"]);
    let lists = browser.texts("h3");
    assert_eq!(lists, ["|   <- (4)", "|   -> (1)"]);
    browser
        .leave("[...document.querySelectorAll('li a')].find(a => a.textContent == 'claim-of-web-on-node-a').click()");
    assert_eq!(
        browser.texts("h2"),
        ["| # PersistentVolumeClaim:default/claim-of-web-on-node-a"]
    );

    // The form filters; what was asked for is still in it.
    browser.look("document.querySelector('select[name=kind]').value = 'Secret'");
    browser.look(
        "for (const name of ['namespace', 'name']) document.querySelector(`form input[name=${name}]`).value = ''",
    );
    browser.leave("document.querySelector('form button').click()");
    is_sound(&mut browser, &gate);
    let blocks = browser.texts("h2");
    assert!(
        blocks.len() == 4 && blocks.iter().all(|block| block.starts_with("| # Secret:")),
        "{blocks:?}"
    );
    assert_eq!(
        browser.look("document.querySelector('select[name=kind]').value"),
        "Secret"
    );

    // A question that is answered with a picture.
    browser.open(&url("/debug/why?format=html"));
    for (field, value) in [
        ("caller", "node-a"),
        ("resource", "secrets"),
        ("name", "secret-of-volume-of-web-on-node-a"),
    ] {
        browser.look(&format!(
            "document.querySelector('input[name={field}]').value = '{value}'"
        ));
    }
    browser.look("document.querySelector('input[name=namespace]').value = 'kube-system'");
    browser.leave("document.querySelector('button').click()");
    is_sound(&mut browser, &gate);
    assert!(
        browser.texts(".verdict")[0].starts_with("ALLOWED: node-a may get secrets"),
        "{:?}",
        browser.texts("main")
    );
    let kinds = browser.texts("svg .k");
    assert_eq!(
        kinds,
        ["Node", "Pod", "PersistentVolumeClaim", "PersistentVolume", "Secret"]
    );
    let box_of = "document.querySelector('svg').getBoundingClientRect()";
    assert!(browser.look(&format!("{box_of}.right")).as_f64().unwrap() <= f64::from(WIDTH));
    browser.look("document.querySelector('input[name=resource]').value = 'secrest'");
    browser.leave("document.querySelector('button').click()");
    assert!(browser.texts("[role=alert]")[0].contains("did you mean secrets?"));

    // Refusals lead to the question, and come by themselves.
    browser.open(&url("/debug/refusals?refresh=2"));
    is_sound(&mut browser, &gate);
    let rows = browser.texts("tbody tr");
    assert!(
        rows.len() >= 3 && rows.iter().any(|row| row.contains("node/")),
        "{rows:?}"
    );
    assert_eq!(
        browser.look("document.querySelectorAll('main img, main script').length"),
        0
    );
    gate.get("node-b", "/api/v1/namespaces/default/secrets/secret-of-web-on-node-a")
        .await;
    let fresh = eventually("a page that shows it", || {
        let shown = browser.texts("tbody tr");
        shown.into_iter().find(|row| row.contains("system:node:node-b"))
    });
    assert!(fresh.await.contains("get secrets default/secret-of-web-on-node-a"));
    // Without that, so that it does not come anew just when something in it is clicked.
    browser.open(&url("/debug/refusals"));
    browser.leave(
        "[...document.querySelectorAll('td a')].find(a => a.textContent.endsWith('secret-of-web-on-node-b')).click()",
    );
    is_sound(&mut browser, &gate);
    assert!(browser.texts(".verdict")[0].starts_with("REFUSED: node-a may not get secrets"));
}

/// They are for those who may look, and only to look at.
#[tokio::test]
async fn the_pages_are_for_operators() {
    let gate = gate().await;
    for path in [GRAPH, "/debug/refusals", "/debug/why?format=html"] {
        let page = gate.admin(Request::get(path), "").await;
        assert_eq!(
            (page.code, &page.headers["content-type"]),
            (StatusCode::OK, &"text/html; charset=utf-8".parse().unwrap())
        );
        assert!(
            !page.body.contains("<img") && !page.body.contains("<script"),
            "{}",
            page.body
        );
        for method in ["HEAD", "POST", "PUT", "DELETE"] {
            let told = gate.admin(Request::builder().method(method).uri(path), "").await;
            assert_eq!(told.code, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
        let elsewhere = gate.admin(Request::get(path).header("host", "evil.example"), "").await;
        assert_eq!(elsewhere.code, StatusCode::UNAUTHORIZED, "{path}");
        let broken = gate.admin(Request::get(format!("{GRAPH}?kind=%zz")), "").await;
        assert_eq!(broken.code, StatusCode::BAD_REQUEST);
    }
    let index = gate.admin(Request::get("/"), "").await.body;
    assert!(index.contains(GRAPH) && index.contains("/debug/refusals"), "{index}");
}

/// `make screenshots` keeps what the documentation shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes into docs/"]
async fn keep_screenshots() {
    let gate = gate().await;
    let mut browser = Chromium::start().expect("a browser");
    let why = "/debug/why?format=html&node=node-a&verb=get&resource=secrets&namespace=kube-system\
               &name=secret-of-volume-of-web-on-node-a";
    for (path, file, width, height) in [
        (GRAPH.to_owned() + "?namespace=default", "graph-page.png", 760, 900),
        (why.to_owned(), "why-page.png", 390, 1180),
    ] {
        browser.resize(width, height, 1.0);
        browser.open(&format!("http://{}{path}", gate.admin));
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(file);
        std::fs::write(file, browser.screenshot()).unwrap();
    }
}
