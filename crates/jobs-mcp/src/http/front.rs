//! What stands before the SDK's service: who calls, and for whom.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use rmcp::transport::StreamableHttpService;

use super::PATH;
use super::body::{Answer, Guard};
use super::config::Access;
use super::desk::{Desk, Principal};
use super::exchange::Exchange;
use super::sessions::Sessions;
use crate::handler::Handler;
use crate::link::Link;

const SESSION: &str = "mcp-session-id";

/// The name of the only user, where there is one.
const SINGLE_USER: &str = "user";

/// Answers every request.
pub(super) struct Front {
    access: Access,
    desk: Arc<Desk>,
    service: StreamableHttpService<Handler, Sessions>,
}

impl Front {
    pub(super) fn new(
        access: Access,
        desk: Arc<Desk>,
        service: StreamableHttpService<Handler, Sessions>,
    ) -> Self {
        Self {
            access,
            desk,
            service,
        }
    }

    pub(super) async fn answer(&self, mut request: Request<Incoming>) -> Response<Answer> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "Not Found: expected /mcp");
        }
        let Some(principal) = self.principal(request.headers()) else {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "Unauthorized: expected a token");
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return response;
        };
        request.headers_mut().remove(AUTHORIZATION); // nothing behind this can show it
        let key = header(request.headers(), SESSION);
        let (link, guard) = if let Some(key) = &key {
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
        let response = self.service.handle(request).await;
        if key.is_none()
            && let Some(opened) = header(response.headers(), SESSION)
        {
            self.desk.bind(&opened, &principal);
        }
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
