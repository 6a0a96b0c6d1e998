//! `cargo xtask clients --throughput`: what our tools cost a client beside a tool that does nothing.
//!
//! Both servers are of one example and one SDK, and a client calls them in turns: what else the machine does
//! weighs on both. The median of the rounds counts.

use super::install::{Installed, install};
use crate::workspace::{Workspace, execute, shown};
use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;
use std::process::Stdio;

const PACKAGE: &str = "jobs-mcp";

/// Of the calls a second that a server with an empty tool answers.
const LEAST: f64 = 0.8;

/// Measures with both SDKs.
///
/// # Errors
///
/// If a client cannot be run, or the ratio is below the least.
pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let binary = build(workspace)?;
    let scratch = workspace.target_directory().join("clients");
    let mut ratios = Vec::new();
    for (name, script) in [
        ("python", "throughput.py"),
        ("typescript", "throughput.mjs"),
    ] {
        let scripts = workspace.root().join("tests/clients").join(name);
        let client = install(name, &scripts, &scratch)?;
        let rounds = measure(&client, script, &binary)?;
        let of = |pick: fn(&Round) -> f64| median(rounds.iter().map(pick).collect());
        let ratio = of(|round| round.jobs / round.empty);
        println!(
            "{name}: {:.0} calls a second of the empty tool, {:.0} of job_output; ratio {ratio:.3} in {} rounds",
            of(|round| round.empty),
            of(|round| round.jobs),
            rounds.len()
        );
        ratios.push((name, ratio));
    }
    for (name, ratio) in ratios {
        ensure!(ratio >= LEAST, "{name}: {ratio:.3} is less than {LEAST}");
    }
    Ok(())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args([
        "build",
        "--quiet",
        "--release",
        "--package",
        PACKAGE,
        "--example",
        "throughput",
    ]);
    execute(&mut cargo)?;
    Ok(workspace
        .target_directory()
        .join("release/examples/throughput"))
}

/// Calls a second.
struct Round {
    empty: f64,
    jobs: f64,
}

fn measure(client: &Installed, script: &str, binary: &PathBuf) -> Result<Vec<Round>> {
    let mut command = client.command_of(script);
    command.arg(binary).stderr(Stdio::null());
    let output = command
        .output()
        .with_context(|| format!("failed to start {}", shown(&command)))?;
    ensure!(
        output.status.success(),
        "{} ended with {}",
        shown(&command),
        output.status
    );
    let text = String::from_utf8(output.stdout)?;
    let figures = |name: &str| -> Vec<f64> {
        let of = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
        text.lines().filter_map(of).collect()
    };
    let rounds = figures("empty ").into_iter().zip(figures("jobs "));
    let rounds: Vec<Round> = rounds.map(|(empty, jobs)| Round { empty, jobs }).collect();
    ensure!(rounds.len() >= 10, "only {} rounds", rounds.len());
    Ok(rounds)
}

/// Of at least one figure.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
