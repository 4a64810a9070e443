//! The keys of the file and what they may say. Everything is read before anything is refused.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use super::{
    Admin, Config, Features, Identity, KubernetesVersion, Problem, Serving, TlsFiles, Upstream,
    section::{Context, Section, suggestion},
};
use crate::{
    authorizer::{Authorizer, Fallback},
    observe::{audit, log},
    server,
};

const DEFAULT_DRAIN: Duration = Duration::from_secs(30);
const DEFAULT_RELOAD: Duration = Duration::from_secs(10);
/// hyper cannot do with less.
const MIN_HEADER_BYTES: u32 = 8 * 1024;
const DEFAULT_AUDIT_MEBIBYTES: u64 = 100;
const DEFAULT_AUDIT_BACKUPS: u64 = 10;
/// Every one is renamed when a file is put aside.
const MAX_AUDIT_BACKUPS: u64 = 1000;

pub(super) fn check(value: Value, base: &Path) -> Result<Config, Vec<Problem>> {
    let context = Context::new(base);
    let config = read(Section::root(value, &context));
    let problems = context.problems.into_inner();
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

/// Every key there is, by its path.
#[cfg(test)]
pub(super) fn keys() -> Vec<String> {
    let context = Context::new(Path::new(""));
    read(Section::root(Value::Null, &context));
    let mut keys = context.asked.into_inner();
    keys.extend(Features::names().iter().map(|name| format!("featureGates.{name}")));
    keys
}

/// Nothing only if a problem was noted.
fn read(mut root: Section<'_>) -> Option<Config> {
    let api_version = root.choice("apiVersion", &[("scopegate.dev/v1alpha1", ())]);
    root.require("apiVersion", api_version, "apiVersion: scopegate.dev/v1alpha1");
    let kind = root.choice("kind", &[("GateConfiguration", ())]);
    root.require("kind", kind, "kind: GateConfiguration");

    let serving = serving(root.section("serving"));
    let admin = admin(root.section("admin"));
    let upstream = upstream(root.section("upstream"));
    let authorizer = callers(root.section("callers"), upstream.as_ref());
    let (kubernetes_version, features) = features(&mut root);
    let audit = audit(root.section("audit"));
    let log = log(root.section("log"));
    root.finish();
    Some(Config {
        serving: serving?,
        admin: admin?,
        upstream: upstream?,
        authorizer,
        kubernetes_version,
        features,
        audit,
        log,
    })
}

fn serving(mut section: Section<'_>) -> Option<Serving> {
    let address = section.address("address");
    let address = section.require(
        "address",
        address,
        "address: 127.0.0.1:8443, or 0.0.0.0:8443 for every interface",
    );
    let tls = tls_files(&mut section, true);
    let shutdown_delay = section.duration("shutdownDelay").unwrap_or_default();
    let drain_timeout = section.duration("drainTimeout").unwrap_or(DEFAULT_DRAIN);
    let reload_interval = section.duration("reloadInterval").unwrap_or(DEFAULT_RELOAD);
    if reload_interval.is_zero() {
        section.problem("reloadInterval", "must not be zero", "10s is the default");
    }
    let limits = limits(section.section("limits"));
    section.finish();
    Some(Serving {
        address: address?,
        tls: tls?,
        shutdown_delay,
        drain_timeout,
        reload_interval,
        limits,
    })
}

fn limits(mut section: Section<'_>) -> server::Limits {
    let default = server::Limits::default();
    let mut number = |key, default: u32| match section.number(key) {
        None => default,
        Some(number) => {
            let number = u32::try_from(number).ok().filter(|number| *number > 0);
            if number.is_none() {
                section.problem(
                    key,
                    format!("must be between 1 and {}", u32::MAX),
                    format!("{default} is the default"),
                );
            }
            number.unwrap_or(default)
        }
    };
    let wide = |number: u32| number as usize;
    let connections = number("connections", narrow(default.connections));
    let connections_per_client = number("connectionsPerClient", narrow(default.connections_per_client));
    let streams = number("streamsPerConnection", default.streams);
    let header_bytes = number("headerBytes", default.header_bytes);
    if header_bytes < MIN_HEADER_BYTES {
        section.problem(
            "headerBytes",
            format!("must not be less than {MIN_HEADER_BYTES}"),
            format!("{} is the default", default.header_bytes),
        );
    }
    let mut time = |key, default: Duration| match section.duration(key) {
        None => default,
        Some(time) => {
            if time.is_zero() {
                section.problem(
                    key,
                    "must not be zero",
                    format!("{}s is the default", default.as_secs()),
                );
            }
            time
        }
    };
    let limits = server::Limits {
        connections: wide(connections),
        connections_per_client: wide(connections_per_client),
        streams,
        header_bytes,
        handshake: time("handshakeTimeout", default.handshake),
        headers: time("headerTimeout", default.headers),
        idle: time("idleTimeout", default.idle),
        stall: time("stallTimeout", default.stall),
    };
    section.finish();
    limits
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn admin(mut section: Section<'_>) -> Option<Admin> {
    let address = section.address("address");
    let address = section.require("address", address, "address: 127.0.0.1:8444");
    let wants_tls = ["certFile", "keyFile", "clientCAFile", "clientCRLFile"]
        .iter()
        .any(|key| section.has(key));
    let tls = tls_files(&mut section, wants_tls);
    let exposed = address.is_some_and(|address| !address.ip().is_loopback());
    if exposed && !wants_tls {
        section.problem(
            "address",
            "is not a loopback address, and the admin port has no TLS",
            "set admin.certFile, keyFile and clientCAFile, or use 127.0.0.1",
        );
    }
    section.finish();
    Some(Admin { address: address?, tls })
}

/// All three files, and the one that may be left out, or nothing; nothing is a problem if they are wanted.
fn tls_files(section: &mut Section<'_>, wanted: bool) -> Option<TlsFiles> {
    let mut file = |key, hint| {
        let path = section.file(key);
        if wanted { section.require(key, path, hint) } else { path }
    };
    let certificate = file(
        "certFile",
        "PEM, leaf first; `scopegate certs DIR` makes a development set",
    );
    let key = file("keyFile", "the PEM private key of certFile");
    let client_ca = file(
        "clientCAFile",
        "the PEM certificates of the CAs that sign client certificates",
    );
    let client_crl = section.file("clientCRLFile");
    Some(TlsFiles {
        certificate: certificate?,
        key: key?,
        client_ca: client_ca?,
        client_crl,
    })
}

fn upstream(mut section: Section<'_>) -> Option<Upstream> {
    let kubeconfig = section.file("kubeconfig");
    let identity = identity(section.section("identity"));
    section.finish();
    Some(Upstream {
        kubeconfig,
        identity: identity?,
    })
}

fn identity(mut section: Section<'_>) -> Option<Identity> {
    let has_files = section.has("certFile") || section.has("keyFile");
    let certificate = section.file("certFile");
    let key = section.file("keyFile");
    // The files of FrontProxy are put in below; an empty path stands for them until then.
    let front_proxy = Identity::FrontProxy {
        certificate: PathBuf::new(),
        key: PathBuf::new(),
    };
    let modes = [front_proxy, Identity::Impersonate, Identity::Own].map(|identity| (identity.mode(), identity));
    let mode = section.choice("mode", &modes);
    let mode = section.require(
        "mode",
        mode,
        "FrontProxy, Impersonate or Own; config/example.yaml tells them apart",
    );
    let identity = match mode {
        Some(Identity::FrontProxy { .. }) => {
            let hint = "a client certificate signed by the CA of kube-apiserver's --requestheader-client-ca-file";
            let certificate = section.require("certFile", certificate, hint);
            let key = section.require("keyFile", key, "the private key of certFile");
            certificate
                .zip(key)
                .map(|(certificate, key)| Identity::FrontProxy { certificate, key })
        }
        Some(_) if has_files => {
            let hint = "leave certFile and keyFile out; the kubeconfig holds the credentials of this mode";
            section.problem("certFile", "is only used in mode FrontProxy", hint);
            None
        }
        other => other,
    };
    section.finish();
    identity
}

fn callers(mut section: Section<'_>, upstream: Option<&Upstream>) -> Authorizer {
    let own = upstream.is_some_and(|upstream| matches!(upstream.identity, Identity::Own));
    let refuse_own = |section: &Section<'_>, key: &str, fallback: Fallback| {
        if own && fallback == Fallback::Upstream {
            let message = "would let the caller act with the gate's own rights, since upstream.identity.mode is Own";
            section.problem(key, message, "use mode FrontProxy or Impersonate, or Deny");
        }
    };

    let mut nodes_section = section.section("nodes");
    let nodes = nodes_section.choice(
        "fallback",
        &[("Deny", Fallback::Deny), ("Upstream", Fallback::Upstream)],
    );
    let nodes = nodes.unwrap_or(Fallback::Deny);
    refuse_own(&nodes_section, "fallback", nodes);
    nodes_section.finish();

    let mut seeds = section.section("seeds");
    if seeds.boolean("enabled") == Some(true) {
        seeds.problem("enabled", "seed scoping is not part of this release", "leave it false");
    }
    seeds.choice("profile", &[("Document", ()), ("Current", ())]);
    seeds.choice("fallback", &[("Deny", ()), ("Upstream", ())]);
    seeds.finish();

    let others = section.choice("others", &[("Deny", Fallback::Deny), ("Forward", Fallback::Upstream)]);
    let others = others.unwrap_or(Fallback::Deny);
    refuse_own(&section, "others", others);
    let masters = section.strings("allowMasters").unwrap_or_default();
    section.finish();
    Authorizer {
        nodes,
        others,
        masters,
        caller_known_upstream: !own,
    }
}

fn features(root: &mut Section<'_>) -> (KubernetesVersion, Features) {
    let written = root.string("kubernetesVersion");
    let version = written.as_deref().map_or(Ok(KubernetesVersion::NEWEST), str::parse);
    let version = version.unwrap_or_else(|()| {
        let hint = format!("\"{}\" to \"{}\"", KubernetesVersion::OLDEST, KubernetesVersion::NEWEST);
        root.problem("kubernetesVersion", "is not a supported release", hint);
        KubernetesVersion::NEWEST
    });
    let mut features = Features::of(version);
    let gates = root.section("featureGates");
    let names = Features::names();
    for (name, value) in gates.rest() {
        let path = format!("featureGates.{name}");
        match value.as_bool() {
            None => root.problem(&path, "should be true or false", "for example: true"),
            Some(on) if !features.set(&name, on) => {
                let hint = suggestion(&name, &names).unwrap_or_else(|| format!("known: {}", names.join(", ")));
                root.problem(&path, "is not a feature gate scopegate knows", hint);
            }
            Some(_) => {}
        }
    }
    (version, features)
}

fn audit(mut section: Section<'_>) -> audit::Config {
    let target = match section.string("path").as_deref() {
        None | Some("-") => audit::Target::Stdout,
        Some(path) => audit::Target::File(section.resolve(path)),
    };
    let mebibytes = section.number("maxSize").unwrap_or(DEFAULT_AUDIT_MEBIBYTES);
    let backups = section.number("maxBackups").unwrap_or(DEFAULT_AUDIT_BACKUPS);
    if mebibytes == 0 {
        section.problem("maxSize", "must not be zero", "megabytes (MiB); 100 is the default");
    }
    if backups > MAX_AUDIT_BACKUPS {
        section.problem(
            "maxBackups",
            format!("must not be more than {MAX_AUDIT_BACKUPS}"),
            "10 is the default",
        );
    }
    section.finish();
    audit::Config {
        target,
        max_size: mebibytes.saturating_mul(1024 * 1024),
        max_backups: usize::try_from(backups).unwrap_or(usize::MAX),
    }
}

fn log(mut section: Section<'_>) -> log::Config {
    let format = section.choice("format", &[("Text", log::Format::Text), ("JSON", log::Format::Json)]);
    let level = section.string("level").unwrap_or_else(|| "info".to_owned());
    if let Err(error) = log::parse(&level) {
        section.problem("level", error.to_string(), "info is the default");
    }
    section.finish();
    log::Config {
        format: format.unwrap_or(log::Format::Text),
        level,
    }
}
