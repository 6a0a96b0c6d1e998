//! No lock is held across a call into foreign code, or across an await.
//!
//! Foreign code is called through `contain`, or it is a future that is polled, or a waker. The check follows, function by function, which guards are live:
//!
//! 1. A guard is what `.lock()`, `.write()` or `.read()` without arguments returns (`try_` too), or a function
//!    of the same crate whose return type is a guard.
//! 2. A guard bound by `let` lives to the end of its block, to `drop(guard)`, or to where it is given away.
//! 3. A guard that is not bound lives to the end of its statement, and through the bodies of `match`, `for`,
//!    `if let` and `while let`.
//! 4. After branches, a guard is live if it is live at the end of a branch that does not leave.
//! 5. A closure runs where it stands. Closures given to a function that calls them under a guard run under it.
//! 6. An `async` block does not run where it stands.
//!
//! It follows guards neither into structures nor into the functions that are called meanwhile.
//! `clippy::await_holding_lock` knows types and stands beside it for awaits.

mod branches;
mod guards;
mod visitor;

use super::{Finding, tree::Tree};
use guards::Functions;
use visitor::Visitor;

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, directory) in tree.crates() {
        let sources: Vec<_> = tree.sources_below(&format!("{directory}/src")).collect();
        let mut functions = Functions::locking(&sources);
        for source in &sources {
            let calling = Visitor::follow(source, &functions).calling;
            functions.calling.extend(calling);
        }
        for source in sources {
            let held = Visitor::follow(source, &functions).held;
            findings.extend(held.into_iter().map(|held| {
                let advice = format!(
                    "release the lock of line {} before {}",
                    held.locked, held.what
                );
                Finding::new(&source.path, held.line, "locks", advice)
            }));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
