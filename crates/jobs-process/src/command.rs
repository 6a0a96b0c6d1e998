//! What to run, in the words of whoever asks for it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::OnLeaderExit;

/// A command for a [`ProcessRunner`](crate::ProcessRunner).
///
/// # Examples
///
/// ```
/// use jobs_process::{JobCommand, Streams};
///
/// let build = JobCommand::shell("make -j2 2>&1 | tail")
///     .with_cwd("/src")
///     .with_env("MAKEFLAGS", "--silent");
/// let serve = JobCommand::argv(["python3", "-m", "http.server"]).with_streams(Streams::Merged);
/// ```
#[derive(Debug, Clone)]
pub struct JobCommand {
    pub(crate) program: Program,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) streams: Streams,
    pub(crate) on_leader_exit: Option<OnLeaderExit>,
    pub(crate) max_runtime: Option<Duration>,
}

/// A shell command or a program with its arguments.
#[derive(Debug, Clone)]
pub(crate) enum Program {
    Shell(OsString),
    Argv(Vec<OsString>),
}

/// How stdout and stderr reach the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// A pipe each: the reader knows which is which, and not their order.
    #[default]
    Separate,
    /// One pipe for both: the true order, and all of it counts as stdout.
    Merged,
}

impl JobCommand {
    /// A command line for the configured shell. Longer ones than an argument can be go through a
    /// temporary script.
    pub fn shell(command: impl Into<OsString>) -> Self {
        Self::of(Program::Shell(command.into()))
    }

    /// A program, found by `PATH` unless it holds a slash, and its arguments.
    pub fn argv<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self::of(Program::Argv(argv.into_iter().map(Into::into).collect()))
    }

    fn of(program: Program) -> Self {
        Self {
            program,
            cwd: None,
            env: Vec::new(),
            stdin: Vec::new(),
            streams: Streams::default(),
            on_leader_exit: None,
            max_runtime: None,
        }
    }

    /// Runs in this directory; a relative one begins at the host's. Without it: the host's.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets a variable, whatever the host has and whatever it looks like.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Gives the command these bytes to read; without them its input is empty.
    #[must_use]
    pub fn with_stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// One pipe or two.
    #[must_use]
    pub fn with_streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// Overrides the runner's setting for this command.
    #[must_use]
    pub fn with_on_leader_exit(mut self, what: OnLeaderExit) -> Self {
        self.on_leader_exit = Some(what);
        self
    }

    /// Overrides the runner's limit for this command.
    #[must_use]
    pub fn with_max_runtime(mut self, limit: Duration) -> Self {
        self.max_runtime = Some(limit);
        self
    }

    /// What to call the program in errors.
    pub(crate) fn program_name(&self) -> String {
        let name = match &self.program {
            Program::Shell(_) => "the shell".into(),
            Program::Argv(argv) => argv
                .first()
                .map_or("nothing".into(), |name| name.to_string_lossy()),
        };
        jobs::text::one_line(&name).into_owned()
    }

    /// One line for people: the command or the arguments.
    pub(crate) fn label(&self) -> String {
        let text = match &self.program {
            Program::Shell(command) => command.to_string_lossy().into_owned(),
            Program::Argv(argv) => argv
                .iter()
                .map(|argument| argument.to_string_lossy())
                .collect::<Vec<_>>()
                .join(" "),
        };
        let line = jobs::text::one_line(text.trim());
        let label = jobs::text::head(&line, 200);
        if label.is_empty() {
            "(empty command)".to_owned()
        } else {
            label.to_owned()
        }
    }
}
