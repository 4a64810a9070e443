//! Sends an admitted request and brings back the answer.

use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE},
};
use tokio::time::timeout;

use super::{Affinity, Carrier, ClientError, Streaming, Tunnel, Upstream, chain, headers};
use crate::{admission::Admitted, api::names, body::BodyError, caller::Kind, rejection::Rejection, request::Upgrade};

/// What upstream made of a request.
#[derive(Debug)]
pub enum Forwarded {
    /// An answer, its body still streaming.
    Answer(Response<Streaming>),
    /// Upstream has stopped speaking HTTP, and so will the client when it reads this.
    Switched(Response<()>, Tunnel),
}

impl Upstream {
    /// `audit_id` lets the gate's audit log and upstream's be read together.
    pub async fn forward(&self, admitted: Admitted, audit_id: HeaderValue) -> Result<Forwarded, Rejection> {
        let (head, caller) = (admitted.head(), admitted.caller());
        let clients = self.clients.load_full();
        let (client_headers, upgrade) = (head.headers(), head.upgrade());
        let encoded = match &caller.kind {
            Kind::Bootstrap(token) => {
                headers::with_token(client_headers, upgrade, token).map(|headers| (headers, &clients.bare))
            }
            Kind::Node(_) | Kind::Seed(_) | Kind::Other => {
                headers::request(client_headers, upgrade, &caller.user, self.identity)
                    .map(|headers| (headers, &clients.told))
            }
        };
        let (mut headers, client) = encoded.map_err(|error| Rejection::internal(error.to_string()))?;
        if let Some(actor) = &caller.actor {
            let told = headers::actor(&actor.user, self.identity, &mut headers);
            told.map_err(|error| Rejection::internal(error.to_string()))?;
        }
        if let Some(rule) = admitted.granted_by() {
            let granted = headers::grant(
                &names::granted_group(rule.id()),
                &caller.user,
                self.identity,
                &mut headers,
            );
            granted.map_err(|error| Rejection::internal(error.to_string()))?;
        }
        headers.insert("audit-id", audit_id);
        if let Some(content_type) = admitted.content_type() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if admitted.is_validated() && !matches!(caller.kind, Kind::Bootstrap(_)) {
            headers::mark(names::VALIDATED_EXTRA, self.identity, &mut headers);
        }
        if admitted.is_rehearsal() {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            headers.remove(ACCEPT_ENCODING);
        }
        let (method, uri) = (head.method().clone(), admitted.uri().clone());
        let (safe, affinity) = (method.is_safe(), Affinity::of(&caller.asker().name));
        let own_token = headers.contains_key(AUTHORIZATION);
        let long_running = head.info().is_long_running();
        let body = admitted.into_body();
        let carrier = match upgrade {
            Some(_) => Carrier::Alone,
            None if long_running || !body.is_whole() => Carrier::Stream,
            None => Carrier::Brief,
        };
        let fault = body.fault();
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;

        let mut response = match timeout(self.patience, client.send(request, affinity, carrier)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let spoilt = fault.get().map(Rejection::from);
                return Err(spoilt.unwrap_or_else(|| self.failed(&error, safe)));
            }
            // A client that is still sending keeps itself waiting.
            Err(_) if !fault.is_over() => return Err(BodyError::Slow(self.patience).into()),
            Err(_) => {
                self.metrics.failed("timeout");
                let why = format!("no answer from upstream within {:?}", self.patience);
                return Err(Rejection::timeout(why));
            }
        };
        let code = response.status();
        // Handing on a redirect would send the client, with its credentials, wherever upstream was told to point.
        if code.is_redirection() && code != StatusCode::NOT_MODIFIED {
            self.metrics.failed("redirect");
            return Err(Rejection::bad_gateway(format!(
                "upstream answered with a redirect ({code})"
            )));
        }
        // The gate has let the caller in; what upstream does not believe are the gate's own credentials.
        if code == StatusCode::UNAUTHORIZED && !own_token {
            self.metrics.failed("credentials");
            return Err(Rejection::bad_gateway(
                "upstream does not accept the gate's credentials (401)",
            ));
        }
        if code == StatusCode::SWITCHING_PROTOCOLS {
            return self.switched(response, upgrade);
        }
        headers::response(response.headers_mut());
        Ok(Forwarded::Answer(response))
    }

    fn switched(&self, mut response: Response<Streaming>, wanted: Option<Upgrade>) -> Result<Forwarded, Rejection> {
        let agreed = wanted.is_some_and(|wanted| wanted.is_agreed(response.headers()));
        if !agreed {
            self.metrics.failed("upgrade");
            return Err(Rejection::bad_gateway(
                "upstream switched to a protocol that was not asked for",
            ));
        }
        let upgraded = hyper::upgrade::on(&mut response);
        let (mut head, _) = response.into_parts();
        headers::switched(&mut head.headers);
        Ok(Forwarded::Switched(
            Response::from_parts(head, ()),
            Tunnel::new(upgraded),
        ))
    }

    /// `safe`: nothing can have come of the request, even if upstream has seen it.
    fn failed(&self, error: &ClientError, safe: bool) -> Rejection {
        let why = chain(error);
        match error {
            ClientError::Credentials(_) => {
                self.metrics.failed("credentials");
                Rejection::unreachable(why)
            }
            ClientError::Unsent(_) => {
                self.metrics.failed("connect");
                Rejection::unreachable(why)
            }
            ClientError::Sent(_) => {
                self.metrics.failed("answer");
                Rejection {
                    retry_after: safe.then_some(1),
                    ..Rejection::bad_gateway(why)
                }
            }
        }
    }
}
