//! `cargo xtask docs`: `docs/tools.md`, from the tools themselves.
//!
//! Definitions are taken from mounted tools, and every reply that the page shows was given by one. So the page
//! cannot say what the code does not; that it says what the code says is checked by tidy.

mod page;
mod stage;
mod wire;

use crate::workspace::Workspace;
use anyhow::{Context as _, Result, anyhow, bail};
use std::fs;
use std::sync::OnceLock;

/// The page.
pub(crate) const PATH: &str = "docs/tools.md";

/// What to do with the page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail if the page is not what the code says
    #[arg(long)]
    check: bool,
    /// Write nothing; print what each request carries of the job tools, with its size
    #[arg(long, conflicts_with = "check")]
    wire: bool,
}

/// Writes the page, compares it, or prints the wire forms.
///
/// # Errors
///
/// If the page has drifted, a size is above its budget, or a tool does not answer.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.wire {
        let definitions = stage::definitions()?;
        print!("{}", wire::report(&definitions));
        return wire::within_budgets(&definitions);
    }
    let path = workspace.root().join(PATH);
    let page = page()?;
    if !args.check {
        return fs::write(&path, page).with_context(|| format!("failed to write {PATH}"));
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    match drift(&there, page) {
        None => Ok(()),
        Some(line) => bail!("{PATH}:{line} is not what the code says: run cargo xtask docs"),
    }
}

/// The page as it has to be. Made once: a few short commands run for it.
///
/// # Errors
///
/// If a tool does not answer.
pub(crate) fn page() -> Result<&'static str> {
    static PAGE: OnceLock<Result<String, String>> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let material = stage::material().map_err(|error| format!("{error:#}"))?;
        Ok(page::page(&material))
    });
    page.as_deref().map_err(|error| anyhow!("{error}"))
}

/// The first line in which the page that is there differs from the one that has to be.
pub(crate) fn drift(there: &str, page: &str) -> Option<usize> {
    if there == page {
        return None;
    }
    let same = there
        .split('\n')
        .zip(page.split('\n'))
        .take_while(|(there, page)| there == page);
    Some(same.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        for (there, page, line) in [
            ("a\nb\n", "a\nb\n", None),
            ("", "a\n", Some(1)),
            ("a\nc\n", "a\nb\n", Some(2)),
            ("a\n", "a\nb\n", Some(2)),
            ("a\nb\n", "a\n", Some(2)),
            ("a", "a\n", Some(2)),
        ] {
            assert_eq!(drift(there, page), line, "{there:?}");
        }
    }

    #[test]
    fn the_tools_say_the_same_each_time() {
        let once = stage::material().expect("answers");
        let twice = stage::material().expect("answers");
        assert_eq!(page::page(&once), page::page(&twice));
    }
}
