//! Who may do what. Pure: a caller and a request in, a [`Decision`] out; no I/O, log, metric or clock.
//!
//! [`Authorized`] is the proof that a request was allowed. Only [`Authorizer::authorize`] makes one, it owns the
//! very head that was judged, and admission takes nothing else.

mod everyone;
mod forbidden;

use crate::{
    api::names,
    caller::{Caller, Kind},
    decision::{Decision, Evidence, Verdict},
    rejection::Rejection,
    request::{Head, RequestInfo},
};

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    pub caller: &'a Caller,
    pub info: &'a RequestInfo,
    /// Whether the caller asks to be taken for somebody else.
    pub impersonates: bool,
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
    /// Holders of a bootstrap token, which is what they are forwarded with.
    pub bootstrap: Fallback,
    pub others: Fallback,
    /// Users in `system:masters` that may pass all the same.
    pub masters: Vec<String>,
    /// Whether upstream will know who the caller is. If it sees the gate instead, it cannot answer "what may I
    /// do?" truthfully.
    pub caller_known_upstream: bool,
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
    /// Judges a request and keeps the judged head with the verdict.
    pub fn authorize(&self, caller: Caller, head: Head) -> Result<Authorized, Box<Denied>> {
        let decision = self.decide(Attributes {
            caller: &caller,
            info: head.info(),
            impersonates: head.impersonates(),
        });
        match decision.verdict {
            Verdict::Allow => Ok(Authorized { caller, head, decision }),
            Verdict::Deny => Err(Box::new(Denied { caller, head, decision })),
        }
    }

    /// The decision alone, for whoever wants to know and not to act.
    pub fn decide(&self, attributes: Attributes<'_>) -> Decision {
        if let Some(denied) = self.masters(attributes.caller) {
            return denied;
        }
        if attributes.impersonates {
            let reason = "this gate does not let callers impersonate";
            return Decision::deny(reason, Evidence::Rule("callers/impersonation"));
        }
        match &attributes.caller.kind {
            Kind::Node(_) => everyone::decide(attributes, self.caller_known_upstream)
                .unwrap_or_else(|| fallback(self.nodes, "callers.nodes.fallback", "")),
            Kind::Bootstrap(_) => fallback(self.bootstrap, "callers.bootstrap", "this gate is not for joining"),
            Kind::Other => fallback(self.others, "callers.others", "this gate serves nodes only"),
        }
    }

    /// Upstream asks no authorizer about `system:masters`: whoever passes as one can do anything there.
    fn masters(&self, caller: &Caller) -> Option<Decision> {
        let user = &caller.user;
        let refused = user.in_group(names::MASTERS_GROUP) && !self.masters.contains(&user.name);
        refused.then(|| {
            Decision::deny(
                "users in group \"system:masters\" pass only if callers.allowMasters names them",
                Evidence::Rule("callers/masters"),
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
}

impl Denied {
    pub fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl From<Box<Denied>> for Rejection {
    fn from(denied: Box<Denied>) -> Self {
        forbidden::rejection(&denied.caller, denied.head.info(), &denied.decision)
    }
}

fn fallback(fallback: Fallback, key: &'static str, reason: &'static str) -> Decision {
    match fallback {
        Fallback::Deny => Decision::deny(reason, Evidence::Fallback(key)),
        Fallback::Upstream => Decision::allow(Evidence::Fallback(key)),
    }
}

#[cfg(test)]
mod tests;
