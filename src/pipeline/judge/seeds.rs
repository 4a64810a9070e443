//! Makes sure of what a seed is refused for want of a path.
//!
//! As for nodes, the graph may only be behind. But what a seed asks for names its seed itself, or something that does: upstream is
//! asked for that one object, and where it leads from there, the graph knows.

use super::{Decided, Judge, Word};
use crate::{
    api::Verb,
    authorizer::Denied,
    pipeline::{
        live::{Account, Asker},
        writes::asker,
    },
    rejection::Rejection,
    request::Target,
};

impl Judge {
    pub(super) async fn reconsider_seed(&self, denied: Box<Denied>) -> Result<(Decided, Word), Rejection> {
        self.fresh(denied.caller())?;
        let graph = self.graph_of(denied.caller());
        let name = asker(denied.caller()).into_owned();
        let asker = Asker {
            node: &name,
            account: Account::Others,
        };
        let waiting = self.live.wait(asker);
        let _waiting = waiting.map_err(|unknown| self.unknown(&unknown))?;
        let denied = match self.catch_up(denied).await {
            Ok(authorized) => {
                self.metrics.settled("publish");
                return Ok((Ok(authorized), Word::Gate));
            }
            Err(denied) => denied,
        };
        let (caller, info) = (denied.caller(), denied.head().info());
        let (Some(seed), Some(needed), Target::Resource(request)) = (
            self.authorizer.seed(caller),
            self.authorizer.dependency(caller, info),
            &info.target,
        ) else {
            return Ok((Err(denied), Word::Gate));
        };
        if needed.key.kind.is_namespaced() == needed.key.namespace.is_empty() {
            // There is no such place. Without a namespace, upstream would look through all of them.
            self.metrics.settled("refused");
            return Ok((Err(denied), Word::Gate));
        }
        let told = self.live.garden(asker, needed.key, request, (&seed.name, graph)).await;
        let told = told.map_err(|unknown| self.unknown(&unknown))?;
        if let Some(told) = told {
            return Ok((self.by_upstream(denied, &told), Word::Upstream));
        }
        if info.verb != Verb::Delete {
            self.metrics.settled("refused");
            return Ok((Err(denied), Word::Gate));
        }
        // Whoever deletes something wants it gone. Gardener lets pass the deletion of what its graph does not know, which may be
        // there all the same; what is not there, the gate can say itself, so that nothing can come in between.
        let stored = self.live.stored(asker, request).await;
        match stored.map_err(|unknown| self.unknown(&unknown))? {
            Some(_) => {
                self.metrics.settled("refused");
                Ok((Err(denied), Word::Gate))
            }
            None => Err(Rejection::not_found(&request.resource, &request.name)),
        }
    }
}
