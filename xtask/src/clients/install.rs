//! Clients in a scratch directory, from their package registries.

use crate::workspace::execute;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A client that can be run.
#[derive(Debug)]
pub(super) struct Installed {
    program: PathBuf,
    scripts: PathBuf,
    script: &'static str,
    directory: PathBuf,
}

impl Installed {
    /// One of its scripts, in its directory, before the arguments.
    pub(super) fn command_of(&self, script: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(self.scripts.join(script))
            .current_dir(&self.directory);
        command
    }

    /// The script that runs the cases.
    pub(super) fn command(&self) -> Command {
        self.command_of(self.script)
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
        scripts: scripts.to_owned(),
        script: "client.py",
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
        scripts: directory.clone(),
        script: "client.mjs",
        directory,
    })
}
