//! `cargo xtask bench`: what the work costs, by the package `jobs-bench` and the example `stress` of the process
//! producer.
//!
//! Without an option every row is measured and `docs/benchmarks.md` is written.

mod growth;
mod instructions;
mod machine;
mod measure;
mod plot;
mod reference;
mod table;

use crate::workspace::{Workspace, execute};
use anyhow::{Context as _, Result};
use measure::Runs;

/// The package of the benchmarks.
pub(crate) const PACKAGE: &str = "jobs-bench";

/// What to run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Run each benchmark once, to see that it works
    #[arg(long, exclusive = true)]
    pub(crate) smoke: bool,
    /// Measure this row alone, such as B1, and print it
    #[arg(long)]
    pub(crate) row: Option<String>,
    /// How often each side is sampled; at least 5
    #[arg(long)]
    pub(crate) runs: Option<Runs>,
    /// Measure the reference as well, on the same machine in the same minutes; needs node and npm
    #[arg(long, conflicts_with = "row")]
    pub(crate) reference: bool,
    /// Draw how the costs grow, as docs/benchmarks-growth.svg
    #[arg(long, exclusive = true)]
    pub(crate) growth: bool,
    /// Count the instructions of the hot operations and compare them with the committed ones; needs valgrind
    #[arg(long)]
    pub(crate) instructions: bool,
    /// Write the counts instead of comparing them
    #[arg(long, requires = "instructions")]
    pub(crate) write: bool,
}

/// Runs the benchmarks.
///
/// # Errors
///
/// If one fails, or counts of instructions differ from the committed ones. A goal that is not met is no error.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.smoke {
        return smoke(workspace);
    }
    if args.instructions {
        return instructions::run(workspace, args.write);
    }
    if args.growth {
        return growth::run(workspace);
    }
    let runs = args.runs.unwrap_or_default();
    if let Some(row) = &args.row {
        for figure in measure::row(workspace, runs, row)? {
            println!("{}", table::line(&figure, None));
        }
        return Ok(());
    }
    let before = machine::load();
    let figures = measure::all(workspace, runs)?;
    let reference = if args.reference {
        Some(reference::run(workspace)?)
    } else {
        None
    };
    let page = table::page(&table::Page {
        figures: &figures,
        reference: reference.as_ref(),
        allocations: &measure::allocations(workspace)?,
        machine: &machine::describe(&before, runs)?,
    });
    let path = workspace.root().join("docs/benchmarks.md");
    std::fs::write(&path, page).context("failed to write docs/benchmarks.md")?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Every bench once, with no thresholds.
fn smoke(workspace: &Workspace) -> Result<()> {
    let mut bench = workspace.cargo();
    bench.args([
        "bench",
        "--package",
        PACKAGE,
        "--bench",
        "rows",
        "--",
        "--test",
    ]);
    execute(&mut bench)?;
    execute(measure::binary(workspace, PACKAGE).args(["rows", "--smoke"]))?;
    execute(measure::binary(workspace, "heap").arg("--smoke"))
}
