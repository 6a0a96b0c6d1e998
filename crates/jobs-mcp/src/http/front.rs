//! What stands before the SDK's service: who calls, and for whom.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use jobs::CancellationToken;
use rmcp::transport::StreamableHttpService;
use tokio::time::timeout;

use super::PATH;
use super::body::{Answer, Guard};
use super::config::Access;
use super::desk::{Desk, Principal};
use super::exchange::Exchange;
use super::sessions::{CALLER, Sessions};
use crate::handler::Handler;
use crate::link::Link;

const SESSION: &str = "mcp-session-id";

/// The longest body of a request.
pub(super) const MAX_BODY_BYTES: usize = 4 * 1_024 * 1_024;

/// The name of the only user, where there is one.
const SINGLE_USER: &str = "user";

/// Answers every request.
pub(super) struct Front {
    access: Access,
    body_timeout: Duration,
    desk: Arc<Desk>,
    service: StreamableHttpService<Handler, Sessions>,
}

impl Front {
    pub(super) fn new(
        access: Access,
        body_timeout: Duration,
        desk: Arc<Desk>,
        service: StreamableHttpService<Handler, Sessions>,
    ) -> Self {
        Self {
            access,
            body_timeout,
            desk,
            service,
        }
    }

    /// The answer to a request. `known` is cancelled once somebody calls who may.
    pub(super) async fn answer(
        &self,
        mut request: Request<Incoming>,
        known: &CancellationToken,
    ) -> Response<Answer> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "Not Found: expected /mcp");
        }
        let Some(principal) = self.principal(request.headers()) else {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "Unauthorized: expected a token");
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return response;
        };
        known.cancel();
        request.headers_mut().remove(AUTHORIZATION); // nothing behind this can show it
        let (link, guard) = if let Some(key) = &header(request.headers(), SESSION) {
            let Some(connection) = self.desk.session(key, &principal) else {
                return refusal(StatusCode::NOT_FOUND, "Not Found: Session not found");
            };
            (Link::Connection(connection), None)
        } else {
            let exchange = Arc::new(Exchange::new(self.desk.user(&principal)));
            let guard = Guard(Arc::clone(&exchange));
            (Link::Exchange(exchange), Some(guard))
        };
        request.extensions_mut().insert(link);
        let request = match whole(request, self.body_timeout).await {
            Ok(request) => request,
            Err(refused) => return refused,
        };
        let response = CALLER.scope(principal, self.service.handle(request)).await;
        response.map(|body| Answer::new(body, guard))
    }

    /// Who calls; nobody who may.
    fn principal(&self, headers: &HeaderMap) -> Option<Principal> {
        match &self.access {
            Access::SingleUser => Some(SINGLE_USER.into()),
            Access::Tokens(tokens) => {
                let given = headers.get(AUTHORIZATION).and_then(bearer)?;
                tokens.name_of(given)
            }
        }
    }
}

/// The request with all of its body, which has to come in time.
async fn whole(
    request: Request<Incoming>,
    limit: Duration,
) -> Result<Request<Full<Bytes>>, Response<Answer>> {
    let (parts, body) = request.into_parts();
    match timeout(limit, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(Request::from_parts(parts, Full::new(body.to_bytes()))),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let text = "Payload Too Large: expected at most 4 MiB";
            Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, text))
        }
        Ok(Err(_broken)) => {
            let text = "Bad Request: the body did not arrive";
            Err(refusal(StatusCode::BAD_REQUEST, text))
        }
        Err(_late) => {
            let text = "Request Timeout: expected the whole body sooner";
            Err(refusal(StatusCode::REQUEST_TIMEOUT, text))
        }
    }
}

/// The token of `Bearer <token>` (RFC 6750, section 2.1; the scheme in any case).
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"Bearer ")
        .then(|| token.trim_ascii())
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

fn refusal(status: StatusCode, text: &'static str) -> Response<Answer> {
    let body: BoxBody<Bytes, Infallible> = Full::new(Bytes::from_static(text.as_bytes())).boxed();
    let mut response = Response::new(Answer::new(body, None));
    *response.status_mut() = status;
    response
}
