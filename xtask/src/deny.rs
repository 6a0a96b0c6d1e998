//! `cargo xtask deny`: licences and sources of what we depend on, against `deny.toml`.
//!
//! `cargo deny` reads the same file and is used where it is installed. Without it the licences and the sources
//! are checked here, from `cargo metadata`, which needs no network once the crates are there. Advisories need
//! the advisory database, a git repository; they are checked on demand only, and otherwise reported as not
//! checked.

use crate::workspace::{Workspace, execute};
use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::{MetadataCommand, Package};
use serde::Deserialize;
use spdx::{Expression, LicenseReq, ParseMode};
use std::collections::BTreeSet;
use std::process::Stdio;

/// What to check.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Check the advisories too; needs cargo-deny and access to the advisory database
    #[arg(long)]
    advisories: bool,
}

/// The part of `deny.toml` that we read ourselves.
#[derive(Debug, Deserialize)]
struct Config {
    licenses: Licenses,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

/// Checks licences and sources.
///
/// # Errors
///
/// If a dependency is not allowed, `Cargo.lock` is out of date, or an allowed licence is not in use.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.advisories {
        ensure!(
            installed(workspace),
            "advisories need cargo-deny: cargo install --locked cargo-deny"
        );
        return execute(workspace.cargo().args(["deny", "--locked", "check"]));
    }
    if installed(workspace) {
        let mut check = workspace.cargo();
        check.args([
            "deny",
            "--locked",
            "--offline",
            "check",
            "licenses",
            "bans",
            "sources",
        ]);
        execute(&mut check)?;
    } else {
        println!("deny: cargo-deny is not installed; licences and sources are checked here");
        own(workspace)?;
    }
    println!(
        "deny: advisories NOT checked: that needs the advisory database (cargo xtask deny --advisories)"
    );
    Ok(())
}

fn installed(workspace: &Workspace) -> bool {
    let mut version = workspace.cargo();
    version.args(["deny", "--version"]);
    version.stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

fn own(workspace: &Workspace) -> Result<()> {
    let path = workspace.root().join("deny.toml");
    let text = std::fs::read_to_string(&path).context("failed to read deny.toml")?;
    let config: Config = toml::from_str(&text).context("failed to parse deny.toml")?;
    let metadata = MetadataCommand::new()
        .current_dir(workspace.root())
        .other_options(vec!["--locked".to_owned(), "--all-features".to_owned()])
        .exec()
        .context("failed to read the dependencies; is Cargo.lock up to date?")?;
    let findings = check(&metadata.packages, &config.licenses.allow);
    for finding in &findings {
        println!("{finding}");
    }
    println!(
        "deny: {} findings in {} packages",
        findings.len(),
        metadata.packages.len()
    );
    ensure!(findings.is_empty(), "deny has {} findings", findings.len());
    Ok(())
}

fn check(packages: &[Package], allow: &BTreeSet<String>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut used = BTreeSet::new();
    for package in packages {
        let who = format!("{} {}", package.name, package.version);
        if let Some(source) = &package.source
            && !source.is_crates_io()
        {
            findings.push(format!(
                "{who}: take it from the registry, not from {source}"
            ));
        }
        match licence(package) {
            Ok(expression) => {
                used.extend(expression.requirements().map(|r| r.req.to_string()));
                if !expression.evaluate(|required| is_allowed(required, allow)) {
                    findings.push(format!(
                        "{who}: drop it, or allow its licence in deny.toml: {expression}"
                    ));
                }
            }
            Err(problem) => findings.push(format!("{who}: drop it, or clarify: {problem:#}")),
        }
    }
    let idle = allow.difference(&used);
    findings.extend(idle.map(|licence| {
        format!("deny.toml: drop {licence} from the list: nothing here is under it")
    }));
    findings
}

fn licence(package: &Package) -> Result<Expression> {
    let Some(text) = &package.license else {
        bail!("it states no licence expression");
    };
    Expression::parse_mode(text, ParseMode::LAX)
        .with_context(|| format!("its licence cannot be read: {text}"))
}

fn is_allowed(required: &LicenseReq, allow: &BTreeSet<String>) -> bool {
    allow.contains(&required.to_string())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::workspace::Workspace;
    use cargo_metadata::Package;
    use std::collections::BTreeSet;
    use std::fs;

    /// A package whose manifest has this line.
    fn package(line: &str) -> Package {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let manifest = format!("[package]\nname = \"p\"\nversion = \"1.0.0\"\n{line}\n");
        fs::write(directory.path().join("Cargo.toml"), manifest).expect("a manifest");
        fs::create_dir(directory.path().join("src")).expect("a directory");
        fs::write(directory.path().join("src/lib.rs"), "").expect("a source");
        let workspace = Workspace::at(directory.path()).expect("a package");
        workspace.packages()[0].clone()
    }

    fn findings(package: Package) -> Vec<String> {
        let allow = BTreeSet::from(["MIT".to_owned()]);
        let other = self::package("license = \"MIT\"");
        check(&[package, other], &allow)
    }

    #[test]
    fn a_choice_with_an_allowed_licence_passes() {
        for text in ["MIT", "MIT OR GPL-3.0-only", "MIT/Apache-2.0"] {
            let found = findings(package(&format!("license = \"{text}\"")));
            assert_eq!(found, Vec::<String>::new());
        }
    }

    #[test]
    fn another_licence_is_found() {
        for text in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT WITH LLVM-exception",
            "My own",
        ] {
            let found = findings(package(&format!("license = \"{text}\"")));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("p 1.0.0: drop it"), "{found:?}");
        }
        assert_eq!(findings(package("")).len(), 1);
        assert_eq!(findings(package("license-file = \"LICENSE\"")).len(), 1);
    }

    #[test]
    fn another_source_is_found() {
        let mut package = package("license = \"MIT\"");
        let source = serde_json::from_str("\"git+https://example.com/p\"");
        package.source = Some(source.expect("a source"));
        let found = findings(package);
        assert_eq!(
            found,
            ["p 1.0.0: take it from the registry, not from git+https://example.com/p"]
        );
    }

    #[test]
    fn an_allowed_licence_is_in_use() {
        let allow = BTreeSet::from(["ISC".to_owned(), "MIT".to_owned()]);
        let found = check(&[package("license = \"MIT\"")], &allow);
        assert_eq!(
            found,
            ["deny.toml: drop ISC from the list: nothing here is under it"]
        );
    }
}
