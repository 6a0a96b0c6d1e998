//! What a producer says at the end of its work.

use std::sync::Arc;

use serde_json::Value;

use crate::snapshot::TerminalStatus;

/// The end of a job in its producer's words.
///
/// ```
/// use jobs::Outcome;
///
/// let outcome = Outcome::completed().with_detail("exit code: 0");
/// assert_eq!(outcome.detail.as_deref(), Some("exit code: 0"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Which of the three ends.
    pub status: TerminalStatus,
    /// One line on the end (`exit code: 3`). An empty text is none.
    pub detail: Option<String>,
    /// The final output of a job without an output source.
    pub output: Option<Arc<str>>,
    /// The producer's own facts, as JSON.
    pub facts: Option<Value>,
    /// What ended the work, as far as the producer knows better than the
    /// registry.
    pub origin: Origin,
}

/// What a producer knows of the reason for an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// Nothing beyond the status: the registry names who cancelled a killed
    /// job, and else the job itself.
    #[default]
    Unspecified,
    /// A limit of the producer was reached.
    Limit,
    /// A signal from outside that nobody here asked for.
    Signal,
}

impl Outcome {
    /// The work ended by itself.
    #[must_use]
    pub fn completed() -> Self {
        Self::of(TerminalStatus::Completed)
    }

    /// The work was stopped.
    #[must_use]
    pub fn killed() -> Self {
        Self::of(TerminalStatus::Killed)
    }

    /// The work could not be done.
    #[must_use]
    pub fn failed() -> Self {
        Self::of(TerminalStatus::Failed)
    }

    /// An end with the given status and nothing else.
    #[must_use]
    pub fn of(status: TerminalStatus) -> Self {
        Self {
            status,
            detail: None,
            output: None,
            facts: None,
            origin: Origin::Unspecified,
        }
    }

    /// Adds the one-line detail.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds the final output.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<Arc<str>>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Adds facts.
    #[must_use]
    pub fn with_facts(mut self, facts: Value) -> Self {
        self.facts = Some(facts);
        self
    }

    /// Says what ended the work.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }
}
