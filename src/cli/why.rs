//! `scopegate why` and `scopegate who-can`: what a gate decides and from what, asked of a running one or of a file.

mod objects;
mod source;

use std::process::ExitCode;

use self::source::{Opened, Source};
use super::{Output, misused};
use crate::why::{self, Answer, Explanation};

/// One request, and whom to ask about it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  scopegate why node-a get secret s1 -n shop
  scopegate why node-a list pods --field-selector spec.nodeName=node-a
  scopegate why node-a create serviceaccounts/token builder -n ci -o json
  scopegate why seed/seed-a list shoots --label-selector name.seed.gardener.cloud/seed-a=true
  kubectl get pods,pv,nodes -A -o json | scopegate why node-a get cm settings --objects -")]
pub(super) struct Why {
    /// A node by its name or its user (system:node:…); a seed as seed/NAME, or by its user or that of an extension
    /// (gardener.cloud:system:seed:…, system:serviceaccount:seed-…:extension-…)
    caller: String,
    /// What it wants to do
    #[arg(value_parser = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"])]
    verb: String,
    /// With what: a resource, with its group and subresource if any, e.g. secrets, pods/status, leases; short names will do
    resource: String,
    /// The object; list and watch need none
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// Its namespace [default: default; all of them for list and watch without a name]
    #[arg(short, long, default_value = "", hide_default_value = true)]
    namespace: String,
    /// What a list or watch is narrowed to, e.g. spec.nodeName=node-a
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    field_selector: String,
    /// The same by labels, e.g. name.seed.gardener.cloud/seed-a=true
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    label_selector: String,
    #[command(flatten)]
    source: Source,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// One object, and whom to ask about it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  scopegate who-can secret s1 -n shop
  scopegate who-can shoot my-shoot -n garden-p1
  kubectl get pods,pv,nodes -A -o json | scopegate who-can secret s1 -n shop --objects -")]
pub(super) struct WhoCan {
    /// What the object is: resource[.group]; short names will do
    resource: String,
    /// The object
    name: String,
    /// Its namespace [default: default]
    #[arg(short, long, default_value = "", hide_default_value = true)]
    namespace: String,
    #[command(flatten)]
    source: Source,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

impl Why {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let question = why::Question {
            caller: self.caller,
            verb: self.verb,
            resource: self.resource,
            namespace: self.namespace,
            name: self.name,
            field_selector: self.field_selector,
            label_selector: self.label_selector,
        };
        let asked = match question.parse() {
            Ok(asked) => asked,
            Err(unclear) => return Ok(misused(&unclear)),
        };
        let explanation: Explanation = match self.source.open()? {
            Opened::Gate(gate) => gate.ask("/debug/why", &question.query())?,
            Opened::Objects(authorizer, known) => why::explain(&asked, &authorizer, &known),
        };
        self.output.print(&explanation)?;
        Ok(code(explanation.answer == Answer::Allow))
    }
}

impl WhoCan {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let object = why::Object {
            resource: self.resource,
            namespace: self.namespace,
            name: self.name,
        };
        let asked = match object.parse() {
            Ok(asked) => asked,
            Err(unclear) => return Ok(misused(&unclear)),
        };
        let who_can: why::WhoCan = match self.source.open()? {
            Opened::Gate(gate) => gate.ask("/debug/who-can", &object.query())?,
            Opened::Objects(authorizer, known) => match why::who_can(&asked, &authorizer, &known) {
                Ok(who_can) => who_can,
                Err(unclear) => return Ok(misused(&unclear)),
            },
        };
        self.output.print(&who_can)?;
        Ok(code(who_can.is_anyone()))
    }
}

fn code(yes: bool) -> ExitCode {
    if yes { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
