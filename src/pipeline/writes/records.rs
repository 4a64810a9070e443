//! Finds out what is only recorded about a write. It must not be felt: what is missing is asked for on an account of its own, and
//! where it is not to be had at once, the write goes on without.

use std::{mem, sync::Arc, time::Duration};

use http::StatusCode;
use tokio::time::{Instant, timeout_at};

use super::{HEAVY, LIGHT, Pipeline, QUESTIONS, apart};
use crate::{
    admission::{Found, Known, Missed, Notes, Payload, Told},
    authorizer::Authorized,
    pipeline::{live::Account, outcome::Outcome},
};

/// How long a write is held up for it, however often it is judged.
pub(super) const GLANCE: Duration = Duration::from_millis(500);

impl Pipeline {
    /// What rules find that are not enforced. Whatever that takes holds nobody up: the graph is not waited for, and upstream is
    /// asked little and not for long. What could not be found out is not held against the node.
    pub(super) async fn find(
        self: &Arc<Self>,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        (mut found, mut told, trusted): (Found, Told, bool),
        until: Instant,
        outcome: &Outcome,
    ) -> Notes {
        let metrics = &self.writes.metrics;
        let find = async {
            for _ in 0..QUESTIONS {
                let Some(wants) = found.wants.take() else { return Ok(()) };
                let asked = self.ask(authorized, (wants, Account::Records), &mut told, outcome);
                match asked.await {
                    Ok(None) => {}
                    Ok(Some(_)) => return Err("upstream"),
                    Err(rejection) if rejection.code == StatusCode::TOO_MANY_REQUESTS => return Err("limited"),
                    Err(_) => return Err("upstream"),
                }
                if payload.weight() + told.weight() <= LIGHT {
                    found = self.find_here(authorized, payload, trusted, &told);
                    continue;
                }
                // On a copy: whoever does not wait for it still needs the body.
                let Ok(place) = HEAVY.try_acquire() else {
                    return Err("limited");
                };
                let (pipeline, authorized, mut copy) = (Arc::clone(self), Arc::clone(authorized), payload.copy());
                let work = mem::take(&mut told);
                let looked = apart(move || {
                    let _place = place;
                    (pipeline.find_here(&authorized, &mut copy, trusted, &work), work)
                });
                (found, told) = looked.await.map_err(|_| "upstream")?;
            }
            match found.wants {
                Some(_) => Err("limited"),
                None => Ok(()),
            }
        };
        match timeout_at(until, find).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => metrics.missed(why),
            Err(_) => metrics.missed("upstream"),
        }
        match found.missed {
            Some(Missed::Large) => metrics.missed("large"),
            Some(Missed::Unread) => metrics.missed("unread"),
            None => {}
        }
        found.notes
    }
    fn find_here(&self, authorized: &Arc<Authorized>, payload: &mut Payload, trusted: bool, told: &Told) -> Found {
        let graph = self.judge.graph.load_full();
        let fresh = self.judge.graph.freshness().doubt().is_none();
        let known = Known::new((&graph, trusted), fresh, told);
        self.writes.admission.find(authorized, payload, &known)
    }
}
