//! The vocabulary of model-facing tools (design D12): data types and one trait,
//! no behaviour.
//!
//! `tool-jobs`, a producer's own tool and a composition meet in these types, so
//! that a host takes one list of tools, whoever made them.

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::owner::Caller;
use crate::receipt::Delivery;

/// A tool that a model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told of the tool; the same at every call.
    fn definition(&self) -> &ToolDefinition;

    /// Does the work. Failures are results, not errors: a model reads them.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future delivers nothing.
    async fn call(&self, call: ToolCall) -> Reply;

    /// A card for UIs; none when the arguments are not valid.
    fn present(&self, arguments: &Value) -> Option<Presentation>;
}

/// What a host and a model know of a tool before they call it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name that a call names.
    pub name: String,
    /// What it is for, in a few words: every request pays for them.
    pub description: String,
    /// The JSON Schema of the arguments; an object schema.
    pub input_schema: Value,
    /// The JSON Schema of [`ToolResult::value`].
    pub output_schema: Value,
    /// Whether the tool bounds its own time, so that a host's general limit on
    /// tool calls must leave it alone.
    pub bounds_itself: bool,
    /// What a call may change.
    pub effect: Effect,
}

impl ToolDefinition {
    /// A tool that bounds nothing by itself.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        output_schema: Value,
        effect: Effect,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            output_schema,
            bounds_itself: false,
            effect,
        }
    }

    /// Says that the tool bounds its own time.
    #[must_use]
    pub fn bounding_itself(mut self) -> Self {
        self.bounds_itself = true;
        self
    }
}

/// What a call of a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing outside the model's own view.
    ReadOnly,
    /// Something that may not be undone.
    Destructive,
}

/// One call of a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolCall {
    /// The arguments as the model wrote them, not yet checked.
    pub arguments: Value,
    /// On whose behalf.
    pub caller: Caller,
    /// Cancelled when the caller does not want the answer any more.
    pub cancel: CancellationToken,
}

impl ToolCall {
    /// A call that nobody can cancel.
    #[must_use]
    pub fn new(arguments: Value, caller: Caller) -> Self {
        Self {
            arguments,
            caller,
            cancel: CancellationToken::new(),
        }
    }

    /// Ties the call to a token.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }
}

/// What a model reads of a call, and what a program does.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolResult {
    /// The call did what it was asked.
    Success {
        /// What the model reads.
        content: Vec<Content>,
        /// The same for programs; of the output schema.
        value: Value,
    },
    /// The call did not.
    Failure {
        /// What the model reads.
        content: Vec<Content>,
    },
}

impl ToolResult {
    /// A success that the model reads as one text.
    #[must_use]
    pub fn success(text: impl Into<String>, value: Value) -> Self {
        Self::Success {
            content: vec![Content::Text(text.into())],
            value,
        }
    }

    /// A failure that the model reads as one text.
    #[must_use]
    pub fn failure(text: impl Into<String>) -> Self {
        Self::Failure {
            content: vec![Content::Text(text.into())],
        }
    }

    /// What the model reads.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        match self {
            Self::Success { content, .. } | Self::Failure { content } => content,
        }
    }

    /// The text blocks, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content()
            .iter()
            .filter_map(|content| match content {
                Content::Text(text) => Some(text.as_str()),
                Content::Other(_) => None,
            })
            .collect();
        texts.join("\n")
    }

    /// Whether the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Failure { .. })
    }

    /// The value of a success.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Success { value, .. } => Some(value),
            Self::Failure { .. } => None,
        }
    }
}

/// One block of what a model reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// A block of another type, as the host's protocol spells it.
    Other(Value),
}

/// A result that counts only once it is delivered.
///
/// A reply can be looked at and mapped; only [`deliver`](Self::deliver) yields
/// what is to be sent, and commits what the result tells. A reply that is
/// dropped commits nothing.
#[must_use = "dropping a reply means that its result was not delivered"]
#[derive(Debug)]
pub struct Reply {
    result: ToolResult,
    delivery: Delivery,
}

impl Reply {
    /// A reply whose delivery commits `delivery`.
    pub fn new(result: ToolResult, delivery: Delivery) -> Self {
        Self { result, delivery }
    }

    /// The result, without delivering it.
    #[must_use]
    pub fn preview(&self) -> &ToolResult {
        &self.result
    }

    /// Lets a policy replace the result; what its delivery commits stays.
    pub fn map(self, change: impl FnOnce(ToolResult) -> ToolResult) -> Self {
        Self {
            result: change(self.result),
            delivery: self.delivery,
        }
    }

    /// Separates the result from what its delivery commits, for a transport
    /// that learns of the delivery later.
    pub fn into_parts(self) -> (ToolResult, Delivery) {
        (self.result, self.delivery)
    }

    /// The result to send, at the moment in which it enters the transcript or
    /// the transport.
    #[must_use]
    pub fn deliver(self) -> ToolResult {
        self.delivery.commit();
        self.result
    }
}

impl From<ToolResult> for Reply {
    /// A reply that commits nothing.
    fn from(result: ToolResult) -> Self {
        Self::new(result, Delivery::none())
    }
}

/// A generic card of a call, for UIs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Presentation {
    /// One line.
    pub title: String,
    /// Which icon or colour fits.
    pub kind: PresentationKind,
    /// What to show as the input, if not the arguments.
    pub raw_input: Option<Value>,
}

impl Presentation {
    /// A card.
    #[must_use]
    pub fn new(title: impl Into<String>, kind: PresentationKind, raw_input: Option<Value>) -> Self {
        Self {
            title: title.into(),
            kind,
            raw_input,
        }
    }
}

/// What a call does, for a UI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PresentationKind {
    /// It looks.
    Read,
    /// It acts.
    Execute,
}

impl PresentationKind {
    /// The wire text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Execute => "execute",
        }
    }
}
