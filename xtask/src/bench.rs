//! `cargo xtask bench`: the benchmarks of the package `jobs-bench`.

use crate::workspace::{Workspace, execute};
use anyhow::{Result, ensure};

/// The package of the benchmarks.
pub(crate) const PACKAGE: &str = "jobs-bench";

/// What to run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Run each benchmark once, to see that it works
    #[arg(long)]
    pub(crate) smoke: bool,
    /// Run only benchmarks whose names contain this
    pub(crate) filter: Option<String>,
}

/// Runs the benchmarks.
///
/// # Errors
///
/// If there are none, or one fails.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    ensure!(
        workspace.has(PACKAGE),
        "there are no benchmarks: the workspace has no package {PACKAGE}"
    );
    let mut bench = workspace.cargo();
    bench.args(["bench", "--package", PACKAGE, "--"]);
    if args.smoke {
        bench.arg("--test");
    }
    bench.args(&args.filter);
    execute(&mut bench)
}
