//! Which rules are enforced, and what the extended ones allow.

use serde_json::Value;

use crate::{
    admission::{AllowedAddress, Extended, Keys, MirrorPodOwner},
    api::pods::{is_key, is_namespace},
    config::{
        Features,
        section::{Section, suggestion},
    },
    rules::{Mode, Modes, Origin, Rule},
};

/// Feature gate `NodeRestrictionPods` turns rules on that are only recorded otherwise; single modes and `dryRun` come after it.
pub(super) fn modes(mut section: Section<'_>, features: Features, own: bool) -> Modes {
    let mut modes = Modes::DEFAULT;
    if features.restrict_pods {
        for rule in Rule::ALL.iter().filter(|rule| rule.is_about_pods()) {
            modes.set(*rule, Mode::Enforce);
        }
    }
    if own {
        // Who has asked for a certificate is not known: upstream has seen the gate.
        modes.set(Rule::NodeCertificateSigningRequests, Mode::Off);
    }
    let written = section.section("modes");
    for (id, value) in written.rest() {
        let path = format!("modes.{id}");
        let Some(rule) = rule(&section, &path, &id) else {
            continue;
        };
        match mode(&value) {
            Some(mode) if is_settable(&section, &path, rule, mode, own) => modes.set(rule, mode),
            Some(_) => {}
            None => section.problem(&path, "should be Enforce, Warn, Audit or Off", "for example: Warn"),
        }
    }
    // The proposal's rule on the same labels may stand in for upstream's.
    let guarded = [Rule::RestrictionPodLabels, Rule::PodsStatusLabels].map(|rule| modes.of(rule) == Mode::Enforce);
    if own && guarded == [false, false] {
        let path = format!("modes.{}", Rule::RestrictionPodLabels);
        has_to_be_enforced(
            &section,
            &path,
            &format!("use Enforce, or enforce {}", Rule::PodsStatusLabels),
        );
    }
    if section.boolean("dryRun").unwrap_or(false) {
        if own {
            let message = "would let nodes act with the gate's own rights, since upstream.identity.mode is Own";
            section.problem("dryRun", message, "use mode FrontProxy or Impersonate for a dry run");
        }
        modes.dry_run();
    }
    section.finish();
    modes
}

fn rule(section: &Section<'_>, path: &str, id: &str) -> Option<Rule> {
    let rule = id.parse().ok();
    if rule.is_none() {
        let ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        let hint = suggestion(id, &ids).unwrap_or_else(|| "`scopegate rules` lists them".to_owned());
        section.problem(path, "is not a rule", hint);
    }
    rule
}

fn mode(value: &Value) -> Option<Mode> {
    // YAML readers of old take a plain Off for false.
    let text = match value {
        Value::Bool(false) => "Off",
        value => value.as_str()?,
    };
    Mode::ALL.iter().find(|mode| mode.as_str() == text).copied()
}

fn is_settable(section: &Section<'_>, path: &str, rule: Rule, mode: Mode, own: bool) -> bool {
    let (message, hint) = match rule.origin() {
        Origin::Fixed if mode != Mode::Enforce && rule.id().starts_with("callers/") => {
            ("is always enforced", "the keys under callers say whom it spares")
        }
        Origin::Fixed if mode != Mode::Enforce => ("is always enforced", "leave it out"),
        Origin::Upstream if own && mode != Mode::Enforce && rule != Rule::RestrictionPodLabels => {
            has_to_be_enforced(section, path, "use mode FrontProxy or Impersonate, or Enforce");
            return false;
        }
        _ if own && rule == Rule::NodeCertificateSigningRequests && mode != Mode::Off => (
            "cannot be told: upstream has seen the gate ask for the certificate, since upstream.identity.mode is Own",
            "use mode FrontProxy or Impersonate, or Off",
        ),
        _ => return true,
    };
    section.problem(path, message, hint);
    false
}

fn has_to_be_enforced(section: &Section<'_>, path: &str, hint: &str) {
    let message = "has to be enforced: nodes would act with the gate's own rights, since upstream.identity.mode is Own";
    section.problem(path, message, hint);
}

/// What nodes may do with pods beyond the lists of the proposal, and the addresses that they may have.
pub(super) fn extended(
    mut pods: Section<'_>,
    mut addresses: Section<'_>,
    features: Features,
) -> (MirrorPodOwner, Extended) {
    let owner = pods.choice(
        "mirrorPodOwner",
        &[
            ("Upstream", MirrorPodOwner::Upstream),
            ("Proposal", MirrorPodOwner::Proposal),
            ("Either", MirrorPodOwner::Either),
        ],
    );
    let default = if features.restrict_pods {
        MirrorPodOwner::Either
    } else {
        MirrorPodOwner::Upstream
    };
    let labels = keys(&mut pods, "allowedLabels");
    let annotations = keys(&mut pods, "allowedAnnotations");
    let finalizers = keys(&mut pods, "allowedFinalizers");
    let namespaces = pods.strings("mirrorPodNamespaces").unwrap_or_default();
    for namespace in namespaces.iter().filter(|namespace| !is_namespace(namespace)) {
        let message = format!("{namespace:?} is not the name of a namespace");
        pods.problem("mirrorPodNamespaces", message, "for example: [kube-system]");
    }
    pods.finish();
    let mut allowed = Vec::new();
    for text in addresses.strings("allow").unwrap_or_default() {
        match text.parse::<AllowedAddress>() {
            Ok(address) => allowed.push(address),
            Err(error) => {
                let hint =
                    "networks, addresses, names or domains, for example: [169.254.1.0/24, \"*.compute.internal\"]";
                addresses.problem("allow", error, hint);
            }
        }
    }
    addresses.finish();
    let extended = Extended {
        labels,
        annotations,
        finalizers,
        namespaces,
        addresses: allowed,
    };
    (owner.unwrap_or(default), extended)
}

/// Keys such as `component`, and all those of a domain such as `example.com/*`.
fn keys(section: &mut Section<'_>, key: &'static str) -> Keys {
    let patterns = section.strings(key).unwrap_or_default();
    for pattern in &patterns {
        // With something in place of the star it has to be a key.
        let example = pattern.strip_suffix("/*").map(|domain| format!("{domain}/x"));
        if !is_key(example.as_deref().unwrap_or(pattern)) {
            let hint = "keys, or all those of a domain, for example: [component, example.com/*]";
            section.problem(key, format!("{pattern:?} is not a key"), hint);
        }
    }
    Keys::new(patterns)
}
