//! How the program ends: one table for all commands (spec/compositions.md, Everywhere).

use std::process::ExitCode;

/// The end of the program, for whoever called it.
///
/// The code 2, for a wrong use, is given by the parser of the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was as it should be.
    Good,
    /// Something was not as it should be.
    Bad,
    /// The surroundings lack something that the program needs.
    Environment,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Good => 0,
            Exit::Bad => 1,
            Exit::Environment => 3,
        })
    }
}
