//! How a job ended, as outcome and facts.

use std::path::PathBuf;
use std::time::Duration;

use jobs::{Origin, Outcome};
use serde::Serialize;

use crate::capture::Captured;
use crate::platform::{Exit, signal_name};
use crate::tree::Containment;

/// Why the job was stopped, if it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It was not.
    Itself,
    /// Somebody asked for it.
    Asked,
    /// It ran so long.
    MaxRuntime(Duration),
    /// It wrote more than so many bytes.
    MaxOutput(u64),
}

/// How the command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum How {
    Ended {
        exit: Exit,
        /// It had ended before it was asked to.
        is_first: bool,
    },
    /// It never ran, or nobody knows, or it could not be stopped.
    Failed(String),
}

/// The end of a job.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) how: How,
    pub(crate) reason: Reason,
    pub(crate) facts: Facts,
}

/// What a process job tells programs of its end: three separate facts, and how it was held.
///
/// The JSON form is what [`Outcome::facts`](jobs::Outcome) of these jobs holds; fields without a
/// value are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Facts {
    /// The rung of the containment ladder that held the tree; none if nothing was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<Containment>,
    /// The command exited with this code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// This signal ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Every pipe was read to its end.
    pub output_complete: bool,
    /// So many processes were left by the command and stopped.
    pub left_processes: usize,
    /// What the command wrote, in bytes.
    pub output_bytes: u64,
    /// Files with the raw output, as long as the job is kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spill: Vec<PathBuf>,
}

impl Ending {
    /// Adds the last lines to the output, and seals it.
    pub(crate) fn new(
        how: How,
        reason: Reason,
        containment: Containment,
        left: usize,
        captured: Option<Captured>,
    ) -> Self {
        let (exit_code, signal) = match how {
            How::Ended {
                exit: Exit::Code(code),
                ..
            } => (Some(code), None),
            How::Ended {
                exit: Exit::Signal(signal),
                ..
            } => (None, Some(signal_name(signal))),
            How::Failed(_) => (None, None),
        };
        let mut facts = Facts {
            containment: Some(containment),
            exit_code,
            signal,
            output_complete: false,
            left_processes: left,
            output_bytes: 0,
            spill: Vec::new(),
        };
        if let Some(mut captured) = captured {
            if left > 0 {
                captured.note(&format!(
                    "[{left} process(es) left by the command were stopped]"
                ));
            }
            if !captured.is_complete {
                captured.note("[output closed: a process outside the job still holds its pipe]");
            }
            if let How::Failed(text) = &how {
                captured.note(text);
            }
            facts.output_complete = captured.is_complete;
            facts.output_bytes = captured.total();
            facts.spill = captured.seal();
        }
        Self { how, reason, facts }
    }

    /// A job whose program could not be started.
    pub(crate) fn not_started(reason: &str, mut captured: Captured) -> Self {
        let text = format!("spawn failed: {reason}");
        captured.note(&text);
        let facts = Facts {
            containment: None,
            exit_code: None,
            signal: None,
            output_complete: true,
            left_processes: 0,
            output_bytes: captured.total(),
            spill: captured.seal(),
        };
        Self {
            how: How::Failed(text),
            reason: Reason::Itself,
            facts,
        }
    }

    /// A job whose own task is gone: a panic here, or a runtime that was shut down.
    pub(crate) fn abandoned(text: String) -> Self {
        let facts = Facts {
            containment: None,
            exit_code: None,
            signal: None,
            output_complete: false,
            left_processes: 0,
            output_bytes: 0,
            spill: Vec::new(),
        };
        Self {
            how: How::Failed(text),
            reason: Reason::Itself,
            facts,
        }
    }

    /// The end in the words of the seam.
    pub(crate) fn outcome(&self) -> Outcome {
        let outcome = match (&self.how, self.reason) {
            (How::Failed(text), _) => Outcome::failed().with_detail(text.as_str()),
            (How::Ended { .. }, Reason::MaxRuntime(limit)) => Outcome::killed()
                .with_detail(format!("limit: max runtime {}", duration(limit)))
                .with_origin(Origin::Limit),
            (How::Ended { .. }, Reason::MaxOutput(limit)) => Outcome::killed()
                .with_detail(format!("limit: max output {limit} bytes"))
                .with_origin(Origin::Limit),
            (
                How::Ended {
                    exit: Exit::Code(_),
                    is_first: false,
                },
                Reason::Asked,
            ) => Outcome::killed().with_detail("killed before exit"),
            (How::Ended { exit, .. }, Reason::Asked) => {
                Outcome::killed().with_detail(describe(*exit))
            }
            (
                How::Ended {
                    exit: exit @ Exit::Code(_),
                    ..
                },
                Reason::Itself,
            ) => Outcome::completed().with_detail(describe(*exit)),
            (
                How::Ended {
                    exit: exit @ Exit::Signal(_),
                    ..
                },
                Reason::Itself,
            ) => Outcome::killed()
                .with_detail(describe(*exit))
                .with_origin(Origin::Signal),
        };
        match serde_json::to_value(&self.facts) {
            Ok(facts) => outcome.with_facts(facts),
            // A path that is not UTF-8 has no JSON form.
            Err(_) => outcome,
        }
    }
}

fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code: {code}"),
        Exit::Signal(signal) => format!("signal: {}", signal_name(signal)),
    }
}

/// `60s`, or `1500ms` when the seconds are not whole.
fn duration(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{}s", duration.as_secs())
    } else {
        format!("{}ms", duration.as_millis())
    }
}
