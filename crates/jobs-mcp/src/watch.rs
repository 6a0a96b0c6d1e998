//! A transport with a connection listening in, in the order of the wire.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use crate::connection::Connection;

/// A transport that tells a [`Connection`] what passes; made by [`Connection::watch`].
#[derive(Debug)]
pub struct Watched<T> {
    transport: T,
    connection: Connection,
}

impl<T> Watched<T> {
    pub(crate) fn new(transport: T, connection: Connection) -> Self {
        Self {
            transport,
            connection,
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
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
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
