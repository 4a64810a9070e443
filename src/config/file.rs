//! The keys of the file and what they may say. Everything is read before anything is refused.

mod acting_as;
mod annotations;
mod extra;
mod graph;
mod listeners;
mod rules;
mod upstream;

use std::path::Path;

use serde_json::Value;

use self::{
    acting_as::acting_as,
    annotations::validated_annotations,
    extra::extra_rules,
    graph::graph,
    listeners::{admin, serving},
    rules::{extended, modes},
    upstream::{authentication, reviews, upstream},
};
use super::{
    Config, Features, Identity, KubernetesVersion, Problem,
    features::Unsettable,
    section::{Context, Section, suggestion},
};
use crate::{
    admission::{Admission, Extended, MirrorPodOwner, NodeRestriction, SeedRestriction},
    authorizer::{Authorizer, ExtraRules, Fallback, Profile, SeedRules},
    observe::{audit, log},
    pipeline::ward::Place,
    rules::Modes,
};

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
    // What stands in a list is asked for only where there is something.
    let rule = serde_json::json!({
        "extraRules": {"nodes": [{}]},
        "actingAs": {"delegations": [{}], "deputies": [{}]},
        "validatedAnnotations": {"kinds": [{}]},
    });
    read(Section::root(rule, &context));
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
    let authentication = authentication(root.section("authentication"));
    let reviews = reviews(root.section("reviews"));
    let upstream = upstream(root.section("upstream"));
    let (kubernetes_version, features) = features(&mut root);
    let own = upstream
        .as_ref()
        .is_some_and(|upstream| matches!(upstream.identity, Identity::Own));
    let modes = modes(root.section("rules"), features, own);
    let extended = extended(root.section("podRestriction"), root.section("nodeAddresses"), features);
    let extra = extra_rules(root.section("extraRules"), own);
    let (mut authorizer, mut admission) = callers(root.section("callers"), own, features, modes, extended);
    authorizer.extra = extra;
    admission.validated = validated_annotations(root.section("validatedAnnotations"));
    let acting_as = acting_as(root.section("actingAs"), own, features);
    let mut graph = graph(root.section("graph"), features, modes);
    graph.watch.seeds = authorizer.seeds.map(|rules| rules.profile);
    let quarantine = quarantine(root.section("quarantine"));
    let audit = audit(root.section("audit"));
    let log = log(root.section("log"));
    root.finish();
    Some(Config {
        serving: serving?,
        admin: admin?,
        authentication,
        upstream: upstream?,
        authorizer,
        acting_as,
        admission,
        graph,
        reviews,
        kubernetes_version,
        features,
        quarantine,
        audit,
        log,
    })
}

fn callers(
    mut section: Section<'_>,
    own: bool,
    features: Features,
    modes: Modes,
    (mirror_pod_owner, extended): (MirrorPodOwner, Extended),
) -> (Authorizer, Admission) {
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
    let apply = nodes_section.choice("serverSideApply", &[("Deny", false), ("DryRun", true)]);
    nodes_section.finish();

    let mut seeds_section = section.section("seeds");
    let enabled = seeds_section.boolean("enabled").unwrap_or(false);
    let profile = seeds_section.choice(
        "profile",
        &[("Document", Profile::Document), ("Current", Profile::Current)],
    );
    let fallback = seeds_section.choice(
        "fallback",
        &[("Deny", Fallback::Deny), ("Upstream", Fallback::Upstream)],
    );
    let seeds = SeedRules {
        profile: profile.unwrap_or(Profile::Document),
        fallback: fallback.unwrap_or(Fallback::Upstream),
    };
    if enabled {
        refuse_own(&seeds_section, "fallback", seeds.fallback);
    }
    seeds_section.finish();
    let seeds = enabled.then_some(seeds);

    let bootstrap = section.choice(
        "bootstrap",
        &[("Deny", Fallback::Deny), ("Forward", Fallback::Upstream)],
    );
    let others = section.choice("others", &[("Deny", Fallback::Deny), ("Forward", Fallback::Upstream)]);
    let others = others.unwrap_or(Fallback::Deny);
    refuse_own(&section, "others", others);
    let masters = section.strings("allowMasters").unwrap_or_default();
    section.finish();
    let authorizer = Authorizer {
        nodes,
        seeds,
        node_rules: features.node_rules,
        modes,
        bootstrap: bootstrap.unwrap_or(Fallback::Upstream),
        others,
        extra: ExtraRules::NONE,
        masters,
        caller_known_upstream: !own,
    };
    let node_restriction = NodeRestriction {
        audiences: features.token_audiences,
        any_certificate: features.any_certificate,
        pod_certificates: features.node_rules.pod_certificates,
        apply: apply.unwrap_or(false),
        mirror_pod_owner,
        extended,
    };
    let admission = Admission {
        node_restriction,
        seeds: seeds.map(|SeedRules { profile, .. }| SeedRestriction { profile }),
        validated: None,
        modes,
    };
    (authorizer, admission)
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
    for (name, value) in gates.rest() {
        let path = format!("featureGates.{name}");
        let Some(on) = value.as_bool() else {
            root.problem(&path, "should be true or false", "for example: true");
            continue;
        };
        match features.set(version, &name, on) {
            Ok(()) => {}
            Err(Unsettable::Locked(locked)) => {
                let message = format!("is locked to {locked} in Kubernetes {version}");
                root.problem(&path, message, "leave it out");
            }
            Err(Unsettable::NotYet(since)) => {
                let message = format!("is not a feature gate of Kubernetes {version}; it came with {since}");
                root.problem(
                    &path,
                    message,
                    "leave it out, or set kubernetesVersion to what upstream runs",
                );
            }
            Err(Unsettable::Unknown) => {
                let names = Features::names();
                let hint = suggestion(&name, &names).unwrap_or_else(|| format!("known: {}", names.join(", ")));
                root.problem(&path, "is not a feature gate scopegate knows", hint);
            }
        }
    }
    (version, features)
}

fn quarantine(mut section: Section<'_>) -> Place {
    let file = section.string("file");
    let map = section.string("configMap");
    let place = match (file, map) {
        (None, None) => Place::Nowhere,
        (Some(file), None) => Place::File(section.resolve(&file)),
        (None, Some(map)) => {
            // Both become parts of a path.
            let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let name = |text: &str| {
                text.starts_with(|c: char| c.is_ascii_alphanumeric())
                    && text.bytes().all(|byte| letter(byte) || b"-.".contains(&byte))
            };
            match map.split_once('/') {
                Some((namespace, object)) if name(namespace) && name(object) => Place::ConfigMap {
                    namespace: namespace.to_owned(),
                    name: object.to_owned(),
                },
                _ => {
                    let hint = "for example: scopegate/quarantine";
                    section.problem(
                        "configMap",
                        "should be a namespace and a name with a slash between them",
                        hint,
                    );
                    Place::Nowhere
                }
            }
        }
        (Some(_), Some(_)) => {
            section.problem(
                "file",
                "and configMap cannot both be set",
                "in a cluster configMap, elsewhere file",
            );
            Place::Nowhere
        }
    };
    section.finish();
    place
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
