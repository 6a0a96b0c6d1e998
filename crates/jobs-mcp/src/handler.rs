//! What answers a client.

use std::sync::Arc;

use jobs::tool::ToolCall;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use crate::connection::Connection;
use crate::link::Link;
use crate::patience::{self, Progress};
use crate::server::Shared;
use crate::toolbox::Entry;
use crate::{content, notices};

/// Answers a client; made by [`Connection::handler`].
#[derive(Debug)]
pub struct Handler {
    shared: Arc<Shared>,
    origin: Origin,
}

#[derive(Debug)]
enum Origin {
    /// Every request comes from here.
    One(Connection),
    /// Each HTTP request says by itself.
    Requests,
}

impl Handler {
    pub(crate) fn new(shared: Arc<Shared>, connection: Connection) -> Self {
        let origin = Origin::One(connection);
        Self { shared, origin }
    }

    /// A handler of HTTP requests that carry their [`Link`].
    pub(crate) fn of_requests(shared: Arc<Shared>) -> Self {
        let origin = Origin::Requests;
        Self { shared, origin }
    }

    fn link(&self, context: &RequestContext<RoleServer>) -> Result<Link, ErrorData> {
        match &self.origin {
            Origin::One(connection) => Ok(Link::Connection(connection.clone())),
            Origin::Requests => {
                let parts = context.extensions.get::<http::request::Parts>();
                let link = parts.and_then(|parts| parts.extensions.get::<Link>());
                link.cloned().ok_or_else(|| {
                    ErrorData::internal_error("the request does not say whose it is", None)
                })
            }
        }
    }

    async fn answer(
        &self,
        entry: &Entry,
        arguments: Value,
        context: &RequestContext<RoleServer>,
        link: &Link,
    ) -> CallToolResult {
        let Shared {
            registry, config, ..
        } = &*self.shared;
        let owner = link.owner();
        if link.is_cancelled(&context.id) {
            context.ct.cancel();
        }
        let pending = link.open(context.id.clone());
        let call = ToolCall::new(arguments, owner.caller()).with_cancel(context.ct.clone());
        let progress = context.meta.get_progress_token().map(|token| Progress {
            token,
            peer: context.peer.clone(),
            interval: config.progress_interval,
        });
        let (reply, told) = patience::run(&*entry.tool, call, link.over(), progress).await;
        let (result, delivery) = reply.into_parts();
        let mut receipts = vec![delivery];
        // After the body: what it reports is not announced in front of it.
        let front = notices::collect(&**registry, owner, config).map(|notices| {
            receipts.extend(notices.told);
            notices.block
        });
        receipts.retain(|receipt| !receipt.is_none());
        // Nobody wants the answer to a cancelled request. What carries nothing needs no watching.
        if context.ct.is_cancelled() || receipts.is_empty() {
            drop(pending);
        } else {
            pending.answered(receipts, told);
        }
        content::result(result, entry.shape, front)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let config = &self.shared.config;
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(&config.name, &config.version));
        match &config.instructions {
            Some(text) => info.with_instructions(text),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.toolbox.listed().to_vec();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listed = self.shared.toolbox.listed();
        listed.iter().find(|tool| tool.name == name).cloned()
    }

    // What the SDK moves about is a pointer, not the state of a call.
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send {
        Box::pin(async move {
            let link = self.link(&context)?;
            let Some(entry) = self.shared.toolbox.find(&request.name) else {
                drop(link.open(context.id.clone()));
                let name = jobs::text::Echo::new(&request.name);
                let text = format!("unknown tool \"{name}\"");
                return Err(ErrorData::invalid_params(text, None));
            };
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            let result = self.answer(entry, arguments, &context, &link).await;
            Ok(result.into())
        })
    }
}
