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
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--quiet", "--release", "--package", PACKAGE]);
    cargo.args(["--example", "stress", "--"]);
    match &args.what {
        What::Process(args) => return rounds::run(workspace, args),
        What::Shapes(Shapes { shape, rung, times }) => {
            cargo.arg("shapes").args(shape).args(rung);
            cargo.args(times.map(|times| times.to_string()));
        }
        What::Many => {
            cargo.arg("many");
        }
        What::Endless => {
            cargo.arg("endless");
        }
        What::Figures(Figures { json, rows }) => {
            cargo.arg("figures").args(rows);
            cargo.args(json.then_some("--json"));
        }
    }
    execute(&mut cargo)
}
