//! A small workspace in a temporary directory that tidy finds good, to be broken one rule at a time.

use super::{Finding, findings, tree::Tree};
use crate::docs;
use crate::workspace::Workspace;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Members with their source files besides `src/lib.rs`.
const MEMBERS: &[(&str, &[&str])] = &[
    ("crates/jobs", &["contain", "registry"]),
    ("crates/jobs-testkit", &["cases"]),
    ("crates/jobs-local", &["sync"]),
    ("crates/tool-jobs", &["sync"]),
    ("crates/jobs-process", &["platform/mod"]),
    ("crates/jobs-mcp", &[]),
    ("crates/jobs-cli", &[]),
    ("tests", &[]),
    ("xtask", &[]),
];

/// A workspace that is removed when it is dropped.
pub(super) struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// A workspace without a finding.
    pub(super) fn good() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let mut fixture = Self { directory };
        fixture = fixture
            .write(
                "Cargo.toml",
                "[workspace]\nmembers = [\"crates/*\", \"tests\", \"xtask\"]\nresolver = \"3\"\n",
            )
            .write(".ci/run", "#!/usr/bin/env bash\n")
            .write(
                "docs/architecture.md",
                "# Architecture\n\n## Crates\n\n\
                 - `crates/jobs`: `contain.rs` and `registry.rs`\n\
                 - `crates/jobs-testkit`: `cases.rs`\n\
                 - `crates/jobs-local`: `sync.rs`\n\
                 - `crates/tool-jobs`: `sync.rs`\n\
                 - `crates/jobs-process`: `platform/`\n\
                 - `crates/jobs-mcp`, `crates/jobs-cli`, later `crates/jobs-<engine>`\n\n\
                 ## Others\n\n`tests/`, `xtask/` and `docs/contract.md`\n",
            )
            .write(docs::PATH, docs::page().expect("a page"))
            .write(
                "docs/contract.md",
                "# Contract\n\n| clause | text | case |\n| --- | --- | --- |\n\
                 | C-1 | A job is started once. | `starts_once` |\n",
            );
        for (member, modules) in MEMBERS {
            let name = match *member {
                "tests" => "jobs-tests",
                other => other.rsplit('/').next().expect("a last part"),
            };
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n"
            );
            fixture = fixture
                .write(&format!("{member}/Cargo.toml"), &manifest)
                .write(&format!("{member}/src/lib.rs"), "//! A crate.\n");
            for module in *modules {
                fixture = fixture.write(&format!("{member}/src/{module}.rs"), "//! A module.\n");
            }
        }
        fixture
            .append(
                "crates/jobs-local/Cargo.toml",
                "jobs = { path = \"../jobs\" }\n",
            )
            .append(
                "crates/jobs-cli/Cargo.toml",
                "jobs-local = { path = \"../jobs-local\" }\n",
            )
            .append(
                "crates/jobs/src/contain.rs",
                "fn call() { let _ = std::panic::catch_unwind(f); }\n",
            )
            .append(
                "crates/jobs/src/registry.rs",
                "/// **C-1** A job is started once.\ntrait Registry {}\n",
            )
            .append(
                "crates/jobs-testkit/src/cases.rs",
                "async fn starts_once() {}\n",
            )
            .append(
                "crates/jobs-process/src/platform/mod.rs",
                "fn f() { unsafe { libc::kill(1, 9) } }\n",
            )
    }

    /// Writes a file.
    pub(super) fn write(self, path: &str, text: &str) -> Self {
        let full = self.path(path);
        fs::create_dir_all(full.parent().expect("a parent")).expect("a new directory");
        fs::write(full, text).expect("a written file");
        self
    }

    /// Adds to the end of a file.
    pub(super) fn append(self, path: &str, text: &str) -> Self {
        let before = self.text(path);
        self.write(path, &(before + text))
    }

    /// Replaces a text that must be there.
    pub(super) fn replace(self, path: &str, from: &str, to: &str) -> Self {
        let before = self.text(path);
        assert!(before.contains(from), "{path} has no {from:?}");
        self.write(path, &before.replace(from, to))
    }

    /// Removes a file or a directory.
    pub(super) fn remove(self, path: &str) -> Self {
        let full = self.path(path);
        if full.is_dir() {
            fs::remove_dir_all(full).expect("a removed directory");
        } else {
            fs::remove_file(full).expect("a removed file");
        }
        self
    }

    /// Expects no finding.
    #[track_caller]
    pub(super) fn expect_nothing(self) {
        assert_eq!(self.found(), Vec::<String>::new());
    }

    /// Expects one finding and no other.
    #[track_caller]
    pub(super) fn expect(self, rule: &str, file: &str, line: usize) {
        assert_eq!(self.found(), [format!("{file}:{line}: {rule}")]);
    }

    /// Expects one finding and no other, at the last line that contains `text`.
    #[track_caller]
    pub(super) fn expect_at(self, rule: &str, file: &str, text: &str) {
        let lines = self.text(file);
        let index = lines
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(text));
        let (index, _) = index.last().expect("a line with the text");
        self.expect(rule, file, index + 1);
    }

    /// Expects one finding and no other, at the first line that contains `text`.
    #[track_caller]
    pub(super) fn expect_first(self, rule: &str, file: &str, text: &str) {
        let index = self.text(file).lines().position(|line| line.contains(text));
        self.expect(rule, file, index.expect("a line with the text") + 1);
    }

    /// Expects these lines of one file to break one rule, and no other.
    #[track_caller]
    pub(super) fn expect_lines(self, rule: &str, file: &str, lines: &[usize]) {
        let expected: Vec<String> = lines
            .iter()
            .map(|line| format!("{file}:{line}: {rule}"))
            .collect();
        assert_eq!(self.found(), expected);
    }

    #[track_caller]
    fn found(&self) -> Vec<String> {
        let workspace = Workspace::at(self.directory.path()).expect("a workspace");
        let tree = Tree::read(&workspace).expect("a readable workspace");
        let shown = |Finding {
                         file, line, rule, ..
                     }: Finding| format!("{file}:{line}: {rule}");
        findings(&tree).into_iter().map(shown).collect()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("a readable file")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }
}

#[test]
fn the_good_workspace_is_good() {
    Fixture::good().expect_nothing();
}

#[test]
fn a_finding_is_one_line() {
    let finding = Finding::new("a.rs", 3, "rule", "mend it");
    assert_eq!(finding.to_string(), "a.rs:3: rule: mend it");
}

#[test]
fn a_file_that_does_not_parse_is_a_finding() {
    let file = "crates/jobs/src/lib.rs";
    Fixture::good()
        .append(file, "fn f( {}\n")
        .expect("syntax", file, 2);
}
