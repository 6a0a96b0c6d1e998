//! `docs/architecture.md` is a map: it has every crate and module, and nothing that is not there.
//!
//! What it names are the code spans of the text and the words of its fenced blocks. A heading that names a crate
//! opens it, and the file names below are that crate's. So does an entry that names `crates/x`, for itself. A
//! module that is a directory may be named without a slash there.

use super::Finding;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

const MAP: &str = "docs/architecture.md";

/// Directories whose paths are checked even without an ending such as `.rs`.
const ROOTS: &[&str] = &[
    "benches", "crates", "docs", "tests", "xtask", ".ci", ".cargo",
];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let Some(map) = tree.file(MAP) else {
        let advice = "write it: the map of the crates and their modules";
        return vec![Finding::new(MAP, 1, "map", advice)];
    };
    let existing = Existing::of(tree);
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for Mention {
        line,
        context,
        path,
    } in mentions(tree, &existing, &map.text)
    {
        let found = existing.find(&path, context.as_deref());
        if found.is_empty() {
            let advice = format!("drop {path}, or write it as it is called: it does not exist");
            findings.push(Finding::new(MAP, line, "map", advice));
        }
        named.extend(found);
    }
    for package in tree.workspace.packages() {
        let directory = tree.workspace.directory(package);
        if !named.iter().any(|path| is_within(path, &directory)) {
            let file = format!("{directory}/Cargo.toml");
            let advice = format!("give {directory} a place in {MAP}");
            findings.push(Finding::new(file, 1, "map", advice));
            continue;
        }
        for (module, file) in modules(tree, &directory) {
            let entry = format!("{directory}/src/{module}");
            let is_module =
                |path: &String| *path == format!("{entry}.rs") || is_within(path, &entry);
            if directory.starts_with("crates/") && !named.iter().any(is_module) {
                let advice = format!("give this module a place in {MAP}");
                findings.push(Finding::new(file, 1, "map", advice));
            }
        }
    }
    findings
}

/// The top-level modules of a crate, each with a file of it.
fn modules(tree: &Tree<'_>, directory: &str) -> BTreeMap<String, String> {
    let sources = format!("{directory}/src/");
    let mut modules = BTreeMap::new();
    for source in &tree.sources {
        let Some(below) = source.path.strip_prefix(&sources) else {
            continue;
        };
        let module = below.split('/').next().unwrap_or(below);
        let module = module.trim_end_matches(".rs");
        if !source.is_test_file() && !matches!(module, "lib" | "main") {
            modules
                .entry(module.to_owned())
                .or_insert_with(|| source.path.clone());
        }
    }
    modules
}

/// A path that the map names.
struct Mention {
    line: usize,
    /// The directory of the crate that the text speaks of.
    context: Option<String>,
    path: String,
}

fn mentions(tree: &Tree<'_>, existing: &Existing, text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut section = None;
    let mut context = None;
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced && line.starts_with('#') {
            section = crate_of_heading(tree, line);
            found.extend(section.clone().map(|path| Mention {
                line: index + 1,
                context: None,
                path,
            }));
        }
        if !fenced && !line.starts_with(' ') {
            context.clone_from(&section);
        }
        let items: Vec<&str> = if fenced || line.starts_with('#') {
            line.split_whitespace().collect()
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        for item in items {
            let item = bare(item);
            let path = item.trim_start_matches("./").trim_end_matches('/');
            let is_module = |directory: &String| existing.has(&format!("{directory}/src/{path}"));
            if !(is_path(item) || context.as_ref().is_some_and(is_module)) {
                continue;
            }
            let mut parts = path.split('/');
            if let (Some("crates"), Some(name)) = (parts.next(), parts.next()) {
                context = Some(format!("crates/{name}"));
            }
            found.push(Mention {
                line: index + 1,
                context: context.clone(),
                path: path.to_owned(),
            });
        }
    }
    found
}

/// The directory of the crate that a heading names: `crates/x` in it, or `x` as a code span or alone.
fn crate_of_heading(tree: &Tree<'_>, line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_matches(['#', ' ']);
    let names = |word: &str| {
        let named = |(name, directory): &(&str, String)| {
            bare(word) == directory || word == format!("`{name}`") || title == *name
        };
        tree.crates().find(named)
    };
    let (_, directory) = title.split_whitespace().find_map(names)?;
    Some(directory)
}

/// The word without its punctuation.
fn bare(word: &str) -> &str {
    word.trim_matches(['`', ',', ';', ':', '(', ')'])
}

/// Whether a word is meant as a path: not a type, not a command, not a place holder.
fn is_path(item: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let file = [".rs", ".md", ".toml"]
        .iter()
        .any(|end| item.ends_with(end));
    let rooted = ROOTS.iter().any(|root| {
        item.strip_prefix(root)
            .is_some_and(|rest| rest.starts_with('/'))
    });
    item.chars().all(plain)
        && item.contains(char::is_alphanumeric)
        && (file || rooted || item.ends_with('/'))
}

/// The files and directories that there are.
struct Existing {
    paths: BTreeSet<String>,
}

impl Existing {
    fn of(tree: &Tree<'_>) -> Self {
        let mut paths = BTreeSet::new();
        for file in &tree.files {
            let mut path = file.path.as_str();
            paths.insert(path.to_owned());
            while let Some((parent, _)) = path.rsplit_once('/') {
                paths.insert(parent.to_owned());
                path = parent;
            }
        }
        Self { paths }
    }

    fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// What the path may stand for: itself, or an end of a path in the crate that the text speaks of.
    fn find(&self, path: &str, context: Option<&str>) -> Vec<String> {
        if self.has(path) {
            return vec![path.to_owned()];
        }
        let end = format!("/{path}");
        let mut found = self.paths.iter().filter(|known| known.ends_with(&end));
        match context {
            Some(directory) => found
                .filter(|known| is_within(known, directory))
                .cloned()
                .collect(),
            None => found.next().cloned().into_iter().collect(),
        }
    }
}

fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::MAP;

    #[test]
    fn there_is_no_map() {
        Fixture::good().remove(MAP).expect("map", MAP, 1);
    }

    #[test]
    fn a_crate_has_no_place() {
        Fixture::good()
            .replace(MAP, "- `crates/jobs-testkit`: `cases.rs`\n", "")
            .expect("map", "crates/jobs-testkit/Cargo.toml", 1);
        Fixture::good()
            .replace(MAP, "`xtask/`", "")
            .expect("map", "xtask/Cargo.toml", 1);
    }

    #[test]
    fn a_crate_is_not_named_by_a_longer_name() {
        Fixture::good()
            .replace(MAP, "- `crates/jobs`: `contain.rs` and `registry.rs`\n", "")
            .expect("map", "crates/jobs/Cargo.toml", 1);
    }

    #[test]
    fn a_module_has_no_place() {
        let module = "crates/jobs/src/owner.rs";
        Fixture::good()
            .write(module, "//! A module.\n")
            .expect("map", module, 1);
        Fixture::good()
            .replace(MAP, "`platform/`", "the platform")
            .expect("map", "crates/jobs-process/src/platform/mod.rs", 1);
    }

    #[test]
    fn the_same_name_in_another_crate_is_another_module() {
        Fixture::good()
            .replace(
                MAP,
                "- `crates/tool-jobs`: `sync.rs`",
                "- `crates/tool-jobs`",
            )
            .expect("map", "crates/tool-jobs/src/sync.rs", 1);
    }

    #[test]
    fn a_test_module_needs_no_place() {
        Fixture::good()
            .append("crates/jobs/src/lib.rs", "#[cfg(test)]\nmod checks;\n")
            .write("crates/jobs/src/checks.rs", "//! Checks.\n")
            .expect_nothing();
    }

    #[test]
    fn the_map_names_what_is_not_there() {
        for item in [
            "`crates/jobs-postgres`",
            "`docs/gone.md`",
            "`gone.rs`",
            "`gone/`",
            "`crates/jobs/src/sync.rs`",
        ] {
            Fixture::good()
                .append(MAP, &format!("see {item}\n"))
                .expect_at("map", MAP, item);
        }
    }

    #[test]
    fn fenced_blocks_are_read() {
        Fixture::good()
            .append(MAP, "```\ncrates/jobs      the seam\n  gone.rs\n```\n")
            .expect_at("map", MAP, "gone.rs");
    }

    #[test]
    fn types_commands_and_place_holders_are_no_paths() {
        Fixture::good()
            .append(MAP, "`JobRegistry`, `cargo test`, `jobs::tool`, `crates/jobs-<engine>`, `crates/jobs-mcp`\n")
            .expect_nothing();
    }

    #[test]
    fn an_entry_opens_a_crate_for_itself() {
        Fixture::good()
            .append(
                MAP,
                "- See `crates/jobs`,\n  `contain.rs`.\n- Then `cases.rs`.\n",
            )
            .expect_nothing();
        Fixture::good()
            .append(MAP, "- See `crates/jobs`,\n  `cases.rs`.\n")
            .expect_at("map", MAP, "  `cases.rs`");
    }

    #[test]
    fn a_directory_is_named_without_a_slash() {
        Fixture::good()
            .replace(MAP, "`platform/`", "`platform`")
            .expect_nothing();
    }

    #[test]
    fn a_heading_opens_a_crate() {
        for heading in [
            "jobs-testkit",
            "crates/jobs-testkit, the kit",
            "The kit: `jobs-testkit`",
        ] {
            Fixture::good()
                .replace(MAP, "- `crates/jobs-testkit`: `cases.rs`\n", "")
                .append(MAP, &format!("## {heading}\n\n`cases.rs`\n"))
                .expect_nothing();
        }
        Fixture::good()
            .append(MAP, "## crates/jobs, the seam\n\n`cases.rs`\n")
            .expect_at("map", MAP, "`cases.rs`");
    }

    #[test]
    fn the_next_heading_closes_it() {
        Fixture::good()
            .append(
                MAP,
                "## crates/jobs\n\n## Absences\n\n`cases.rs` is named.\n",
            )
            .expect_nothing();
    }
}
