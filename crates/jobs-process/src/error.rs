//! What can go wrong before a job exists.

use std::path::PathBuf;

/// A situation in which no process was started.
///
/// What goes wrong later (a program that does not exist, a tree that cannot be stopped) is the
/// outcome of the job, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// This is not Linux, or a Linux without pidfds.
    #[error("unsupported platform: expected Linux 5.4 or later, got {got}; run the host there")]
    UnsupportedPlatform {
        /// What is missing here.
        got: String,
    },
    /// A setting is out of its range.
    #[error(transparent)]
    Config(#[from] jobs::ConfigError),
    /// The argument vector has no program.
    #[error("empty command: expected at least a program, got no arguments")]
    EmptyCommand,
    /// A NUL byte, which no argument, variable or path can hold.
    #[error("invalid {what}: expected text without NUL bytes, got one at byte {at}; remove it")]
    Nul {
        /// Where it was found.
        what: String,
        /// Its position in bytes.
        at: usize,
    },
    /// A variable name that no environment can hold.
    #[error("invalid variable name {name:?}: expected a non-empty name without '='")]
    VariableName {
        /// The name as given.
        name: String,
    },
    /// The working directory is missing, or no directory, or cannot be entered.
    #[error("invalid working directory {}: expected an accessible directory, got {got}", path.display())]
    WorkingDirectory {
        /// The directory as given.
        path: PathBuf,
        /// What was found.
        got: String,
    },
    /// The launcher refused the command.
    #[error("refused by the launcher: {reason}")]
    Vetoed {
        /// Its words.
        reason: String,
    },
    /// The script file of a long command could not be written.
    #[error("cannot write the script of a command longer than {limit} bytes; make room in {}", path.display())]
    Script {
        /// The longest command that needs none.
        limit: usize,
        /// Where it was to be written.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Pipes or descriptors ran out, or `/dev/null` cannot be opened.
    #[error(
        "cannot set up a process; see the cause: free descriptors or raise their limit, then try again"
    )]
    Setup {
        /// Why.
        source: std::io::Error,
    },
    /// No tokio runtime with I/O and time is running here.
    #[error("no runtime: expected a call inside a tokio runtime with I/O and time enabled")]
    NoRuntime,
}

impl ProcessError {
    /// The same call may succeed later, unchanged.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Setup { .. } | Self::Script { .. })
    }
}
