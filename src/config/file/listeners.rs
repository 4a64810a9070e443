//! The listeners: where clients and operators connect, and how much they may take.

use std::time::Duration;

use crate::{
    body,
    config::{Admin, Serving, TlsFiles, section::Section},
    pipeline::shares,
    server,
};

const DEFAULT_DRAIN: Duration = Duration::from_secs(30);
const DEFAULT_RELOAD: Duration = Duration::from_secs(10);
/// The most kube-apiserver reads of a request body, and how long it may take over it.
const DEFAULT_BODY_BYTES: u32 = 3 * 1024 * 1024;
const DEFAULT_BODY_TIME: Duration = Duration::from_secs(60);
/// Many times what a kubelet has under way, and a fraction of what kube-apiserver works on at a time.
const DEFAULT_REQUESTS: u32 = 100;
/// A kubelet watches every secret and config map of its pods by itself.
const DEFAULT_STREAMS: u32 = 2000;
/// hyper cannot do with less.
const MIN_HEADER_BYTES: u32 = 8 * 1024;

pub(super) fn serving(mut section: Section<'_>) -> Option<Serving> {
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
    let (limits, body_limits, caller_limits) = limits(section.section("limits"));
    section.finish();
    Some(Serving {
        address: address?,
        tls: tls?,
        shutdown_delay,
        drain_timeout,
        reload_interval,
        limits,
        body_limits,
        caller_limits,
    })
}

fn limits(mut section: Section<'_>) -> (server::Limits, body::Limits, shares::Limits) {
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
    let body_bytes = number("bodyBytes", DEFAULT_BODY_BYTES);
    let caller_limits = shares::Limits {
        requests: wide(number("requestsPerCaller", DEFAULT_REQUESTS)),
        streams: wide(number("streamsPerCaller", DEFAULT_STREAMS)),
    };
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
    let body_limits = body::Limits {
        bytes: body_bytes.into(),
        time: time("bodyTimeout", DEFAULT_BODY_TIME),
    };
    section.finish();
    (limits, body_limits, caller_limits)
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(super) fn admin(mut section: Section<'_>) -> Option<Admin> {
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
    let token = section.string("tokenFile").map(|path| section.resolve(&path));
    if token.is_some() && wants_tls {
        let message = "is for an admin port without TLS; with it, operators have certificates";
        section.problem("tokenFile", message, "leave it out");
    }
    section.finish();
    Some(Admin {
        address: address?,
        tls,
        token,
    })
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
