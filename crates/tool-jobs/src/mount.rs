//! The tools, mounted at a scope of a registry.

use std::fmt;
use std::sync::Arc;

use jobs::text::Echo;
use jobs::tool::{Reply, Tool, ToolCall, ToolResult};
use jobs::{Caller, CancellationToken, Error, JobRegistry, Owner, Registration, Scope};
use serde_json::Value;

use crate::attach::{Attachment, Budgets, Reporter};
use crate::config::{CompletionDelivery, ToolsConfig};
use crate::digest;
use crate::inbox::{Deliver, WakeBudget};
use crate::pipeline::{self, Policies};
use crate::prompt::PromptSection;
use crate::tools::{self, JobTool, Shared};

/// The name under which a mount is registered as a controller.
const CONTROLLER: &str = "tool:jobs";

/// The job tools at one scope: a controller for the owners there and below it,
/// for as long as it lives.
///
/// # Examples
///
/// ```no_run
/// # async fn host(jobs: std::sync::Arc<dyn jobs::JobRegistry>) -> Result<(), jobs::Error> {
/// use jobs::Scope;
/// use tool_jobs::{Inbox, JobTools, ToolsConfig};
///
/// let tools = JobTools::mount(jobs.clone(), Scope::root(), ToolsConfig::default())?;
/// let owner = jobs.owner("session-1".into(), Scope::root());
/// let inbox = Inbox::new();
/// let _attached = tools.attach(&owner, inbox.clone());
///
/// let arguments = serde_json::json!({ "job_id": "bash-1" });
/// let reply = tools.call("job_output", arguments, owner.caller()).await;
/// println!("{}", reply.deliver().text());
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping the tools unmounts them"]
pub struct JobTools {
    shared: Arc<Shared>,
    tools: [Arc<JobTool>; 3],
    scope: Scope,
    unmounted: CancellationToken,
    budgets: Budgets,
    _controller: Registration,
}

impl JobTools {
    /// Mounts the tools at `scope`.
    ///
    /// # Errors
    ///
    /// [`Error::ControllerTaken`] when tools are mounted at the same scope;
    /// [`Error::ShutDown`].
    pub fn mount(
        registry: Arc<dyn JobRegistry>,
        scope: Scope,
        config: ToolsConfig,
    ) -> Result<Self, Error> {
        let controller = registry.controller(CONTROLLER, &scope)?;
        let shared = Arc::new(Shared { registry, config });
        Ok(Self {
            tools: tools::all(&shared),
            shared,
            scope,
            unmounted: CancellationToken::new(),
            budgets: Budgets::new(),
            _controller: controller,
        })
    }

    /// `job_output`, `job_list` and `job_kill`, for a host that takes a list
    /// of tools.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools
            .iter()
            .map(|tool| Arc::clone(tool) as Arc<dyn Tool>)
            .collect()
    }

    /// Calls the tool of that name, with no policies and no way to cancel it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future delivers nothing: what it would have read is read
    /// again.
    pub async fn call(&self, name: &str, arguments: Value, caller: Caller) -> Reply {
        self.call_under(&Policies::new(), name, ToolCall::new(arguments, caller))
            .await
    }

    /// Calls the tool of that name through the host's policies. The call's
    /// token cancels it.
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call).
    pub async fn call_under(&self, policies: &Policies, name: &str, call: ToolCall) -> Reply {
        match self.tools.iter().find(|tool| tool.name() == name) {
            Some(tool) => pipeline::run(tool, &call, policies).await,
            None => {
                ToolResult::failure(format!("Error: unknown tool \"{}\"", Echo::new(name))).into()
            }
        }
    }

    /// What to put into the prompt of an agent that has the tools.
    #[must_use]
    pub fn prompt_section(&self) -> PromptSection {
        PromptSection::jobs()
    }

    /// What an agent should know of its jobs when its context starts afresh:
    /// those that live, those that ended unread, those not announced. Empty
    /// if there are none. Within the cap of `job_list`; tells and moves
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Error::ShutDown`]; [`Error::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn digest(&self, caller: &Caller) -> Result<String, Error> {
        digest::digest(&*self.shared.registry, &self.shared.config, caller).await
    }

    /// Delivers the completions of `owner`'s jobs to `deliver`: those to come,
    /// and those that ended before and that nobody has told.
    ///
    /// The owner must stand at the scope of the mount or below it. Its wake
    /// budget is the same however often it is attached; a new mount or a new
    /// instance of the owner starts afresh.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn attach(&self, owner: &Owner, deliver: impl Deliver) -> Attachment {
        let Shared { registry, config } = &*self.shared;
        let wake = match config.completion_delivery() {
            CompletionDelivery::Wakeup => {
                let fresh = WakeBudget::new(config.max_consecutive_wakes(), config.wake_regain());
                Some(self.budgets.of(owner.key().instance, fresh))
            }
            CompletionDelivery::Quiet => None,
        };
        let reporter = Reporter {
            completions: registry.completions(&self.scope, Some(owner.key())),
            deliver: Arc::new(deliver),
            wake,
            default_cap: config.default_output_limit(),
        };
        reporter.spawn(self.unmounted.clone())
    }
}

impl Drop for JobTools {
    fn drop(&mut self) {
        self.unmounted.cancel();
    }
}

impl fmt::Debug for JobTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobTools")
            .field("scope", &self.scope)
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}
