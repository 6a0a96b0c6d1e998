//! A registry with mounted tools, and jobs that end when a test says so.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use jobs::tool::{Reply, ToolCall, ToolResult};
use jobs::{
    CancellationToken, Hooks, JobId, JobRegistry, JobSpec, Outcome, OutputLog, Owner, Scope,
    Snapshot, Stream,
};
use jobs_local::LocalJobRegistry;
use serde_json::Value;
use tokio::sync::oneshot;
use tool_jobs::{JobTools, Policies, ToolsConfig};

/// Fails a test that hangs.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .expect("it comes to pass")
}

pub(crate) struct World {
    pub(crate) registry: Arc<dyn JobRegistry>,
    pub(crate) tools: JobTools,
    pub(crate) owner: Owner,
}

pub(crate) fn world(config: ToolsConfig) -> World {
    world_over(jobs_local::Config::default(), config)
}

pub(crate) fn world_over(bounds: jobs_local::Config, config: ToolsConfig) -> World {
    let registry: Arc<dyn JobRegistry> = LocalJobRegistry::new(bounds).unwrap();
    let tools = JobTools::mount(Arc::clone(&registry), Scope::root(), config).unwrap();
    let owner = registry.owner("session".into(), Scope::root());
    World {
        registry,
        tools,
        owner,
    }
}

/// A job under the control of a test.
pub(crate) struct Puppet {
    pub(crate) id: JobId,
    pub(crate) log: OutputLog,
    end: oneshot::Sender<Outcome>,
    registry: Arc<dyn JobRegistry>,
    owner: Owner,
}

impl Puppet {
    pub(crate) fn write(&self, text: &str) {
        self.log.push(Stream::Stdout, text.as_bytes());
    }

    /// Says how the job ends, without waiting for it.
    pub(crate) fn end(self, outcome: Outcome) -> JobId {
        self.end.send(outcome).unwrap();
        self.id
    }

    /// Ends the job and waits until everybody can see it.
    pub(crate) async fn ended(self, outcome: Outcome) -> Snapshot {
        let (registry, owner) = (Arc::clone(&self.registry), self.owner.clone());
        let mut changes = registry.changes(&Scope::root());
        let id = self.end(outcome);
        soon(async {
            loop {
                let job = registry.get(&id, &owner.caller()).await.unwrap();
                if job.is_terminal() {
                    return job;
                }
                changes.next().await.unwrap();
            }
        })
        .await
    }
}

impl World {
    /// Starts a stream job of the owner.
    pub(crate) async fn start(&self, label: &str, limit: Option<u64>) -> Puppet {
        self.start_kind("bash", label, limit).await
    }

    pub(crate) async fn start_kind(
        &self,
        kind: &'static str,
        label: &str,
        limit: Option<u64>,
    ) -> Puppet {
        let log = OutputLog::with_budget(NonZeroUsize::new(1 << 20).unwrap());
        let reader = log.reader();
        let (end, ended) = oneshot::channel();
        let mut spec = JobSpec::new(kind, label, move |_id| {
            let done = async { ended.await.unwrap_or_else(|_gone| Outcome::killed()) };
            Ok(Hooks::new(|_reason| Ok(()), done).with_output(Arc::new(reader)))
        })
        .with_owner(&self.owner);
        spec.output_limit = limit;
        let id = self.registry.start(spec).await.unwrap();
        Puppet {
            id,
            log,
            end,
            registry: Arc::clone(&self.registry),
            owner: self.owner.clone(),
        }
    }

    pub(crate) async fn reply(&self, tool: &str, arguments: Value) -> Reply {
        soon(self.tools.call(tool, arguments, self.owner.caller())).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.reply(tool, arguments).await.deliver()
    }

    pub(crate) async fn reply_under(
        &self,
        policies: &Policies,
        tool: &str,
        arguments: Value,
        cancel: &CancellationToken,
    ) -> Reply {
        let call = ToolCall::new(arguments, self.owner.caller()).with_cancel(cancel.clone());
        soon(self.tools.call_under(policies, tool, call)).await
    }
}
