use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Output, Stdio},
};

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN, Site};

use crate::gate::scopegate;

#[test]
fn help_leads_a_newcomer_on() {
    let help = text(&run(&["--help"]));
    for part in [
        "scopegate demo",
        "config/example.yaml",
        "serve",
        "check",
        "certs",
        "why",
        "who-can",
        "report",
        "recommend",
        "completions",
        "Exit codes",
    ] {
        assert!(help.contains(part), "missing {part} in\n{help}");
    }
}

#[test]
fn wrong_usage_is_2_and_failure_is_1() {
    assert_eq!(run(&["frobnicate"]).status.code(), Some(2));
    assert_eq!(run(&["serve"]).status.code(), Some(2));
    let missing = run(&["serve", "--config", "/nowhere/gate.yaml"]);
    assert_eq!(missing.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        stderr.contains("cannot read the configuration /nowhere/gate.yaml"),
        "{stderr}"
    );
}

#[test]
fn every_configuration_problem_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gate.yaml");
    std::fs::write(&path, "apiVersion: scopegate.dev/v1alpha1\nserving: {adress: x}\n").unwrap();
    for command in ["serve", "check"] {
        let output = run(&[command, "--config", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        for part in [
            "kind: is missing",
            "serving.adress: is not a known key",
            "did you mean address?",
            "admin.address: is missing",
        ] {
            assert!(stderr.contains(part), "missing {part} in\n{stderr}");
        }
    }
}

#[test]
fn completions_are_for_the_shell_named() {
    for (shell, part) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef scopegate"),
        ("fish", "complete -c scopegate"),
    ] {
        let script = text(&run(&["completions", shell]));
        assert!(script.contains(part), "{shell}: {script}");
    }
}

#[test]
fn certs_makes_a_pki_once_and_keeps_keys_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let pki = dir.path().join("pki");
    let pki = pki.to_str().unwrap();
    let printed = text(&run(&["certs", pki, "--node", "edge-1"]));
    assert!(
        printed.contains("edge-1.crt") && printed.contains("serving.certFile"),
        "{printed}"
    );
    for name in [
        "server-ca",
        "client-ca",
        "front-proxy-ca",
        "server",
        "front-proxy-client",
        "edge-1",
    ] {
        let mode = std::fs::metadata(format!("{pki}/{name}.key"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{name}.key is readable by others");
    }
    let again = run(&["certs", pki]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
    assert!(run(&["certs", pki, "--force"]).status.success());
    assert_eq!(
        run(&["certs", pki, "--force", "--node", "../evil"]).status.code(),
        Some(1)
    );
}

/// Piped, the demo is plain text, and every step ends as it should.
#[test]
fn the_demo_walks_through_to_the_end() {
    let output = run(&["demo", "--once"]);
    let printed = text(&output);
    assert!(!printed.contains('\u{1b}'), "colours in a pipe:\n{printed}");
    for part in [
        "200 allowed  upstream answered",
        "you are system:node:node-a",
        "403 refused  upstream saw nothing",
        "401 refused  upstream saw nothing",
        "400 refused  upstream saw nothing",
        "audit says:   rule everyone/discovery",
    ] {
        assert!(printed.contains(part), "missing {part} in\n{printed}");
    }
}

/// Without `--once` it stays up, its lines work as they are printed, and it leaves nothing behind.
#[tokio::test]
async fn the_demo_stays_up_to_be_tried() {
    let mut demo = Command::new(scopegate())
        .arg("demo")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let curl = lines
        .find(|line| line.trim_start().starts_with("curl --cacert"))
        .unwrap();
    let admin = lines.find(|line| line.contains("curl http://")).unwrap();
    let run = |line: &str| {
        let arguments = line
            .split_whitespace()
            .skip(1)
            .take_while(|word| !word.starts_with("probes"));
        Command::new("curl").arg("-sS").args(arguments).output().unwrap()
    };
    let version = String::from_utf8(run(&curl).stdout).unwrap();
    assert!(version.contains("v1.36.0-standin"), "{version}");
    let index = String::from_utf8(run(&admin).stdout).unwrap();
    assert!(index.contains("GET /readyz?verbose"), "{index}");
    let dir = curl
        .split_whitespace()
        .find_map(|word| word.strip_suffix("/server-ca.crt"))
        .unwrap();
    assert!(std::fs::metadata(dir).is_ok());
    let pid = demo.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", "TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(demo.wait().unwrap().success());
    assert!(std::fs::metadata(dir).is_err(), "{dir} is still there");
}

/// The stand-in allows everything, so check finds no guard behind the gate.
#[tokio::test(flavor = "multi_thread")]
async fn check_reports_on_upstream() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    for (mode, part) in [
        (
            FRONT_PROXY,
            "identity mode FrontProxy (configured) works: upstream sees the node",
        ),
        (
            IMPERSONATE,
            "identity mode Impersonate (configured) works: upstream sees the node",
        ),
        (OWN, "identity mode Own (configured) works: upstream sees \"scopegate\""),
    ] {
        let printed = check(&site, mode, "");
        assert!(printed.contains(part), "missing {part} in\n{printed}");
        assert!(printed.contains("0 failed"), "{printed}");
    }
    let printed = check(&site, FRONT_PROXY, "");
    assert!(
        printed.contains("upstream lets nodes read any secret: the gate is the only guard"),
        "{printed}"
    );
    let old = check(&site, FRONT_PROXY, "kubernetesVersion: '1.33'\n");
    assert!(old.contains("kubernetesVersion is 1.33, but upstream is 1.36"), "{old}");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_fails_where_the_gate_would_not_work() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let stranger = scopegate::pki::Authority::new("stranger").unwrap();
    let pair = stranger
        .issue("front-proxy-client", None, scopegate::pki::Usage::Client)
        .unwrap();
    pair.write(site.dir(), "front-proxy-client").unwrap();
    let printed = failed_check(&site, FRONT_PROXY);
    assert!(
        printed.contains("FAIL  identity mode FrontProxy (configured) does not work"),
        "{printed}"
    );

    // What serve would refuse to load, check refuses too.
    let other = stranger.issue("other", None, scopegate::pki::Usage::Client).unwrap();
    std::fs::write(site.file("front-proxy-client.key"), &other.key).unwrap();
    let printed = failed_check(&site, FRONT_PROXY);
    assert!(
        printed.contains("FAIL  cannot use the upstream credentials"),
        "{printed}"
    );
    std::fs::write(site.file("client-ca.crt"), &pair.certificate).unwrap();
    let printed = failed_check(&site, OWN);
    assert!(
        printed.contains("FAIL  serving: clientCAFile: CN=front-proxy-client: is not a CA certificate"),
        "{printed}"
    );

    std::fs::write(site.file("server.key"), &pair.key).unwrap();
    let printed = failed_check(&site, OWN);
    assert!(
        printed.contains("FAIL  serving: the private key cannot be used with the certificate"),
        "{printed}"
    );
}

fn check(site: &Site, mode: &str, more: &str) -> String {
    let config = site.configuration(mode, more).unwrap();
    // The stand-in answers on this runtime while the process runs.
    tokio::task::block_in_place(|| text(&run(&["check", "--config", config.to_str().unwrap()])))
}

fn failed_check(site: &Site, mode: &str) -> String {
    let config = site.configuration(mode, "").unwrap();
    let output = tokio::task::block_in_place(|| run(&["check", "--config", config.to_str().unwrap()]));
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run(arguments: &[&str]) -> Output {
    Command::new(scopegate()).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{stdout}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    stdout
}
