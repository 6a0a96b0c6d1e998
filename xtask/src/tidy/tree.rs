//! What tidy looks at: the members, the text files and the parsed Rust sources.

use super::{Finding, source::Source};
use crate::workspace::{Workspace, relative};
use anyhow::{Context as _, Result};
use cargo_metadata::Package;
use ignore::WalkBuilder;
use std::collections::BTreeSet;

/// The workspace as data. Every check is a function over it.
pub(super) struct Tree<'w> {
    pub(super) workspace: &'w Workspace,
    /// Every text file that git would track, in the order of their paths.
    pub(super) files: Vec<TextFile>,
    /// Those of them that are Rust.
    pub(super) sources: Vec<Source>,
    /// Rust files that cannot be parsed.
    pub(super) unreadable: Vec<Finding>,
}

/// A text file; its path is relative to the root, with `/` between its parts.
pub(super) struct TextFile {
    pub(super) path: String,
    pub(super) text: String,
}

impl<'w> Tree<'w> {
    /// Reads the files below the workspace's root, except ignored and binary ones.
    pub(super) fn read(workspace: &'w Workspace) -> Result<Self> {
        let mut files = Vec::new();
        let walk = WalkBuilder::new(workspace.root())
            .hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_path(Ord::cmp)
            .build();
        for entry in walk {
            let entry = entry.context("failed to walk the workspace")?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let bytes = std::fs::read(entry.path())
                .with_context(|| format!("failed to read {}", entry.path().display()))?;
            if let Ok(text) = String::from_utf8(bytes) {
                let path = relative(workspace.root(), entry.path());
                files.push(TextFile { path, text });
            }
        }
        let mut tree = Self {
            workspace,
            files,
            sources: Vec::new(),
            unreadable: Vec::new(),
        };
        tree.parse_sources();
        Ok(tree)
    }

    fn parse_sources(&mut self) {
        let rust = self.files.iter().filter(|file| file.path.ends_with(".rs"));
        for file in rust {
            match Source::parse(&file.path, &file.text) {
                Ok(source) => self.sources.push(source),
                Err(error) => self.unreadable.push(Finding::new(
                    &file.path,
                    error.span().start().line,
                    "syntax",
                    format!("make it parse: {error}"),
                )),
            }
        }
        let test_files: BTreeSet<String> = self
            .sources
            .iter()
            .flat_map(Source::test_modules_elsewhere)
            .collect();
        for source in &mut self.sources {
            let below = |file: &String| {
                file.strip_suffix(".rs")
                    .is_some_and(|stem| source.path.starts_with(&format!("{stem}/")))
            };
            if test_files.contains(&source.path) || test_files.iter().any(below) {
                source.mark_as_test();
            }
        }
    }

    /// The file at this path.
    pub(super) fn file(&self, path: &str) -> Option<&TextFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The sources below this directory.
    pub(super) fn sources_below(
        &self,
        directory: &str,
    ) -> impl Iterator<Item = &Source> + use<'_, 'w> {
        let prefix = format!("{directory}/");
        self.sources
            .iter()
            .filter(move |source| source.path.starts_with(&prefix))
    }

    /// The member of this name.
    pub(super) fn package(&self, name: &str) -> Option<&Package> {
        let mut packages = self.workspace.packages().iter();
        packages.find(|package| package.name == name)
    }

    /// The members below `crates/`, each with its directory.
    pub(super) fn crates(&self) -> impl Iterator<Item = (&str, String)> {
        self.workspace
            .packages()
            .iter()
            .map(|package| (package.name.as_str(), self.workspace.directory(package)))
            .filter(|(_, directory)| directory.starts_with("crates/"))
    }
}
