//! `cargo xtask soak`: hundreds of owners use one registry at random, for minutes.

use crate::workspace::{Workspace, execute};
use anyhow::Result;

/// For how long, with how many owners, and how fast.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For how many minutes; a fraction will do
    #[arg(long, default_value_t = 3.0)]
    pub(crate) minutes: f64,
    /// How many owners at once
    #[arg(long, default_value_t = 300)]
    pub(crate) owners: u32,
    /// On how many threads
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
    /// For how many milliseconds an owner rests between two calls, at most
    #[arg(long, default_value_t = 20)]
    pub(crate) rest: u64,
    /// Break a clause, to see that it is noticed: the name of a fault of `conformance --matrix`
    #[arg(long)]
    pub(crate) fault: Option<String>,
}

/// Runs the soak, with the checks of a debug build.
///
/// # Errors
///
/// If a completion was lost or told twice against the contract, memory grew, or something hung.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let mut soak = workspace.cargo();
    soak.args(["run", "--package", "jobs-tests", "--bin", "soak", "--"]);
    soak.arg("--minutes").arg(args.minutes.to_string());
    soak.arg("--owners").arg(args.owners.to_string());
    soak.arg("--threads").arg(args.threads.to_string());
    soak.arg("--rest").arg(args.rest.to_string());
    if let Some(fault) = &args.fault {
        soak.arg("--fault").arg(fault);
    }
    execute(&mut soak)
}
