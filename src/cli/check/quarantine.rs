//! Where it is kept who is in quarantine, and whether the gate can read and write there.

use std::path::Path;

use serde_json::json;

use super::{Report, rights::access};
use crate::{pipeline::ward::Place, upstream::Upstream};

pub(super) async fn check(place: &Place, own: &Upstream, report: &mut Report) {
    match place {
        Place::Nowhere => {
            return report.note(
                "quarantine: a restart forgets it, and replicas do not share it; set quarantine.configMap or quarantine.file",
            );
        }
        Place::File(path) => {
            let folder = path.parent().unwrap_or(Path::new("."));
            // A file without a name, that nobody sees.
            if let Err(error) = tempfile::tempfile_in(folder) {
                let folder = folder.display();
                return report.fail(format!("quarantine.file: the gate cannot write in {folder}: {error}"));
            }
        }
        Place::ConfigMap { namespace, name } => rights(namespace, name, own, report).await,
    }
    match place.open(own).read().await {
        Ok(list) => match list.unwrap_or_default().entries().count() {
            0 => report.ok("quarantine: nobody is held"),
            held => report.ok(format!("quarantine: {held} held; scopegate quarantine lists them")),
        },
        Err(error) => report.fail(format!("quarantine: {error}")),
    }
}

/// It is made when the first one is held.
async fn rights(namespace: &str, name: &str, own: &Upstream, report: &mut Report) {
    for (verb, name) in [("get", name), ("update", name), ("create", "")] {
        let attributes =
            json!({"verb": verb, "group": "", "resource": "configmaps", "namespace": namespace, "name": name});
        let what = format!("{verb} configmaps {name} in namespace {namespace}").replace("  ", " ");
        match access(own, None, &json!({"resourceAttributes": attributes})).await {
            Ok((true, _)) => report.ok(format!("the gate may {what}")),
            Ok((false, _)) => report.fail(format!(
                "the gate may not {what}; see config/kubernetes/quarantine.yaml"
            )),
            Err(error) => report.warn(format!("cannot tell whether the gate may {what}: {error}")),
        }
    }
}
