//! Programs made of kube-apiserver's own code, which tell what it would do. Their sources are in the folder beside.

use std::ffi::OsString;

/// The path of an oracle, or nothing where the test is to be skipped. `make test` sets the variables.
pub(crate) fn path(name: &str) -> Option<OsString> {
    let variable = format!("SCOPEGATE_ORACLE_{}", name.to_uppercase());
    let oracle = std::env::var_os(&variable);
    if oracle.is_none() {
        let required = std::env::var("SCOPEGATE_E2E").is_ok_and(|value| value == "required");
        assert!(
            !required,
            "SCOPEGATE_E2E=required, but {variable} is not set; run `make e2e`"
        );
        println!("SKIPPED: needs e2e/oracle/{name}; install Go and run `make e2e`");
    }
    oracle
}
