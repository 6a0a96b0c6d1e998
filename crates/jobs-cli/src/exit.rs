//! How the program ends: one table for all commands (spec/compositions.md, Everywhere).

use std::process::ExitCode;

/// The end of the program, for whoever called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was as it should be.
    Good,
    /// Something was not as it should be.
    Bad,
    /// It was called in a wrong way. The parser of the arguments gives the same code.
    Usage,
    /// The surroundings lack something that the program needs.
    Environment,
    /// As a command of the caller ended.
    Code(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Good => 0,
            Exit::Bad => 1,
            Exit::Usage => 2,
            Exit::Environment => 3,
            Exit::Code(code) => code,
        })
    }
}
