//! A transport with a connection listening in, in the order of the wire.
//!
//! The SDK reads on while answers wait to be written. A client that asks and does not read would
//! make them pile up here, so nothing more is read from it until it has read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;
use tokio::task::coop;

use crate::connection::Connection;

/// So many messages may wait to be written while more of the client's are read.
const MOST_UNWRITTEN: usize = 64;

/// A transport that tells a [`Connection`] what passes; made by [`Connection::watch`].
#[derive(Debug)]
pub struct Watched<T> {
    transport: T,
    connection: Connection,
    backlog: Arc<Backlog>,
}

impl<T> Watched<T> {
    pub(crate) fn new(transport: T, connection: Connection) -> Self {
        Self {
            transport,
            connection,
            backlog: Arc::default(),
        }
    }
}

/// What waits to be written.
#[derive(Debug, Default)]
struct Backlog {
    messages: AtomicUsize,
    /// It has just become short enough. One task waits for that at most: it reads.
    short: Notify,
}

impl Backlog {
    /// Waits until the client has read enough of what it was sent.
    async fn is_short(&self) {
        while self.messages.load(Ordering::Acquire) >= MOST_UNWRITTEN {
            self.short.notified().await;
        }
    }
}

/// A message that is not written yet.
struct Unwritten(Arc<Backlog>);

impl Unwritten {
    fn new(backlog: &Arc<Backlog>) -> Self {
        backlog.messages.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(backlog))
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        if self.0.messages.fetch_sub(1, Ordering::Release) == MOST_UNWRITTEN {
            self.0.short.notify_one();
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Watched<T> {
    type Error = T::Error;

    fn name() -> std::borrow::Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            self.connection.sent(id);
        }
        let unwritten = Unwritten::new(&self.backlog);
        // The SDK moves it about, and it holds the message.
        let send = Box::pin(self.transport.send(message));
        async move {
            let sent = send.await;
            drop(unwritten);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        // What is read and not answered yet does not count: reading takes turns with answering.
        coop::consume_budget().await;
        self.backlog.is_short().await;
        let message = self.transport.receive().await;
        match &message {
            Some(message) => self.connection.received(message),
            None => self.connection.input_ended(),
        }
        message
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}
