//! The command line.

use clap::{Args, Parser, Subcommand};

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
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DemoArgs {
    /// Print JSON Lines: an object a line, with `ms` since the beginning, and the `id` and `pid`
    /// of the job that it is about (or null)
    #[arg(long)]
    pub(crate) json: bool,
}
