//! Programs made of Kubernetes' own code, and of Gardener's, which tell what it would do; the kubelet does it. Their sources are
//! beside.

use std::ffi::OsString;

use serde_json::json;

use crate::{cluster::missing, release, report};

/// The path of an oracle, or nothing where the test is to be skipped. `make test` sets the variables.
pub(crate) fn path(name: &str) -> Option<OsString> {
    let variable = format!("SCOPEGATE_ORACLE_{}", name.to_uppercase());
    let oracle = std::env::var_os(&variable);
    if oracle.is_none() {
        // As e2e/assets has it. Where nothing can be compared, nothing is missing.
        if !matches!(name, "requestinfo" | "gardener") && release::minor() < 35 {
            println!(
                "SKIPPED: there is no e2e/oracle/{name} for Kubernetes {}",
                release::version()
            );
            report::note(&format!("skipped-{name}"), &json!({"skipped": shows(name)}));
            return None;
        }
        missing(&format!("{variable}, e2e/oracle/{name}"));
    }
    oracle
}

/// What there is nothing to compare with where it is not there.
fn shows(name: &str) -> &'static str {
    match name {
        "authorizer" => "decisions by its own Node authorizer",
        "kubelet" => "kubelets that join with a token and renew their certificates",
        "patch" => "patches by its own code",
        "protobuf" => "bodies in protobuf",
        _ => panic!("an oracle that every release has"),
    }
}
