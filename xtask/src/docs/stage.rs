//! The tools on a stage: what they are, and what they answer in the situations that the page shows.

use anyhow::{Context as _, Result, anyhow};
use jobs::tool::{Tool, ToolCall, ToolDefinition};
use jobs::{JobId, JobRegistry, Outcome, OutputLog, Owner, Scope, Stream};
use jobs_local::LocalJobRegistry;
use jobs_process::{BackgroundRuns, BashTool, BashToolConfig, ProcessConfig, ProcessRunner};
use jobs_testkit::Puppet;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use tool_jobs::{Inbox, JobTools, PromptSection, ToolsConfig};

/// What the tools are.
pub(super) struct Definitions {
    pub(super) jobs: Vec<ToolDefinition>,
    pub(super) bash: ToolDefinition,
    /// `bash` where background runs are withheld.
    pub(super) bash_withheld: ToolDefinition,
    pub(super) prompt: PromptSection,
    pub(super) bash_prompt: &'static str,
}

/// Everything that the page is made of.
pub(super) struct Material {
    pub(super) definitions: Definitions,
    pub(super) output: Vec<Sample>,
    pub(super) list: Vec<Sample>,
    pub(super) kill: Vec<Sample>,
    pub(super) bash: Vec<Sample>,
    /// Notices: of a job without a limit, and of one with a small one.
    pub(super) notices: Vec<String>,
    pub(super) digest: String,
}

/// What a tool answered.
pub(super) struct Sample {
    pub(super) when: &'static str,
    pub(super) arguments: String,
    pub(super) text: String,
}

/// Mounts the tools and asks them what they are.
pub(super) fn definitions() -> Result<Definitions> {
    on_a_runtime(async { Ok(Stage::new()?.definitions()) })
}

/// Plays the situations.
pub(super) fn material() -> Result<Material> {
    on_a_runtime(async {
        let stage = Stage::new()?;
        let none = stage.job("job_list", "There are none.", json!({})).await;
        let output = stage.output().await?;
        let kill = stage.kill().await?;
        let some = stage.job("job_list", "There are some.", json!({})).await;
        let (notices, digest) = Stage::new()?.notices().await?;
        Ok(Material {
            definitions: stage.definitions(),
            output,
            list: vec![some, none],
            kill,
            bash: Stage::new()?.bash().await?,
            notices,
            digest,
        })
    })
}

fn on_a_runtime<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime
        .enable_all()
        .build()
        .context("failed to start a runtime")?;
    runtime.block_on(work)
}

/// A registry of its own, with every tool.
struct Stage {
    registry: Arc<dyn JobRegistry>,
    tools: JobTools,
    owner: Owner,
    bash: BashTool,
    withheld: BashTool,
}

/// A job of kind `bash` that does as it is told.
struct Scripted {
    id: JobId,
    log: OutputLog,
    puppet: Puppet,
}

impl Stage {
    fn new() -> Result<Self> {
        let registry: Arc<dyn JobRegistry> = LocalJobRegistry::new(jobs_local::Config::default())?;
        let tools = JobTools::mount(registry.clone(), Scope::root(), ToolsConfig::default())?;
        let owner = registry.owner("documentation".into(), Scope::root());
        let runner = ProcessRunner::new(ProcessConfig::new())?;
        let withheld = BashToolConfig::new().with_background_runs(BackgroundRuns::Withheld);
        Ok(Self {
            bash: BashTool::new(runner.clone(), registry.clone(), BashToolConfig::new())?,
            withheld: BashTool::new(runner, registry.clone(), withheld)?,
            registry,
            tools,
            owner,
        })
    }

    fn definitions(&self) -> Definitions {
        let definition = |tool: &Arc<dyn Tool>| tool.definition().clone();
        Definitions {
            jobs: self.tools.tools().iter().map(definition).collect(),
            bash: self.bash.definition().clone(),
            bash_withheld: self.withheld.definition().clone(),
            prompt: self.tools.prompt_section(),
            bash_prompt: BashTool::PROMPT,
        }
    }

    async fn start(&self, label: &str, limit: Option<u64>) -> Result<Scripted> {
        let log = OutputLog::with_budget(NonZeroUsize::MIN.saturating_add(4095));
        let (mut spec, puppet) = Puppet::streaming("bash", label, Arc::new(log.reader()));
        spec.output_limit = limit;
        let id = self.registry.start(spec.with_owner(&self.owner)).await?;
        Ok(Scripted { id, log, puppet })
    }

    async fn end(&self, job: &Scripted, outcome: Outcome) -> Result<()> {
        job.puppet.settle(outcome);
        let _ended = self.registry.settled(&job.id, &self.owner.caller()).await?;
        Ok(())
    }

    async fn job(&self, tool: &str, when: &'static str, arguments: Value) -> Sample {
        let reply = self
            .tools
            .call(tool, arguments.clone(), self.owner.caller());
        Sample {
            when,
            arguments: arguments.to_string(),
            text: reply.await.deliver().text(),
        }
    }

    async fn output(&self) -> Result<Vec<Sample>> {
        let mut all = Vec::new();
        let build = self.start("cargo build", None).await?;
        build.log.push(Stream::Stdout, b"Compiling jobs\n");
        build.log.push(Stream::Stderr, b"warning: unused import\n");
        let id = json!({ "job_id": "bash-1" });
        all.push(
            self.job(
                "job_output",
                "The job lives and wrote something since the last read.",
                id.clone(),
            )
            .await,
        );
        all.push(
            self.job("job_output", "It wrote nothing since.", id.clone())
                .await,
        );
        let wait = json!({ "job_id": "bash-1", "wait": true, "timeout_ms": 1 });
        all.push(
            self.job(
                "job_output",
                "A wait ran out. That is a success, and the job goes on.",
                wait,
            )
            .await,
        );
        build.log.push(Stream::Stdout, b"Finished in 3 s\n");
        self.end(&build, Outcome::completed().with_detail("exit code: 0"))
            .await?;
        all.push(
            self.job(
                "job_output",
                "The job has ended. Delivered, this tells its end.",
                id,
            )
            .await,
        );

        let test = self.start("cargo test", Some(280)).await?;
        let lines: String = (1..=60).map(|n| format!("test {n:02} ok\n")).collect();
        test.log.push(Stream::Stdout, lines.as_bytes());
        let id = json!({ "job_id": "bash-2" });
        all.push(
            self.job(
                "job_output",
                "There is more than the limit of the job allows, here 280 bytes: the end is shown.",
                id,
            )
            .await,
        );
        let from = json!({ "job_id": "bash-2", "from": 0 });
        all.push(
            self.job(
                "job_output",
                "Reading again from an offset: the beginning is shown, and where to go on.",
                from,
            )
            .await,
        );
        for (when, arguments) in [
            ("An id that never was.", json!({ "job_id": "bash-9" })),
            (
                "Arguments of the wrong type, each named.",
                json!({ "job_id": 7, "from": -1 }),
            ),
            (
                "A wait that nobody can wait.",
                json!({ "job_id": "bash-2", "wait": true, "timeout_ms": 0 }),
            ),
        ] {
            all.push(self.job("job_output", when, arguments).await);
        }
        Ok(all)
    }

    async fn kill(&self) -> Result<Vec<Sample>> {
        let arguments = json!({ "job_id": "bash-2", "reason": "not needed any more" });
        let live = "The job lives. The answer does not wait for its end.";
        let late = "It had ended before. What it wrote can still be read.";
        let first = self.job("job_kill", live, arguments).await;
        let done = json!({ "job_id": "bash-1" });
        Ok(vec![first, self.job("job_kill", late, done).await])
    }

    async fn notices(&self) -> Result<(Vec<String>, String)> {
        let inbox = Inbox::new();
        let attached = self.tools.attach(&self.owner, inbox.clone());
        let mut notices = Vec::new();
        for limit in [None, Some(90)] {
            let job = self
                .start("cargo test --workspace --all-features", limit)
                .await?;
            job.log.push(Stream::Stdout, b"test result: FAILED\n");
            self.end(&job, Outcome::completed().with_detail("exit code: 101"))
                .await?;
            inbox.woken().await;
            let mut turn = inbox.begin_turn();
            let claimed = turn.claim();
            notices.extend(claimed.iter().map(|message| message.text().to_owned()));
            turn.close().map_err(|_more| anyhow!("a notice too many"))?;
        }
        drop(attached);
        let unannounced = self.start("cargo doc", None).await?;
        self.end(&unannounced, Outcome::completed()).await?;
        let _live = self.start("npm run dev", None).await?;
        let digest = self.tools.digest(&self.owner.caller()).await?;
        Ok((notices, digest))
    }

    async fn bash(&self) -> Result<Vec<Sample>> {
        let offered = &self.bash;
        let mut all = Vec::new();
        for (tool, when, arguments) in [
            (
                offered,
                "A run ended. What stderr wrote comes last, then a line for an exit code that is not 0.",
                json!({ "command": "echo built; echo 'one warning' >&2; exit 3" }),
            ),
            (offered, "It wrote nothing.", json!({ "command": "true" })),
            (
                offered,
                "A signal ended it.",
                json!({ "command": "kill -TERM $$" }),
            ),
            (
                offered,
                "A background job was started.",
                json!({ "command": "sleep 60", "run_in_background": true }),
            ),
            (
                offered,
                "A run took longer than its limit: it becomes a background job.",
                json!({ "command": "sleep 60", "timeout_ms": 50 }),
            ),
            (offered, "The command is missing.", json!({})),
            (
                &self.withheld,
                "Background runs are withheld, and the model asks for one all the same.",
                json!({ "command": "sleep 60", "run_in_background": true }),
            ),
        ] {
            let call = ToolCall::new(arguments.clone(), self.owner.caller());
            all.push(Sample {
                when,
                arguments: arguments.to_string(),
                text: tool.call(call).await.deliver().text(),
            });
        }
        self.owner.close().await;
        Ok(all)
    }
}
