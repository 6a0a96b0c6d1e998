//! `cargo xtask model`: the model checks, under `--cfg shuttle`.
//!
//! A model check is a test in `tests/model*.rs` of a crate that has a shim (`src/sync.rs`). It prints a line
//! `check NAME: N schedules passed`; a test file that prints none has checked nothing, and fails.
//!
//! `--broken` proves that the checks can fail. For each variant that the sources hold under
//! `cfg(broken = "NAME")` it builds the checks with that variant, and expects one of them to fail.

use crate::tokens::walk;
use crate::workspace::{Workspace, shown};
use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::{Message, Package, TargetKind};
use clap::builder::BoolishValueParser;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How to check.
#[derive(Debug, clap::Args)]
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
    let tests = Tests::find(workspace)?;
    if args.broken {
        return expect_failures(workspace, &tests, args);
    }
    let mut passed = Vec::new();
    for binary in tests.build(workspace, None)? {
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

fn expect_failures(workspace: &Workspace, tests: &Tests, args: &Args) -> Result<()> {
    let variants = variants(workspace)?;
    ensure!(
        !variants.is_empty(),
        "the sources hold no variant under cfg(broken = \"…\")"
    );
    let mut unnoticed = Vec::new();
    for variant in &variants {
        let mut noticed = false;
        for binary in tests.build(workspace, Some(variant))? {
            noticed = noticed || !binary.run(args)?.success;
        }
        println!(
            "broken {variant}: {}",
            if noticed { "noticed" } else { "NOT noticed" }
        );
        if !noticed {
            unnoticed.push(variant.as_str());
        }
    }
    ensure!(
        unnoticed.is_empty(),
        "not noticed: {}",
        unnoticed.join(", ")
    );
    println!("model: {} broken variants noticed", variants.len());
    Ok(())
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

    /// Builds the test files, with a broken variant if one is named.
    fn build(&self, workspace: &Workspace, broken: Option<&str>) -> Result<Vec<Binary>> {
        let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        flags.push_str(" --cfg shuttle");
        let mut build = workspace.cargo();
        build.env_remove("CARGO_ENCODED_RUSTFLAGS");
        build.env("RUSTFLAGS", flags.trim());
        let target = workspace.target_directory().join("shuttle");
        if let Some(variant) = broken {
            build.env("RUSTC_WORKSPACE_WRAPPER", wrapper(&target, variant)?);
        }
        build.args([
            "test",
            "--no-run",
            "--release",
            "--message-format=json-render-diagnostics",
        ]);
        build.arg("--target-dir").arg(&target);
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

/// A compiler for the workspace's own crates that builds the variant. Its path tells cargo the variants apart,
/// and the crates of others are built once for all of them.
fn wrapper(target: &Path, variant: &str) -> Result<PathBuf> {
    ensure!(
        variant
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_'),
        "a variant has a name of letters, digits and underscores, got {variant}"
    );
    let directory = target.join("broken");
    let path = directory.join(variant);
    let script = format!("#!/bin/sh\nexec \"$@\" --cfg 'broken=\"{variant}\"'\n");
    std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::write(&path, script))
        .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o755)))
        .with_context(|| format!("failed to write {}", path.display()))?;
    Ok(path)
}

fn model_targets(package: &Package) -> Vec<String> {
    let targets = package.targets.iter();
    targets
        .filter(|target| target.is_kind(TargetKind::Test) && target.name.starts_with("model"))
        .map(|target| target.name.clone())
        .collect()
}

/// A test file that is built.
struct Binary {
    package: String,
    directory: PathBuf,
    executable: PathBuf,
}

impl Binary {
    /// Runs it and shows what it prints.
    fn run(&self, args: &Args) -> Result<Outcome> {
        let mut test = Command::new(&self.executable);
        test.current_dir(&self.directory);
        test.env("JOBS_MODEL_SCHEDULES", args.schedules.to_string());
        test.arg("--nocapture").args(&args.filter);
        eprintln!("$ {} ({})", shown(&test), self.package);
        let mut child = test
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start it")?;
        let mut checks = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line.context("failed to read what it prints")?;
                println!("{line}");
                checks.extend(Check::parse(&line));
            }
        }
        let status = child.wait().context("failed to wait for it")?;
        // The test harness ends with 101 if a test fails; anything else is no verdict.
        let success = match status.code() {
            Some(0) => true,
            Some(101) => false,
            _ => bail!("the model checks of {} ended with {status}", self.package),
        };
        Ok(Outcome { success, checks })
    }
}

struct Outcome {
    success: bool,
    checks: Vec<Check>,
}

impl Outcome {
    /// A test file has to pass, and to have checked something.
    fn judge(&self, package: &str, filtered: bool) -> Result<()> {
        ensure!(self.success, "a model check of {package} failed");
        ensure!(
            !self.checks.is_empty() || filtered,
            "{package} has run no model check: expected `check NAME: N schedules passed`"
        );
        let idle = self.checks.iter().find(|check| check.schedules == 0);
        if let Some(Check { name, .. }) = idle {
            bail!("the check {name} of {package} has tried no schedule");
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Check {
    name: String,
    schedules: u64,
}

impl Check {
    /// Reads `check NAME: N schedules passed`; the test harness may have begun the line.
    fn parse(line: &str) -> Option<Self> {
        let (_, line) = line.split_once("check ")?;
        let (name, rest) = line.split_once(": ")?;
        let count = rest.strip_suffix(" schedules passed")?;
        Some(Self {
            name: name.to_owned(),
            schedules: count.parse().ok()?,
        })
    }
}

/// The names in `cfg(broken = "NAME")`.
fn variants(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for package in workspace.packages() {
        let sources = workspace
            .root()
            .join(workspace.directory(package))
            .join("src");
        for entry in ignore::Walk::new(sources) {
            let entry = entry.context("failed to walk the sources")?;
            if entry
                .path()
                .extension()
                .is_some_and(|ending| ending == "rs")
            {
                let text = std::fs::read_to_string(entry.path())?;
                let tokens = text.parse::<TokenStream>();
                let tokens = tokens.map_err(|error| anyhow::anyhow!("{error}"))?;
                found.extend(variants_in(&tokens));
            }
        }
    }
    Ok(found)
}

fn variants_in(tokens: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    walk(tokens, &mut |tokens, at| {
        if let [
            TokenTree::Ident(word),
            TokenTree::Punct(equals),
            TokenTree::Literal(name),
            ..,
        ] = &tokens[at..]
            && word == "broken"
            && equals.as_char() == '='
        {
            found.push(name.to_string().trim_matches('"').to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_check() {
        let check = |name: &str, schedules| {
            let name = name.to_owned();
            Some(Check { name, schedules })
        };
        assert_eq!(
            Check::parse("check settle: 2000 schedules passed"),
            check("settle", 2000)
        );
        assert_eq!(
            Check::parse("test a::b ... check first wins: 1 schedules passed"),
            check("first wins", 1)
        );
        assert_eq!(Check::parse("check settle: many schedules passed"), None);
        assert_eq!(Check::parse("check settle: 2000 schedules tried"), None);
    }

    #[test]
    fn the_variants_of_a_source() {
        let source = r#"
            // cfg(broken = "comment")
            #[cfg(broken = "twice")] fn f() {}
            fn g() -> bool { cfg!(any(test, broken = "late")) }
        "#;
        let tokens: TokenStream = source.parse().expect("tokens");
        assert_eq!(variants_in(&tokens), ["twice", "late"]);
    }
    #[test]
    fn an_outcome_without_a_schedule_is_none() {
        let outcome = |success, counts: &[u64]| Outcome {
            success,
            checks: counts
                .iter()
                .map(|schedules| Check {
                    name: "settle".to_owned(),
                    schedules: *schedules,
                })
                .collect(),
        };
        assert!(outcome(true, &[5]).judge("p", false).is_ok());
        assert!(outcome(false, &[5]).judge("p", false).is_err());
        assert!(outcome(true, &[]).judge("p", false).is_err());
        assert!(outcome(true, &[]).judge("p", true).is_ok());
        assert!(outcome(true, &[5, 0]).judge("p", false).is_err());
    }

    #[test]
    fn a_crate_with_a_shim_has_model_checks() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        let find = || {
            let workspace = Workspace::open(directory.path()).expect("a package");
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

    #[test]
    fn a_variant_is_a_plain_name() {
        let target = tempfile::tempdir().expect("a temporary directory");
        assert!(wrapper(target.path(), "two_locks").is_ok());
        assert!(wrapper(target.path(), "../x'").is_err());
    }
}
