//! `agent-jobs mcp`: the tools for any MCP client.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use jobs::tool::Tool;
use jobs::{JobRegistry, Scope};
use jobs_local::LocalJobRegistry;
use jobs_mcp::{McpConfig, McpError, McpServer};
use jobs_process::{BashTool, ProcessError, ProcessRunner};
use tool_jobs::JobTools;

use crate::exit::Exit;
use crate::http::{HttpError, HttpSettings};
use crate::settings::{Flags, MCP, PROCESS, Row, Settings, SettingsError};
use crate::signals::Signals;

const ROWS: &[&[Row]] = &[MCP, PROCESS];

/// What models are told of the tools, where a client passes it on.
fn instructions(prefix: &str) -> String {
    format!(
        "Shell commands as background jobs. Remember the ids of jobs. The end of a job is reported \
         in front of the next answer of any of these tools, so do not poll, sleep, or do its work \
         a second time; go on with something independent. Before your final answer, collect what \
         matters with {prefix}job_output (wait only if you are blocked) and stop with \
         {prefix}job_kill what no longer does."
    )
}

/// The arguments of the command.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Run commands in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Print the settings that are in force, as TOML, and where each comes from
    #[arg(long)]
    print_config: bool,

    #[command(flatten)]
    flags: McpFlags,
}

#[derive(Debug)]
struct McpFlags(Flags);

impl FromArgMatches for McpFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Flags::take(matches, ROWS).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for McpFlags {
    fn augment_args(command: Command) -> Command {
        Flags::augment(command, ROWS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("cannot run in {}: {source}", path.display())]
    Directory {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{error}{}", cause(error))]
    Process {
        #[from]
        error: ProcessError,
    },
    #[error(transparent)]
    Registry(#[from] jobs::ConfigError),
    #[error(transparent)]
    Jobs(#[from] jobs::Error),
    #[error(transparent)]
    Server(#[from] McpError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("cannot listen to signals: {0}")]
    Signals(std::io::Error),
}

fn cause(error: &ProcessError) -> String {
    use std::error::Error as _;
    error
        .source()
        .map_or(String::new(), |source| format!(": {source}"))
}

impl From<&Failed> for Exit {
    fn from(failed: &Failed) -> Self {
        match failed {
            Failed::Settings(error) if error.is_environment() => Self::Environment,
            Failed::Http(error) if error.is_environment() => Self::Environment,
            Failed::Settings(_)
            | Failed::Http(_)
            | Failed::Registry(_)
            | Failed::Server(McpError::Config(_) | McpError::Exposed { .. })
            | Failed::Process {
                error: ProcessError::Config(_),
            } => Self::Usage,
            Failed::Directory { .. } | Failed::Process { .. } | Failed::Signals(_) => {
                Self::Environment
            }
            Failed::Jobs(_) | Failed::Server(_) => Self::Bad,
        }
    }
}

/// Serves until the client is gone or a signal comes. Then nothing of the jobs is left.
pub(crate) async fn run(args: &McpArgs) -> Exit {
    match serve(args).await {
        Ok(()) => Exit::Good,
        Err(failed) => {
            eprintln!("agent-jobs mcp: {failed}");
            Exit::from(&failed)
        }
    }
}

async fn serve(args: &McpArgs) -> Result<(), Failed> {
    let settings = Settings::load(ROWS, &args.flags.0)?;
    if let Some(path) = &args.cwd {
        std::env::set_current_dir(path).map_err(|source| Failed::Directory {
            path: path.clone(),
            source,
        })?;
    }
    let Composition {
        registry,
        server,
        mounted: _mounted,
    } = Composition::new(&settings)?;
    let http: HttpSettings = settings.read("http")?;
    if args.print_config {
        print!("{}", settings.print());
        return Ok(());
    }
    let signals = Signals::listen().map_err(Failed::Signals)?;
    let served = match http.open().await? {
        Some(http) => http.serve(&server, signals.stop()).await,
        None => server.serve_stdio(signals.stop()).await,
    };
    registry.shutdown().await;
    Ok(served?)
}

/// The parts, put together.
struct Composition {
    registry: Arc<dyn JobRegistry>,
    server: McpServer,
    mounted: JobTools,
}

impl Composition {
    fn new(settings: &Settings) -> Result<Self, Failed> {
        let runner = ProcessRunner::new(settings.read("process")?)?;
        let registry: Arc<dyn JobRegistry> = LocalJobRegistry::new(settings.read("registry")?)?;
        let bash = BashTool::new(runner, Arc::clone(&registry), settings.read("bash")?)?;
        let mounted = JobTools::mount(
            Arc::clone(&registry),
            Scope::root(),
            settings.read("tools")?,
        )?;
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(bash)];
        tools.extend(mounted.tools());
        let config: McpConfig = settings.read("mcp")?;
        let instructions = instructions(config.tool_prefix());
        let config = config
            .with_identity("agent-jobs", env!("CARGO_PKG_VERSION"))
            .with_instructions(instructions);
        let server = McpServer::new(Arc::clone(&registry), tools, config)?;
        Ok(Self {
            registry,
            server,
            mounted,
        })
    }
}
