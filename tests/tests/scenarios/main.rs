//! The recorded scenarios, run against the local registry and the tools.
//!
//! `JOBS_SCENARIOS` names another folder, `JOBS_SCENARIO_DIFFERENCES` another
//! list of differences than `differences.json` in it.

mod agent;
mod check;
mod config;
mod differences;
mod feed;
mod handle;
mod load;
#[cfg(test)]
mod meta;
mod mount;
mod observer;
mod op;
mod ops;
mod pipeline;
mod project;
mod puppet;
mod record;
mod registry;
mod situation;
mod tools;
mod values;
mod world;

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use check::Differences;

#[test]
fn recorded_scenarios_hold() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios");
    let folder = given("JOBS_SCENARIOS").unwrap_or(own);
    let list = given("JOBS_SCENARIO_DIFFERENCES");
    let differences = list
        .as_deref()
        .map_or(Differences::InFolder, Differences::In);
    let report = check::folder(&folder, differences).unwrap_or_else(|error| panic!("{error}"));
    // Not `print!`: the figures are to be seen of a success too.
    write!(std::io::stdout(), "{report}").expect("the report can be written");
    let deviations = report.deviations.len();
    assert_eq!(
        deviations, 0,
        "scenarios deviate; the lines above say where"
    );
}

/// The path in a variable; one that is relative to the workspace too.
fn given(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(variable)?);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&path);
    let from_workspace = !path.exists() && workspace.exists();
    Some(if from_workspace { workspace } else { path })
}
