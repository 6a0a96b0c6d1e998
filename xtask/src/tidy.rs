//! `cargo xtask tidy`: the shape of the workspace, most of it absences.
//!
//! Each check is a function from the [`Tree`] to its findings. Its tests stand next to it: they break its rule
//! in a small workspace that is otherwise good, and expect this finding and no other.

mod absences;
mod architecture;
mod contract;
mod edges;
mod features;
mod generated;
mod locks;
mod paths;
mod shim;
mod source;
mod style;
mod test_code;
mod tree;
mod words;

#[cfg(test)]
mod fixture;

use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::fmt;
use tree::Tree;

type Check = fn(&Tree<'_>) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    edges::check,
    features::check,
    absences::check,
    shim::check,
    locks::check,
    style::check,
    words::check,
    architecture::check,
    contract::check,
    generated::check,
];

/// Prints a line for each finding, and their number.
///
/// # Errors
///
/// If there is a finding, or the workspace cannot be read.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let tree = Tree::read(workspace)?;
    let findings = findings(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    println!(
        "tidy: {} findings in {} files",
        findings.len(),
        tree.files.len()
    );
    if findings.is_empty() {
        return Ok(());
    }
    bail!("tidy has {} findings", findings.len())
}

fn findings(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    findings.extend(tree.unreadable.iter().cloned());
    findings.sort();
    findings
}

/// A broken rule: where, which, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    line: usize,
    rule: &'static str,
    advice: String,
}

impl Finding {
    fn new(
        file: impl Into<String>,
        line: usize,
        rule: &'static str,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            line,
            rule,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            rule,
            advice,
        } = self;
        write!(f, "{file}:{line}: {rule}: {advice}")
    }
}
