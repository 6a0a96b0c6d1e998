//! Two servers to compare over standard input and output; `cargo xtask clients --throughput` does.
//!
//! `jobs` keeps ten thousand finished jobs, and a live one that has written 1 KiB more whenever it
//! is read. `empty` has one tool that does nothing, on the same SDK.

use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use jobs::{
    Hooks, JobRegistry, JobSpec, LogReader, Outcome, OutputLog, OutputSource, ProducerError,
    Rendered, Scope, Stream,
};
use jobs_local::{Config, LocalJobRegistry};
use jobs_mcp::{McpConfig, McpServer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, serve_server};
use serde_json::Map;
use tool_jobs::{JobTools, ToolsConfig};

const KEPT: NonZeroU32 = NonZeroU32::new(10_001).expect("not zero");

/// A log that grows by as much whenever all of it was read.
struct Growing {
    log: OutputLog,
    reader: LogReader,
}

const DELTA: [u8; 1_024] = [b'x'; 1_024];

impl OutputSource for Growing {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        if from == self.reader.end() {
            self.log.push(Stream::Stdout, &DELTA);
        }
        self.reader.read(from, max)
    }

    fn kept_bytes(&self) -> usize {
        self.reader.kept_bytes()
    }
}

async fn serve_jobs() -> Result<(), Box<dyn Error>> {
    let config = Config::default().with_max_finished_jobs_per_owner(KEPT);
    let registry: Arc<dyn JobRegistry> = LocalJobRegistry::new(config)?;
    let tools = JobTools::mount(Arc::clone(&registry), Scope::root(), ToolsConfig::default())?;
    let server = McpServer::new(Arc::clone(&registry), tools.tools(), McpConfig::default())?;
    let owner = registry.owner("measured".into(), Scope::root());

    let log = OutputLog::with_budget(NonZeroUsize::new(1 << 17).ok_or("no budget")?);
    let reader = log.reader();
    let growing = Arc::new(Growing { log, reader });
    let live = Hooks::from_future(|stop| async move {
        stop.cancelled().await;
        Outcome::completed()
    });
    let live = live.with_output(growing);
    let spec = JobSpec::new("live", "grows", |_id| Ok(live)).with_owner(&owner);
    registry.start(spec).await?;
    for _ in 1..KEPT.get() {
        let hooks = Hooks::from_future(|_| async { Outcome::completed() });
        let spec = JobSpec::new("kept", "over", |_id| Ok(hooks)).with_owner(&owner);
        let id = registry.start(spec).await?;
        let (_, told) = registry.settled(&id, &owner.caller()).await?.into_parts();
        told.commit();
    }

    let connection = server.connection(owner.clone());
    let (input, output) = rmcp::transport::stdio_pipes();
    let transport = connection.watch(AsyncRwTransport::new_server(input, output));
    serve_server(connection.handler(), transport)
        .await?
        .waiting()
        .await?;
    owner.close().await;
    Ok(())
}

/// One tool that does nothing.
struct Empty;

impl ServerHandler for Empty {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), "object".into())]);
        let tool = Tool::new("empty", "Does nothing.", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(Vec::new()).into())
    }
}

async fn serve_empty() -> Result<(), Box<dyn Error>> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let transport = AsyncRwTransport::new_server(input, output);
    serve_server(Empty, transport).await?.waiting().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("jobs") => serve_jobs().await,
        Some("empty") => serve_empty().await,
        other => Err(format!("expected jobs or empty, got {other:?}").into()),
    }
}
