//! The tool `bash`: commands for a model, in the foreground and as background jobs.

mod answer;
mod arguments;
mod config;
mod schema;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jobs::tool::{
    Effect, Presentation, PresentationKind, Reply, Tool, ToolCall, ToolDefinition, ToolResult,
};
use jobs::{Caller, Delivery, Hooks, JobId, JobRegistry, JobSpec, ProducerError};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::command::JobCommand;
use crate::ending::Ending;
use crate::error::ProcessError;
use crate::runner::{KIND, ProcessRunner};
use crate::running::RunningProcess;
use crate::spill::Spilled;
use answer::{Cut, Interruption};
use arguments::{Arguments, Mode};

pub use config::{BackgroundRuns, BashToolConfig, OnTimeLimit};

/// The name of the tool.
const NAME: &str = "bash";
/// How many foreground runs that were cut keep their files.
const KEPT_RUNS: usize = 16;

/// The tool `bash` over a runner and a registry.
///
/// A foreground run that passes its time limit becomes a background job (or is ended, as
/// configured). The output that such an answer shows counts as read once the answer is delivered.
/// Of the last 16 foreground runs whose output was cut, the files with all of it are kept.
///
/// Background jobs need a controller at the scope of the caller's owner, such as the tools that
/// `tool_jobs::JobTools` mounts: without one nothing could read or end them.
///
/// # Examples
///
/// ```no_run
/// # async fn example(registry: std::sync::Arc<dyn jobs::JobRegistry>, owner: jobs::Owner)
/// # -> Result<(), jobs_process::ProcessError> {
/// use jobs::tool::{Tool, ToolCall};
/// use jobs_process::{BashTool, BashToolConfig, ProcessConfig, ProcessRunner};
///
/// let runner = ProcessRunner::new(ProcessConfig::new())?;
/// let bash = BashTool::new(runner, registry, BashToolConfig::new())?;
/// let arguments = serde_json::json!({ "command": "make test", "run_in_background": true });
/// let reply = bash.call(ToolCall::new(arguments, owner.caller())).await;
/// assert_eq!(reply.deliver().text(), "started background job bash-1");
/// # Ok(())
/// # }
/// ```
pub struct BashTool {
    runner: ProcessRunner,
    registry: Arc<dyn JobRegistry>,
    config: BashToolConfig,
    definition: ToolDefinition,
    /// The files of the last foreground runs that were cut: there is no job that would keep them.
    kept: Mutex<VecDeque<Spilled>>,
}

impl BashTool {
    /// One line on the tool for a system prompt; the same at every call.
    pub const PROMPT: &'static str = "Run shell commands with bash; give servers, watchers, long \
        builds and tests run_in_background, and go on with other work meanwhile.";

    /// A tool that starts its background jobs in `registry`.
    ///
    /// # Errors
    ///
    /// [`ProcessError::Config`].
    pub fn new(
        runner: ProcessRunner,
        registry: Arc<dyn JobRegistry>,
        config: BashToolConfig,
    ) -> Result<Self, ProcessError> {
        config.check()?;
        let definition = ToolDefinition::new(
            NAME,
            schema::description(&config),
            schema::input(&config),
            schema::output(),
            Effect::Destructive,
        )
        .bounding_itself();
        Ok(Self {
            runner,
            registry,
            config,
            definition,
            kept: Mutex::default(),
        })
    }

    async fn background(
        &self,
        arguments: Arguments,
        limit: Option<Duration>,
        caller: &Caller,
    ) -> Reply {
        let label = arguments.label();
        let mut command = arguments.into_command();
        if let Some(limit) = limit {
            command = command.with_max_runtime(limit);
        }
        let mut spec = self.runner.spec(command);
        spec.label = label.into();
        match self.register(spec, caller).await {
            Ok(id) => ToolResult::success(
                format!("started background job {id}"),
                json!({ "kind": "background", "jobId": id }),
            )
            .into(),
            Err(error) => failure(&error),
        }
    }

    async fn foreground(&self, arguments: Arguments, limit: Duration, call: &ToolCall) -> Reply {
        let label = arguments.label();
        let command: JobCommand = arguments.into_command();
        let mut process = match self.runner.start(&command) {
            Ok(process) => process,
            Err(error) => return failure(&crate::runner::producer_error(&error)),
        };
        tokio::select! {
            ending = process.ended() => {
                return self.answer(&process, &Interruption::None, &ending);
            }
            () = tokio::time::sleep(limit) => {}
            () = call.cancel.cancelled() => {
                process.stop();
                process.ended().await;
                return failure(&"tool call aborted");
            }
        }
        match self.config.on_time_limit {
            OnTimeLimit::Promote => self.promote(process, label, limit, &call.caller).await,
            OnTimeLimit::Kill => self.end(process, Interruption::TimedOut(limit)).await,
        }
    }

    /// Ends a run that took too long, and shows what it wrote.
    async fn end(&self, mut process: RunningProcess, interruption: Interruption) -> Reply {
        process.stop();
        let ending = process.ended().await;
        self.answer(&process, &interruption, &ending)
    }

    /// Makes a job of a run that took too long.
    async fn promote(
        &self,
        process: RunningProcess,
        label: String,
        limit: Duration,
        caller: &Caller,
    ) -> Reply {
        // Shared with the starter: if the start is refused, the run is still ours to end.
        let spilled = process.source().spilled.clone();
        let slot = Arc::new(Mutex::new(Some(process)));
        let starter = {
            let slot = Arc::clone(&slot);
            move |_: &JobId| -> Result<Hooks, ProducerError> {
                let process = slot.lock().take();
                let process = process.ok_or_else(|| ProducerError::new("the run is gone"))?;
                Ok(process.into_hooks())
            }
        };
        let started = self
            .register(JobSpec::new(KIND, label, starter), caller)
            .await;
        let refused = slot.lock().take();
        match (started, refused) {
            (Ok(id), _) => self.promoted(&id, &spilled, limit, caller).await,
            (Err(error), Some(process)) => {
                let reason = jobs::text::one_line(&error.to_string()).into_owned();
                self.end(process, Interruption::NotPromoted(limit, reason))
                    .await
            }
            (Err(error), None) => failure(&error),
        }
    }

    /// What the run wrote so far is read as a job's output is, so that the cursor moves when the
    /// answer is delivered, and not if it is lost.
    async fn promoted(
        &self,
        id: &JobId,
        spilled: &Spilled,
        limit: Duration,
        caller: &Caller,
    ) -> Reply {
        let (text, status, delivery) = match self.registry.read(id, caller).await {
            Ok(receipt) => {
                let (delta, delivery) = receipt.into_parts();
                let detail = delta.job.detail().map(|detail| format!(", {detail}"));
                let status = delta.job.is_terminal().then(|| {
                    format!(
                        "[status: {}{}]\n",
                        delta.job.status(),
                        detail.unwrap_or_default()
                    )
                });
                (delta.text, status, delivery)
            }
            Err(_) => (String::new(), None, Delivery::none()),
        };
        let cap = self.runner.config().output_cap.get();
        let path = (text.len() > cap).then(|| spilled.describe());
        let shown = answer::fit(&text, cap, path.as_deref());
        let mut text = shown.clone();
        answer::line(
            &mut text,
            &format!("[timed out after {}ms]", limit.as_millis()),
        );
        answer::line(
            &mut text,
            &format!("[still running as background job {id}]"),
        );
        if let Some(status) = status {
            let status = jobs::text::one_line(status.trim_end()).into_owned();
            answer::line(&mut text, &status);
        }
        let value = json!({ "kind": "promoted", "jobId": id, "output": shown });
        Reply::new(
            ToolResult::success(text.trim_end_matches('\n'), value),
            delivery,
        )
    }

    async fn register(&self, mut spec: JobSpec, caller: &Caller) -> Result<JobId, jobs::Error> {
        spec.output_limit = self.config.output_limit.map(Into::into);
        match caller {
            Caller::Anonymous => {}
            Caller::Owner(key) => spec = spec.with_owner_key(key.clone()),
            Caller::Session(session) => {
                return Err(ProducerError::new(format!(
                    "background jobs need an owner: expected a call on behalf of an owner, \
                     got one on behalf of session \"{}\" only",
                    session.echo()
                ))
                .into());
            }
        }
        self.registry.start(spec).await
    }

    fn answer(&self, process: &RunningProcess, why: &Interruption, ending: &Ending) -> Reply {
        let source = process.source();
        let cap = self.runner.config().output_cap.get();
        let (result, cut) = answer::finished(source, cap, why, ending);
        if cut == Cut::Yes {
            let mut kept = self.kept.lock();
            kept.truncate(KEPT_RUNS - 1);
            kept.push_front(source.spilled.clone());
        }
        result.into()
    }
}

#[async_trait]
impl Tool for BashTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// # Cancel safety
    ///
    /// Dropping the future ends a foreground run; a background job that was started goes on, and
    /// its end is announced.
    async fn call(&self, call: ToolCall) -> Reply {
        if call.cancel.is_cancelled() {
            return failure(&"tool call aborted before dispatch");
        }
        let (arguments, mode) = match Arguments::parse(&call.arguments, &self.config) {
            Ok(parsed) => parsed,
            Err(error) => return failure(&error),
        };
        match mode {
            Mode::Background(limit) => self.background(arguments, limit, &call.caller).await,
            Mode::Foreground(limit) => self.foreground(arguments, limit, &call).await,
        }
    }

    fn present(&self, arguments: &Value) -> Option<Presentation> {
        let (arguments, _) = Arguments::parse(arguments, &self.config).ok()?;
        let title = arguments.label();
        let command = arguments.command.into();
        Some(Presentation::new(
            title,
            PresentationKind::Execute,
            Some(command),
        ))
    }
}

impl std::fmt::Debug for BashTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BashTool")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

fn failure(error: &impl std::fmt::Display) -> Reply {
    ToolResult::failure(format!("Error: {error}")).into()
}
