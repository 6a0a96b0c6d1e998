//! One client over a pair of streams, as a rule standard input and output.

use jobs::{CancellationToken, Scope};
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::McpError;
use crate::server::McpServer;

/// The session of the one client.
const SESSION: &str = "stdio";

impl McpServer {
    /// Serves the client at standard input and output until the input ends or `stop` is
    /// cancelled, and then ends its jobs. They belong to this process: one owner for all of it.
    ///
    /// At the end of the input the open calls get a second; at a stop they are cancelled at once.
    /// When this returns nothing of the jobs is left, or their graces have passed.
    ///
    /// # Errors
    ///
    /// [`McpError::Handshake`]; [`McpError::Abandoned`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the owner without waiting for its jobs.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> Result<(), McpError> {
        let (input, output) = rmcp::transport::stdio_pipes();
        self.serve(input, output, stop).await
    }

    /// The same over any pair of streams: a line a message.
    ///
    /// # Errors
    ///
    /// As [`serve_stdio`](Self::serve_stdio).
    ///
    /// # Cancel safety
    ///
    /// As [`serve_stdio`](Self::serve_stdio).
    pub async fn serve(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> Result<(), McpError> {
        let owner = self.0.registry.owner(SESSION.into(), Scope::root());
        let connection = self.connection(owner.clone());
        let transport = connection.watch(AsyncRwTransport::new_server(input, output));
        let served = serve_server_with_ct(connection.handler(), transport, stop).await;
        let ended = match served {
            Ok(service) => match service.waiting().await {
                Ok(QuitReason::JoinError(error)) | Err(error) => Err(McpError::Abandoned {
                    reason: error.to_string(),
                }),
                Ok(reason) => {
                    tracing::debug!(?reason, "the client is gone");
                    Ok(())
                }
            },
            // Nobody has asked for anything yet.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                Ok(())
            }
            Err(error) => Err(McpError::Handshake {
                reason: error.to_string(),
            }),
        };
        owner.close().await;
        ended
    }
}
