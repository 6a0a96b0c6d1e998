//! The reference, on the same machine in the same minutes. Its packages go to a scratch folder below the target
//! directory; the driver that runs them is ours.

use super::measure::{lines, output};
use crate::workspace::{Workspace, execute};
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::process::Command;

/// The packages that are measured; npm brings what they need.
const PACKAGES: [&str; 4] = ["dsh-jobs", "dsh-jobs-local", "dsh-tool-jobs", "dsh-agent"];

const VERSION: &str = "0.1.0-rc.8";

/// Where the driver lies.
const DRIVER: &str = "benches/reference/driver.mjs";

/// What the reference costs.
pub(super) struct Reference {
    /// Of the packages and of what runs them.
    pub(super) version: String,
    values: Vec<Value>,
}

/// What one part of a row costs, in the unit of the row.
#[derive(Deserialize)]
struct Value {
    row: String,
    part: String,
    value: f64,
    /// Where its size differs from ours.
    note: String,
}

impl Reference {
    /// What this part of a row costs, if it was measured, and where its size differs.
    pub(super) fn value(&self, row: &str, part: &str) -> Option<(f64, &str)> {
        let mut values = self.values.iter();
        let value = values.find(|value| value.row == row && value.part == part)?;
        Some((value.value, &value.note))
    }
}

/// Installs the packages and runs the driver.
pub(super) fn run(workspace: &Workspace) -> Result<Reference> {
    let scratch = workspace.target_directory().join("reference");
    std::fs::create_dir_all(&scratch).context("failed to make a scratch folder")?;
    let manifest = scratch.join("package.json");
    std::fs::write(manifest, "{ \"private\": true, \"type\": \"module\" }\n")?;
    let mut npm = Command::new("npm");
    npm.current_dir(&scratch)
        .args(["install", "--no-audit", "--no-fund", "--no-save"]);
    npm.args(PACKAGES.map(|name| format!("@deepseek-ai/{name}@{VERSION}")));
    execute(&mut npm)?;
    // A module finds packages from where it lies.
    let driver = scratch.join("driver.mjs");
    std::fs::copy(workspace.root().join(DRIVER), &driver)
        .with_context(|| format!("failed to copy {DRIVER}"))?;
    let mut node = Command::new("node");
    node.current_dir(&scratch)
        .args(["--expose-gc", "driver.mjs"]);
    let values = lines(&mut node)?;
    let node = output(Command::new("node").arg("--version"))?;
    Ok(Reference {
        version: format!("packages at {VERSION}, Node {}", node.trim()),
        values,
    })
}
