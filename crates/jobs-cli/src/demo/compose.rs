//! How the parts of a host are put together: registry, tools, producer, agents.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jobs::tool::Tool;
use jobs::{ConfigError, JobRegistry, Owner, Scope};
use jobs_local::{Config, LocalJobRegistry};
use jobs_process::{
    BashTool, BashToolConfig, Containment, ProcessConfig, ProcessError, ProcessRunner,
};
use tool_jobs::{Attachment, Inbox, JobTools, ToolsConfig};

use super::acts::{OUTPUT_LIMIT, WAKES};
use super::stage::{Stage, Watched};
use crate::agent::Agent;

/// How long a process that was asked to end may take.
const GRACE: Duration = Duration::from_secs(1);

/// One registry, the job tools over it, and a tool that starts jobs.
pub(crate) struct Composition {
    pub(crate) jobs: Arc<dyn JobRegistry>,
    pub(crate) containment: Containment,
    tools: JobTools,
    bash: Arc<BashTool>,
}

impl Composition {
    /// Puts the parts together. Commands run on the stage, with that shell.
    ///
    /// # Errors
    ///
    /// The platform is not supported, or a setting is refused.
    pub(crate) fn new(shell: &Path, stage: &Stage) -> Result<Self, ComposeError> {
        let jobs: Arc<dyn JobRegistry> = LocalJobRegistry::new(Config::default())?;
        let config = ToolsConfig::builder()
            .max_consecutive_wakes(WAKES)
            .build()?;
        let tools = JobTools::mount(Arc::clone(&jobs), Scope::root(), config)?;
        let config = ProcessConfig::new()
            .with_shell(shell)
            .with_grace(GRACE)
            // The end of the play looks for children: none is kept for later.
            .with_spare_supervisors(0)
            .with_spill_directory(stage.directory())
            .with_launcher(Arc::clone(&stage.launcher) as _);
        let runner = ProcessRunner::new(config)?;
        let containment = runner.containment();
        let config = BashToolConfig::new().with_output_limit(OUTPUT_LIMIT.into());
        let bash = Arc::new(BashTool::new(runner, Arc::clone(&jobs), config)?);
        Ok(Self {
            jobs,
            containment,
            tools,
            bash,
        })
    }

    /// What an agent can call.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = self.tools.tools();
        tools.push(Arc::clone(&self.bash) as _);
        tools
    }

    /// An agent of that session.
    pub(crate) fn session<M: crate::model::Model>(
        &self,
        name: &str,
        stage: &Stage,
        model: M,
    ) -> Session<M> {
        let owner = self.jobs.owner(name.into(), Scope::root());
        let inbox = Inbox::new();
        // A host without curiosity attaches the inbox itself.
        let watched = Watched {
            inbox: inbox.clone(),
            deliveries: stage.deliveries.clone(),
        };
        Session {
            attached: self.tools.attach(&owner, watched),
            agent: Agent::new(model, self.tools(), owner.clone(), inbox.clone()),
            owner,
            inbox,
        }
    }
}

/// An agent, and what its host holds of it.
pub(crate) struct Session<M> {
    pub(crate) agent: Agent<M>,
    pub(crate) owner: Owner,
    pub(crate) inbox: Inbox,
    #[expect(
        dead_code,
        reason = "it is held: its end would be the end of the notices"
    )]
    attached: Attachment,
}

/// Why the parts cannot be put together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComposeError {
    /// A setting is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The registry does not take the tools.
    #[error(transparent)]
    Registry(#[from] jobs::Error),
    /// Processes cannot be run here.
    #[error(transparent)]
    Process(#[from] ProcessError),
}
