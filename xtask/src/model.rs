//! `cargo xtask model`: the model checks, under `--cfg shuttle`.
//!
//! A model check is a test in `tests/model*.rs` of a crate that has a shim (`src/sync.rs`). It prints a line
//! `check NAME: N schedules passed`; a test file that prints none has checked nothing, and fails.
//!
//! `--broken` proves that the checks can fail. For each variant in a crate's `tests/broken.toml` it builds the
//! checks from a copy of the sources that holds the variant, and expects the check that is named there to fail. These
//! builds are not optimised: each is run once, for seconds.
//! A check that fails prints its schedule; with that in `JOBS_MODEL_REPLAY` the same check runs it again.

mod binary;
mod variants;

use crate::workspace::{Workspace, shown};
use anyhow::{Context as _, Result, ensure};
use binary::Binary;
use cargo_metadata::{Message, Package, TargetKind};
use clap::builder::BoolishValueParser;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use variants::{Copy, Variant, variants};

/// How to check.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Schedules that each check tries
    #[arg(long, env = "JOBS_MODEL_SCHEDULES", default_value_t = 2000)]
    pub(crate) schedules: u64,
    /// Expect the checks to notice each broken variant of the sources
    #[arg(long, env = "JOBS_MODEL_BROKEN", value_parser = BoolishValueParser::new())]
    pub(crate) broken: bool,
    /// Run only tests whose names contain this
    pub(crate) filter: Option<String>,
}

/// Runs the checks.
///
/// # Errors
///
/// If a check fails, a crate with a shim has none, or a broken variant is not noticed.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.broken {
        return expect_failures(workspace, args);
    }
    let tests = Tests::find(workspace)?;
    let target = workspace.target_directory().join("shuttle");
    let mut passed = Vec::new();
    for binary in tests.build(workspace, &target, Build::Fast)? {
        let outcome = binary.run(args)?;
        outcome.judge(&binary.package, args.filter.is_some())?;
        passed.extend(outcome.checks);
    }
    ensure!(!passed.is_empty(), "no model check has run");
    let schedules: u64 = passed.iter().map(|check| check.schedules).sum();
    println!(
        "model: {} checks, {schedules} schedules passed",
        passed.len()
    );
    Ok(())
}

fn expect_failures(workspace: &Workspace, args: &Args) -> Result<()> {
    let variants = variants(workspace)?;
    ensure!(
        !variants.is_empty(),
        "no crate lists broken variants (tests/broken.toml)"
    );
    let target = workspace.target_directory().join("shuttle");
    let copy = Copy::make(workspace, target.join("broken"))?;
    let copied = copy.workspace()?;
    let tests = Tests::find(&copied)?;
    let mut unnoticed = Vec::new();
    let chosen = |variant: &&Variant| {
        let filter = args.filter.as_deref().unwrap_or_default();
        variant.check.contains(filter)
    };
    for variant in variants.iter().filter(chosen) {
        let only = Args {
            filter: Some(variant.check.clone()),
            ..args.clone()
        };
        println!(
            "\nbroken {}: expecting {} to fail",
            variant.name, variant.check
        );
        let noticed = copy.broken(variant, || {
            let mut noticed = false;
            let tests = tests.of(&variant.package);
            for binary in tests.build(&copied, &target, Build::Soon)? {
                noticed |= !binary.run(&only)?.success;
            }
            Ok(noticed)
        })?;
        let verdict = if noticed { "noticed" } else { "NOT noticed" };
        println!("broken {}: {verdict} by {}", variant.name, variant.check);
        if !noticed {
            unnoticed.push(variant.name.as_str());
        }
    }
    ensure!(
        unnoticed.is_empty(),
        "not noticed: {}",
        unnoticed.join(", ")
    );
    let noticed = variants.iter().filter(chosen).count();
    ensure!(noticed > 0, "no broken variant is for this check");
    println!("model: {noticed} broken variants noticed");
    Ok(())
}

/// What a build is for.
#[derive(Clone, Copy)]
enum Build {
    /// Many schedules.
    Fast,
    /// A few, soon. It computes like the other one.
    Soon,
}

impl Build {
    fn apply(self, build: &mut Command) {
        match self {
            Self::Fast => build.arg("--release"),
            Self::Soon => build
                .env("CARGO_PROFILE_DEV_DEBUG", "false")
                .env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false")
                .env("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false"),
        };
    }
}

/// The test files that hold model checks: package and target.
struct Tests {
    targets: Vec<(String, String)>,
}

impl Tests {
    fn find(workspace: &Workspace) -> Result<Self> {
        let mut targets = Vec::new();
        for package in workspace.packages() {
            let own = model_targets(package);
            let shim = Path::new(&workspace.directory(package)).join("src/sync.rs");
            ensure!(
                !own.is_empty() || !workspace.root().join(&shim).exists(),
                "{} has a shim and no model check: add tests/model.rs",
                package.name
            );
            targets.extend(
                own.into_iter()
                    .map(|target| (package.name.to_string(), target)),
            );
        }
        ensure!(
            !targets.is_empty(),
            "no crate has model checks (tests/model*.rs)"
        );
        Ok(Self { targets })
    }

    /// Those of one package.
    fn of(&self, package: &str) -> Self {
        let of_package = self.targets.iter().filter(|(name, _)| name == package);
        Self {
            targets: of_package.cloned().collect(),
        }
    }

    /// Builds the test files.
    fn build(&self, workspace: &Workspace, target: &Path, kind: Build) -> Result<Vec<Binary>> {
        let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        flags.push_str(" --cfg shuttle");
        let mut build = workspace.cargo();
        build.env_remove("CARGO_ENCODED_RUSTFLAGS");
        build.env("RUSTFLAGS", flags.trim());
        build.args([
            "test",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ]);
        kind.apply(&mut build);
        build.arg("--target-dir").arg(target);
        let packages: BTreeSet<_> = self.targets.iter().map(|(package, _)| package).collect();
        let names: BTreeSet<_> = self.targets.iter().map(|(_, target)| target).collect();
        build.args(packages.iter().flat_map(|package| ["--package", package]));
        build.args(names.iter().flat_map(|target| ["--test", target]));
        eprintln!("$ {}", shown(&build));
        let output = build
            .stderr(Stdio::inherit())
            .output()
            .context("failed to start cargo")?;
        ensure!(output.status.success(), "the model checks do not build");
        let mut binaries = Vec::new();
        for message in Message::parse_stream(output.stdout.as_slice()) {
            if let Message::CompilerArtifact(artifact) = message?
                && let Some(executable) = artifact.executable
            {
                let package = workspace
                    .packages()
                    .iter()
                    .find(|p| p.id == artifact.package_id);
                let package =
                    package.context("cargo built a test of a package that is not ours")?;
                let manifest = package.manifest_path.as_std_path();
                binaries.push(Binary {
                    package: package.name.to_string(),
                    directory: manifest.parent().unwrap_or(manifest).to_owned(),
                    executable: executable.into(),
                });
            }
        }
        ensure!(
            binaries.len() == self.targets.len(),
            "cargo built {} of {} files of model checks",
            binaries.len(),
            self.targets.len()
        );
        Ok(binaries)
    }
}

fn model_targets(package: &Package) -> Vec<String> {
    let targets = package.targets.iter();
    targets
        .filter(|target| target.is_kind(TargetKind::Test) && target.name.starts_with("model"))
        .map(|target| target.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_a_shim_has_model_checks() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        let find = || {
            let workspace = Workspace::at(directory.path()).expect("a package");
            Tests::find(&workspace).map(|tests| tests.targets)
        };
        write(
            "Cargo.toml",
            "[package]\nname = \"p\"\nedition = \"2024\"\n",
        );
        write("src/lib.rs", "");
        let error = find().expect_err("no checks").to_string();
        assert!(error.starts_with("no crate has model checks"), "{error}");
        write("src/sync.rs", "");
        let error = find().expect_err("no checks").to_string();
        assert!(
            error.starts_with("p has a shim and no model check"),
            "{error}"
        );
        write("tests/model.rs", "");
        write("tests/other.rs", "");
        let found = find().expect("a check");
        assert_eq!(found, [("p".to_owned(), "model".to_owned())]);
    }
}
