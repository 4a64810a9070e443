//! A pod: which node runs it, and what that takes.

mod volume;

use serde::Deserialize;

use self::volume::Volume;
use super::{Asserts, Edge, LocalObjectReference, Meta, Watched, each, given};
use crate::graph::{Field, Key, Kind, PodFacts, Template, Tokens, Uid};

#[derive(Clone, Debug, Deserialize)]
pub struct Pod {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
    status: Option<Status>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
    service_account_name: Option<String>,
    image_pull_secrets: Option<Vec<LocalObjectReference>>,
    init_containers: Option<Vec<Container>>,
    containers: Option<Vec<Container>>,
    ephemeral_containers: Option<Vec<Container>>,
    volumes: Option<Vec<Volume>>,
    resource_claims: Option<Vec<ResourceClaim>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    env: Option<Vec<EnvVar>>,
    env_from: Option<Vec<EnvFrom>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvVar {
    value_from: Option<EnvVarSource>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvVarSource {
    config_map_key_ref: Option<LocalObjectReference>,
    secret_key_ref: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvFrom {
    config_map_ref: Option<LocalObjectReference>,
    secret_ref: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceClaim {
    name: Option<String>,
    resource_claim_name: Option<String>,
    resource_claim_template_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    resource_claim_statuses: Option<Vec<ResourceClaimStatus>>,
    extended_resource_claim_status: Option<ExtendedResourceClaimStatus>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceClaimStatus {
    name: Option<String>,
    resource_claim_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExtendedResourceClaimStatus {
    resource_claim_name: Option<String>,
}

/// What one pod needs, as it is told of. All of it is in the namespace of the pod.
struct Needs<'a> {
    pod: &'a Meta,
    visit: &'a mut dyn FnMut(Edge<'_>),
}

/// Where the references of one of the three lists of containers are.
struct ContainerFields {
    env_config_map: Template,
    env_secret: Template,
    env_from_config_map: Template,
    env_from_secret: Template,
}

const CONTAINERS: ContainerFields = ContainerFields {
    env_config_map: Template::CONTAINER_ENV_CONFIG_MAP,
    env_secret: Template::CONTAINER_ENV_SECRET,
    env_from_config_map: Template::CONTAINER_ENV_FROM_CONFIG_MAP,
    env_from_secret: Template::CONTAINER_ENV_FROM_SECRET,
};

const EPHEMERAL_CONTAINERS: ContainerFields = ContainerFields {
    env_config_map: Template::EPHEMERAL_CONTAINER_ENV_CONFIG_MAP,
    env_secret: Template::EPHEMERAL_CONTAINER_ENV_SECRET,
    env_from_config_map: Template::EPHEMERAL_CONTAINER_ENV_FROM_CONFIG_MAP,
    env_from_secret: Template::EPHEMERAL_CONTAINER_ENV_FROM_SECRET,
};

const INIT_CONTAINERS: ContainerFields = ContainerFields {
    env_config_map: Template::INIT_CONTAINER_ENV_CONFIG_MAP,
    env_secret: Template::INIT_CONTAINER_ENV_SECRET,
    env_from_config_map: Template::INIT_CONTAINER_ENV_FROM_CONFIG_MAP,
    env_from_secret: Template::INIT_CONTAINER_ENV_FROM_SECRET,
};

impl Asserts for Pod {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let Some(spec) = &self.spec else { return };
        if let Some(node) = given(&spec.node_name) {
            let node = Key::cluster(Kind::Node, node);
            visit(Edge::new(node, Template::NODE_NAME.field()));
        }
        // A node writes its mirror pods itself, and must not thereby give itself what they name. Admission refuses those
        // that name anything; this holds without it.
        if self.metadata.is_mirror() {
            return;
        }
        let pod = &self.metadata;
        let mut needs = Needs { pod, visit };
        spec.references(&mut needs);
        self.resource_claims(spec, &mut needs);
    }

    fn bound(&self) -> Option<(&str, PodFacts)> {
        let node = self.node();
        (!node.is_empty()).then(|| (node, self.pod_facts()))
    }
}

impl Watched for Pod {
    const KIND: Kind = Kind::Pod;

    fn meta(&self) -> &Meta {
        &self.metadata
    }
}

impl Pod {
    pub fn uid(&self) -> &str {
        self.metadata.uid()
    }

    /// Empty if it is bound to none yet.
    pub fn node(&self) -> &str {
        let spec = self.spec.as_ref();
        spec.and_then(|spec| given(&spec.node_name)).unwrap_or_default()
    }

    pub fn service_account(&self) -> &str {
        let spec = self.spec.as_ref();
        spec.and_then(|spec| given(&spec.service_account_name))
            .unwrap_or_default()
    }

    pub fn is_mirror(&self) -> bool {
        self.metadata.is_mirror()
    }

    /// What the node that it is bound to may do with it depends on this.
    pub fn pod_facts(&self) -> PodFacts {
        let mut sources = Vec::new();
        for (_, volume) in self.spec.iter().flat_map(|spec| each(&spec.volumes)) {
            volume.token_sources(self.metadata.name(), &mut sources);
        }
        PodFacts {
            uid: Uid::from(self.metadata.uid()),
            tokens: Tokens::new(&sources),
            mirror: self.is_mirror(),
        }
    }

    /// A claim is named, or made from a template and then named in the status. One that was not needed, or is not there yet,
    /// has no name.
    fn resource_claims(&self, spec: &Spec, needs: &mut Needs<'_>) {
        let status = self.status.as_ref();
        for (i, claim) in each(&spec.resource_claims) {
            if claim.resource_claim_name.is_some() {
                let name = given(&claim.resource_claim_name);
                needs.add(Kind::ResourceClaim, name, Template::RESOURCE_CLAIM.at(i, 0));
            } else if claim.resource_claim_template_name.is_some() {
                let mut statuses = status
                    .into_iter()
                    .flat_map(|status| each(&status.resource_claim_statuses));
                if let Some((i, made)) = statuses.find(|(_, made)| given(&made.name) == given(&claim.name)) {
                    let name = given(&made.resource_claim_name);
                    needs.add(Kind::ResourceClaim, name, Template::RESOURCE_CLAIM_STATUS.at(i, 0));
                }
            }
        }
        if let Some(extended) = status.and_then(|status| status.extended_resource_claim_status.as_ref()) {
            let name = given(&extended.resource_claim_name);
            needs.add(Kind::ResourceClaim, name, Template::EXTENDED_RESOURCE_CLAIM.field());
        }
    }
}

impl Spec {
    fn references(&self, needs: &mut Needs<'_>) {
        let account = given(&self.service_account_name);
        needs.add(Kind::ServiceAccount, account, Template::SERVICE_ACCOUNT_NAME.field());
        for (i, secret) in each(&self.image_pull_secrets) {
            needs.add(Kind::Secret, secret.name(), Template::IMAGE_PULL_SECRET.at(i, 0));
        }
        let lists = [
            (&self.init_containers, INIT_CONTAINERS),
            (&self.containers, CONTAINERS),
            (&self.ephemeral_containers, EPHEMERAL_CONTAINERS),
        ];
        for (containers, fields) in lists {
            each(containers).for_each(|(i, container)| container.references(i, &fields, needs));
        }
        each(&self.volumes).for_each(|(i, volume)| volume.references(i, needs));
    }
}

impl Container {
    fn references(&self, i: usize, fields: &ContainerFields, needs: &mut Needs<'_>) {
        for (j, from) in each(&self.env_from) {
            needs.reference(
                Kind::ConfigMap,
                &from.config_map_ref,
                fields.env_from_config_map.at(i, j),
            );
            needs.reference(Kind::Secret, &from.secret_ref, fields.env_from_secret.at(i, j));
        }
        for (j, variable) in each(&self.env) {
            if let Some(from) = &variable.value_from {
                needs.reference(
                    Kind::ConfigMap,
                    &from.config_map_key_ref,
                    fields.env_config_map.at(i, j),
                );
                needs.reference(Kind::Secret, &from.secret_key_ref, fields.env_secret.at(i, j));
            }
        }
    }
}

impl Needs<'_> {
    fn reference(&mut self, kind: Kind, to: &Option<LocalObjectReference>, field: Field) {
        self.add(kind, to.as_ref().and_then(LocalObjectReference::name), field);
    }

    fn add(&mut self, kind: Kind, name: Option<&str>, field: Field) {
        if let Some(name) = name {
            let other = Key::new(kind, self.pod.namespace(), name);
            (self.visit)(Edge::new(other, field));
        }
    }
}
