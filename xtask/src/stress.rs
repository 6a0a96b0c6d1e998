//! `cargo xtask stress`: the process producer under load, and at length.
//!
//! `process` runs the tests of the package again and again; the others run its example `stress`, which is the
//! host of real jobs and counts what is left of them with a process of its own.

mod busy;
mod rounds;

use crate::workspace::{Workspace, execute};
use anyhow::Result;

const PACKAGE: &str = "jobs-process";

/// What to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Run the acceptance rows and the extras in rounds, with busy processors and many live jobs beside them
    Process(rounds::Args),
    /// Count what survives a cancel, for each shape of a process tree and each rung of containment
    Shapes,
    /// Run ten thousand short jobs, 64 at once, each told of by the registry
    Many,
    /// Let jobs print without end for a minute
    Endless,
    /// Print what a job costs: start and end (B10), and bytes a second (B11)
    Figures,
}

/// Runs one of them.
///
/// # Errors
///
/// If a row does not hold.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let example = match &args.what {
        What::Process(args) => return rounds::run(workspace, args),
        What::Shapes => "shapes",
        What::Many => "many",
        What::Endless => "endless",
        What::Figures => "figures",
    };
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--quiet", "--release", "--package", PACKAGE]);
    cargo.args(["--example", "stress", "--", example]);
    execute(&mut cargo)
}
