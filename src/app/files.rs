//! Values made from files, each with a task that takes up changes.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use arc_swap::ArcSwap;
use rustls::pki_types::UnixTime;
use tokio::runtime::Handle;
use tracing::warn;

use super::background::Background;
use crate::{
    config::TlsFiles,
    identity::{
        Authenticator,
        x509::{ClientCa, LoadError, Options},
    },
    observe::admin::OperatorToken,
    server::{self, Transport, reload::Reloading, tls},
    upstream::{self, Clients},
};

pub(super) struct Files {
    pub(super) every: Duration,
    pub(super) metrics: server::Metrics,
    pub(super) background: Background,
}

impl Files {
    /// What a listener shows, and what it makes of what clients show.
    pub(super) fn tls(
        &mut self,
        what: &'static str,
        files: &TlsFiles,
        options: Options,
    ) -> anyhow::Result<(Transport, Authenticator)> {
        let TlsFiles {
            certificate,
            key,
            client_ca,
            client_crl,
        } = files;
        let listener = self.watch(what, [certificate, key, client_ca], |[certificate, key, client_ca]| {
            tls::server_config(certificate, key, client_ca)
        })?;
        // One swap for both, so that no request is judged by a CA without its lists.
        let client_ca = match client_crl {
            None => self.watch("client-ca", [client_ca], move |[ca]| ClientCa::from_pem(ca, options))?,
            Some(lists) => self.watch("client-ca", [client_ca, lists], move |[ca, lists]| {
                let ca = ClientCa::from_pem(ca, options)?.with_lists(lists)?;
                let outdated = ca.lists().filter(|list| list.is_outdated(UnixTime::now()));
                outdated.for_each(|list| warn!(issuer = list.issuer, "revocation list is out of date; still used"));
                Ok::<_, LoadError>(ca)
            })?,
        };
        let tokens = None;
        Ok((Transport::Tls(listener), Authenticator { client_ca, tokens }))
    }

    /// What operators on this machine show; made if it is missing.
    pub(super) fn token(&mut self, path: &Path) -> anyhow::Result<Arc<ArcSwap<OperatorToken>>> {
        OperatorToken::make(path).with_context(|| format!("cannot make {}", path.display()))?;
        self.watch("admin-token", [path], |[token]| OperatorToken::parse(token))
    }

    /// Clients for upstream, made anew when the kubeconfig, a file it names, or the front-proxy pair changes.
    pub(super) async fn upstream(&mut self, files: upstream::Files) -> anyhow::Result<Arc<ArcSwap<Clients>>> {
        let runtime = Handle::current();
        // A kubeconfig may name a program to run for the credentials.
        let load = tokio::task::spawn_blocking(move || {
            let list = files.clone();
            Reloading::load_listed(
                "upstream",
                move || list.list(),
                move || runtime.block_on(files.clients()),
            )
        });
        Ok(self.keep(load.await??))
    }

    fn watch<T, E, const N: usize>(
        &mut self,
        what: &'static str,
        files: [&Path; N],
        parse: impl Fn(&[Vec<u8>; N]) -> Result<T, E> + Send + 'static,
    ) -> anyhow::Result<Arc<ArcSwap<T>>>
    where
        T: Send + Sync + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Ok(self.keep(Reloading::load(what, files, parse)?))
    }

    fn keep<T: Send + Sync + 'static>(&mut self, reloading: Reloading<T>) -> Arc<ArcSwap<T>> {
        let current = reloading.current();
        let run = reloading.run(self.every, self.metrics.clone());
        self.background.spawn("reload", run);
        current
    }
}
