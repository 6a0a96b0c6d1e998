//! A transport with a connection listening in, in the order of the wire.
//!
//! The SDK reads on while answers wait to be written. A client that asks and does not read would
//! make them pile up here, so nothing more is read from it until it has read.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

use crate::connection::Connection;

/// So many messages may wait to be written while more of the client's are read.
const MOST_UNWRITTEN: usize = 64;

/// A transport that tells a [`Connection`] what passes; made by [`Connection::watch`].
#[derive(Debug)]
pub struct Watched<T> {
    transport: T,
    connection: Connection,
    unwritten: watch::Sender<usize>,
}

impl<T> Watched<T> {
    pub(crate) fn new(transport: T, connection: Connection) -> Self {
        Self {
            transport,
            connection,
            unwritten: watch::Sender::new(0),
        }
    }
}

/// Waits until the client has read enough of what it was sent.
async fn has_read(mut unwritten: watch::Receiver<usize>) {
    let few = unwritten.wait_for(|count| *count < MOST_UNWRITTEN).await;
    drop(few); // an error would mean that the transport is gone
}

/// A message that is not written yet.
struct Unwritten(watch::Sender<usize>);

impl Unwritten {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
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
        let unwritten = Unwritten::new(&self.unwritten);
        let send = self.transport.send(message);
        async move {
            let sent = send.await;
            drop(unwritten);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        has_read(self.unwritten.subscribe()).await;
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
