//! The tools of a host, ready to be served.

use std::sync::Arc;

use jobs::tool::Tool;
use jobs::{JobRegistry, Owner};

use crate::config::McpConfig;
use crate::connection::Connection;
use crate::error::McpError;
use crate::ledger::Order;
use crate::toolbox::Toolbox;

/// A list of tools for MCP clients. Cloning shares everything.
///
/// # Examples
///
/// ```no_run
/// # async fn host(registry: std::sync::Arc<dyn jobs::JobRegistry>) -> Result<(), Box<dyn std::error::Error>> {
/// use jobs::{CancellationToken, Scope};
/// use jobs_mcp::{McpConfig, McpServer};
/// use tool_jobs::{JobTools, ToolsConfig};
///
/// let tools = JobTools::mount(registry.clone(), Scope::root(), ToolsConfig::default())?;
/// let config = McpConfig::new("my-host", "1.0.0");
/// let server = McpServer::new(registry, tools.tools(), config)?;
/// server.serve_stdio(CancellationToken::new()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct McpServer(pub(crate) Arc<Shared>);

/// What every connection shares.
pub(crate) struct Shared {
    pub(crate) registry: Arc<dyn JobRegistry>,
    pub(crate) toolbox: Toolbox,
    pub(crate) config: McpConfig,
}

impl McpServer {
    /// Serves `tools`, whose jobs are in `registry`.
    ///
    /// # Errors
    ///
    /// [`McpError::Config`]; [`McpError::DuplicateTool`]; [`McpError::Schema`].
    pub fn new(
        registry: Arc<dyn JobRegistry>,
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        config: McpConfig,
    ) -> Result<Self, McpError> {
        config.check()?;
        let toolbox = Toolbox::new(tools, &config.tool_prefix)?;
        Ok(Self(Arc::new(Shared {
            registry,
            toolbox,
            config,
        })))
    }

    /// A connection that works with the jobs of `owner`. Its end does not end the owner.
    #[must_use]
    pub fn connection(&self, owner: Owner) -> Connection {
        Connection::new(Arc::clone(&self.0), owner, Order::Mixed)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tools: Vec<&str> = self
            .toolbox
            .listed()
            .iter()
            .map(|tool| tool.name.as_ref())
            .collect();
        f.debug_struct("Shared")
            .field("tools", &tools)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
