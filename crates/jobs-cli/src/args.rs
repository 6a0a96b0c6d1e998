//! The command line.

use clap::{Args, Parser, Subcommand};

use crate::mcp::McpArgs;
use crate::run::RunArgs;

/// The exit codes, for the help of every command.
const EXIT_CODES: &str = "\
Exit codes:
  0  everything was as it should be
  1  something was not
  2  wrong use
  3  the surroundings lack something, which is named

Logs go to stderr; RUST_LOG filters them (default: warn).";

/// Background jobs for LLM agents
#[derive(Debug, Parser)]
#[command(name = "agent-jobs", version, propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Let a scripted agent drive real shell jobs, and print what happens
    ///
    /// A scripted model calls the real tools, which run real commands with the bash on PATH. It
    /// works offline, in seconds, in a directory of its own that is removed. Every step is checked
    /// against what the tools really answered.
    Demo(DemoArgs),

    /// Serve the tools to an MCP client
    ///
    /// Offers `bash`, `job_output`, `job_list` and `job_kill` over standard input and output, or to
    /// many clients over HTTP (at /mcp), each with the jobs of its own. Every
    /// setting is a flag, a variable (the flag's name in capitals after `AGENT_JOBS_`) or a line of
    /// the file that --config names, in this order; --print-config shows what is in force.
    ///
    /// When the client closes the input, or at SIGINT, SIGTERM or SIGHUP, all jobs are ended
    /// before this process is; a second signal ends it at once.
    #[command(after_help = EXIT_CODES)]
    Mcp(McpArgs),

    /// Run one command as a job, and end with its exit code
    ///
    /// The command runs as those of the server do: with the same bounds, without a terminal or
    /// input, and whatever it leaves behind is ended with it. Its output, both streams in one,
    /// goes to stdout as it comes.
    ///
    /// The exit code is the command's, or 128 and the number of the signal that ended it.
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DemoArgs {
    /// Print JSON Lines: an object a line, with `ms` since the beginning, and the `id` and `pid`
    /// of the job that it is about (or null)
    #[arg(long)]
    pub(crate) json: bool,
}
