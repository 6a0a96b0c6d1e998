//! `cargo xtask stress`: the process producer under load, and at length.
//!
//! `process` runs the tests of the package again and again; the others run its example `stress`, which is the
//! host of real jobs and counts what is left of them with a process of its own.

mod busy;
mod rounds;

use crate::workspace::{Workspace, execute};
use anyhow::Result;
use std::process::Command;

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
    Shapes(Shapes),
    /// Run ten thousand short jobs, 64 at once, each told of by the registry
    Many,
    /// Let jobs print without end for a minute
    Endless,
    /// Print what a job costs: start and end (B10), and bytes a second (B11)
    Figures(Figures),
}

#[derive(Debug, clap::Args)]
struct Shapes {
    /// Only this shape, again and again
    #[arg(requires = "rung")]
    shape: Option<String>,
    /// The rung to do it on: group, sweep or supervisor
    #[arg(requires = "times")]
    rung: Option<String>,
    /// How often
    times: Option<usize>,
}

#[derive(Debug, clap::Args)]
struct Figures {
    /// One line of JSON a row: row, case, ours, floor, spread (quartiles; seconds), n, ratio, goal, holds
    #[arg(long)]
    json: bool,
    /// Only these rows: B10, B11
    rows: Vec<String>,
}

/// Runs one of them.
///
/// # Errors
///
/// If a row does not hold.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let example = || example(workspace);
    match &args.what {
        What::Process(args) => rounds::run(workspace, args),
        What::Shapes(Shapes { shape, rung, times }) => {
            let times = times.map(|times| times.to_string());
            execute(example()?.arg("shapes").args(shape).args(rung).args(times))
        }
        What::Many => execute(example()?.arg("many")),
        What::Endless => execute(example()?.arg("endless")),
        What::Figures(Figures { json, rows }) => {
            let json = json.then_some("--json");
            execute(example()?.arg("figures").args(rows).args(json))
        }
    }
}

/// The example `stress`, built, without the library path that cargo gives to what it runs: a program
/// that is started with it looks for its libraries there first, which costs more than a job does.
///
/// # Errors
///
/// It could not be built.
pub(crate) fn example(workspace: &Workspace) -> Result<Command> {
    let mut example = Command::new(workspace.example(PACKAGE, "stress")?);
    example.current_dir(workspace.root());
    example.env_remove("LD_LIBRARY_PATH");
    Ok(example)
}
