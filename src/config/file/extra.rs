//! Rules in the form of RBAC, per kind of caller. They are held to what RBAC asks of a rule, and to a little more where RBAC
//! takes something that can only be a mistake.

use crate::{
    authorizer::{EVERYTHING, ExtraResources, ExtraRule, ExtraRules, ExtraTarget},
    config::section::Section,
};

/// With `own`, upstream sees the gate instead of the caller, and would let it do what the gate may.
pub(super) fn extra_rules(mut section: Section<'_>, own: bool) -> ExtraRules {
    let mut list = |key, own| -> Vec<ExtraRule> {
        let rules = section.sections(key).into_iter();
        rules.filter_map(|rule| read(rule, own)).collect()
    };
    let nodes = list("nodes", own);
    // They are forwarded with their own token, whatever the mode.
    let bootstrap = list("bootstrap", false);
    let others = list("others", false);
    if own && !others.is_empty() {
        let message = "would let the caller act with the gate's own rights, since upstream.identity.mode is Own";
        section.problem("others", message, "use mode FrontProxy or Impersonate, or leave it out");
    }
    section.finish();
    ExtraRules {
        nodes,
        bootstrap,
        others,
    }
}

/// Nothing only if a problem was noted.
fn read(mut section: Section<'_>, own: bool) -> Option<ExtraRule> {
    let verbs = words(&mut section, "verbs");
    let groups = section.strings("apiGroups");
    let resources = words(&mut section, "resources");
    let names = words(&mut section, "resourceNames");
    let namespaces = words(&mut section, "namespaces");
    let paths = words(&mut section, "nonResourceURLs");

    let verbs = filled(&section, "verbs", verbs, "for example: [get]");
    let target = if paths.as_ref().is_some_and(|paths| !paths.is_empty()) {
        let about_resources = [&groups, &resources, &names, &namespaces];
        if about_resources.into_iter().flatten().any(|words| !words.is_empty()) {
            let message = "a rule is for resources or for paths, not for both, and paths are in no namespace";
            section.problem("nonResourceURLs", message, "make two rules of it");
        }
        paths
            .inspect(|paths| are_paths(&section, paths))
            .map(ExtraTarget::Paths)
    } else {
        let groups = filled(&section, "apiGroups", groups, "[\"\"] is the core group");
        let resources = filled(&section, "resources", resources, "for example: [configmaps]");
        if let Some(namespaces) = &namespaces {
            are_namespaces(&section, "namespaces", namespaces);
        }
        groups.zip(resources).map(|(groups, resources)| {
            ExtraTarget::Resources(ExtraResources {
                groups,
                resources,
                names: names.unwrap_or_default(),
                namespaces: namespaces.unwrap_or_default(),
            })
        })
    };
    let rule = verbs.zip(target).map(|(verbs, target)| ExtraRule { verbs, target });
    if let Some(rule) = rule.as_ref().filter(|_| own) {
        lends_nothing(&section, rule);
    }
    section.finish();
    rule
}

/// An empty name would be that of every request which names nothing, such as a list.
pub(super) fn words(section: &mut Section<'_>, key: &'static str) -> Option<Vec<String>> {
    let words = section.strings(key)?;
    if words.iter().any(String::is_empty) {
        section.problem(key, "must not have an empty string in it", "leave it out");
    }
    Some(words)
}

fn filled(section: &Section<'_>, key: &'static str, words: Option<Vec<String>>, hint: &str) -> Option<Vec<String>> {
    let words = section.require(key, words, hint)?;
    if words.is_empty() {
        section.problem(key, "must not be empty", hint);
    }
    Some(words)
}

/// RBAC would take a `*` elsewhere for itself.
fn are_paths(section: &Section<'_>, paths: &[String]) {
    for path in paths {
        let plain = path.strip_suffix(EVERYTHING).unwrap_or(path);
        if plain.contains(EVERYTHING) {
            let message = format!("{path:?} has a * that is not at its end");
            section.problem("nonResourceURLs", message, "a * at the end stands for any rest");
        } else if path != EVERYTHING && !path.starts_with('/') {
            section.problem(
                "nonResourceURLs",
                format!("{path:?} is not a path"),
                "for example: /metrics",
            );
        }
    }
}

pub(super) fn are_namespaces(section: &Section<'_>, key: &'static str, namespaces: &[String]) {
    let hint = "leave it out for all namespaces";
    if namespaces.is_empty() {
        section.problem(key, "must not be empty", hint);
    }
    if namespaces.iter().any(|namespace| namespace.contains(EVERYTHING)) {
        section.problem(key, "are names, and no patterns", hint);
    }
}

/// What `*` stands for is up to the gate's rights there, which no caller is to have as a whole.
fn lends_nothing(section: &Section<'_>, rule: &ExtraRule) {
    let refuse = |key: &str, words: &[String]| {
        if words.iter().any(|word| word.starts_with(EVERYTHING)) {
            let message =
                "* would let nodes act with all of the gate's own rights, since upstream.identity.mode is Own";
            section.problem(key, message, "name what is needed");
        }
    };
    refuse("verbs", &rule.verbs);
    match &rule.target {
        ExtraTarget::Paths(paths) => refuse("nonResourceURLs", paths),
        ExtraTarget::Resources(resources) => {
            refuse("apiGroups", &resources.groups);
            refuse("resources", &resources.resources);
        }
    }
}
