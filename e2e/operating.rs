use std::process::Command;

use http::{Request, StatusCode};
use scopegate::{
    demo::{
        site::{FRONT_PROXY, Site},
        standin::Standin,
        upstream::Upstream,
    },
    pki::{Authority, Usage},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    gate::{Gate, Process, admin, connect, eventually, scopegate, send, with_admin_tls},
    scripted::head,
};

/// Every listener that cannot be bound is named, with its address, and nothing is served.
#[test_case::test_case("serving"; "serving")]
#[test_case::test_case("admin"; "admin")]
#[tokio::test]
async fn a_port_that_is_taken_is_named(listener: &str) {
    let site = Site::start().await.unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let path = site.configuration(FRONT_PROXY, "").unwrap();
    let config = std::fs::read_to_string(&path).unwrap();
    let section = format!("{listener}:\n  address: 127.0.0.1:0");
    assert!(config.contains(&section));
    std::fs::write(
        &path,
        config.replace(&section, &format!("{listener}:\n  address: {address}")),
    )
    .unwrap();
    let output = Command::new(scopegate())
        .arg("serve")
        .arg("--config")
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = format!("cannot listen on {address} for {listener}");
    assert!(stderr.contains(&expected), "{stderr}");
    assert!(!stderr.contains(" listening "), "{stderr}");
}

/// Not ready until upstream has answered once, and the probe says so by name.
#[tokio::test]
async fn readiness_names_what_is_pending() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let nowhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    site.kubeconfig("gate", nowhere.local_addr().unwrap()).unwrap();
    let config = site.configuration(FRONT_PROXY, "").unwrap();
    let process = Process::serve(&config);
    let (_, address) = process.addresses().await;
    let probe = async |path: &str| admin(address, Request::get(path), "").await;
    let answer = probe("/readyz?verbose").await;
    assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("[-]upstream-reached pending"), "{}", answer.body);
    assert_eq!(probe("/livez").await.code, StatusCode::OK);
    assert_eq!(probe("/healthz").await.body, "ok");
}

#[tokio::test]
async fn a_ready_gate_says_so() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    assert_eq!(gate.admin(Request::get("/readyz"), "").await.body, "ok");
    let verbose = gate.admin(Request::get("/readyz?verbose"), "").await.body;
    assert!(
        verbose.contains("[+]upstream-reached ok") && verbose.ends_with("check passed\n"),
        "{verbose}"
    );
    assert_eq!(
        gate.admin(Request::get("/nothing"), "").await.code,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn metrics_count_requests_without_naming_objects() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    gate.get("node-a", "/version").await;
    gate.get("node-a", "/api/v1/namespaces/default/secrets/very-secret-name")
        .await;
    gate.get("node-a", "/apis/invented.example.com/v1/inventions").await;
    gate.get("nobody", "/version").await;
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    for line in [
        r#"scopegate_requests_total{verb="get",resource="",subresource="",code="200"} 1"#,
        r#"scopegate_requests_total{verb="get",resource="secrets",subresource="",code="403"} 1"#,
        r#"scopegate_requests_total{verb="list",resource="other",subresource="",code="403"} 1"#,
        r#"scopegate_requests_total{verb="",resource="",subresource="",code="401"} 1"#,
        r#"scopegate_request_duration_seconds_count{verb="get"} 2"#,
        "scopegate_requests_in_flight 0",
        r#"scopegate_connections{listener="serving"}"#,
        r#"scopegate_connections_accepted_total{listener="serving"}"#,
        "scopegate_audit_events_lost_total 0",
        concat!(
            r#"scopegate_build_info{version=""#,
            env!("CARGO_PKG_VERSION"),
            r#""} 1"#
        ),
    ] {
        assert!(metrics.contains(line), "missing {line} in\n{metrics}");
    }
    for name in ["very-secret-name", "inventions", "node-a"] {
        assert!(!metrics.contains(name), "{name} in\n{metrics}");
    }
}

#[tokio::test]
async fn the_log_level_changes_at_run_time() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    assert_eq!(gate.admin(Request::get("/debug/log-level"), "").await.body, "debug\n");
    let answer = gate.operate(Request::put("/debug/log-level"), "warn").await;
    assert_eq!((answer.code, answer.body.as_str()), (StatusCode::OK, "warn\n"));
    gate.get("node-a", "/version?quiet").await;
    gate.operate(Request::put("/debug/log-level"), "debug").await;
    let loud = gate.get("node-a", "/api").await;
    let line = gate.logged(&loud.audit_id()).await;
    for part in [
        "DEBUG request",
        r#"caller="system:node:node-a""#,
        r#"verb="get""#,
        r#"resource="/api""#,
        "code=200",
        r#"decision="allow""#,
        r#"reason="rule everyone/discovery""#,
        "duration=",
    ] {
        assert!(line.contains(part), "missing {part} in {line}");
    }
    assert!(!gate.log().contains(r#"resource="/version""#), "{}", gate.log());
    let answer = gate.operate(Request::put("/debug/log-level"), "loud").await;
    assert_eq!(answer.code, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("try error, warn, info"), "{}", answer.body);
}

#[tokio::test]
async fn log_lines_can_be_json() {
    let site = Site::start().await.unwrap();
    let config = site.configuration(FRONT_PROXY, "log: {format: JSON}\n").unwrap();
    let process = Process::serve(&config);
    let line: serde_json::Value = serde_json::from_str(&process.line("listening").await).unwrap();
    assert_eq!(line["message"], "listening");
    assert_eq!(line["level"], "INFO");
    let serving = line["serving"].as_str().unwrap().parse().unwrap();
    let kubeconfig = site.kubeconfig("node-a", serving).unwrap();
    let refused = send(&kubeconfig, Request::get("/api/v1/namespaces/default/secrets"), "").await;
    let line: serde_json::Value = serde_json::from_str(&process.line(&refused.audit_id()).await).unwrap();
    for (field, value) in [
        ("message", "request"),
        ("caller", "\"system:node:node-a\""),
        ("verb", "\"list\""),
        ("resource", "\"secrets default/\""),
        ("decision", "forbid"),
        ("reason", "rule node/secrets: No Object name found"),
    ] {
        assert_eq!(line[field], value, "{line}");
    }
    assert_eq!(line["code"], 403);
}

/// Off loopback the admin port speaks TLS: probes answer anybody, the rest whoever has a certificate of its CA.
#[tokio::test]
async fn an_exposed_admin_port_wants_a_certificate() {
    let site = Site::start().await.unwrap();
    let path = site.configuration(FRONT_PROXY, "").unwrap();
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, with_admin_tls(&config)).unwrap();
    let process = Process::serve(&path);
    let (_, address) = process.addresses().await;
    for (user, target, code) in [
        ("nobody", "/livez", 200),
        ("nobody", "/metrics", 401),
        ("nobody", "/debug/log-level", 401),
        ("nobody", "/debug/who-can?resource=secrets&name=s", 401),
        ("nobody", "/debug/why?node=node-a&verb=list&resource=pods", 401),
        ("node-a", "/livez", 200),
        ("node-a", "/metrics", 401),
        ("node-a", "/debug/why?node=node-a&verb=list&resource=pods", 401),
        ("gate", "/metrics", 200),
        ("gate", "/debug/why?node=node-a&verb=list&resource=pods", 200),
    ] {
        let kubeconfig = site.kubeconfig(user, address).unwrap();
        let answer = send(&kubeconfig, Request::get(target), "").await;
        assert_eq!(answer.code.as_u16(), code, "{user} {target}");
    }
}

/// A new CA file counts at once, also on a connection that is already open.
#[tokio::test]
async fn certificates_are_taken_up_when_they_change() {
    let site = Site::start().await.unwrap();
    let path = site.configuration(FRONT_PROXY, "audit: {path: audit.log}\n").unwrap();
    let config = std::fs::read_to_string(&path)
        .unwrap()
        .replace("serving:\n", "serving:\n  reloadInterval: 50ms\n");
    std::fs::write(&path, config).unwrap();
    let process = Process::serve(&path);
    let (serving, admin_address) = process.addresses().await;
    let mut stream = connect(site.dir(), serving, "node-a", b"http/1.1").await;
    let mut ask = async || {
        stream
            .write_all(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        let head = head(&mut stream).await.unwrap();
        let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        head.lines().next().unwrap().to_owned()
    };
    assert_eq!(ask().await, "HTTP/1.1 200 OK");

    // A broken file changes nothing.
    std::fs::write(site.file("client-ca.crt"), "not PEM").unwrap();
    process
        .line("not reloaded; the last good version stays in use what=\"client-ca\"")
        .await;
    assert_eq!(ask().await, "HTTP/1.1 200 OK");

    // Another CA, renamed over the old one.
    let other = Authority::new("other").unwrap();
    std::fs::write(site.file("next"), &other.certificate).unwrap();
    std::fs::rename(site.file("next"), site.file("client-ca.crt")).unwrap();
    process.line("reloaded what=\"client-ca\"").await;
    assert_eq!(ask().await, "HTTP/1.1 401 Unauthorized");

    // A new serving pair is shown to new connections.
    let pair = site
        .pki
        .server_ca
        .issue("renewed", None, Usage::Server(&["localhost"]))
        .unwrap();
    pair.write(site.dir(), "server").unwrap();
    eventually("the new serving certificate", || {
        let reloads = process.stderr().matches("reloaded what=\"serving\"").count();
        (reloads >= 2).then_some(())
    })
    .await;
    let stream = connect(site.dir(), serving, "nobody", b"http/1.1").await;
    let metrics = admin(admin_address, Request::get("/metrics"), "").await.body;
    for result in ["ok", "error"] {
        let line = format!("scopegate_reloads_total{{what=\"client-ca\",result=\"{result}\"}} 1");
        assert!(metrics.contains(&line), "missing {line} in\n{metrics}");
    }
    let shown = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
    let renewed = scopegate::server::tls::certificates(pair.certificate.as_bytes()).unwrap();
    assert_eq!(shown, renewed[0].to_vec());
}

/// The kubeconfig, and what it names, are taken up too: by rename, and by the symlink swap of a volume.
#[tokio::test]
async fn upstream_credentials_are_taken_up() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let pair = |suffix: &str| format!("front-proxy-client.{suffix}");
    let volume = |version: &str| site.file(version);
    for version in ["v1", "v2"] {
        std::fs::create_dir(volume(version)).unwrap();
    }
    for suffix in ["crt", "key"] {
        std::fs::rename(site.file(&pair(suffix)), volume("v1").join(pair(suffix))).unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, site.file(name)).unwrap();
        link(&format!("data/{}", pair(suffix)), &pair(suffix));
    }
    std::os::unix::fs::symlink("v1", site.file("data")).unwrap();
    let gate = Gate::edited(site, FRONT_PROXY, "", &[("serving:\n", "  reloadInterval: 100ms\n")]).await;
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK);
    let reloads = async |result: &str| {
        let metrics = gate.admin(Request::get("/metrics"), "").await.body;
        let start = format!("scopegate_reloads_total{{what=\"upstream\",result=\"{result}\"}} ");
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .map(str::to_owned);
        line.map_or(0, |count| count.parse::<u32>().unwrap())
    };

    // A certificate that upstream does not believe: the trouble is the gate's, and shows that it is in use.
    let stranger = Authority::new("stranger").unwrap();
    let stranger = stranger.issue("front-proxy-client", None, Usage::Client).unwrap();
    stranger.write(&gate.site.file("v2"), "front-proxy-client").unwrap();
    std::os::unix::fs::symlink("v2", gate.site.file("data_tmp")).unwrap();
    std::fs::rename(gate.site.file("data_tmp"), gate.site.file("data")).unwrap();
    gate.logged("reloaded what=\"upstream\"").await;
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::BAD_GATEWAY);
    assert_eq!(reloads("ok").await, 1);

    // Nonsense changes nothing.
    std::fs::write(
        gate.site.file("next"),
        "apiVersion: v1\nkind: Config\ncurrent-context: gone\n",
    )
    .unwrap();
    std::fs::rename(gate.site.file("next"), gate.site.file("gate.kubeconfig")).unwrap();
    gate.logged("not reloaded; the last good version stays in use what=\"upstream\"")
        .await;
    assert_eq!(reloads("error").await, 1);
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::BAD_GATEWAY);

    // Another API server and the good certificate again.
    let elsewhere = Upstream::start(&gate.site.pki, Standin::new(Vec::new())).await.unwrap();
    let kubeconfig = scopegate::demo::site::kubeconfig(elsewhere.address, Some("gate"));
    std::fs::write(gate.site.file("next"), kubeconfig).unwrap();
    std::fs::rename(gate.site.file("next"), gate.site.file("gate.kubeconfig")).unwrap();
    for suffix in ["crt", "key"] {
        std::fs::copy(
            gate.site.file("v1").join(pair(suffix)),
            gate.site.file("v2").join(pair(suffix)),
        )
        .unwrap();
    }
    for _ in 0..100 {
        if gate.get("node-a", "/version").await.code == StatusCode::OK {
            assert!(elsewhere.seen().iter().any(|request| request.target == "/version"));
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the good files were not taken up:\n{}", gate.log());
}
