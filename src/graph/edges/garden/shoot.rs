//! A shoot: which seed it is on, and all that its gardenlet needs for it.

use serde::Deserialize;

use super::{
    Asserts, Edge, LocalObjectReference, Meta, Visit, Watched, each, given,
    reference::{NamedResource, Reference},
    tell, tell_seed, watched,
};
use crate::{
    api::garden::{SHOOT_CONFIG_MAPS, SHOOT_INTERNAL_SECRETS, SHOOT_ISSUERS, SHOOT_SECRETS},
    graph::{Key, Kind, Template},
};

#[derive(Clone, Debug, Deserialize)]
pub struct Shoot {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
    status: Option<Status>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    cloud_profile: Option<CloudProfile>,
    cloud_profile_name: Option<String>,
    credentials_binding_name: Option<String>,
    dns: Option<Dns>,
    exposure_class_name: Option<String>,
    kubernetes: Option<Kubernetes>,
    resources: Option<Vec<NamedResource>>,
    secret_binding_name: Option<String>,
    seed_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct CloudProfile {
    kind: Option<String>,
    name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Dns {
    providers: Option<Vec<DnsProvider>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DnsProvider {
    credentials_ref: Option<Reference>,
    secret_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Kubernetes {
    #[serde(rename = "kubeAPIServer")]
    kube_api_server: Option<KubeApiServer>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KubeApiServer {
    audit_config: Option<AuditConfig>,
    structured_authentication: Option<Structured>,
    structured_authorization: Option<Structured>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditConfig {
    audit_policy: Option<AuditPolicy>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditPolicy {
    config_map_ref: Option<LocalObjectReference>,
}

/// Only authorization has kubeconfigs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Structured {
    config_map_name: Option<String>,
    kubeconfigs: Option<Vec<Kubeconfig>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kubeconfig {
    secret_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    seed_name: Option<String>,
}

impl Asserts for Shoot {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    /// While it moves from one seed to another, it is on both.
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let namespace = self.metadata.namespace();
        tell(
            visit,
            Kind::Namespace,
            "",
            Some(namespace),
            Template::POD_NAMESPACE.field(),
        );
        if let Some(spec) = &self.spec {
            tell_seed(visit, &spec.seed_name, Template::SEED_NAME);
            spec.named(namespace, visit);
            spec.dns(namespace, visit);
            spec.server(namespace, visit);
            for (at, resource) in each(&spec.resources) {
                resource.tell(visit, namespace, Template::RESOURCE_REF.at(at, 0));
            }
        }
        if let Some(status) = &self.status {
            tell_seed(visit, &status.seed_name, Template::STATUS_SEED_NAME);
        }
        self.own(visit);
    }
}

watched! { Shoot, }

impl Shoot {
    /// What is called after it, whether it is there yet or not: its gardenlet makes it.
    fn own(&self, visit: Visit<'_>) {
        let (namespace, name) = (self.metadata.namespace(), self.metadata.name());
        let field = Template::NAMED_AFTER.field();
        tell(visit, Kind::ShootState, namespace, Some(name), field);
        for (kind, suffixes) in [
            (Kind::ConfigMap, SHOOT_CONFIG_MAPS),
            (Kind::InternalSecret, SHOOT_INTERNAL_SECRETS),
            (Kind::Secret, SHOOT_SECRETS),
        ] {
            for suffix in suffixes {
                tell(visit, kind, namespace, Some(&format!("{name}.{suffix}")), field);
            }
        }
        // It is called `<project>--<uid>`, and the shoot does not know its project: that is written in the labels of a namespace, or
        // in a project. The uid is enough to tell it from all others, so it stands here without the project, and whoever asks has
        // to leave the project out.
        let uid = self.metadata.uid();
        if self.metadata.has_managed_issuer() && !uid.is_empty() {
            let secret = format!("--{uid}");
            tell(
                visit,
                Kind::Secret,
                SHOOT_ISSUERS,
                Some(&secret),
                Template::SHOOT_ISSUER.field(),
            );
        }
    }
}

impl Spec {
    /// Who has a profile in the new form has none in the old one.
    fn named(&self, namespace: &str, visit: Visit<'_>) {
        match &self.cloud_profile {
            Some(profile) => profile.tell(namespace, visit),
            None => {
                let name = given(&self.cloud_profile_name);
                tell(
                    visit,
                    Kind::CloudProfile,
                    "",
                    name,
                    Template::CLOUD_PROFILE_NAME.field(),
                );
            }
        }
        let class = given(&self.exposure_class_name);
        tell(visit, Kind::ExposureClass, "", class, Template::EXPOSURE_CLASS.field());
        let (secret, credentials) = (given(&self.secret_binding_name), given(&self.credentials_binding_name));
        let field = Template::SECRET_BINDING.field();
        tell(visit, Kind::SecretBinding, namespace, secret, field);
        let field = Template::CREDENTIALS_BINDING.field();
        tell(visit, Kind::CredentialsBinding, namespace, credentials, field);
    }

    fn dns(&self, namespace: &str, visit: Visit<'_>) {
        let providers = self.dns.iter().flat_map(|dns| each(&dns.providers));
        for (at, provider) in providers {
            if let Some(credentials) = &provider.credentials_ref {
                let field = Template::SHOOT_DNS.at(at, 0);
                credentials.tell_in(visit, namespace, credentials.credentials(), field);
            }
            let field = Template::SHOOT_DNS_SECRET.at(at, 0);
            tell(visit, Kind::Secret, namespace, given(&provider.secret_name), field);
        }
    }

    /// What its API server is to be started with.
    fn server(&self, namespace: &str, visit: Visit<'_>) {
        let kubernetes = self.kubernetes.as_ref();
        let Some(server) = kubernetes.and_then(|kubernetes| kubernetes.kube_api_server.as_ref()) else {
            return;
        };
        let policy = server
            .audit_config
            .as_ref()
            .and_then(|audit| audit.audit_policy.as_ref());
        let policy = policy.and_then(|policy| policy.config_map_ref.as_ref());
        let policy = policy.and_then(LocalObjectReference::name);
        tell(
            visit,
            Kind::ConfigMap,
            namespace,
            policy,
            Template::AUDIT_POLICY.field(),
        );
        for (structured, template) in [
            (&server.structured_authentication, Template::AUTHENTICATION_CONFIG),
            (&server.structured_authorization, Template::AUTHORIZATION_CONFIG),
        ] {
            let name = structured
                .as_ref()
                .and_then(|structured| given(&structured.config_map_name));
            tell(visit, Kind::ConfigMap, namespace, name, template.field());
        }
        let authorization = server.structured_authorization.iter();
        for (at, kubeconfig) in authorization.flat_map(|structured| each(&structured.kubeconfigs)) {
            let field = Template::AUTHORIZATION_KUBECONFIG.at(at, 0);
            tell(visit, Kind::Secret, namespace, given(&kubeconfig.secret_name), field);
        }
    }
}

impl CloudProfile {
    fn tell(&self, namespace: &str, visit: Visit<'_>) {
        let (kind, namespace) = match given(&self.kind) {
            None | Some("CloudProfile") => (Kind::CloudProfile, ""),
            Some("NamespacedCloudProfile") => (Kind::NamespacedCloudProfile, namespace),
            Some(_) => return,
        };
        tell(
            visit,
            kind,
            namespace,
            given(&self.name),
            Template::CLOUD_PROFILE.field(),
        );
    }
}
