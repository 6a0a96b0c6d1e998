//! `cargo xtask bench`: the benchmarks of the package `jobs-bench`.

use crate::workspace::{Workspace, execute};
use anyhow::Result;

/// The package of the benchmarks.
pub(crate) const PACKAGE: &str = "jobs-bench";

/// What to run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Run each benchmark once, to see that it works
    #[arg(long)]
    pub(crate) smoke: bool,
    /// Measure this row alone, such as B1, and print it
    #[arg(long)]
    pub(crate) row: Option<String>,
}

/// Runs the benchmarks.
///
/// # Errors
///
/// If one fails.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.smoke {
        let mut bench = workspace.cargo();
        bench.args(["bench", "--package", PACKAGE, "--", "--test"]);
        execute(&mut bench)?;
    }
    let mut rows = workspace.cargo();
    rows.args(["run", "--quiet", "--release", "--package", PACKAGE]);
    rows.args(["--bin", PACKAGE, "--", "rows"]);
    if args.smoke {
        rows.arg("--smoke");
    }
    if let Some(row) = &args.row {
        rows.args(["--row", row]);
    }
    execute(&mut rows)
}
