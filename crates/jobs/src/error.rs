//! The situations in which a registry refuses (spec: registry, §11).

use std::fmt;
use std::num::NonZeroU32;

use crate::id::JobId;
use crate::owner::SessionId;
use crate::text::Echo;

/// Why a registry did not do what it was asked.
///
/// Every text is one line, bounded, and safe to show to a model: what comes
/// from outside is an [`Echo`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No controller is registered along the scope of the owner, so nobody
    /// could collect or stop the job.
    #[error("background jobs are unavailable: no job controller serves this agent")]
    NoController,

    /// A controller of this name is already registered at the same scope.
    #[error(
        "controller \"{name}\" is already registered at this scope: drop the other registration first"
    )]
    ControllerTaken {
        /// The name that was asked for.
        name: Echo,
    },

    /// The kind is not an identifier; see [`Kind`](crate::Kind).
    #[error(
        "invalid job kind: expected 1 to 64 ASCII letters, digits, '-', '_' or '.', \
         starting with a letter or a digit, got \"{got}\""
    )]
    InvalidKind {
        /// What was given.
        got: Echo,
    },

    /// The label is empty.
    #[error("invalid job label: expected a non-empty string")]
    InvalidLabel,

    /// The output limit is zero.
    #[error("invalid output limit: expected at least 1 byte, got {got}")]
    InvalidOutputLimit {
        /// What was given, in bytes.
        got: u64,
    },

    /// The owner was replaced by a newer instance of its session, or belongs
    /// to another registry.
    #[error("job owner \"{}\" is not the current instance", session.echo())]
    OwnerNotCurrent {
        /// The session of the owner.
        session: SessionId,
    },

    /// The owner is closed or closing.
    #[error("job owner \"{}\" is closed", session.echo())]
    OwnerClosed {
        /// The session of the owner.
        session: SessionId,
    },

    /// The owner has as many live jobs as it may have.
    #[error(
        "background job limit reached ({limit} running): \
         kill a job that is not needed or wait for one to end, then try again"
    )]
    LimitReached {
        /// How many jobs of one owner may live at once.
        limit: NonZeroU32,
    },

    /// The owner has too many completions that nobody has told it.
    #[error(
        "too many unread completions: read or list the {limit} finished jobs that were not read yet, then try again"
    )]
    TooManyUntold {
        /// How many untold completions an owner may have and still start.
        limit: NonZeroU32,
    },

    /// No job has this id.
    #[error("unknown job {id}")]
    UnknownJob {
        /// What was asked for.
        id: Echo,
    },

    /// The job belongs to a session that is not the caller's.
    #[error("job {id} belongs to another session")]
    ForeignJob {
        /// The job that was asked for.
        id: JobId,
    },

    /// The job has no owner, and the registry is configured not to let callers
    /// do this to such jobs.
    #[error("job {id} has no owner: this registry does not allow callers to change it")]
    UnownedProtected {
        /// The job that was asked for.
        id: JobId,
    },

    /// Retention took the record or its output.
    #[error("job {id} is no longer kept")]
    NoLongerKept {
        /// The job that was asked for.
        id: JobId,
    },

    /// The producer's starter, `cancel` or output source failed: its own text.
    #[error(transparent)]
    Producer(#[from] ProducerError),

    /// The registry was shut down.
    #[error("job registry is shut down")]
    ShutDown,

    /// The registry cannot serve the call now, for a reason outside the call.
    #[error("job registry is unavailable: {reason}")]
    Unavailable {
        /// What is missing.
        reason: Echo,
    },
}

impl Error {
    /// Whether the same call may succeed later without a change to it.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::LimitReached { .. }
                | Self::TooManyUntold { .. }
                | Self::Unavailable { .. }
                | Self::NoController
        )
    }
}

/// A producer's failure, in its own words.
///
/// The text is kept as given; whoever shows it to a model bounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducerError(Box<str>);

impl ProducerError {
    /// Keeps the text of a failure.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The producer's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProducerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProducerError {}
