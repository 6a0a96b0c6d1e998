//! `cargo xtask clients --throughput`: what our tools cost a client beside a tool that does nothing.
//!
//! All servers are of one example and one SDK, and a client calls them in turns: what else the machine does
//! weighs on all. The median of the rounds counts.
//!
//! What is asked is the ratio to the empty tool. The servers between say what a difference is made of: the
//! size of the answer, which the client reads, and the schema, against which it checks the answer.

use super::install::{Installed, install};
use crate::workspace::{Workspace, shown};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

/// Of the calls a second that a server with an empty tool answers.
const LEAST: f64 = 0.8;

const EMPTY: &str = "empty";
const JOBS: &str = "jobs";

/// The servers of the example, in the order in which they cost more.
const SERVERS: [(&str, &str); 4] = [
    (EMPTY, "an empty tool"),
    ("constant", "a tool that does nothing, with the same answer"),
    ("checked", "the same, with the output schema"),
    (JOBS, "job_output"),
];

/// Measures with both SDKs.
///
/// # Errors
///
/// If a client cannot be run, or the ratio is below the least.
pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let binary = workspace.example("jobs-mcp", "throughput")?;
    let scratch = workspace.target_directory().join("clients");
    let mut ratios = Vec::new();
    for (name, script) in [
        ("python", "throughput.py"),
        ("typescript", "throughput.mjs"),
    ] {
        let scripts = workspace.root().join("tests/clients").join(name);
        let client = install(name, &scripts, &scratch)?;
        let figures = measure(&client, script, &binary)?;
        let empty = figures[EMPTY];
        println!("{name}: calls a second, microseconds a call, ratio to the empty tool");
        for (server, what) in SERVERS {
            let rate = figures[server];
            let (micros, ratio) = (1e6 / rate, rate / empty);
            println!("  {rate:>6.0} {micros:>6.0} {ratio:>6.3}  {what}");
        }
        ratios.push((name, figures[JOBS] / empty));
    }
    let short = ratios.iter().filter(|(_, ratio)| *ratio < LEAST);
    let short: Vec<String> = short
        .map(|(name, ratio)| format!("{name}: {ratio:.3}"))
        .collect();
    ensure!(short.is_empty(), "less than {LEAST}: {}", short.join(", "));
    Ok(())
}

/// Calls a second of each server.
fn measure(
    client: &Installed,
    script: &str,
    binary: &PathBuf,
) -> Result<BTreeMap<&'static str, f64>> {
    let mut command = client.command_of(script);
    command.arg(binary).args(SERVERS.map(|(server, _)| server));
    command.stderr(Stdio::null());
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
    let mut figures = BTreeMap::new();
    for (server, _) in SERVERS {
        let of = |line: &str| {
            let (name, figure) = line.split_once(' ')?;
            (name == server).then(|| figure.parse().ok())?
        };
        let rounds: Vec<f64> = text.lines().filter_map(of).collect();
        ensure!(
            rounds.len() >= 10,
            "only {} rounds of {server}",
            rounds.len()
        );
        figures.insert(server, median(rounds));
    }
    Ok(figures)
}

/// Of at least one figure.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
