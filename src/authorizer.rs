//! Who may do what. Pure: a caller and a request in, a [`Decision`] out; no I/O, log, metric or clock.
//!
//! [`Authorized`] is the proof that a request was allowed. Only [`Authorizer::authorize`] makes one, it owns the
//! very head that was judged, and admission takes nothing else.

pub mod acting_as;
mod everyone;
mod explain;
mod extra;
mod forbidden;
mod node;

use std::sync::Arc;

use self::node::Opinion;
pub use self::{
    explain::explain,
    extra::{EVERYTHING, ExtraResources, ExtraRule, ExtraRules, ExtraTarget},
    forbidden::{acting, rejection},
    node::NodeRules,
};
use crate::{
    api::names,
    caller::{Caller, Kind},
    decision::{Decision, Evidence, Reason, Verdict},
    graph::{Key, Snapshot},
    quarantine::Quarantine,
    rejection::Rejection,
    request::{Head, RequestInfo},
    rules::{Mode, Modes, Origin, Rule},
};

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    pub caller: &'a Caller,
    pub info: &'a RequestInfo,
    /// Whether the caller asks to be taken for somebody else, and nobody has let it.
    pub impersonates: bool,
    /// Who is held back.
    pub quarantine: &'a Quarantine,
    /// Who refers to whom, as far as the gate knows.
    pub graph: &'a Snapshot,
}

/// What it means that no rule has an opinion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fallback {
    Deny,
    /// Forwarded as the caller, for upstream's own authorization to decide.
    Upstream,
}

/// The configuration of authorization.
#[derive(Clone, Debug)]
pub struct Authorizer {
    pub nodes: Fallback,
    pub node_rules: NodeRules,
    /// Which rules are enforced.
    pub modes: Modes,
    /// Holders of a bootstrap token, which is what they are forwarded with.
    pub bootstrap: Fallback,
    pub others: Fallback,
    /// What the configuration allows besides.
    pub extra: ExtraRules,
    /// Users in `system:masters` that may pass all the same.
    pub masters: Vec<String>,
    /// Whether upstream will know who the caller is. If it sees the gate instead, it cannot answer "what may I
    /// do?" truthfully.
    pub caller_known_upstream: bool,
}

const NODES_FALLBACK: &str = "callers.nodes.fallback";

/// A request that was allowed.
///
/// It cannot be made by hand:
///
/// ```compile_fail,E0451
/// # use scopegate::{authorizer::Authorized, caller::Caller, decision::Decision, request::Head};
/// fn forge(caller: Caller, head: Head, decision: Decision) -> Authorized {
///     Authorized { caller, head, decision }
/// }
/// ```
#[derive(Debug)]
pub struct Authorized {
    caller: Caller,
    head: Head,
    decision: Decision,
}

/// A request that was not.
#[derive(Debug)]
pub struct Denied {
    caller: Caller,
    head: Head,
    decision: Decision,
}

impl Authorizer {
    /// Judges a request and keeps the judged head with the verdict. What is refused by a rule that is not enforced may be
    /// [condoned](Self::condone) when nothing more is to be learned about it.
    pub fn authorize(
        &self,
        caller: Caller,
        head: Head,
        quarantine: &Quarantine,
        graph: &Snapshot,
    ) -> Result<Authorized, Box<Denied>> {
        let decision = self.rule_on(Attributes {
            caller: &caller,
            info: head.info(),
            impersonates: head.wish().is_some() && caller.actor.is_none(),
            quarantine,
            graph,
        });
        match decision.verdict {
            Verdict::Allow => {
                let decision = self.traced(decision, &caller, head.info(), graph);
                Ok(Authorized { caller, head, decision })
            }
            Verdict::Deny => Err(Box::new(Denied { caller, head, decision })),
        }
    }

    /// Judges once more what was refused, with a graph that may know more.
    pub fn reconsider(
        &self,
        denied: Box<Denied>,
        quarantine: &Quarantine,
        graph: &Snapshot,
    ) -> Result<Authorized, Box<Denied>> {
        self.authorize(denied.caller, denied.head, quarantine, graph)
    }

    /// Lets pass what was refused, if the rule that refuses it is not enforced.
    pub fn condone(&self, denied: Box<Denied>) -> Result<Authorized, Box<Denied>> {
        match self.modes.of_any(denied.decision.evidence.rule()) {
            Mode::Enforce => Err(denied),
            mode => {
                let Denied { caller, head, decision } = *denied;
                let decision = decision.condone(mode);
                Ok(Authorized { caller, head, decision })
            }
        }
    }

    /// The same where nobody can tell whether the rule has anything against it: nothing is recorded.
    pub fn pass_over(&self, denied: Box<Denied>) -> Result<Authorized, Box<Denied>> {
        let mut passed = self.condone(denied)?;
        passed.decision = passed.decision.condone(Mode::Off);
        Ok(passed)
    }

    /// The decision alone, for whoever wants to know and not to act. It allocates nothing.
    pub fn decide(&self, attributes: Attributes<'_>) -> Decision {
        let decision = self.rule_on(attributes);
        match (decision.verdict, self.modes.of_any(decision.evidence.rule())) {
            (Verdict::Allow, _) | (Verdict::Deny, Mode::Enforce) => decision,
            (Verdict::Deny, mode) => decision.condone(mode),
        }
    }

    /// What the rules say, whether they are enforced or not.
    fn rule_on(&self, attributes: Attributes<'_>) -> Decision {
        if let Some(denied) = self.bars(attributes.caller, attributes.info, attributes.quarantine) {
            return denied;
        }
        if attributes.impersonates {
            let reason = "nobody lets it act as somebody else";
            return Decision::deny(Reason::Text(reason), Evidence::Rule(Rule::CallersImpersonation));
        }
        let extra = || self.extra.decide(&attributes.caller.kind, attributes.info);
        match &attributes.caller.kind {
            Kind::Node(node) => self.node(node, attributes),
            Kind::Bootstrap(_) => {
                let evidence = Evidence::Fallback {
                    rule: Rule::CallersBootstrap,
                    key: "callers.bootstrap",
                };
                extra().unwrap_or_else(|| fallback(self.bootstrap, evidence, "this gate is not for joining"))
            }
            Kind::Other => {
                let evidence = Evidence::Fallback {
                    rule: Rule::CallersOthers,
                    key: "callers.others",
                };
                extra().unwrap_or_else(|| fallback(self.others, evidence, "this gate serves nodes only"))
            }
        }
    }

    /// What is against a caller whatever it asks for, and as whomever it does: quarantine, and being one of those whom upstream
    /// lets do anything.
    pub fn bars(&self, caller: &Caller, info: &RequestInfo, quarantine: &Quarantine) -> Option<Decision> {
        let stopped = quarantine.stops(caller, info).map(quarantined_by);
        stopped.or_else(|| self.masters(caller))
    }

    /// The object in the graph that the decision about a request depends on, if it depends on one.
    pub fn dependency<'a>(&self, caller: &Caller, info: &'a RequestInfo) -> Option<Key<'a>> {
        let Kind::Node(node) = &caller.kind else { return None };
        match self.node_rules.judge(node, info, &self.modes) {
            (_, Opinion::IfRelated(key)) => Some(key),
            _ => None,
        }
    }

    /// The decision with the path that it was made from, for whoever reads about it later.
    pub fn traced(&self, mut decision: Decision, caller: &Caller, info: &RequestInfo, graph: &Snapshot) -> Decision {
        if let (Evidence::Related { path, .. }, Kind::Node(node)) = (&mut decision.evidence, &caller.kind) {
            let key = self.dependency(caller, info);
            *path = key.and_then(|key| graph.path(node, key)).map(|path| path.to_string());
        }
        decision
    }

    /// First the Node authorizer; what it has no opinion on may be something that everybody may do, or that the
    /// configuration allows, whatever the graph says.
    fn node(&self, node: &str, attributes: Attributes<'_>) -> Decision {
        let Attributes {
            caller, info, graph, ..
        } = attributes;
        let (rule, opinion) = self.node_rules.judge(node, info, &self.modes);
        let fallback = Evidence::Fallback {
            rule,
            key: NODES_FALLBACK,
        };
        let (reason, evidence) = match opinion {
            Opinion::Allow => return Decision::allow(Evidence::Rule(rule)),
            Opinion::IfRelated(key) if graph.reaches(node, key) => {
                return Decision::allow(Evidence::Related { rule, path: None });
            }
            Opinion::IfRelated(_) => (Reason::NoRelationship, Evidence::Unrelated { rule }),
            Opinion::None(Reason::None) => (Reason::None, fallback.clone()),
            Opinion::None(reason) => (reason, Evidence::Rule(rule)),
        };
        everyone::decide(attributes, self.caller_known_upstream)
            .or_else(|| self.extra.decide(&caller.kind, info))
            .unwrap_or_else(|| match self.nodes {
                // Upstream would allow what only the gate refuses.
                _ if rule.origin() == Origin::Extended => Decision::deny(reason, evidence),
                Fallback::Deny => Decision::deny(reason, evidence),
                Fallback::Upstream => Decision::allow(fallback),
            })
    }

    /// Upstream asks no authorizer about `system:masters`: whoever passes as one can do anything there.
    fn masters(&self, caller: &Caller) -> Option<Decision> {
        let user = &caller.user;
        let refused = user.in_group(names::MASTERS_GROUP) && !self.masters.contains(&user.name);
        refused.then(|| {
            Decision::deny(
                Reason::Text("users in group \"system:masters\" pass only if callers.allowMasters names them"),
                Evidence::Rule(Rule::CallersMasters),
            )
        })
    }
}

impl Authorized {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Whether it still may pass. Time goes by while a body comes in and upstream is asked, and an operator does not wait for it.
    pub fn holds(&self, quarantine: &Quarantine) -> Result<(), Rejection> {
        let (caller, info) = (&self.caller, self.head.info());
        let Some(told) = quarantine.stops(caller, info) else {
            return Ok(());
        };
        let decision = quarantined_by(told);
        Err(Rejection {
            log: Some(told.to_string()),
            ..forbidden::rejection(caller, info, &decision)
        })
    }
}

impl Denied {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl From<Box<Denied>> for Rejection {
    fn from(denied: Box<Denied>) -> Self {
        forbidden::rejection(&denied.caller, denied.head.info(), &denied.decision)
    }
}

/// No rule, fallback or mode lets pass whom an operator has stopped.
fn quarantined_by(told: &Arc<str>) -> Decision {
    let reason = Reason::Text("the caller is in quarantine");
    Decision::deny(reason, Evidence::Quarantined(Arc::clone(told)))
}

fn fallback(fallback: Fallback, evidence: Evidence, reason: &'static str) -> Decision {
    match fallback {
        Fallback::Deny => Decision::deny(Reason::Text(reason), evidence),
        Fallback::Upstream => Decision::allow(evidence),
    }
}

#[cfg(test)]
mod tests;
