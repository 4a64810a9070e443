//! Values made from files, each with a task that takes up changes.

use std::{path::Path, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use rustls::pki_types::UnixTime;
use tracing::warn;

use super::background::Background;
use crate::{
    config::{self, TlsFiles},
    identity::{
        Authenticator,
        x509::{ClientCa, LoadError, Options},
    },
    server::{self, Transport, reload::Reloading, tls},
    upstream::{self, Client},
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
        Ok((Transport::Tls(listener), Authenticator { client_ca }))
    }

    /// The kubeconfig itself is read once; the front-proxy pair is taken up when it changes.
    pub(super) async fn upstream(&mut self, config: &config::Upstream) -> anyhow::Result<Arc<ArcSwap<Client>>> {
        let credentials = upstream::credentials(config.kubeconfig.as_deref()).await?;
        match &config.identity {
            config::Identity::Impersonate | config::Identity::Own => {
                Ok(Arc::new(ArcSwap::from_pointee(Client::new(&credentials)?)))
            }
            config::Identity::FrontProxy { certificate, key } => {
                let with_pair = upstream::with_certificate(&credentials, certificate, key);
                self.watch("front-proxy", [certificate, key], move |_| Client::new(&with_pair))
            }
        }
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
        let reloading = Reloading::load(what, files, parse)?;
        let current = reloading.current();
        let run = reloading.run(self.every, self.metrics.clone());
        self.background.spawn("reload", run);
        Ok(current)
    }
}
