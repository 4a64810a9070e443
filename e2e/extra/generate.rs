//! Rules, and questions that are often about what the rule says.

use scopegate::{
    api::{GroupResource, Verb},
    request::{RequestInfo, ResourceRequest, Selectors, Target},
};
use serde_json::{Value, json};

use crate::random::Random;

/// What is asked.
#[derive(Debug)]
pub(super) enum Question {
    Path {
        verb: String,
        path: String,
    },
    Resource {
        verb: String,
        group: String,
        resource: String,
        subresource: String,
        name: String,
        namespace: String,
    },
}

pub(super) const NAMESPACES: &[&str] = &["extra-a", "extra-b"];

const VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];
const RULE_VERBS: &[&str] = &[
    "*", "Get", "create", "delete", "get", "get", "list", "patch", "use", "watch",
];
const METHODS: &[&str] = &["get", "head", "post", "put"];
const RULE_METHODS: &[&str] = &["*", "get", "get", "head", "list"];
const GROUPS: &[&str] = &["", "", "apps", "example.com", "v1"];
const RULE_GROUPS: &[&str] = &["", "", "*", "apps", "example.com"];
const RESOURCES: &[&str] = &["deployments", "nodes", "po", "pods", "secrets"];
const SUBRESOURCES: &[&str] = &["", "", "", "log", "og", "scale", "status", "xlog"];
const RULE_RESOURCES: &[&str] = &[
    "*",
    "*/*",
    "*/log",
    "*/status",
    "deployments",
    "deployments/scale",
    "nodes",
    "nodes/status",
    "pods",
    "pods",
    "pods/",
    "pods/*",
    "pods/log",
    "secrets",
];
const NAMES: &[&str] = &["", "*", "a", "b", "c"];
const RULE_NAMES: &[&str] = &["*", "a", "b"];
const PLACES: &[&str] = &["", "extra-a", "extra-b", "extra-c"];
const PATHS: &[&str] = &[
    "/",
    "/api",
    "/healthz",
    "/logs",
    "/logs/x",
    "/metrics",
    "/metrics/",
    "/metrics/*",
    "/metrics/slis",
    "/metricsx",
];
const RULE_PATHS: &[&str] = &[
    "*",
    "/",
    "/*",
    "/api*",
    "/healthz",
    "/logs/*",
    "/metrics",
    "/metrics*",
    "/metrics/*",
];

pub(super) fn rule(random: &mut Random) -> Value {
    if random.one_in(5) {
        return json!({"nonResourceURLs": some(random, RULE_PATHS, 2), "verbs": some(random, RULE_METHODS, 2)});
    }
    let mut rule = json!({
        "apiGroups": some(random, RULE_GROUPS, 2),
        "resources": some(random, RULE_RESOURCES, 3),
        "verbs": some(random, RULE_VERBS, 3),
    });
    if random.one_in(2) {
        rule["resourceNames"] = json!(some(random, RULE_NAMES, 2));
    } else if random.one_in(4) {
        // Any name, as if it were left out.
        rule["resourceNames"] = json!([]);
    }
    if random.one_in(3) {
        let both = random.one_in(3);
        let one = random.pick(NAMESPACES);
        rule["namespaces"] = if both { json!(NAMESPACES) } else { json!([one]) };
    }
    rule
}

/// At least one.
fn some(random: &mut Random, words: &[&'static str], most: usize) -> Vec<&'static str> {
    (0..=random.below(most)).map(|_| random.pick(words)).collect()
}

/// Most words are of the rule, or of what its `*` stand for.
pub(super) fn question(random: &mut Random, rule: &Value) -> Question {
    let paths = rule["nonResourceURLs"].is_array();
    // Now and then the other kind.
    if paths != random.one_in(10) {
        return Question::Path {
            verb: word(random, &rule["verbs"], METHODS),
            path: word(random, &rule["nonResourceURLs"], PATHS),
        };
    }
    let resource = word(random, &rule["resources"], RESOURCES);
    let (resource, subresource) = match resource.split_once('/') {
        Some(("*", subresource)) => (random.pick(RESOURCES), subresource),
        Some(both) => both,
        None => (resource.as_str(), random.pick(SUBRESOURCES)),
    };
    Question::Resource {
        verb: word(random, &rule["verbs"], VERBS),
        group: word(random, &rule["apiGroups"], GROUPS),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        name: word(random, &rule["resourceNames"], NAMES),
        namespace: word(random, &rule["namespaces"], PLACES),
    }
}

fn word(random: &mut Random, of: &Value, any: &[&str]) -> String {
    let words: Vec<&str> = of.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "*").collect();
    if words.is_empty() || random.one_in(5) {
        return random.pick(any).to_owned();
    }
    random.pick(&words).to_owned()
}

impl Question {
    /// For a SubjectAccessReview.
    pub(super) fn spec(&self) -> Value {
        match self {
            Self::Path { verb, path } => json!({"nonResourceAttributes": {"verb": verb, "path": path}}),
            Self::Resource {
                verb,
                group,
                resource,
                subresource,
                name,
                namespace,
            } => json!({"resourceAttributes": {
                "verb": verb, "group": group, "resource": resource, "subresource": subresource, "name": name,
                "namespace": namespace,
            }}),
        }
    }

    /// As the gate reads a request.
    pub(super) fn info(&self) -> RequestInfo {
        match self {
            Self::Path { verb, path } => RequestInfo {
                verb: match verb.as_str() {
                    "get" => Verb::Get,
                    method => Verb::Method(method.to_owned()),
                },
                target: Target::Path(path.clone()),
            },
            Self::Resource {
                verb,
                group,
                resource,
                subresource,
                name,
                namespace,
            } => RequestInfo {
                verb: self::verb(verb),
                target: Target::Resource(ResourceRequest {
                    resource: GroupResource {
                        group: group.clone(),
                        resource: resource.clone(),
                    },
                    version: "v1".to_owned(),
                    namespace: namespace.clone(),
                    name: name.clone(),
                    subresource: subresource.clone(),
                    selectors: Selectors::default(),
                }),
            },
        }
    }
}

fn verb(word: &str) -> Verb {
    match word {
        "create" => Verb::Create,
        "delete" => Verb::Delete,
        "deletecollection" => Verb::DeleteCollection,
        "get" => Verb::Get,
        "list" => Verb::List,
        "patch" => Verb::Patch,
        "proxy" => Verb::Proxy,
        "update" => Verb::Update,
        "watch" => Verb::Watch,
        // No request for a resource has another one; a rule that names it is asked about it by its name.
        other => Verb::Method(other.to_owned()),
    }
}
