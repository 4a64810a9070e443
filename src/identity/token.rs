//! Bearer tokens: what upstream says about them, remembered for a moment.
//!
//! Anybody can send a token, so that asking has bounds: the same token is asked about once at a time, and no more than a
//! few at all.

use std::{fmt, net::IpAddr, pin::Pin, sync::Arc, time::Duration};

use aws_lc_rs::digest;
use http::StatusCode;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewStatus, UserInfo};
use moka::future::Cache;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    caller::{Caller, Token, User},
    rejection::Rejection,
    server::PerClient,
};

/// How upstream is asked: a TokenReview goes out, a status code and an object come back.
pub type Ask = Arc<dyn Fn(Value) -> Asked + Send + Sync>;
type Asked = Pin<Box<dyn Future<Output = Result<(StatusCode, Value), String>> + Send>>;

/// Where reviews are made.
pub const TOKEN_REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

/// Cheap to clone; clones share what is remembered.
#[derive(Clone)]
pub struct Tokens {
    ask: Ask,
    /// By digest. Only bootstrap tokens are kept as they are, with the caller that goes on with them.
    known: Cache<[u8; 32], Reviewed>,
    asking: Arc<Semaphore>,
    asking_for: PerClient,
}

/// Who a token stands for, or why for nobody.
type Reviewed = Result<Caller, Arc<str>>;

/// Nothing was found out.
#[derive(Clone, Debug)]
enum Unknown {
    Busy,
    Failed(String),
}

/// What is remembered at most.
const MAX_KNOWN: u64 = 10_000;
/// Reviews under way at most, in all and for one address: whoever makes up tokens must not keep out those who have one.
const MAX_ASKING: usize = 64;
const MAX_ASKING_FOR_ONE: usize = 16;

impl Tokens {
    pub fn new(ask: Ask, remember: Duration) -> Self {
        Self {
            ask,
            known: Cache::builder().max_capacity(MAX_KNOWN).time_to_live(remember).build(),
            asking: Arc::new(Semaphore::new(MAX_ASKING)),
            asking_for: PerClient::default(),
        }
    }

    /// The caller, or 401; 503 if upstream cannot tell, 429 if too many are being asked about for this client. The gate
    /// itself, which asks about few at a time, is always heard.
    pub(super) async fn identify(&self, token: &Token, client: Option<IpAddr>) -> Result<Caller, Rejection> {
        let mut key = [0; 32];
        key.copy_from_slice(digest::digest(&digest::SHA256, token.reveal().as_bytes()).as_ref());
        let reviewed = match self.known.get(&key).await {
            Some(reviewed) => reviewed,
            None => self.find_out(key, token.clone(), client).await?,
        };
        reviewed.map_err(|why| Rejection::unauthorized(&*why))
    }

    /// Goes on if the one who asks goes away: others may wait for the same answer, and whoever comes and goes must not make
    /// the gate ask again and again.
    async fn find_out(&self, key: [u8; 32], token: Token, client: Option<IpAddr>) -> Result<Reviewed, Rejection> {
        let tokens = self.clone();
        let found = tokio::spawn(async move {
            let review = tokens.review(&token, client);
            tokens.known.try_get_with(key, review).await
        });
        let found = found.await.map_err(|error| Rejection::internal(error.to_string()))?;
        found.map_err(|unknown| match &*unknown {
            Unknown::Busy => Rejection::too_many_requests("too many token reviews are under way"),
            Unknown::Failed(why) => Rejection::unreachable(format!("token review failed: {why}")),
        })
    }

    async fn review(&self, token: &Token, client: Option<IpAddr>) -> Result<Reviewed, Unknown> {
        let _place = match client {
            None => None,
            Some(client) => {
                let share = self.asking_for.count(client, MAX_ASKING_FOR_ONE).ok_or(Unknown::Busy)?;
                Some((share, self.asking.try_acquire().map_err(|_| Unknown::Busy)?))
            }
        };
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token.reveal()},
        });
        let (code, answer) = (self.ask)(review).await.map_err(Unknown::Failed)?;
        if !code.is_success() {
            let message = answer.get("message").and_then(Value::as_str).unwrap_or_default();
            return Err(Unknown::Failed(format!("upstream answers {code}: {message}")));
        }
        let review: TokenReview = serde_json::from_value(answer)
            .map_err(|error| Unknown::Failed(format!("upstream's answer is no TokenReview: {error}")))?;
        Ok(settle(review.status.unwrap_or_default(), token))
    }
}

/// Only an explicit yes with a name counts.
fn settle(status: TokenReviewStatus, token: &Token) -> Reviewed {
    let user = status.user.unwrap_or_default();
    let name = user.username.clone().unwrap_or_default();
    match status.authenticated {
        Some(true) if name.is_empty() => Err("upstream knows the token but names no user".into()),
        Some(true) => Ok(Caller::with_token(from(user).authenticated(), token)),
        _ => {
            let error = status.error.unwrap_or_default();
            Err(format!("upstream does not accept the token {error}").trim_end().into())
        }
    }
}

fn from(user: UserInfo) -> User {
    User {
        name: user.username.unwrap_or_default(),
        uid: user.uid.filter(|uid| !uid.is_empty()),
        groups: user.groups.unwrap_or_default(),
        extra: user.extra.unwrap_or_default().into_iter().collect(),
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
