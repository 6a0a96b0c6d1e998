//! Servers to compare over standard input and output; `cargo xtask clients --throughput` does.
//!
//! - `jobs` keeps ten thousand finished jobs, and a live one that has written 1 KiB more whenever it
//!   is read.
//! - `empty` has one tool that does nothing, on the same SDK.
//! - `constant` has one that does nothing, but answers what `job_output` has answered: what is
//!   left of the difference is the size of the answer. `checked` tells clients the output schema,
//!   too.

use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use jobs::tool::{Content, Tool, ToolCall, ToolResult};
use jobs::{
    Hooks, JobRegistry, JobSpec, LogReader, Outcome, OutputLog, OutputSource, Owner, ProducerError,
    Rendered, Scope, Stream,
};
use jobs_local::{Config, LocalJobRegistry};
use jobs_mcp::{McpConfig, McpServer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as WireTool,
};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, serve_server};
use serde_json::{Map, json};
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

/// A registry with the live job, its tools and its owner.
async fn live() -> Result<(Arc<dyn JobRegistry>, JobTools, Owner), Box<dyn Error>> {
    let config = Config::default().with_max_finished_jobs_per_owner(KEPT);
    let registry: Arc<dyn JobRegistry> = LocalJobRegistry::new(config)?;
    let tools = JobTools::mount(Arc::clone(&registry), Scope::root(), ToolsConfig::default())?;
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
    Ok((registry, tools, owner))
}

async fn serve_jobs() -> Result<(), Box<dyn Error>> {
    let (registry, tools, owner) = live().await?;
    let server = McpServer::new(Arc::clone(&registry), tools.tools(), McpConfig::default())?;
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

/// One tool that does nothing, and its answer.
struct Constant {
    tool: WireTool,
    answer: CallToolResult,
}

impl Constant {
    fn empty() -> Self {
        let schema = Map::from_iter([("type".to_owned(), "object".into())]);
        Self {
            tool: WireTool::new("empty", "Does nothing.", Arc::new(schema)),
            answer: CallToolResult::success(Vec::new()),
        }
    }

    /// Answers as `job_output` has answered once.
    async fn like_output(schema: OutputSchema) -> Result<Self, Box<dyn Error>> {
        const NAME: &str = "job_output";
        let (_registry, tools, owner) = live().await?;
        let of_name = |tool: &Arc<dyn Tool>| tool.definition().name == NAME;
        let output = tools.tools().into_iter().find(of_name).ok_or("no tool")?;
        let call = ToolCall::new(json!({ "job_id": "live-1" }), owner.caller());
        let ToolResult::Success { content, value } = output.call(call).await.deliver() else {
            return Err("no answer".into());
        };
        let text = |content| match content {
            Content::Text(text) => ContentBlock::text(text),
            Content::Other(other) => ContentBlock::text(other.to_string()),
        };
        let mut answer = CallToolResult::success(content.into_iter().map(text).collect());
        answer.structured_content = Some(value);
        let definition = output.definition();
        let input: JsonObject = serde_json::from_value(definition.input_schema.clone())?;
        let mut tool = WireTool::new(NAME, definition.description.clone(), Arc::new(input));
        if let OutputSchema::Told = schema {
            let output: JsonObject = serde_json::from_value(definition.output_schema.clone())?;
            tool = tool.with_raw_output_schema(Arc::new(output));
        }
        Ok(Self { tool, answer })
    }

    async fn serve(self) -> Result<(), Box<dyn Error>> {
        let (input, output) = rmcp::transport::stdio_pipes();
        let transport = AsyncRwTransport::new_server(input, output);
        serve_server(self, transport).await?.waiting().await?;
        Ok(())
    }
}

/// Whether clients are told what an answer has to look like, and so check it.
enum OutputSchema {
    Told,
    Untold,
}

impl ServerHandler for Constant {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.answer.clone().into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("jobs") => serve_jobs().await,
        Some("empty") => Constant::empty().serve().await,
        Some("constant") => {
            Constant::like_output(OutputSchema::Untold)
                .await?
                .serve()
                .await
        }
        Some("checked") => {
            Constant::like_output(OutputSchema::Told)
                .await?
                .serve()
                .await
        }
        other => Err(format!("expected a server, got {other:?}").into()),
    }
}
