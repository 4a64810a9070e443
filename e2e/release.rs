//! Which release of Kubernetes the tests run against: whatever `KUBEBUILDER_ASSETS` has. `KUBERNETES_VERSION=1.32.13 make e2e`
//! builds and takes another one.

use std::{process::Command, sync::OnceLock};

use crate::cluster::assets;

/// `1.36.3`, as kube-apiserver tells it. The newest one where there is none to ask.
pub(crate) fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let Some(assets) = assets() else {
            return scopegate::config::KubernetesVersion::NEWEST.to_string();
        };
        let output = Command::new(assets.join("kube-apiserver")).arg("--version").output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        let version = said.trim().strip_prefix("Kubernetes v");
        version
            .unwrap_or_else(|| panic!("kube-apiserver --version said {said:?}"))
            .to_owned()
    })
}

/// Of 1.36.3 it is 36.
pub(crate) fn minor() -> u32 {
    version().split('.').nth(1).unwrap().parse().unwrap()
}

/// The preset of the gate that fits.
pub(crate) fn preset() -> String {
    format!("1.{}", minor())
}

/// The newest version of resource.k8s.io that is served.
pub(crate) fn resource_api() -> &'static str {
    match minor() {
        ..=32 => "v1beta1",
        33 => "v1beta2",
        _ => "v1",
    }
}

/// A path or an object that is written for the newest release, as the one that runs knows it.
pub(crate) fn served(text: &str) -> String {
    let group = "resource.k8s.io/v1";
    let newest = |end: &str| format!("{group}{end}");
    ["/", "\""].iter().fold(text.to_owned(), |text, end| {
        text.replace(&newest(end), &format!("resource.k8s.io/{}{end}", resource_api()))
    })
}

/// What kube-apiserver has to be told so that it serves what the rules speak of.
pub(crate) fn arguments() -> &'static [&'static str] {
    match minor() {
        ..=32 => &[
            "--feature-gates=DynamicResourceAllocation=true",
            "--runtime-config=resource.k8s.io/v1beta1=true",
        ],
        33 => &[
            "--feature-gates=DynamicResourceAllocation=true",
            "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
        ],
        _ => &[],
    }
}

/// What it has to be told so that it believes a uid that a front proxy tells.
pub(crate) fn uid_header() -> &'static [&'static str] {
    match minor() {
        ..=32 => &[],
        _ => &["--requestheader-uid-headers=X-Remote-Uid"],
    }
}
