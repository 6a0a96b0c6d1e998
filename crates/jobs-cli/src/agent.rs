//! **The example of a host**: the loop of an agent that has background jobs.
//!
//! It is the whole of what a host writes: wait until something wakes the agent, begin a turn, claim
//! what lies in the inbox, let the model take a step, call what it asks for, deliver the answers
//! into the transcript, and close the turn. The composition around it is in `demo`.
//!
//! 1. What is claimed enters the transcript at once: it is in the inbox no more.
//! 2. An answer is delivered at the moment in which it enters the transcript, so that one that
//!    never gets there (a dropped future, an error) has told nothing.
//! 3. A turn ends when the model asks for nothing more and nothing has arrived meanwhile.

use std::sync::Arc;

use jobs::Owner;
use jobs::text::Echo;
use jobs::tool::{Reply, Tool, ToolCall, ToolResult};
use tool_jobs::{Inbox, Message};

use crate::model::{Call, Model, ModelError};

/// One agent: a model, its tools, and the owner that its jobs belong to.
pub(crate) struct Agent<M> {
    model: M,
    tools: Vec<Arc<dyn Tool>>,
    owner: Owner,
    inbox: Inbox,
    transcript: Vec<Entry>,
}

/// One entry of a transcript.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A user or a notice spoke to the agent.
    Heard(Message),
    /// The model called a tool.
    Called {
        /// What it asked for.
        call: Call,
        /// What it was answered.
        result: ToolResult,
    },
}

impl<M: Model> Agent<M> {
    /// An agent whose transcript is empty.
    pub(crate) fn new(model: M, tools: Vec<Arc<dyn Tool>>, owner: Owner, inbox: Inbox) -> Self {
        Self {
            model,
            tools,
            owner,
            inbox,
            transcript: Vec::new(),
        }
    }

    /// Waits until something wakes the agent, and runs one turn. Call it in a loop.
    ///
    /// # Errors
    ///
    /// The model did not answer. The turn is over then; what arrives later wakes the agent again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the turn. What was delivered is in the transcript; nothing else
    /// counts as told.
    pub(crate) async fn turn(&mut self) -> Result<(), ModelError> {
        self.inbox.woken().await; // a level, not an edge
        let mut turn = self.inbox.begin_turn();
        loop {
            self.transcript
                .extend(turn.claim().into_iter().map(Entry::Heard));
            let calls = self.model.step(&self.transcript).await?;
            if calls.is_empty() {
                match turn.close() {
                    Ok(()) => return Ok(()),
                    Err(more) => turn = more,
                }
            }
            for call in calls {
                let reply = self.call(&call).await;
                let result = reply.deliver(); // commits; a dropped reply loses nothing
                self.transcript.push(Entry::Called { call, result });
            }
        }
    }

    async fn call(&self, call: &Call) -> Reply {
        let named = |tool: &&Arc<dyn Tool>| tool.definition().name == call.name;
        let Some(tool) = self.tools.iter().find(named) else {
            let name = Echo::new(&call.name);
            return ToolResult::failure(format!("Error: unknown tool \"{name}\"")).into();
        };
        tool.call(ToolCall::new(call.arguments.clone(), self.owner.caller()))
            .await
    }
}
