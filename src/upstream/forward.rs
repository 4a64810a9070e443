//! Sends an admitted request and brings back the answer.

use std::time::Duration;

use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::LengthLimitError;
use hyper::body::Incoming;
use hyper_util::client::legacy;
use tokio::time::timeout;
use tower::BoxError;

use super::{Upstream, chain, headers};
use crate::{
    admission::Admitted,
    body::{BodyError, MAX_BODY},
    rejection::Rejection,
};

/// kube-apiserver itself gives up on an ordinary request after 60 s, and answers a watch at once.
const RESPONSE_HEAD: Duration = Duration::from_secs(70);

impl Upstream {
    /// The answer, its body still streaming. `audit_id` lets the gate's audit log and upstream's be read together.
    pub async fn forward(&self, admitted: Admitted, audit_id: HeaderValue) -> Result<Response<Incoming>, Rejection> {
        let head = admitted.head();
        let mut headers = headers::request(head.headers(), &admitted.caller().user, self.identity)
            .map_err(|error| Rejection::internal(error.to_string()))?;
        headers.insert("audit-id", audit_id);
        let (method, uri) = (head.method().clone(), head.uri().clone());
        let mut request = Request::new(admitted.into_body());
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;

        let mut response = match timeout(RESPONSE_HEAD, self.client.load().send(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.failed(&error)),
            Err(_) => {
                self.metrics.failed("timeout");
                return Err(Rejection::timeout(format!(
                    "no answer from upstream within {RESPONSE_HEAD:?}"
                )));
            }
        };
        // Handing on a redirect would send the client, with its credentials, wherever upstream was told to point.
        if response.status().is_redirection() && response.status() != StatusCode::NOT_MODIFIED {
            self.metrics.failed("redirect");
            return Err(Rejection::bad_gateway(format!(
                "upstream answered with a redirect ({})",
                response.status()
            )));
        }
        // The gate has let the caller in; what upstream does not believe are the gate's own credentials.
        if response.status() == StatusCode::UNAUTHORIZED {
            self.metrics.failed("credentials");
            return Err(Rejection::bad_gateway(
                "upstream does not accept the gate's credentials (401)",
            ));
        }
        headers::response(response.headers_mut());
        Ok(response)
    }

    fn failed(&self, error: &BoxError) -> Rejection {
        let chain = chain(error.as_ref());
        if find::<LengthLimitError>(error.as_ref()).is_some() {
            return Rejection::too_large(MAX_BODY);
        }
        if find::<BodyError>(error.as_ref()).is_some() {
            return Rejection::bad_request("the request body could not be read");
        }
        let connect = find::<legacy::Error>(error.as_ref()).is_some_and(legacy::Error::is_connect);
        if connect {
            self.metrics.failed("connect");
            Rejection::unreachable(chain)
        } else {
            self.metrics.failed("answer");
            Rejection::bad_gateway(chain)
        }
    }
}

/// The first error of this type along the chain of causes.
fn find<'a, E: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a E> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
}
