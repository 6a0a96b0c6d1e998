//! The producer: commands in, running jobs out.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Once};

use jobs::config::check_duration;
use jobs::{CancellationToken, JobSpec, OutputLog, ProducerError};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::capture::{Capture, Captured, Source};
use crate::command::{JobCommand, Streams};
use crate::config::ProcessConfig;
use crate::drive::{CaptureTask, Drive, Live, Rules};
use crate::ending::Ending;
use crate::env::Environment;
use crate::error::ProcessError;
use crate::platform::{self, pipe};
use crate::prepare::{Prepared, prepare};
use crate::running::RunningProcess;
use crate::spill::{Spill, SpillDirectory};
use crate::tree::{Containment, Origin, Supervisors, Tree, scan};
use crate::wire::Task;

/// The kind of these jobs: their ids are `bash-1`, `bash-2`, …
pub const KIND: &str = "bash";

/// Runs commands as background jobs. Cloning shares everything.
///
/// # Examples
///
/// ```no_run
/// # async fn example(registry: &dyn jobs::JobRegistry) -> Result<(), Box<dyn std::error::Error>> {
/// use jobs_process::{JobCommand, ProcessConfig, ProcessRunner};
///
/// let runner = ProcessRunner::new(ProcessConfig::new())?;
/// let id = registry.start(runner.spec(JobCommand::shell("make test"))).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ProcessRunner(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: ProcessConfig,
    /// What all its jobs have.
    env: Environment,
    /// `/dev/null`, open.
    null: File,
    containment: Containment,
    supervisors: Option<Arc<Supervisors>>,
    spill: Arc<SpillDirectory>,
}

impl ProcessRunner {
    /// Looks which rung of the containment ladder this host offers; says once, through `tracing`,
    /// when it is not the one that the configuration allows. Sweeps output that dead processes
    /// left in the spill directory. Reads the environment that jobs inherit.
    ///
    /// # Errors
    ///
    /// [`ProcessError::UnsupportedPlatform`] where there are no pidfds; [`ProcessError::Config`];
    /// [`ProcessError::Setup`] when a file that every job needs cannot be opened.
    pub fn new(config: ProcessConfig) -> Result<Self, ProcessError> {
        platform::require().map_err(|got| ProcessError::UnsupportedPlatform { got })?;
        config.check()?;
        let supervisors = find_supervisor(&config)?;
        // Both upper rungs find the processes of a job in the process table.
        let sees_processes = matches!(scan::read(std::process::id().cast_signed()), Ok(Some(_)));
        let (available, missing) = match &supervisors {
            _ if !sees_processes => (Containment::Group, "/proc is not readable"),
            None => (
                Containment::Sweep,
                "jobs_process::init was not called first thing in main",
            ),
            Some(_) => (Containment::Supervisor, ""),
        };
        let containment = config.containment.min(available);
        if containment < config.containment {
            static SAID: Once = Once::new();
            SAID.call_once(|| {
                tracing::warn!(?containment, missing, "jobs are contained one rung down");
            });
        }
        let spill = Arc::new(SpillDirectory::new(config.spill_directory.clone()));
        let env = config.env.base(std::env::vars_os());
        let null = File::open("/dev/null").map_err(|source| ProcessError::Setup { source })?;
        Ok(Self(Arc::new(Inner {
            config,
            env,
            null,
            containment,
            supervisors,
            spill,
        })))
    }

    /// The rung of the containment ladder that new jobs start on.
    #[must_use]
    pub fn containment(&self) -> Containment {
        self.0.containment
    }

    pub(crate) fn config(&self) -> &ProcessConfig {
        &self.0.config
    }

    /// A job of kind [`KIND`] that runs `command`, labelled with it. Nothing is started before a
    /// registry accepts it. Must be given to a registry inside a tokio runtime.
    #[must_use]
    pub fn spec(&self, command: JobCommand) -> JobSpec {
        let runner = self.clone();
        JobSpec::new(KIND, command.label(), move |_id| {
            let process = runner
                .start(&command)
                .map_err(|error| producer_error(&error))?;
            Ok(process.into_hooks())
        })
    }

    /// Starts `command` now, without a registry.
    ///
    /// A program that does not exist is not an error here: the process ends at once, as failed.
    ///
    /// # Errors
    ///
    /// What can be seen to be wrong before anything is started; nothing runs then.
    pub fn start(&self, command: &JobCommand) -> Result<RunningProcess, ProcessError> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(ProcessError::NoRuntime);
        }
        let Inner {
            config, env, spill, ..
        } = &*self.0;
        let max_runtime = command.max_runtime.or(config.max_runtime);
        if let Some(limit) = max_runtime {
            check_duration("maxRuntimeMs", limit)?;
        }
        let rules = Rules {
            grace: config.grace,
            max_runtime,
            max_output: config.max_output.get(),
            on_leader_exit: command.on_leader_exit.unwrap_or(config.on_leader_exit),
        };
        let Prepared {
            task,
            cookie,
            script,
        } = prepare(config, env, spill, command)?;
        let log = OutputLog::with_budget(config.output_memory);
        // Small enough that whatever is cut anywhere was written to a file by then.
        let threshold = (8 * 1024).min(config.output_memory.get().min(config.output_cap.get()) / 2);
        let spill = Spill::new(Arc::clone(spill), config.spill_limit, threshold);
        let source = Source {
            log: log.reader(),
            spilled: spill.spilled(),
        };
        let live = Live::default();
        let stop = CancellationToken::new();

        let launched = match &task {
            Ok(task) => self.launch(task, &cookie, command)?,
            Err(reason) => Err(reason.clone()),
        };
        let task = match launched {
            Err(reason) => {
                let captured = Captured::nothing(log);
                tokio::spawn(async move { Ending::not_started(&reason, captured) })
            }
            Ok(Launched {
                tree,
                stdout,
                stderr,
            }) => {
                let progress = live.progress().clone();
                let capture = Capture::new(stdout, stderr, log, spill, progress, rules.max_output);
                let (close, over) = (CancellationToken::new(), CancellationToken::new());
                let task = tokio::spawn(capture.run(close.clone(), over.clone()));
                let capture = CaptureTask { task, close, over };
                let name = command.program_name();
                let run = Drive::new(name, tree, rules, live.clone()).run(stop.clone(), capture);
                tokio::spawn(async move {
                    let ending = run.await;
                    drop(script);
                    ending
                })
            }
        };
        Ok(RunningProcess::new(stop, source, live, task))
    }

    /// The inner error: this program cannot be executed, which is an outcome.
    fn launch(
        &self,
        task: &Task,
        cookie: &str,
        command: &JobCommand,
    ) -> Result<Result<Launched, String>, ProcessError> {
        let setup = |error: io::Error| ProcessError::Setup { source: error };
        let (stdin, feed) = if command.stdin.is_empty() {
            (None, None)
        } else {
            let (read, write) = pipe().map_err(setup)?;
            let feed = Sender::from_owned_fd(write).map_err(setup)?;
            (Some(read), Some(feed))
        };
        let stdin = stdin.as_ref().map_or(self.0.null.as_fd(), AsFd::as_fd);
        let (out_read, out_write) = pipe().map_err(setup)?;
        let (err_read, err_write) = match command.streams {
            Streams::Separate => pipe()
                .map(|(read, write)| (Some(read), Some(write)))
                .map_err(setup)?,
            Streams::Merged => (None, None),
        };
        let stderr = err_write.as_ref().unwrap_or(&out_write).as_fd();
        let stdio = [stdin, out_write.as_fd(), stderr];
        let tree = match self.start_tree(&Origin {
            task,
            cookie,
            stdio,
        }) {
            Ok(tree) => tree,
            Err(error) if is_shortage(&error) => return Err(setup(error)),
            Err(error) => return Ok(Err(format!("{}: {error}", command.program_name()))),
        };
        // While the command starts. If it fails, what was started is ended again.
        let stdout = receiver(out_read).map_err(setup)?;
        let stderr = err_read.map(receiver).transpose().map_err(setup)?;
        if let Some(mut feed) = feed {
            let bytes = command.stdin.clone();
            // The command need not read it: a closed pipe is no error.
            tokio::spawn(async move { feed.write_all(&bytes).await });
        }
        Ok(Ok(Launched {
            tree,
            stdout,
            stderr,
        }))
    }

    fn start_tree(&self, origin: &Origin<'_>) -> io::Result<Tree> {
        let Inner {
            containment,
            supervisors,
            ..
        } = &*self.0;
        match Tree::start(*containment, supervisors.as_ref(), origin) {
            Err(error) if *containment == Containment::Supervisor && !is_shortage(&error) => {
                static SAID: Once = Once::new();
                SAID.call_once(|| {
                    tracing::warn!(%error, "no supervisor could be started; jobs are swept instead");
                });
                Tree::start(Containment::Sweep, None, origin)
            }
            started => started,
        }
    }
}

/// A command that was started: its tree and the pipes of its output.
struct Launched {
    tree: Tree,
    stdout: Receiver,
    stderr: Option<Receiver>,
}

/// The reading end of a pipe of ours: it need not be asked what it is.
fn receiver(pipe: OwnedFd) -> io::Result<Receiver> {
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Receiver::from_owned_fd_unchecked(pipe)
}

/// Something ran out, so that a later try may succeed.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let shortages = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::AGAIN,
        Errno::TOOMANYREFS,
    ];
    shortages
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn find_supervisor(config: &ProcessConfig) -> Result<Option<Arc<Supervisors>>, ProcessError> {
    let spares = config.spare_supervisors;
    let supervisors = match &config.supervisor {
        Some(path) => Supervisors::new(path.clone(), spares),
        None if crate::supervisor::is_available() => Supervisors::of_this_binary(spares),
        None => return Ok(None),
    };
    supervisors
        .map(|supervisors| Some(Arc::new(supervisors)))
        .map_err(|source| ProcessError::Setup { source })
}

/// One text for the registry: the error and what caused it.
pub(crate) fn producer_error(error: &ProcessError) -> ProducerError {
    use std::error::Error;
    match error.source() {
        Some(source) => ProducerError::new(format!("{error}: {source}")),
        None => ProducerError::new(error.to_string()),
    }
}
