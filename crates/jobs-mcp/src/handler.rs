//! What answers a client.

use std::sync::Arc;

use jobs::tool::ToolCall;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, RequestId, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use crate::connection::{Connection, Receipts};
use crate::patience::{self, Progress};
use crate::server::Shared;
use crate::toolbox::Entry;
use crate::{content, notices};

/// Answers one client; made by [`Connection::handler`].
#[derive(Debug)]
pub struct Handler {
    shared: Arc<Shared>,
    connection: Connection,
}

impl Handler {
    pub(crate) fn new(shared: Arc<Shared>, connection: Connection) -> Self {
        Self { shared, connection }
    }

    async fn answer(
        &self,
        entry: &Entry,
        arguments: Value,
        context: &RequestContext<RoleServer>,
        pending: Pending,
    ) -> CallToolResult {
        let Shared {
            registry, config, ..
        } = &*self.shared;
        let owner = self.connection.owner();
        let call = ToolCall::new(arguments, owner.caller()).with_cancel(context.ct.child_token());
        let progress = context.meta.get_progress_token().map(|token| Progress {
            token,
            peer: context.peer.clone(),
            interval: config.progress_interval,
        });
        let over = self.connection.over();
        let (reply, _) = patience::run(&*entry.tool, call, over, progress).await;
        let (result, delivery) = reply.into_parts();
        let mut receipts = vec![delivery];
        // After the body: what it reports is not announced in front of it.
        let front = notices::collect(&**registry, owner, config.notice_limit).map(|notices| {
            receipts.extend(notices.told);
            notices.block
        });
        receipts.retain(|receipt| !receipt.is_none());
        pending.answered(receipts);
        content::result(result, entry.shape, front)
    }
}

/// A call that has no answer yet. Dropped without one, it leaves nothing behind.
struct Pending {
    connection: Connection,
    id: Option<RequestId>,
}

impl Pending {
    fn answered(mut self, receipts: Receipts) {
        if let Some(id) = self.id.take() {
            self.connection.answered(id, receipts);
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.connection.abandoned(&id);
        }
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

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let pending = Pending {
            connection: self.connection.clone(),
            id: Some(context.id.clone()),
        };
        let Some(entry) = self.shared.toolbox.find(&request.name) else {
            let name = jobs::text::Echo::new(&request.name);
            let text = format!("unknown tool \"{name}\"");
            return Err(ErrorData::invalid_params(text, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = self.answer(entry, arguments, &context, pending).await;
        Ok(result.into())
    }
}
