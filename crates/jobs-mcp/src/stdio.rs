//! One client over a pair of streams, as a rule standard input and output.

use std::sync::Arc;

use jobs::{CancellationToken, Scope};
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::Connection;
use crate::error::McpError;
use crate::ledger::Order;
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
        let connection = Connection::new(Arc::clone(&self.0), owner.clone(), Order::Kept);
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

#[cfg(test)]
mod tests {
    use jobs::JobRegistry;
    use jobs_local::{Config, LocalJobRegistry};
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
    use tool_jobs::{JobTools, ToolsConfig};

    use super::*;
    use crate::McpConfig;

    struct Client {
        read: BufReader<tokio::io::ReadHalf<DuplexStream>>,
        write: tokio::io::WriteHalf<DuplexStream>,
    }

    impl Client {
        async fn send(&mut self, mut message: Value) {
            message["jsonrpc"] = "2.0".into();
            let line = format!("{message}\n");
            let sent = self.write.write_all(line.as_bytes()).await;
            sent.expect("a server that reads");
        }

        async fn receive(&mut self) -> Value {
            let mut line = String::new();
            let read = self.read.read_line(&mut line).await;
            read.expect("a server that writes");
            serde_json::from_str(&line).expect("JSON")
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancellation_that_comes_too_late_cancels_no_later_call_of_that_id() {
        let registry: Arc<dyn JobRegistry> =
            LocalJobRegistry::new(Config::default()).expect("a registry");
        let tools = JobTools::mount(Arc::clone(&registry), Scope::root(), ToolsConfig::default())
            .expect("the tools");
        let server = McpServer::new(registry, tools.tools(), McpConfig::default());
        let server = server.expect("a server");
        let (ours, theirs) = duplex(1 << 16);
        let (input, output) = split(theirs);
        let served = tokio::spawn(async move {
            let served = server.serve(input, output, CancellationToken::new()).await;
            served.expect("served");
        });
        let (read, write) = split(ours);
        let mut client = Client {
            read: BufReader::new(read),
            write,
        };

        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let call = json!({ "id": 1, "method": "tools/call", "params": { "name": "job_list" } });
        let late = json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } });
        client
            .send(json!({ "id": 0, "method": "initialize", "params": params }))
            .await;
        assert_eq!(client.receive().await["id"], 0);
        client
            .send(json!({ "method": "notifications/initialized" }))
            .await;
        client.send(call.clone()).await;
        assert_eq!(client.receive().await["result"]["isError"], false);
        client.send(late).await;
        client.send(call).await;
        let again = client.receive().await;
        assert_eq!(again["result"]["isError"], false, "{again}");
        drop(client);
        served.await.expect("no panic");
    }
}
