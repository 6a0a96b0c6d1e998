//! How a call runs: the limit first, the stages and the body, the content last
//! (spec/tools.md, The policy pipeline).
//!
//! 1. The limit is looked up before any policy runs, on behalf of the caller,
//!    and applied after all of them, whatever happened between.
//! 2. A stage that fails or panics, and a body that panics, make the call an
//!    error; its receipt is dropped.
//! 3. Accepting or replacing keeps what the delivery commits. Blocking keeps
//!    the range and gives the share back. A denial has nothing to commit.
//! 4. A call that was cancelled answers an error and commits nothing.

mod policy;

use std::num::NonZeroUsize;

use jobs::contain::Contained;
use jobs::tool::{Content, Reply, ToolCall, ToolResult};

pub use policy::{
    AroundPolicy, Invocation, Judgement, Next, Policies, PolicyError, PostPolicy, PrePolicy,
    Verdict,
};

use crate::fit;
use crate::tools::{Failed, JobTool};

/// Runs one call.
pub(crate) async fn run(tool: &JobTool, call: &ToolCall, policies: &Policies) -> Reply {
    let cap = tool.cap(call).await;
    let reply = dispatch(Run { tool, call, cap }, policies).await;
    reply.map(|result| fit_content(result, cap))
}

/// One call on its way through the stages.
#[derive(Clone, Copy)]
struct Run<'a> {
    tool: &'a JobTool,
    call: &'a ToolCall,
    cap: Option<NonZeroUsize>,
}

async fn dispatch(run: Run<'_>, policies: &Policies) -> Reply {
    let cancel = &run.call.cancel;
    if cancel.is_cancelled() {
        return failure(Failed::new("tool call aborted before dispatch"));
    }
    let aborted = || failure(Failed::new("tool call aborted"));
    let reply = tokio::select! {
        biased;
        reply = run.stages(policies) => reply.unwrap_or_else(failure),
        () = cancel.cancelled() => aborted(),
    };
    if cancel.is_cancelled() && !reply.preview().is_error() {
        return aborted();
    }
    reply
}

impl<'a> Run<'a> {
    fn invocation(&self) -> Invocation<'a> {
        Invocation::new(self.tool.name(), self.call)
    }

    async fn stages(self, policies: &Policies) -> Result<Reply, Failed> {
        for policy in policies.pre() {
            let invocation = self.invocation();
            let decided = Contained::new(Box::pin(async move { policy.before(&invocation).await }));
            match settled(decided.await)? {
                Verdict::Allow => {}
                Verdict::Deny(reason) => return Err(Failed::new(reason)),
            }
        }
        let mut reply = self.around(policies.around()).await;
        for policy in policies.post() {
            let invocation = self.invocation();
            let judgement = {
                let result = reply.preview();
                let judged =
                    Contained::new(Box::pin(
                        async move { policy.after(&invocation, result).await },
                    ));
                settled(judged.await)?
            };
            reply = self.judge(reply, judgement)?;
        }
        Ok(reply)
    }

    /// The around policies that are left, then the body.
    async fn around(self, policies: &'a [std::sync::Arc<dyn AroundPolicy>]) -> Reply {
        let Some((policy, rest)) = policies.split_first() else {
            let body = Contained::new(Box::pin(self.tool.run(self.call, self.cap)));
            return match body.await {
                Ok(done) => done.unwrap_or_else(failure),
                Err(panicked) => failure(Failed::one_line(&format!("tool panicked: {panicked}"))),
            };
        };
        let invocation = self.invocation();
        let next = Next::new(self, rest);
        let wrapped = Contained::new(Box::pin(
            async move { policy.around(&invocation, next).await },
        ));
        settled(wrapped.await)
            .and_then(|reply| self.complete(reply))
            .unwrap_or_else(failure)
    }

    /// Checks the value of a reply that a policy made or passed on, and renders
    /// it if nobody has.
    fn complete(&self, reply: Reply) -> Result<Reply, Failed> {
        let ToolResult::Success { content, value } = reply.preview() else {
            return Ok(reply);
        };
        let text = self.tool.render(value, self.cap)?;
        let rendered = content.is_empty();
        Ok(reply.map(|result| {
            if rendered {
                with_text(result, text)
            } else {
                result
            }
        }))
    }

    fn judge(&self, reply: Reply, judgement: Judgement) -> Result<Reply, Failed> {
        Ok(match judgement {
            Judgement::Accept => reply,
            Judgement::ReplaceContent(content) => reply.map(|result| with_content(result, content)),
            Judgement::ReplaceValue(value) => {
                let text = self.tool.render(&value, self.cap)?;
                reply.map(|_| ToolResult::success(text, value))
            }
            Judgement::Block(feedback) => {
                let (_, delivery) = reply.into_parts();
                Reply::new(
                    Failed::new(feedback).into_result(),
                    delivery.without_share(),
                )
            }
        })
    }
}

/// The outcome of a stage: its own error and its panic fail the call alike.
fn settled<T, P: std::fmt::Display>(
    outcome: Result<Result<T, PolicyError>, P>,
) -> Result<T, Failed> {
    match outcome {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Failed::one_line(&error.to_string())),
        Err(panicked) => Err(Failed::one_line(&format!("policy panicked: {panicked}"))),
    }
}

fn failure(failed: Failed) -> Reply {
    failed.into_result().into()
}

fn with_text(result: ToolResult, text: String) -> ToolResult {
    with_content(result, vec![Content::Text(text)])
}

fn with_content(result: ToolResult, content: Vec<Content>) -> ToolResult {
    match result {
        ToolResult::Success { value, .. } => ToolResult::Success { content, value },
        ToolResult::Failure { .. } => ToolResult::Failure { content },
    }
}

/// Cuts a single text to the cap. What fits is unchanged, so a text that was
/// rendered within it keeps its own marker. Other shapes are the policy's.
fn fit_content(result: ToolResult, cap: Option<NonZeroUsize>) -> ToolResult {
    let [Content::Text(text)] = result.content() else {
        return result;
    };
    match fit::cut_result(text, cap) {
        Some(cut) => with_text(result, cut),
        None => result,
    }
}
