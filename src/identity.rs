//! Who is at the other end of a connection, asked anew for every request.

mod bearer;
pub mod token;
pub mod x509;

use std::{net::IpAddr, sync::Arc};

use arc_swap::{ArcSwap, ArcSwapOption};
use http::{HeaderMap, StatusCode};
use rustls::pki_types::{CertificateDer, UnixTime};

use self::{
    token::Tokens,
    x509::{ClientCa, Verified},
};
use crate::{
    caller::{Caller, Token},
    rejection::Rejection,
};

/// Turns what a connection presented into a caller.
#[derive(Clone, Debug)]
pub struct Authenticator {
    /// Swapped when the CA file changes; the next request on every open connection is judged by the new one.
    pub client_ca: Arc<ArcSwap<ClientCa>>,
    /// Absent: certificates only.
    pub tokens: Option<Tokens>,
}

/// A caller, and the token it came with unless it was known by its certificate.
#[derive(Debug)]
pub struct Identified {
    pub caller: Caller,
    pub token: Option<Token>,
}

/// What one connection presented, and what was last found out about it.
#[derive(Debug)]
pub struct Presented {
    certificates: Vec<CertificateDer<'static>>,
    found: ArcSwapOption<Verification>,
}

#[derive(Debug)]
struct Verification {
    /// The CA file it was judged by.
    by: Arc<ClientCa>,
    answer: Result<Verified, String>,
}

impl Presented {
    pub fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        Self {
            certificates,
            found: ArcSwapOption::empty(),
        }
    }
}

impl Authenticator {
    /// The caller, or 401. A good certificate counts more than a token; a bad one does not make a good token bad.
    pub async fn identify(
        &self,
        presented: &Presented,
        headers: &HeaderMap,
        client: IpAddr,
        now: UnixTime,
    ) -> Result<Identified, Rejection> {
        let refused = match self.by_certificate(presented, now) {
            Ok(caller) => return Ok(Identified { caller, token: None }),
            Err(refused) => refused,
        };
        match (bearer::read(headers), &self.tokens) {
            (Ok(None), _) => Err(refused),
            (Err(malformed), _) => Err(Rejection::unauthorized(malformed.to_string())),
            (Ok(Some(_)), None) => Err(Rejection::unauthorized("authentication.tokenReview is off")),
            (Ok(Some(token)), Some(tokens)) => Ok(Identified {
                caller: Box::pin(tokens.identify(&token, Some(client))).await?,
                token: Some(token),
            }),
        }
    }

    /// Whether a token that was accepted once still is; nothing if that cannot be told now.
    pub async fn still_accepts(&self, token: &Token) -> Option<bool> {
        match self.tokens.as_ref()?.identify(token, None).await {
            Ok(_) => Some(true),
            Err(rejection) => (rejection.code == StatusCode::UNAUTHORIZED).then_some(false),
        }
    }

    /// Whom the certificate of a connection stands for, or 401. It is verified again as soon as the CA file has changed or the clock has left the
    /// time in which the whole chain is valid; between that the answer cannot change.
    pub fn by_certificate(&self, presented: &Presented, now: UnixTime) -> Result<Caller, Rejection> {
        let Some((leaf, intermediates)) = presented.certificates.split_first() else {
            return Err(Rejection::unauthorized("no client certificate"));
        };
        let ca = self.client_ca.load_full();
        let known = presented.found.load_full().filter(|found| found.holds(&ca, now));
        let found = known.unwrap_or_else(|| {
            let answer = ca.verify(leaf, intermediates, now).map_err(|error| error.to_string());
            let found = Arc::new(Verification { by: ca, answer });
            presented.found.store(Some(Arc::clone(&found)));
            found
        });
        match &found.answer {
            Ok(verified) => Ok(verified.caller.clone()),
            Err(why) => Err(Rejection::unauthorized(why.as_str())),
        }
    }
}

impl Verification {
    /// A refusal holds for the connection, which ends with it: looking for a path again and again is what a client with a
    /// heap of bad certificates would want.
    fn holds(&self, ca: &Arc<ClientCa>, now: UnixTime) -> bool {
        let still = self.answer.as_ref().map_or(true, |verified| verified.holds(now));
        Arc::ptr_eq(&self.by, ca) && still
    }
}
