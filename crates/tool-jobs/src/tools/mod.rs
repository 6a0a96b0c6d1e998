//! The three tools: what they are called, what they do, how their values read.

mod args;
mod kill;
mod list;
mod output;
mod page;
mod value;
mod wait;

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use jobs::JobRegistry;
use jobs::text;
use jobs::tool::{Presentation, Reply, Tool, ToolCall, ToolDefinition, ToolResult};
use serde_json::Value;

pub use wait::{InvalidWaitTimeout, wait_timeout};

use crate::config::ToolsConfig;
use crate::limit;
use crate::pipeline::{self, Policies};

/// What the tools of one mount share.
pub(crate) struct Shared {
    pub(crate) registry: Arc<dyn JobRegistry>,
    pub(crate) config: ToolsConfig,
}

/// One of the tools.
pub(crate) struct JobTool {
    shared: Arc<Shared>,
    body: Body,
    definition: ToolDefinition,
}

#[derive(Clone, Copy)]
enum Body {
    Output,
    List,
    Kill,
}

/// All tools of a mount.
pub(crate) fn all(shared: &Arc<Shared>) -> [Arc<JobTool>; 3] {
    [Body::Output, Body::List, Body::Kill].map(|body| {
        Arc::new(JobTool {
            shared: Arc::clone(shared),
            body,
            definition: match body {
                Body::Output => output::definition(),
                Body::List => list::definition(),
                Body::Kill => kill::definition(),
            },
        })
    })
}

impl JobTool {
    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    /// The cap of everything that the model will read of `call`.
    pub(crate) async fn cap(&self, call: &ToolCall) -> Option<NonZeroUsize> {
        let Shared { registry, config } = &*self.shared;
        match self.body {
            Body::List => config.list_limit(),
            Body::Output | Body::Kill => limit::of_call(&**registry, &call.arguments, &call.caller)
                .await
                .or(config.default_output_limit()),
        }
    }

    /// Does the work, and renders its value within `cap`.
    pub(crate) async fn run(
        &self,
        call: &ToolCall,
        cap: Option<NonZeroUsize>,
    ) -> Result<Reply, Failed> {
        match self.body {
            Body::Output => output::run(&self.shared, call, cap).await,
            Body::List => list::run(&self.shared, call, cap).await,
            Body::Kill => kill::run(&self.shared, call, cap).await,
        }
    }

    /// Renders a value that a policy made.
    pub(crate) fn render(
        &self,
        value: &Value,
        cap: Option<NonZeroUsize>,
    ) -> Result<String, Failed> {
        match self.body {
            Body::Output => output::render(value, cap, self.shared.config.truncation()),
            Body::List => list::render(value, cap),
            Body::Kill => kill::render(value, cap),
        }
    }
}

#[async_trait]
impl Tool for JobTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, call: ToolCall) -> Reply {
        pipeline::run(self, &call, &Policies::new()).await
    }

    fn present(&self, arguments: &Value) -> Option<Presentation> {
        match self.body {
            Body::Output => output::present(arguments),
            Body::List => list::present(arguments),
            Body::Kill => kill::present(arguments),
        }
    }
}

/// Why a call failed, in the words that the model reads after `Error: `.
#[derive(Debug)]
pub(crate) struct Failed(String);

impl Failed {
    /// A text of ours, or of the host.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A text that others may have had a hand in.
    pub(crate) fn one_line(text: &str) -> Self {
        Self(text::one_line(text).into_owned())
    }

    pub(crate) fn into_result(self) -> ToolResult {
        ToolResult::failure(format!("Error: {}", self.0))
    }
}

impl From<jobs::Error> for Failed {
    fn from(error: jobs::Error) -> Self {
        Self::one_line(&error.to_string())
    }
}
