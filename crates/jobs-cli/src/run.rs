//! `agent-jobs run`: one command as a job, with the same producer and bounds.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use jobs::{Caller, JobId, JobRegistry, KilledBy, Receipt, Scope, Snapshot, TerminalStatus};
use jobs_local::LocalJobRegistry;
use jobs_process::{JobCommand, ProcessConfig, ProcessRunner, Streams};
use serde_json::Value;

use crate::exit::Exit;
use crate::settings::{Flags, PROCESS, RUN, Row, Settings};
use crate::signals::Signals;

const ROWS: &[&[Row]] = &[RUN, PROCESS];

/// How often output is looked for.
const PULSE: Duration = Duration::from_millis(10);

/// How much output is written at a time, in bytes.
const PIECE: usize = 64 * 1024;

/// The arguments of the command.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Run the command in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Print the status line and the facts of the end to stderr
    #[arg(long)]
    summary: bool,

    #[command(flatten)]
    flags: RunFlags,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug)]
struct RunFlags(Flags);

impl FromArgMatches for RunFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Flags::take(matches, ROWS).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RunFlags {
    fn augment_args(command: Command) -> Command {
        Flags::augment(command, ROWS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Runs the command to its end and ends with its code.
pub(crate) async fn run(args: &RunArgs) -> Exit {
    match Run::start(args).await {
        Ok(run) => run.follow(args).await,
        Err((text, exit)) => {
            eprintln!("agent-jobs run: {text}");
            exit
        }
    }
}

struct Run {
    registry: std::sync::Arc<LocalJobRegistry>,
    _controller: jobs::Registration,
    signals: Signals,
    id: JobId,
}

impl Run {
    async fn start(args: &RunArgs) -> Result<Self, (String, Exit)> {
        let environment = |error: &dyn std::fmt::Display| (error.to_string(), Exit::Environment);
        let settings = Settings::load(ROWS, &args.flags.0)
            .and_then(|settings| settings.read::<ProcessConfig>("process"));
        let config = settings.map_err(|error| {
            let exit = if error.is_environment() {
                Exit::Environment
            } else {
                Exit::Usage
            };
            (error.to_string(), exit)
        })?;
        let runner = ProcessRunner::new(config).map_err(|error| environment(&error))?;
        let registry = LocalJobRegistry::new(jobs_local::Config::default())
            .map_err(|error| environment(&error))?;
        let controller = registry
            .controller("agent-jobs run", &Scope::root())
            .map_err(|error| environment(&error))?;
        let signals = Signals::listen().map_err(|error| environment(&error))?;
        let mut command =
            JobCommand::argv(args.command.iter().cloned()).with_streams(Streams::Merged);
        if let Some(cwd) = &args.cwd {
            command = command.with_cwd(cwd);
        }
        let id = registry
            .start(runner.spec(command))
            .await
            .map_err(|error| environment(&error))?;
        Ok(Self {
            registry,
            _controller: controller,
            signals,
            id,
        })
    }

    /// Shows the output as it comes, until the job has ended.
    async fn follow(self, args: &RunArgs) -> Exit {
        let caller = Caller::Anonymous;
        let stop = self.signals.stop();
        let mut settled = std::pin::pin!(self.registry.settled(&self.id, &caller));
        let mut pulse = tokio::time::interval(PULSE);
        let mut from = 0;
        let mut stopped = false;
        let ended = loop {
            tokio::select! {
                ended = &mut settled => break ended.map(Receipt::commit),
                () = stop.cancelled(), if !stopped => {
                    stopped = true;
                    let reason = Some("a signal");
                    let killed = self.registry.kill(&self.id, &caller, KilledBy::User, reason).await;
                    if let Ok(receipt) = killed {
                        receipt.commit();
                    }
                }
                _ = pulse.tick() => from = self.show(&caller, from).await,
            }
        };
        self.show(&caller, from).await;
        let exit = match &ended {
            Ok(job) => {
                if args.summary {
                    summarise(job);
                }
                let own = self.signals.exit_code().filter(|_| stopped);
                own.map_or_else(|| code(job), Exit::Code)
            }
            Err(error) => {
                eprintln!("agent-jobs run: {error}");
                Exit::Bad
            }
        };
        self.registry.shutdown().await;
        exit
    }

    /// Writes what there is from an offset on; where to go on.
    ///
    /// Writing may block, on purpose: this is the thread that reads from the command, which then
    /// waits as it would without us.
    async fn show(&self, caller: &Caller, mut from: u64) -> u64 {
        let mut stdout = std::io::stdout();
        while let Ok(delta) = self
            .registry
            .observe(&self.id, caller, from, Some(PIECE))
            .await
        {
            if delta.range.is_empty() {
                break;
            }
            from = delta.range.end;
            if stdout.write_all(delta.text.as_bytes()).is_err() {
                break; // nobody reads; the command still runs to its end
            }
        }
        let _ = stdout.flush();
        from
    }
}

/// The code of the command, as a shell would give it.
fn code(job: &Snapshot) -> Exit {
    let Some(end) = job.end() else {
        return Exit::Bad;
    };
    let fact = |name: &str| {
        end.facts
            .as_deref()
            .and_then(|facts| facts.get(name).cloned())
    };
    if let Some(code) = fact("exitCode").as_ref().and_then(Value::as_u64)
        && end.status == TerminalStatus::Completed
    {
        return Exit::Code(u8::try_from(code).unwrap_or(u8::MAX));
    }
    match (end.status, fact("signal")) {
        (TerminalStatus::Failed, _) => Exit::Environment,
        (TerminalStatus::Killed, Some(Value::String(name))) => {
            signal_number(&name).map_or(Exit::Bad, |number| Exit::Code(128 + number))
        }
        _ => Exit::Bad,
    }
}

fn summarise(job: &Snapshot) {
    let status = job.status();
    let line = tool_jobs::fit::status_line(&status, job.detail());
    eprintln!("{}", jobs::text::one_line(&line));
    if let Some(facts) = job.end().and_then(|end| end.facts.as_deref()) {
        eprintln!("{facts}");
    }
}

/// The number of a signal, by its name.
fn signal_number(name: &str) -> Option<u8> {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    let name = name.strip_prefix("SIG")?;
    let index = NAMES.iter().position(|known| *known == name)?;
    u8::try_from(index + 1).ok()
}
