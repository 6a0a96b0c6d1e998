//! One Rust file, as tokens, paths and test regions.
//!
//! Checks look at tokens, not at text: comments and string literals never match, and the bodies of macros
//! are seen as well.

use super::paths::{Imports, PathUse, paths};
use super::test_code::{is_for_tests, is_test_path, test_lines};
use crate::tokens::walk;
use proc_macro2::{TokenStream, TokenTree};
use std::ops::RangeInclusive;

/// A parsed Rust file.
pub(super) struct Source {
    /// Relative to the root, with `/` between its parts.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) tokens: TokenStream,
    pub(super) syntax: syn::File,
    /// Every path in the file, in order, imports included.
    pub(super) paths: Vec<PathUse>,
    imports: Imports,
    tests: Tests,
}

enum Tests {
    Everything,
    Lines(Vec<RangeInclusive<usize>>),
}

impl Source {
    /// Parses a file.
    pub(super) fn parse(path: &str, text: &str) -> syn::Result<Self> {
        let syntax = syn::parse_file(text)?;
        let tokens: TokenStream = text.parse()?;
        let tests = if is_test_path(path) {
            Tests::Everything
        } else {
            Tests::Lines(test_lines(&syntax))
        };
        let (paths, imports) = paths(&tokens);
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            paths,
            imports,
            tokens,
            syntax,
            tests,
        })
    }

    /// Whether this line is compiled only for tests.
    pub(super) fn is_test(&self, line: usize) -> bool {
        match &self.tests {
            Tests::Everything => true,
            Tests::Lines(lines) => lines.iter().any(|range| range.contains(&line)),
        }
    }

    /// Whether the whole file is compiled only for tests.
    pub(super) fn is_test_file(&self) -> bool {
        matches!(self.tests, Tests::Everything)
    }

    /// The whole file is compiled only for tests.
    pub(super) fn mark_as_test(&mut self) {
        self.tests = Tests::Everything;
    }

    /// The files that modules like `#[cfg(test)] mod name;` may lie in.
    pub(super) fn test_modules_elsewhere(&self) -> Vec<String> {
        let directory = match self.path.rsplit_once('/') {
            Some((parent, "lib.rs" | "main.rs" | "mod.rs")) => parent.to_owned(),
            _ => self.path.trim_end_matches(".rs").to_owned(),
        };
        let modules = self.syntax.items.iter().filter_map(|item| match item {
            syn::Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => {
                Some(module.ident.to_string())
            }
            _ => None,
        });
        modules
            .flat_map(|name| {
                [
                    format!("{directory}/{name}.rs"),
                    format!("{directory}/{name}/mod.rs"),
                ]
            })
            .collect()
    }

    /// The paths that name something forbidden, once each: at the import, or where it is written in full.
    ///
    /// `matched` says how many leading segments name it.
    pub(super) fn naming(
        &self,
        matched: impl Fn(&[String]) -> Option<usize>,
    ) -> impl Iterator<Item = &PathUse> {
        self.paths.iter().filter(move |path| {
            matched(&path.segments).is_some_and(|length| length > path.imported)
        })
    }

    /// The segments of a path in this file, a leading import written out.
    pub(super) fn written_out(&self, path: &syn::Path) -> Vec<String> {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        let mut segments: Vec<String> = segments.collect();
        if let Some(full) = self.imports.get(&segments[0]) {
            segments.splice(..1, full.iter().cloned());
        }
        segments
    }

    /// Calls `visit` with every list of tokens and each place in it.
    pub(super) fn walk(&self, visit: &mut impl FnMut(&[TokenTree], usize)) {
        walk(&self.tokens, visit);
    }

    /// The names of the functions that the file defines.
    pub(super) fn functions(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.walk(&mut |tokens, at| {
            if let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = &tokens[at..]
                && word == "fn"
            {
                found.push(name.to_string());
            }
        });
        found
    }
}
