//! The programs that a cluster is made of, which `make e2e` builds. Where there are none, tests that need them are skipped, and say
//! so; with `SCOPEGATE_E2E=required` they fail.

use std::path::PathBuf;

/// The folder with etcd and kube-apiserver.
pub(crate) fn assets() -> Option<PathBuf> {
    let folder = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    if folder.is_none() {
        missing("kube-apiserver; set KUBEBUILDER_ASSETS or install Go");
    }
    folder
}

/// Another program there, which a folder of somebody else's making may lack.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let program = assets()?.join(name);
    let there = program.exists();
    if !there {
        missing(&format!("{name} in KUBEBUILDER_ASSETS"));
    }
    there.then_some(program)
}

/// Fails if nothing may be missing.
pub(crate) fn missing(what: &str) {
    let required = std::env::var("SCOPEGATE_E2E").is_ok_and(|value| value == "required");
    assert!(
        !required,
        "SCOPEGATE_E2E=required, but there is no {what}; run `make e2e`"
    );
    println!("SKIPPED: needs {what}; run `make e2e`");
}
