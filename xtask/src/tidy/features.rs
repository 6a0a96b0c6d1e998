//! What the seam may take of a runtime: nothing that runs.

use super::{Finding, edges::declaration, tree::Tree};
use cargo_metadata::{Dependency, DependencyKind, Package};

/// Libraries that bring an executor.
const RUNTIMES: &[&str] = &[
    "async-executor",
    "async-std",
    "futures",
    "futures-executor",
    "glommio",
    "monoio",
    "smol",
];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let Some(seam) = tree.package("jobs") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for dependency in &seam.dependencies {
        if dependency.kind == DependencyKind::Development {
            continue;
        }
        if let Some(advice) = taken(dependency) {
            let (file, line) = declaration(tree, seam, dependency);
            findings.push(Finding::new(file, line, "runtime", advice));
        }
    }
    findings.extend(through_own_features(tree, seam));
    findings
}

/// What is wrong with this dependency of the seam.
fn taken(dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if RUNTIMES.contains(&name) {
        return Some(format!("drop {name}: the seam runs on any runtime"));
    }
    let allowed = allowed_features(name)?;
    if name == "tokio-util" && dependency.uses_default_features {
        return Some("take tokio-util with default-features = false".to_owned());
    }
    let extra: Vec<&str> = dependency
        .features
        .iter()
        .map(String::as_str)
        .filter(|feature| !allowed.contains(feature))
        .collect();
    (!extra.is_empty()).then(|| too_much(name, &extra.join(", ")))
}

/// Features of the seam such as `rt = ["tokio/rt"]`.
fn through_own_features(tree: &Tree<'_>, seam: &Package) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", tree.workspace.directory(seam));
    let mut findings = Vec::new();
    for value in seam.features.values().flatten() {
        let Some((name, feature)) = value.split_once('/') else {
            continue;
        };
        let name = name.trim_end_matches('?');
        if allowed_features(name).is_some_and(|allowed| !allowed.contains(&feature)) {
            let text = tree.file(&manifest).map_or("", |file| &file.text);
            let line = text.lines().position(|line| line.contains(value.as_str()));
            let line = line.map_or(1, |index| index + 1);
            let advice = too_much(name, feature);
            findings.push(Finding::new(&manifest, line, "runtime", advice));
        }
    }
    findings
}

fn allowed_features(library: &str) -> Option<&'static [&'static str]> {
    match library {
        "tokio" => Some(&["sync"]),
        "tokio-util" => Some(&[]),
        _ => None,
    }
}

fn too_much(library: &str, features: &str) -> String {
    format!(
        "drop {features} from {library}: the seam takes of tokio at most sync, of tokio-util no feature"
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    const SEAM: &str = "crates/jobs/Cargo.toml";

    fn with_dependency(line: &str) -> Fixture {
        Fixture::good().replace(
            SEAM,
            "[dependencies]\n",
            &format!("[dependencies]\n{line}\n"),
        )
    }

    #[test]
    fn the_seam_takes_no_runtime_feature_of_tokio() {
        for feature in ["rt", "time", "net", "process", "full"] {
            with_dependency(&format!(
                "tokio = {{ version = \"1\", features = [\"sync\", \"{feature}\"] }}"
            ))
            .expect_at("runtime", SEAM, "tokio =");
        }
    }

    #[test]
    fn a_feature_that_the_workspace_adds_counts() {
        with_dependency("tokio.workspace = true")
            .append(
                "Cargo.toml",
                "[workspace.dependencies]\ntokio = { version = \"1\", features = [\"rt\"] }\n",
            )
            .expect_at("runtime", SEAM, "tokio.workspace");
    }

    #[test]
    fn the_sync_part_of_tokio_is_allowed() {
        with_dependency("tokio = { version = \"1\", features = [\"sync\"] }").expect_nothing();
    }

    #[test]
    fn tokio_util_comes_without_features() {
        with_dependency("tokio-util = \"0.7\"").expect_at("runtime", SEAM, "tokio-util =");
        with_dependency(
            "tokio-util = { version = \"0.7\", default-features = false, features = [\"rt\"] }",
        )
        .expect_at("runtime", SEAM, "tokio-util =");
    }

    #[test]
    fn a_feature_of_the_seam_brings_no_runtime_in() {
        with_dependency("tokio = { version = \"1\", features = [\"sync\"] }")
            .append(SEAM, "[features]\nrt = [\"tokio/rt\"]\n")
            .expect_at("runtime", SEAM, "tokio/rt");
    }

    #[test]
    fn another_executor_is_a_runtime() {
        with_dependency("smol = \"2\"").expect_at("runtime", SEAM, "smol =");
    }

    #[test]
    fn tests_of_the_seam_may_run() {
        Fixture::good()
            .append(
                SEAM,
                "[dev-dependencies]\ntokio = { version = \"1\", features = [\"rt\"] }\n",
            )
            .expect_nothing();
    }
}
