//! Clients in a scratch directory, from their package registries.

use crate::workspace::execute;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A client that can be run.
#[derive(Debug)]
pub(super) struct Installed {
    program: PathBuf,
    script: PathBuf,
    directory: PathBuf,
}

impl Installed {
    /// The client, in its directory, before its arguments.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(&self.script).current_dir(&self.directory);
        command
    }
}

/// Installs the client whose script and pinned versions are in `scripts`.
///
/// # Errors
///
/// If python3 with venv, or npm, is missing or does not succeed.
pub(super) fn install(name: &str, scripts: &Path, scratch: &Path) -> Result<Installed> {
    let directory = scratch.join(name);
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    if scripts.join("requirements.txt").exists() {
        python(scripts, directory)
    } else {
        node(scripts, directory)
    }
}

fn python(scripts: &Path, directory: PathBuf) -> Result<Installed> {
    let program = directory.join("bin/python");
    if !program.exists() {
        execute(Command::new("python3").args(["-m", "venv"]).arg(&directory))?;
    }
    let mut pip = Command::new(&program);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
    ]);
    execute(pip.arg(scripts.join("requirements.txt")))?;
    Ok(Installed {
        program,
        script: scripts.join("client.py"),
        directory,
    })
}

/// A script finds its packages from where it lies, so it is copied beside them.
fn node(scripts: &Path, directory: PathBuf) -> Result<Installed> {
    for entry in std::fs::read_dir(scripts)? {
        let entry = entry?;
        std::fs::copy(entry.path(), directory.join(entry.file_name()))?;
    }
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-package-lock",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    execute(npm.current_dir(&directory))?;
    Ok(Installed {
        program: "node".into(),
        script: directory.join("client.mjs"),
        directory,
    })
}
