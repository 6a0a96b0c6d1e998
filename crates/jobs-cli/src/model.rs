//! What stands behind an agent: something that reads a transcript and asks for calls.

use async_trait::async_trait;
use serde_json::Value;

use crate::agent::Entry;

/// A language model, or what plays one.
///
/// Whoever makes one gives it what a real model is told once: the definitions of the tools
/// (`jobs::tool::Tool::definition`) and the prompt section of the job tools
/// (`tool_jobs::JobTools::prompt_section`).
#[async_trait]
pub(crate) trait Model: Send {
    /// What to do after all of `transcript`: calls, to be made in this order, or none to end the
    /// turn. The transcript only ever grows.
    ///
    /// # Errors
    ///
    /// There is no answer, and the turn cannot go on.
    async fn step(&mut self, transcript: &[Entry]) -> Result<Vec<Call>, ModelError>;
}

/// A call of a tool, as a model asks for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The name of the tool.
    pub(crate) name: String,
    /// Its arguments, not yet checked.
    pub(crate) arguments: Value,
}

/// Why a model did not answer.
#[derive(Debug, thiserror::Error)]
#[error("the model did not answer: {0}")]
pub(crate) struct ModelError(pub(crate) String);
