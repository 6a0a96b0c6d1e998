//! Broken variants: one change each, applied to a copy of the sources.
//!
//! They are listed in `tests/broken.toml` of a crate, so nothing in the sources exists for them. A
//! variant whose text is not in its file exactly once is an error: it would prove nothing.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A change that a model check has to notice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    /// What is broken.
    pub(super) name: String,
    /// The check that has to fail, by the whole name of its test.
    pub(super) check: String,
    /// The file, below the crate.
    file: PathBuf,
    /// The text that is replaced.
    from: String,
    /// What stands there instead.
    to: String,
    /// The crate.
    #[serde(skip)]
    pub(super) package: String,
    /// The crate, below the workspace.
    #[serde(skip)]
    directory: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    variant: Vec<Variant>,
}

/// The variants of all crates.
pub(super) fn variants(workspace: &Workspace) -> Result<Vec<Variant>> {
    let mut all = Vec::new();
    for package in workspace.packages() {
        let directory = workspace.directory(package);
        let list = workspace.root().join(&directory).join("tests/broken.toml");
        if list.exists() {
            let text = fs::read_to_string(&list)?;
            let list: List = toml::from_str(&text).with_context(|| list.display().to_string())?;
            all.extend(list.variant.into_iter().map(|variant| Variant {
                package: package.name.to_string(),
                directory: directory.clone(),
                ..variant
            }));
        }
    }
    Ok(all)
}

/// A copy of the sources, in which one variant at a time is broken.
pub(super) struct Copy {
    root: PathBuf,
}

impl Copy {
    /// Copies the sources of the workspace to `root`.
    pub(super) fn make(workspace: &Workspace, root: PathBuf) -> Result<Self> {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        for entry in ignore::WalkBuilder::new(workspace.root())
            .hidden(false)
            .build()
        {
            let entry = entry.context("failed to walk the sources")?;
            let below = entry.path().strip_prefix(workspace.root())?;
            if entry.file_type().is_some_and(|kind| kind.is_file()) && !below.starts_with(".git") {
                let to = root.join(below);
                fs::create_dir_all(to.parent().unwrap_or(&root))?;
                fs::copy(entry.path(), to)?;
            }
        }
        Ok(Self { root })
    }

    /// The copy, as a workspace.
    pub(super) fn workspace(&self) -> Result<Workspace> {
        Workspace::at(&self.root)
    }

    /// Runs `work` while the copy holds the variant.
    pub(super) fn broken<T>(
        &self,
        variant: &Variant,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let file = self.root.join(&variant.directory).join(&variant.file);
        let sound = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        replace(&file, &variant.apply(&sound)?)?;
        let result = work();
        replace(&file, &sound)?;
        result
    }
}

/// Writes a file that a build must notice: its time moves.
fn replace(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("failed to write {}", file.display()))
}

impl Variant {
    fn apply(&self, text: &str) -> Result<String> {
        let found = text.matches(&self.from).count();
        ensure!(
            found == 1,
            "variant {}: expected its text once in {}, found it {found} times",
            self.name,
            self.file.display()
        );
        Ok(text.replacen(&self.from, &self.to, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(from: &str) -> Variant {
        Variant {
            name: "v".into(),
            check: "c".into(),
            file: "src/a.rs".into(),
            from: from.into(),
            to: "x".into(),
            package: "p".into(),
            directory: "p".into(),
        }
    }

    #[test]
    fn a_variant_changes_one_place() {
        assert_eq!(variant("b").apply("abc").expect("it is there once"), "axc");
        assert!(variant("b").apply("abcb").is_err());
        assert!(variant("d").apply("abc").is_err());
    }

    #[test]
    fn every_variant_fits_its_file() {
        let workspace = Workspace::find().expect("this workspace");
        let variants = variants(&workspace).expect("the lists");
        assert!(!variants.is_empty());
        for variant in variants {
            let file = workspace
                .root()
                .join(&variant.directory)
                .join(&variant.file);
            let text = fs::read_to_string(file).expect("a source");
            variant.apply(&text).expect("a text that is there once");
        }
    }

    #[test]
    fn a_copy_is_broken_only_for_a_while() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let source = directory.path().join("source");
        fs::create_dir_all(source.join("p/src")).expect("a directory");
        fs::write(
            source.join("Cargo.toml"),
            "[workspace]\nmembers = [\"p\"]\nresolver = \"3\"\n",
        )
        .expect("a file");
        fs::write(
            source.join("p/Cargo.toml"),
            "[package]\nname = \"p\"\nedition = \"2024\"\n",
        )
        .expect("a file");
        fs::write(source.join("p/src/lib.rs"), "").expect("a file");
        fs::write(source.join("p/src/a.rs"), "abc").expect("a file");
        let workspace = Workspace::at(&source).expect("a workspace");
        let copy = Copy::make(&workspace, directory.path().join("copy")).expect("a copy");
        let file = directory.path().join("copy/p/src/a.rs");
        let during = copy
            .broken(&variant("b"), || Ok(fs::read_to_string(&file)?))
            .expect("the text");
        assert_eq!(during, "axc");
        assert_eq!(fs::read_to_string(&file).expect("the text"), "abc");
        assert_eq!(
            fs::read_to_string(source.join("p/src/a.rs")).expect("the text"),
            "abc"
        );
    }
}
