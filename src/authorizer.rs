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
mod seed;

use std::sync::Arc;

use self::node::Opinion;
pub use self::{
    explain::explain,
    extra::{EVERYTHING, ExtraResources, ExtraRule, ExtraRules, ExtraTarget},
    forbidden::{acting, rejection},
    node::NodeRules,
    seed::{Profile, SeedRules},
};
use crate::{
    api::names,
    caller::{Caller, Kind, Seed},
    decision::{Decision, Evidence, Reason, Verdict},
    graph::{self, Anchor, Key, Path, Snapshot},
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
    /// Nothing where seeds are like anybody else.
    pub seeds: Option<SeedRules>,
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
pub const SEEDS_FALLBACK: &str = "callers.seeds.fallback";

/// What the graph has to say for a request to be allowed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Needed<'a> {
    pub key: Key<'a>,
    /// The kind that the first step has to lead to, if that matters.
    pub by: Option<graph::Kind>,
}

impl Needed<'_> {
    /// The way from a node or seed to the object, if there is one that counts.
    pub fn path(&self, end: &str, graph: &Snapshot) -> Option<Path> {
        match self.by {
            None => graph.path(end, self.key),
            Some(by) => graph.path_by(end, self.key, by),
        }
    }
}

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

    /// Lets pass what was refused, if the rule that refuses it is not enforced, or leaves it to upstream.
    pub fn condone(&self, denied: Box<Denied>) -> Result<Authorized, Box<Denied>> {
        let Denied { caller, head, decision } = *denied;
        let decision = self.settled(decision, &caller);
        match decision.verdict {
            Verdict::Allow => Ok(Authorized { caller, head, decision }),
            Verdict::Deny => Err(Box::new(Denied { caller, head, decision })),
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
        self.settled(self.rule_on(attributes), attributes.caller)
    }

    /// What becomes of a refusal.
    fn settled(&self, decision: Decision, caller: &Caller) -> Decision {
        let rule = decision.evidence.rule();
        match (decision.verdict, self.modes.of_any(rule), rule) {
            (Verdict::Allow, ..) => decision,
            (Verdict::Deny, Mode::Enforce, Some(rule)) if rule.is_about_seeds() && self.leaves(caller) => Decision {
                verdict: Verdict::Allow,
                evidence: Evidence::Fallback {
                    rule,
                    key: SEEDS_FALLBACK,
                },
                ..decision
            },
            (Verdict::Deny, Mode::Enforce, _) => decision,
            (Verdict::Deny, mode, _) => decision.condone(mode),
        }
    }

    /// Whether what the rules for seeds do not allow is left to upstream.
    fn leaves(&self, caller: &Caller) -> bool {
        let rules = self.seeds.filter(|rules| rules.profile.seed(caller).is_some());
        rules.is_some_and(|rules| rules.fallback == Fallback::Upstream)
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
            Kind::Seed(seed) if self.seed(attributes.caller).is_some() => self.by_seed(seed, attributes),
            Kind::Seed(_) | Kind::Other => {
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

    /// The seed that a caller speaks for, where there are rules for seeds.
    pub fn seed<'a>(&self, caller: &'a Caller) -> Option<&'a Seed> {
        self.seeds?.profile.seed(caller)
    }

    /// Where the paths end that decide about a caller, and the name of that end; nothing for those whom no graph knows.
    pub fn anchor<'a>(&self, caller: &'a Caller) -> Option<(Anchor, &'a str)> {
        match &caller.kind {
            Kind::Node(node) => Some((Anchor::Node, node)),
            _ => self.seed(caller).map(|seed| (Anchor::Seed, seed.name.as_str())),
        }
    }

    /// What the decision about a request depends on in the graph, if it depends on anything there.
    pub fn dependency<'a>(&self, caller: &Caller, info: &'a RequestInfo) -> Option<Needed<'a>> {
        let opinion = match &caller.kind {
            Kind::Node(node) => self.node_rules.judge(node, info, &self.modes).1,
            _ => self.seeds?.judge(self.seed(caller)?, info).1,
        };
        match opinion {
            Opinion::IfRelated(key) => Some(Needed { key, by: None }),
            Opinion::IfRelatedBy(key, by) => Some(Needed { key, by: Some(by) }),
            Opinion::Allow | Opinion::None(_) => None,
        }
    }

    /// The decision with the path that it was made from, for whoever reads about it later.
    pub fn traced(&self, mut decision: Decision, caller: &Caller, info: &RequestInfo, graph: &Snapshot) -> Decision {
        if let (Evidence::Related { path, .. }, Some((_, end))) = (&mut decision.evidence, self.anchor(caller)) {
            let needed = self.dependency(caller, info);
            let found = needed.and_then(|needed| needed.path(end, graph));
            *path = found.as_ref().map(Path::text);
        }
        decision
    }

    /// What the rules for seeds have no opinion on may be something that everybody may do.
    fn by_seed(&self, seed: &Seed, attributes: Attributes<'_>) -> Decision {
        let Attributes { info, graph, .. } = attributes;
        let (rule, opinion) = match self.seeds {
            Some(rules) => rules.judge(seed, info),
            None => (Rule::SeedUnlisted, Opinion::None(Reason::None)),
        };
        debug_assert_eq!(
            graph.anchor(),
            Anchor::Seed,
            "a seed is held against the graph of seeds"
        );
        let (reason, evidence) = match opinion {
            Opinion::Allow => return Decision::allow(Evidence::Rule(rule)),
            _ if graph.anchor() != Anchor::Seed => (Reason::NoRelationship, Evidence::Unrelated { rule }),
            Opinion::IfRelated(key) if graph.reaches(&seed.name, key) => {
                return Decision::allow(Evidence::Related { rule, path: None });
            }
            Opinion::IfRelatedBy(key, by) if graph.reaches_by(&seed.name, key, by) => {
                return Decision::allow(Evidence::Related { rule, path: None });
            }
            Opinion::IfRelated(_) | Opinion::IfRelatedBy(..) => (Reason::NoRelationship, Evidence::Unrelated { rule }),
            Opinion::None(reason) => (reason, Evidence::Rule(rule)),
        };
        let everyone = everyone::decide(attributes, self.caller_known_upstream);
        everyone.unwrap_or_else(|| Decision::deny(reason, evidence))
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
            Opinion::IfRelated(_) | Opinion::IfRelatedBy(..) => (Reason::NoRelationship, Evidence::Unrelated { rule }),
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

    /// The rule for seeds that allows it. What one only lets pass, because it is not enforced or leaves it to upstream, is as it would
    /// be without the gate: upstream decides.
    pub fn granted_by(&self) -> Option<Rule> {
        match &self.decision.evidence {
            Evidence::Rule(rule) | Evidence::Related { rule, .. } if rule.is_about_seeds() => Some(*rule),
            _ => None,
        }
        .filter(|_| self.decision.condoned.is_none())
    }

    /// Whether the rules for seeds leave it to upstream.
    pub fn is_left_by_seed_rules(&self) -> bool {
        matches!(
            self.decision.evidence,
            Evidence::Fallback {
                key: SEEDS_FALLBACK,
                ..
            }
        )
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
