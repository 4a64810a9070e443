//! The garden that is measured over: what there is of every kind, what it is called, and what it names. The gate and Gardener are
//! told of the same objects in the same order.

use std::fmt;

use anyhow::{Result, bail};
use scopegate::graph::{
    Asserts, BackupBucket, BackupEntry, ControllerDeployment, ControllerInstallation, CredentialsBinding, ManagedSeed,
    Project, SecretBinding, Seed, Shoot,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How much of everything.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) seeds: usize,
    pub(crate) shoots_per_seed: usize,
    pub(crate) projects: usize,
    /// Of which every seed has one installation each.
    pub(crate) extensions: usize,
    /// Beside the others; they are shoots of the first ones, and have none.
    pub(crate) managed_seeds: usize,
}

const CORE: &str = "core.gardener.cloud/v1beta1";
const SECURITY: &str = "security.gardener.cloud/v1alpha1";
const SEED_MANAGEMENT: &str = "seedmanagement.gardener.cloud/v1alpha1";
const GARDEN: &str = "garden";

/// Of each kind in every project; shoots with even numbers have those of credentials, the others those of secrets.
const BINDINGS: usize = 10;
const CLOUD_PROFILES: usize = 10;
const EXPOSURE_CLASSES: usize = 3;

impl Shape {
    /// All of it, as the informers would get it.
    pub(crate) fn objects(self) -> impl Iterator<Item = Value> {
        let each = move |of: fn(&Self, usize, usize) -> Value, count| {
            (0..self.seeds).flat_map(move |seed| (0..count).map(move |number| of(&self, seed, number)))
        };
        let seeds = (0..self.seeds).flat_map(|number| [seed(&format!("seed{number}")), bucket(number)]);
        let projects = (0..self.projects).flat_map(project);
        let managed = (0..self.managed_seeds).flat_map(managed_seed);
        seeds
            .chain(projects)
            .chain(each(Self::shoot, self.shoots_per_seed))
            .chain(each(Self::entry, self.shoots_per_seed))
            .chain((0..self.extensions).map(|number| deployment(number, "pull")))
            .chain(each(Self::installation, self.extensions))
            .chain(managed)
    }

    pub(crate) fn shoot(&self, seed: usize, shoot: usize) -> Value {
        self.shoot_on(seed, shoot, &format!("seed{seed}"))
    }

    /// The same on another seed than its first one.
    pub(crate) fn shoot_on(&self, seed: usize, shoot: usize, on: &str) -> Value {
        let name = shoot_name(seed, shoot);
        let mut object = shoot_of(&self.namespace(seed, shoot), &name, on, shoot);
        let reference = |kind, what| json!({"apiVersion": "v1", "kind": kind, "name": format!("{what}-{name}")});
        let spec = &mut object["spec"];
        let (by, binding) = (shoot.is_multiple_of(2), binding(shoot));
        spec[if by {
            "credentialsBindingName"
        } else {
            "secretBindingName"
        }] = json!(binding);
        spec["exposureClassName"] = json!(format!("exposure{}", shoot % EXPOSURE_CLASSES));
        spec["dns"] = json!({"providers": [{"type": "t", "credentialsRef": reference("Secret", "dns")}]});
        spec["kubernetes"] = json!({"version": "1.34.1", "kubeAPIServer": {
            "auditConfig": {"auditPolicy": {"configMapRef": {"name": format!("audit-{name}")}}},
            "structuredAuthentication": {"configMapName": format!("authentication-{name}")},
            "structuredAuthorization": {"configMapName": format!("authorization-{name}"),
                "kubeconfigs": [{"authorizerName": "a", "secretName": format!("kubeconfig-{name}")}]},
        }});
        spec["resources"] = json!([
            {"name": "one", "resourceRef": reference("Secret", "one")},
            {"name": "two", "resourceRef": reference("Secret", "two")},
            {"name": "three", "resourceRef": reference("ConfigMap", "three")},
        ]);
        object
    }

    /// Of the shoots, and of all that is with them.
    pub(crate) fn namespace(&self, seed: usize, shoot: usize) -> String {
        format!("garden-p{}", (seed * self.shoots_per_seed + shoot) % self.projects)
    }

    fn entry(&self, seed: usize, shoot: usize) -> Value {
        let (name, on) = (shoot_name(seed, shoot), format!("seed{seed}"));
        let fields =
            json!({"spec": {"seedName": on, "bucketName": format!("bucket-{on}")}, "status": {"seedName": on}});
        let mut entry = object(
            CORE,
            "BackupEntry",
            &self.namespace(seed, shoot),
            &format!("entry-{name}"),
            fields,
        );
        entry["metadata"]["ownerReferences"] = json!([{"apiVersion": CORE, "kind": "Shoot", "name": name, "uid": "u"}]);
        entry
    }

    fn installation(&self, seed: usize, extension: usize) -> Value {
        let fields = json!({"spec": {
            "registrationRef": {"name": format!("extension{extension}")},
            "deploymentRef": {"name": format!("extension{extension}")},
            "seedRef": {"name": format!("seed{seed}")},
        }});
        object(
            CORE,
            "ControllerInstallation",
            "",
            &format!("extension{extension}-seed{seed}"),
            fields,
        )
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seeds,
            shoots_per_seed,
            projects,
            extensions,
            managed_seeds,
        } = self;
        write!(f, "{seeds} seeds × {shoots_per_seed} shoots in {projects} projects, ")?;
        write!(f, "{extensions} extensions, {managed_seeds} managed seeds")
    }
}

/// Reads an object into what the gate takes.
pub(crate) fn read(object: &Value) -> Result<Box<dyn Asserts>> {
    fn of<T: Asserts + DeserializeOwned + 'static>(object: &Value) -> Result<Box<dyn Asserts>> {
        Ok(Box::new(T::deserialize(object)?))
    }
    match object["kind"].as_str().unwrap_or_default() {
        "BackupBucket" => of::<BackupBucket>(object),
        "BackupEntry" => of::<BackupEntry>(object),
        "ControllerDeployment" => of::<ControllerDeployment>(object),
        "ControllerInstallation" => of::<ControllerInstallation>(object),
        "CredentialsBinding" => of::<CredentialsBinding>(object),
        "ManagedSeed" => of::<ManagedSeed>(object),
        "Project" => of::<Project>(object),
        "SecretBinding" => of::<SecretBinding>(object),
        "Seed" => of::<Seed>(object),
        "Shoot" => of::<Shoot>(object),
        kind => bail!("nobody knows a {kind}"),
    }
}

pub(crate) fn shoot_name(seed: usize, shoot: usize) -> String {
    format!("shoot{shoot}-seed{seed}")
}

/// An extension, which all seeds have, with a name for the secret by which its chart is had.
pub(crate) fn deployment(extension: usize, secret: &str) -> Value {
    let name = format!("extension{extension}");
    let resource = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": format!("config-{name}")});
    let fields = json!({
        "helm": {"ociRepository": {"ref": "r", "pullSecretRef": {"name": format!("{secret}-{name}")}}},
        "resources": [{"name": "config", "resourceRef": resource}],
    });
    object("core.gardener.cloud/v1", "ControllerDeployment", "", &name, fields)
}

/// A binding of a project, which some of its shoots have, with a name for the secret.
pub(crate) fn credentials_binding(namespace: &str, number: usize, secret: &str) -> Value {
    let fields = json!({"credentialsRef": secret_in(namespace, secret), "provider": {"type": "t"}});
    object(SECURITY, "CredentialsBinding", namespace, &binding(number), fields)
}

fn seed(name: &str) -> Value {
    let backup = secret_in(GARDEN, &format!("backup-{name}"));
    let internal = json!({"type": "t", "domain": "d", "credentialsRef": secret_in(GARDEN, "internal-domain")});
    let fields = json!({"spec": {
        "backup": {"provider": "p", "credentialsRef": backup},
        "dns": {"internal": internal},
    }});
    object(CORE, "Seed", "", name, fields)
}

/// It is a shoot of the seed with the same number.
fn managed_seed(number: usize) -> [Value; 3] {
    let name = format!("managed{number}");
    let fields = json!({"spec": {
        "shoot": {"name": name},
        "gardenlet": {"bootstrap": "BootstrapToken", "config": {"seedConfig": {"spec": {}}}},
    }});
    [
        seed(&name),
        shoot_of(GARDEN, &name, &format!("seed{number}"), number),
        object(SEED_MANAGEMENT, "ManagedSeed", GARDEN, &name, fields),
    ]
}

fn bucket(seed: usize) -> Value {
    let secret = |what| secret_in(GARDEN, &format!("{what}-seed{seed}"));
    let generated = json!({"namespace": GARDEN, "name": format!("generated-bucket-seed{seed}")});
    let fields = json!({
        "spec": {"seedName": format!("seed{seed}"), "credentialsRef": secret("backup")},
        "status": {"generatedSecretRef": generated},
    });
    object(CORE, "BackupBucket", "", &format!("bucket-seed{seed}"), fields)
}

/// With its bindings.
fn project(number: usize) -> Vec<Value> {
    let namespace = format!("garden-p{number}");
    let fields = json!({"spec": {"namespace": namespace}});
    let project = object(CORE, "Project", "", &format!("p{number}"), fields);
    let bindings = (0..BINDINGS).flat_map(|number| {
        let secret = json!({"namespace": namespace, "name": format!("secret{number}")});
        let fields = json!({"secretRef": secret, "provider": {"type": "t"}});
        [
            credentials_binding(&namespace, number, &format!("credentials{number}")),
            object(CORE, "SecretBinding", &namespace, &binding(number), fields),
        ]
    });
    [project].into_iter().chain(bindings).collect()
}

fn shoot_of(namespace: &str, name: &str, on: &str, number: usize) -> Value {
    let profile = json!({"kind": "CloudProfile", "name": format!("cloud{}", number % CLOUD_PROFILES)});
    let fields = json!({"spec": {"seedName": on, "cloudProfile": profile}, "status": {"seedName": on}});
    object(CORE, "Shoot", namespace, name, fields)
}

fn binding(number: usize) -> String {
    format!("binding{}", number % BINDINGS)
}

fn secret_in(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "namespace": namespace, "name": name})
}

fn object(api_version: &str, kind: &str, namespace: &str, name: &str, mut fields: Value) -> Value {
    fields["apiVersion"] = json!(api_version);
    fields["kind"] = json!(kind);
    fields["metadata"] = json!({"name": name});
    if !namespace.is_empty() {
        fields["metadata"]["namespace"] = json!(namespace);
    }
    fields
}
