//! What a host may put around a call.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jobs::tool::{Content, Reply, ToolCall, ToolResult};
use serde_json::Value;

use super::Run;

/// The policies of a host, in the order in which they were added.
///
/// Pre policies run first, then the around policies (the first is the
/// outermost), the body, and the post policies.
#[derive(Clone, Default)]
pub struct Policies {
    pre: Vec<Arc<dyn PrePolicy>>,
    around: Vec<Arc<dyn AroundPolicy>>,
    post: Vec<Arc<dyn PostPolicy>>,
}

impl Policies {
    /// No policies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a policy that decides before the body.
    #[must_use]
    pub fn with_pre(mut self, policy: impl PrePolicy + 'static) -> Self {
        self.pre.push(Arc::new(policy));
        self
    }

    /// Adds a policy around the body.
    #[must_use]
    pub fn with_around(mut self, policy: impl AroundPolicy + 'static) -> Self {
        self.around.push(Arc::new(policy));
        self
    }

    /// Adds a policy that decides on the result.
    #[must_use]
    pub fn with_post(mut self, policy: impl PostPolicy + 'static) -> Self {
        self.post.push(Arc::new(policy));
        self
    }

    pub(super) fn pre(&self) -> &[Arc<dyn PrePolicy>] {
        &self.pre
    }

    pub(super) fn around(&self) -> &[Arc<dyn AroundPolicy>] {
        &self.around
    }

    pub(super) fn post(&self) -> &[Arc<dyn PostPolicy>] {
        &self.post
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("pre", &self.pre.len())
            .field("around", &self.around.len())
            .field("post", &self.post.len())
            .finish()
    }
}

/// The call that a policy decides on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Invocation<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The call, its arguments not yet checked.
    pub call: &'a ToolCall,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(tool: &'a str, call: &'a ToolCall) -> Self {
        Self { tool, call }
    }
}

/// Decides whether a call may run.
#[async_trait]
pub trait PrePolicy: Send + Sync {
    /// Allows or denies the call.
    ///
    /// # Errors
    ///
    /// Fails the call.
    async fn before(&self, invocation: &Invocation<'_>) -> Result<Verdict, PolicyError>;
}

/// What a [`PrePolicy`] decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call goes on.
    Allow,
    /// The model reads `Error: ` and the reason; nothing ran.
    Deny(String),
}

/// Wraps a call, or answers in its place.
#[async_trait]
pub trait AroundPolicy: Send + Sync {
    /// Runs the call with [`Next::run`], or not, and answers.
    ///
    /// To change what `next` answered, [`Reply::map`] it: then its delivery
    /// still commits what was read. An answer of the policy's own
    /// (`ToolResult::into`) commits nothing, and what it leaves undelivered
    /// will be read again. A success without content is rendered from its
    /// value.
    ///
    /// # Errors
    ///
    /// Fails the call; a reply of `next` is dropped.
    async fn around(
        &self,
        invocation: &Invocation<'_>,
        next: Next<'_>,
    ) -> Result<Reply, PolicyError>;
}

/// The rest of a call, inside an [`AroundPolicy`].
#[must_use = "a call whose rest is not run answers only what the policy makes up"]
pub struct Next<'a> {
    run: Run<'a>,
    policies: &'a [Arc<dyn AroundPolicy>],
}

impl<'a> Next<'a> {
    pub(super) fn new(run: Run<'a>, policies: &'a [Arc<dyn AroundPolicy>]) -> Self {
        Self { run, policies }
    }

    /// Runs the inner policies and the body. Their failures are results.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future delivers nothing.
    pub async fn run(self) -> Reply {
        Box::pin(self.run.around(self.policies)).await
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("policies", &self.policies.len())
            .finish_non_exhaustive()
    }
}

/// Decides on the result of a call.
#[async_trait]
pub trait PostPolicy: Send + Sync {
    /// Judges what the model is about to read.
    ///
    /// # Errors
    ///
    /// Fails the call; what it read will be read again.
    async fn after(
        &self,
        invocation: &Invocation<'_>,
        result: &ToolResult,
    ) -> Result<Judgement, PolicyError>;
}

/// What a [`PostPolicy`] decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The result is as it should be.
    Accept,
    /// The model reads this in its place; the value stays. A single text is
    /// cut to the job's limit, other shapes are kept.
    ReplaceContent(Vec<Content>),
    /// This is the value in its place, and the model reads its rendering.
    ReplaceValue(Value),
    /// The model reads `Error: ` and the feedback. The output counts as read;
    /// the end of the job does not count as told.
    Block(String),
}

/// Why a policy could not decide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct PolicyError {
    /// The policy's own words; the model reads them on one line.
    pub reason: String,
}

impl PolicyError {
    /// A policy that failed for `reason`.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
