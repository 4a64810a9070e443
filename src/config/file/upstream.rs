//! kube-apiserver, and what is asked of it about callers.

use std::{path::PathBuf, time::Duration};

use http::Uri;

use crate::{
    config::{Authentication, Identity, Upstream, section::Section},
    pipeline::reviews::Remember,
    upstream::Servers,
};

/// kube-apiserver itself gives up on an ordinary request after 60 s, and answers a watch at once.
const DEFAULT_RESPONSE: Duration = Duration::from_secs(70);
/// As long as kube-apiserver remembers.
const DEFAULT_TOKEN_TTL: Duration = Duration::from_secs(10);
const MAX_TOKEN_TTL: Duration = Duration::from_secs(300);
const MAX_REVIEW_TTL: Duration = Duration::from_secs(300);

pub(super) fn authentication(mut section: Section<'_>) -> Authentication {
    let token_review = section.boolean("tokenReview").unwrap_or(true);
    let token_cache_ttl = section.duration("tokenCacheTTL").unwrap_or(DEFAULT_TOKEN_TTL);
    if token_cache_ttl > MAX_TOKEN_TTL {
        let message = format!("must not be more than {}s", MAX_TOKEN_TTL.as_secs());
        section.problem(
            "tokenCacheTTL",
            message,
            "a token that is withdrawn stays good for so long",
        );
    }
    section.finish();
    Authentication {
        token_review,
        token_cache_ttl,
    }
}

pub(super) fn reviews(mut section: Section<'_>) -> Remember {
    let mut remembered = |key, default: Duration| {
        let remembered = section.duration(key).unwrap_or(default);
        if remembered > MAX_REVIEW_TTL {
            let message = format!("must not be more than {}s", MAX_REVIEW_TTL.as_secs());
            section.problem(key, message, "what upstream no longer says counts for so long");
        }
        remembered
    };
    let Remember { allowed, denied } = Remember::default();
    let remember = Remember {
        allowed: remembered("allowedTTL", allowed),
        denied: remembered("deniedTTL", denied),
    };
    section.finish();
    remember
}

pub(super) fn upstream(mut section: Section<'_>) -> Option<Upstream> {
    let kubeconfig = section.file("kubeconfig");
    let servers = section.strings("servers").unwrap_or_default();
    let urls: Vec<Uri> = servers.iter().filter_map(|server| server.parse().ok()).collect();
    if urls.len() != servers.len() || urls.len() > Servers::MOST || Servers::new(urls.clone()).is_err() {
        let message = format!("should be at most {} https URLs", Servers::MOST);
        section.problem("servers", message, "for example: [\"https://10.0.0.1:6443\"]");
    }
    let response_timeout = section.duration("responseTimeout").unwrap_or(DEFAULT_RESPONSE);
    if response_timeout.is_zero() {
        section.problem("responseTimeout", "must not be zero", "70s is the default");
    }
    let identity = identity(section.section("identity"));
    section.finish();
    Some(Upstream {
        kubeconfig,
        servers: urls,
        response_timeout,
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
