//! A seed: what its gardenlet needs before it has a single shoot.

use serde::Deserialize;

use super::{
    Asserts, Edge, Meta, Watched,
    config::Backup,
    each,
    reference::{NamedResource, Reference},
    tell, watched,
};
use crate::{
    api::garden::{self, CLUSTER_IDENTITY, GARDEN, KUBE_SYSTEM, SEED_LEASES},
    graph::{Facts, Key, Kind, Template},
};

#[derive(Clone, Debug, Deserialize)]
pub struct Seed {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
    status: Option<Status>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    backup: Option<Backup>,
    dns: Option<Dns>,
    resources: Option<Vec<NamedResource>>,
    secret_ref: Option<Reference>,
}

#[derive(Clone, Debug, Deserialize)]
struct Dns {
    defaults: Option<Vec<DnsProvider>>,
    internal: Option<DnsProvider>,
    provider: Option<DnsProvider>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DnsProvider {
    credentials_ref: Option<Reference>,
    secret_ref: Option<Reference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    client_certificate_expiration_timestamp: Option<String>,
}

impl Asserts for Seed {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    /// Its namespace and its lease are its own before there are any: that is how it gets to make them.
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let name = self.metadata.name();
        let namespace = garden::seed_namespace(name);
        tell(
            visit,
            Kind::Namespace,
            "",
            Some(&namespace),
            Template::NAMED_AFTER.field(),
        );
        tell(
            visit,
            Kind::Lease,
            SEED_LEASES,
            Some(name),
            Template::NAMED_AFTER.field(),
        );
        let identity = Some(CLUSTER_IDENTITY);
        tell(
            visit,
            Kind::ConfigMap,
            KUBE_SYSTEM,
            identity,
            Template::SEED_KIND.field(),
        );
        if let Some(spec) = &self.spec {
            spec.edges(visit);
        }
    }

    fn facts(&self) -> Option<Facts> {
        let expires = self.status.as_ref().and_then(Status::expires);
        Some(Facts::Seed { expires })
    }
}

watched! { Seed, }

impl Spec {
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(backup) = &self.backup {
            backup.tell(visit, Template::SEED_BACKUP, Template::SEED_BACKUP_SECRET);
        }
        if let Some(secret) = &self.secret_ref {
            secret.tell(visit, Some(Kind::Secret), Template::SECRET_REF.field());
        }
        for (at, resource) in each(&self.resources) {
            resource.tell(visit, GARDEN, Template::RESOURCE_REF.at(at, 0));
        }
        let Some(dns) = &self.dns else { return };
        let provider = dns
            .provider
            .iter()
            .map(|provider| (provider, Template::SEED_DNS.field()));
        let internal = dns
            .internal
            .iter()
            .map(|provider| (provider, Template::SEED_DNS_INTERNAL.field()));
        let defaults = each(&dns.defaults).map(|(at, provider)| (provider, Template::SEED_DNS_DEFAULT.at(at, 0)));
        for (provider, field) in provider.chain(internal).chain(defaults) {
            if let Some(credentials) = &provider.credentials_ref {
                credentials.tell(visit, credentials.credentials(), field);
            }
        }
        // Only the provider is old enough to have been given like this.
        if let Some(secret) = dns.provider.as_ref().and_then(|provider| provider.secret_ref.as_ref()) {
            secret.tell(visit, Some(Kind::Secret), Template::SEED_DNS_SECRET.field());
        }
    }
}

impl Status {
    fn expires(&self) -> Option<i64> {
        let timestamp = self.client_certificate_expiration_timestamp.as_deref()?;
        timestamp.parse().ok().map(jiff::Timestamp::as_second)
    }
}
