//! As whom a request is made: as the caller, or as somebody whom the caller acts for and may act as.
//!
//! `authorizer::acting_as` has the rules; here upstream is asked what they leave to it, and whether the actor may do by itself what
//! it would do as the subject. All that comes later sees the subject.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use super::{Pipeline, outcome::Outcome};
use crate::{
    api::Verb,
    authorizer::{
        acting,
        acting_as::{ActingAs, Answer, Step, Wanted, Way, beyond},
    },
    caller::{Caller, Leave, Semantics},
    rejection::Rejection,
    request::Head,
    review::Review,
    rules::Rule,
};

/// Acting-as with what it counts.
#[derive(Debug)]
pub struct Acting {
    pub rules: ActingAs,
    pub metrics: Metrics,
}

#[derive(Clone, Debug, Default)]
pub struct Metrics {
    requests: Family<Labels, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Labels {
    outcome: &'static str,
    by: &'static str,
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "acting_as_requests",
            "Requests to act as somebody else by what came of it: allowed (by a delegation, a deputy rule or a review), refused, \
             or unknown (upstream could not be asked)",
            self.requests.clone(),
        );
    }

    fn count(&self, acted: &Result<Caller, Rejection>) {
        let leave = |caller: &Caller| caller.actor.as_ref().map_or("", |actor| actor.leave.label());
        let (outcome, by) = match acted {
            Ok(caller) => ("allowed", leave(caller)),
            Err(rejection) if rejection.rule.is_some() => ("refused", ""),
            Err(_) => ("unknown", ""),
        };
        self.requests.get_or_create(&Labels { outcome, by }).inc();
    }
}

impl Pipeline {
    /// The caller that everything from here on is about.
    pub(super) async fn act(&self, caller: Caller, head: &Head, outcome: &mut Outcome) -> Result<Caller, Rejection> {
        let Some(wanted) = self.acting.rules.wanted(&caller, head) else {
            return Ok(caller);
        };
        outcome.wants(&wanted.subject().name);
        let acted = Box::pin(self.act_as(&caller, wanted, head)).await;
        self.acting.metrics.count(&acted);
        acted.inspect(|caller| outcome.acts(caller))
    }

    /// What costs nothing comes first: whoever has no business here makes the gate ask nothing.
    async fn act_as(&self, actor: &Caller, wanted: Wanted, head: &Head) -> Result<Caller, Rejection> {
        let info = head.info();
        let semantics = self.acting.rules.semantics;
        let refuse = |rule, missing: &str| acting(&actor.user, wanted.subject(), info, (rule, missing));
        if !self.judge.authorizer.caller_known_upstream {
            let why =
                "upstream sees the gate instead of the caller, and cannot be told (upstream.identity.mode is Own)";
            return Err(refuse(Rule::CallersImpersonation, why));
        }
        self.judge.vet(actor, info, semantics)?;
        let leave = match self.acting.rules.answer(actor, &wanted, head) {
            Answer::Leave(leave) => leave,
            Answer::No(why) => return Err(refuse(Rule::CallersImpersonation, why)),
            Answer::Ask(ways) => {
                let asked = self.ask_ways(actor, ways).await?;
                asked.map_err(|missing| refuse(Rule::CallersImpersonation, &missing))?
            }
        };
        if semantics == Semantics::Intersection {
            for review in own_power(actor, head) {
                if !self.reviews.allows(&review, &actor.user.name).await? {
                    let missing = format!("upstream does not let it {} by itself", review.action);
                    return Err(refuse(Rule::CallersIntersection, &missing));
                }
            }
        }
        Ok(wanted.granted(actor, leave, semantics))
    }

    /// The first way that is open, or what was missing in the last.
    async fn ask_ways(&self, actor: &Caller, ways: Vec<Way>) -> Result<Result<Leave, String>, Rejection> {
        let mut missing = String::new();
        for Way { mode, steps } in ways {
            match self.first_missing(actor, steps).await? {
                None => return Ok(Ok(Leave::Review(mode))),
                Some(review) => {
                    missing = format!("no delegation lets it, and upstream does not let it {}", review.action);
                }
            }
        }
        Ok(Err(missing))
    }

    /// One after the other: whoever lacks the first makes the gate ask no more.
    async fn first_missing(&self, actor: &Caller, steps: Vec<Step>) -> Result<Option<Review>, Rejection> {
        let asker = &actor.user.name;
        for Step { at_once, each } in steps {
            if let Some(review) = at_once
                && self.reviews.allows(&review, asker).await?
            {
                continue;
            }
            for review in each {
                if !self.reviews.allows(&review, asker).await? {
                    return Ok(Some(review));
                }
            }
        }
        Ok(None)
    }
}

/// Whether the actor may make the request itself, with all that upstream would ask of the subject alone: what can create
/// something is asked about as such, as upstream does, and who gives rights to others needs leave to.
fn own_power(actor: &Caller, head: &Head) -> Vec<Review> {
    let (user, info) = (&actor.user, head.info());
    let mut reviews = vec![Review::of_request(user, info, None)];
    if head.may_create() && info.verb != Verb::Create {
        reviews.push(Review::of_request(user, info, Some(&Verb::Create)));
    }
    reviews.extend(beyond(user, info));
    reviews
}

#[cfg(test)]
mod tests;
