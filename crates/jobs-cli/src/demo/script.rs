//! The form of a script: what a scripted model does, hears and expects, as data.

use std::time::Duration;

use serde_json::{Value, json};

use super::expect::{Expect, Test};
use super::witness::Process;

/// One turn of an agent.
pub(crate) struct Act {
    /// The session of the agent.
    pub(crate) session: &'static str,
    /// The title of a part that begins before the turn does.
    pub(crate) title: Option<&'static str>,
    pub(crate) opening: Opening,
    pub(crate) lines: Vec<Line>,
}

/// What comes before a turn.
pub(crate) enum Opening {
    /// A user speaks to the idle agent.
    User(&'static str),
    /// A job ends while the agent is idle, because this file appears; its notice wakes the agent.
    Wake {
        job: &'static str,
        file: &'static str,
    },
    /// The same, but the notice must not wake; then a user speaks.
    NoWake {
        job: &'static str,
        file: &'static str,
        text: &'static str,
    },
}

/// One line of a scripted model.
pub(crate) enum Line {
    /// A part begins.
    Part(&'static str),
    /// The model has claimed these messages, all of them, in this order.
    Hears(Vec<Heard>),
    /// While the model takes its time this file appears, because of which the job ends; that is
    /// delivered into the running turn.
    Thinks {
        job: &'static str,
        file: &'static str,
    },
    /// The model calls a tool.
    Calls(Ask),
    /// The process table is read for the processes of a job.
    Looks {
        job: &'static str,
        says: &'static str,
        finds: Finds,
    },
    /// The model asks for nothing more.
    Ends,
}

/// A message that the model claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// What a user wrote.
    User(String),
    /// The notice with this text.
    Notice(String),
}

/// What the process table should show.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Finds {
    /// Processes with each of these command lines, and whatever else.
    All(&'static [&'static str]),
    /// Nothing.
    None,
}

impl Finds {
    /// Which command lines are missing.
    pub(crate) fn missing(self, found: &[Process]) -> Vec<&'static str> {
        let is_there = |wanted: &&str| found.iter().any(|process| process.command == *wanted);
        let all = match self {
            Self::All(all) => all,
            Self::None => &[],
        };
        all.iter().copied().filter(|one| !is_there(one)).collect()
    }
}

/// A call, and what is expected of its answer.
pub(crate) struct Ask {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) expects: Vec<Expect>,
    pub(crate) again: Again,
}

/// Whether the same is asked again.
#[derive(Debug, Clone)]
pub(crate) enum Again {
    /// No.
    Never,
    /// As long as the expectations do not hold, at most so many times: output takes its time from
    /// a command to its reader.
    Until(u32),
    /// As long as the answer names a place where to read on. What was read in all is this.
    Pages(String),
}

/// The argument that stands for the place which the last answer named: `from=<offset>`.
pub(crate) const MARKER: &str = "<from>";

impl Ask {
    pub(crate) fn new(tool: &'static str, arguments: Value) -> Self {
        Self {
            tool,
            arguments,
            expects: Vec::new(),
            again: Again::Never,
        }
    }

    /// A job of its own.
    pub(crate) fn background(description: &str, command: &str) -> Self {
        let arguments = json!({
            "command": command, "description": description, "run_in_background": true,
        });
        Self::new("bash", arguments)
    }

    /// A command that is waited for.
    pub(crate) fn command(command: &str) -> Self {
        Self::new("bash", json!({ "command": command }))
    }

    /// What a job wrote since the last read.
    pub(crate) fn output(job: &str) -> Self {
        Self::new("job_output", json!({ "job_id": job }))
    }

    /// The same, after a wait.
    pub(crate) fn wait(job: &str, limit: Duration) -> Self {
        let limit = super::report::millis(limit);
        let arguments = json!({ "job_id": job, "wait": true, "timeout_ms": limit });
        Self::new("job_output", arguments)
    }

    pub(crate) fn expect(mut self, says: &'static str, test: Test) -> Self {
        self.expects.push(Expect { says, test });
        self
    }

    pub(crate) fn is(self, says: &'static str, text: impl Into<String>) -> Self {
        self.expect(says, Test::Is(text.into()))
    }

    pub(crate) fn refused(self, says: &'static str, text: impl Into<String>) -> Self {
        self.expect(says, Test::Refused(text.into()))
    }

    pub(crate) fn again(mut self, again: Again) -> Self {
        self.again = again;
        self
    }

    pub(crate) fn line(self) -> Line {
        Line::Calls(self)
    }
}
