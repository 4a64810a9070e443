//! `scopegate check`: what works, what is missing, what will be enforced. Changes nothing anywhere.

mod certificates;
mod extra;
mod modes;
mod quarantine;
mod report;
mod rights;
mod seeds;
mod upstream;

use std::{path::Path, process::ExitCode};

use self::report::Report;
use crate::{
    authorizer::{Fallback, SeedRules},
    caller::Semantics,
    config::{Config, Identity},
    observe::audit::Target,
};

pub(super) fn run(path: &Path) -> anyhow::Result<ExitCode> {
    let config = Config::load(path)?;
    let mut report = Report::default();
    report.section("Configuration");
    report.ok(format!("{} is well-formed", path.display()));
    report.section("Certificates");
    certificates::check(&config, &mut report);
    report.section("Audit");
    audit(&config, &mut report);
    report.section("Upstream");
    super::runtime()?.block_on(upstream::check(&config, &mut report));
    report.section("What will be enforced");
    enforced(&config, &mut report);
    modes::check(&config.authorizer.modes, &mut report);
    extra::check(&config, &mut report);
    Ok(report.finish())
}

/// Nothing is written, so that the folder is all that can be looked at.
fn audit(config: &Config, report: &mut Report) {
    match &config.audit.target {
        Target::Stdout => report.ok("events go to standard output"),
        Target::File(path) => {
            // The folder of a bare name is the one that the gate is started in.
            let is_here = |folder: &Path| folder.as_os_str().is_empty() || folder.is_dir();
            if path.parent().is_some_and(is_here) {
                report.ok(format!("events go to {}", path.display()));
            } else {
                report.fail(format!("audit.path: the folder of {} is not there", path.display()));
            }
        }
    }
}

fn enforced(config: &Config, report: &mut Report) {
    let rest = |fallback| match fallback {
        Fallback::Deny => "anything else is refused",
        Fallback::Upstream => "anything else is forwarded as the caller, and upstream decides",
    };
    let everyone = match config.upstream.identity {
        Identity::Own => "discovery is",
        Identity::FrontProxy { .. } | Identity::Impersonate => "discovery and self reviews are",
    };
    report.note(format!(
        "nodes: the Node authorizer and NodeRestriction of Kubernetes {}",
        config.kubernetes_version
    ));
    let nodes = rest(config.authorizer.nodes);
    report.note(format!("nodes: {everyone} allowed too; {nodes}"));
    let graph = &config.graph.watch;
    report.note(if graph.fail_static {
        "graph: used for as long as upstream is silent".to_owned()
    } else {
        let limit = graph.stale_after.as_secs_f64();
        format!("graph: not used any more when upstream is silent for {limit} s")
    });
    report.note(match config.authorizer.seeds {
        None => "seeds: like anybody else".to_owned(),
        Some(SeedRules { profile, fallback }) => format!(
            "seeds: the SeedAuthorizer and SeedRestriction of Gardener, profile {profile:?}; {}",
            rest(fallback)
        ),
    });
    report.note(match config.authorizer.others {
        Fallback::Deny => "others: everything is refused".to_owned(),
        Fallback::Upstream => "others: everything is forwarded as the caller, and upstream decides".to_owned(),
    });
    match config.authorizer.masters.as_slice() {
        [] => report.note("members of system:masters: everything is refused"),
        named => report.note(format!("members of system:masters: only {} may pass", named.join(", "))),
    }
    report.note(acting_as(config));
    report.note(match &config.admission.validated {
        None => "validated annotations of pods: nobody looks at them",
        Some(_) => "validated annotations of pods: the right to use them is asked for",
    });
    report.note(match config.authorizer.bootstrap {
        Fallback::Deny => "holders of a bootstrap token: everything is refused",
        Fallback::Upstream => {
            "holders of a bootstrap token: everything is forwarded with that token, and upstream decides"
        }
    });
    report.note(if config.authentication.token_review {
        "without a certificate of serving.clientCAFile or a token that upstream accepts: 401"
    } else {
        "without a certificate of serving.clientCAFile: 401"
    });
}

fn acting_as(config: &Config) -> String {
    let acting_as = &config.acting_as;
    if !config.authorizer.caller_known_upstream {
        return "acting as somebody else: refused, since upstream cannot be told".to_owned();
    }
    let counts = match acting_as.semantics {
        Semantics::Intersection => "what both may do counts",
        Semantics::Subject => "what the subject may do counts, as in Kubernetes",
    };
    let review = if acting_as.by_review {
        ", and whom upstream lets"
    } else {
        ""
    };
    format!(
        "acting as somebody else: {} delegations, {} deputies{review}; {counts}",
        acting_as.delegations.len(),
        acting_as.deputies.len()
    )
}
