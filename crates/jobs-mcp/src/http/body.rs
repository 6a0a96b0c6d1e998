//! The body of a response, which tells its exchange what was given to the connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;

use super::exchange::Exchange;

/// Ends an exchange when it is dropped: with its request, or with the body of its response.
pub(super) struct Guard(pub(super) Arc<Exchange>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A body, watched if it belongs to an exchange.
pub(super) struct Answer {
    body: BoxBody<Bytes, Infallible>,
    guard: Option<Guard>,
}

impl Answer {
    pub(super) fn new(body: BoxBody<Bytes, Infallible>, guard: Option<Guard>) -> Self {
        Self { body, guard }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(Guard(exchange)) = &self.guard
            && frame.data_ref().is_some_and(is_message)
        {
            exchange.gave();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// In a stream of events a line that begins with a colon keeps the connection alive.
fn is_message(data: &Bytes) -> bool {
    data.first().is_some_and(|first| *first != b':')
}
