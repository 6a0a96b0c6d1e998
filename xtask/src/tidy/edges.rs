//! Which crate may depend on which.

use super::Finding;
use super::tree::Tree;
use cargo_metadata::{Dependency, DependencyKind, Package};

/// The crates of the map.
const MAP: &[&str] = &[
    "jobs",
    "jobs-testkit",
    "jobs-local",
    "tool-jobs",
    "jobs-process",
    "jobs-mcp",
    "jobs-cli",
];

/// The crates that know the seam and nothing else of ours.
const ON_THE_SEAM: &[&str] = &["jobs-local", "tool-jobs", "jobs-process"];

/// Where compositions live besides `crates/jobs-cli`.
const COMPOSITIONS: &[&str] = &["tests", "xtask", "bench", "benches", "examples"];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = missing(tree);
    for package in tree.workspace.packages() {
        for dependency in &package.dependencies {
            if let Some(advice) = forbidden(tree, package, dependency) {
                let (file, line) = declaration(tree, package, dependency);
                findings.push(Finding::new(file, line, "edges", advice));
            }
        }
    }
    findings
}

fn missing(tree: &Tree<'_>) -> Vec<Finding> {
    MAP.iter()
        .filter(|name| tree.package(name).is_none())
        .map(|name| {
            let advice = format!("add the crate {name}: the map has it");
            Finding::new("Cargo.toml", 1, "edges", advice)
        })
        .collect()
}

fn forbidden(tree: &Tree<'_>, package: &Package, dependency: &Dependency) -> Option<String> {
    let (from, to) = (package.name.as_str(), dependency.name.as_str());
    if to == "rmcp" && from != "jobs-mcp" {
        return Some(format!("drop rmcp from {from}: only jobs-mcp names it"));
    }
    if dependency.kind == DependencyKind::Development {
        return None;
    }
    let ours = tree.workspace.has(to);
    if from == "jobs" && ours {
        return Some(format!(
            "drop {to} from jobs: the seam depends on no other crate of ours"
        ));
    }
    if ON_THE_SEAM.contains(&from) && ours && to != "jobs" {
        return Some(format!(
            "drop {to} from {from}: of our crates it may depend on jobs alone"
        ));
    }
    if to == "jobs-local" && !is_composition(tree, package) {
        return Some(format!(
            "drop jobs-local from {from}: only compositions choose a registry"
        ));
    }
    None
}

fn is_composition(tree: &Tree<'_>, package: &Package) -> bool {
    let directory = tree.workspace.directory(package);
    let top = directory.split('/').next().unwrap_or_default();
    package.name == "jobs-cli" || COMPOSITIONS.contains(&top)
}

/// The manifest and the line that declare the dependency; line 1 if it is written in an unusual way.
pub(super) fn declaration(
    tree: &Tree<'_>,
    package: &Package,
    dependency: &Dependency,
) -> (String, usize) {
    let manifest = format!("{}/Cargo.toml", tree.workspace.directory(package));
    let key = dependency.rename.as_ref().unwrap_or(&dependency.name);
    let mut here = false;
    let mut found = 1;
    for (index, line) in tree
        .file(&manifest)
        .map_or("", |file| &file.text)
        .lines()
        .enumerate()
    {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[') {
            here = is_table_of(table, dependency.kind);
            if here && table.trim_end_matches(']').ends_with(&format!(".{key}")) {
                found = index + 1;
            }
            continue;
        }
        let rest = line.trim_start_matches('"').strip_prefix(key.as_str());
        if here && rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=', '"'])) {
            found = index + 1;
        }
    }
    (manifest, found)
}

fn is_table_of(table: &str, kind: DependencyKind) -> bool {
    let dev = table.contains("dev-dependencies");
    let build = table.contains("build-dependencies");
    match kind {
        DependencyKind::Development => dev,
        DependencyKind::Build => build,
        _ => table.contains("dependencies") && !dev && !build,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    const LOCAL: &str = "crates/jobs-local/Cargo.toml";
    const SEAM: &str = "crates/jobs/Cargo.toml";

    #[test]
    fn the_seam_depends_on_none_of_ours() {
        Fixture::good()
            .append(
                SEAM,
                "[build-dependencies]\njobs-testkit = { path = \"../jobs-testkit\" }\n",
            )
            .expect_at("edges", SEAM, "jobs-testkit =");
    }

    #[test]
    fn a_crate_on_the_seam_depends_on_the_seam_alone() {
        for name in ["jobs-local", "tool-jobs", "jobs-process"] {
            let manifest = format!("crates/{name}/Cargo.toml");
            Fixture::good()
                .replace(
                    &manifest,
                    "[dependencies]\n",
                    "[dependencies]\njobs-testkit = { path = \"../jobs-testkit\" }\n",
                )
                .expect_at("edges", &manifest, "jobs-testkit =");
        }
    }

    #[test]
    fn tests_may_depend_on_more() {
        Fixture::good()
            .append(
                LOCAL,
                "[dev-dependencies]\njobs-testkit = { path = \"../jobs-testkit\" }\n",
            )
            .expect_nothing();
    }

    #[test]
    fn one_crate_names_rmcp_even_for_tests() {
        Fixture::good()
            .append(
                "crates/jobs-cli/Cargo.toml",
                "[dev-dependencies]\nrmcp = \"1\"\n",
            )
            .expect_at("edges", "crates/jobs-cli/Cargo.toml", "rmcp");
    }

    #[test]
    fn only_compositions_choose_a_registry() {
        let manifest = "crates/jobs-testkit/Cargo.toml";
        Fixture::good()
            .append(manifest, "jobs-local = { path = \"../jobs-local\" }\n")
            .expect_at("edges", manifest, "jobs-local =");
    }

    #[test]
    fn a_crate_of_the_map_is_missing() {
        Fixture::good()
            .remove("crates/tool-jobs")
            .replace(
                "docs/architecture.md",
                "- `crates/tool-jobs`: `sync.rs`\n",
                "",
            )
            .expect("edges", "Cargo.toml", 1);
    }
}
