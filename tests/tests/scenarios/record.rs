//! What running one operation leaves.

use serde_json::{Value, json};

use crate::project::Ending;
use crate::situation::Side;

/// How an operation ended: its result, or why not.
pub(crate) type Outcome = Result<Value, Failure>;

/// Why an operation has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// What kind of operation it was, for the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One that was run.
    Run,
    /// One with a value that the types of this project cannot hold.
    Inexpressible,
    /// A container row of the reference.
    NotOurs,
    /// One that no runner knows.
    Unknown,
}

impl Failure {
    /// The operation was refused with `text`.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::of(text.into(), Kind::Run)
    }

    /// The operation asks for what cannot be said here.
    pub(crate) fn inexpressible(text: impl Into<String>) -> Self {
        Self::of(text.into(), Kind::Inexpressible)
    }

    /// The operation is about the reference's container.
    pub(crate) fn not_ours(op: &str) -> Self {
        Self::of(
            format!("\"{op}\" is a container row, not ours"),
            Kind::NotOurs,
        )
    }

    /// Nobody knows the operation.
    pub(crate) fn unknown(what: &str) -> Self {
        Self::of(format!("unknown op {what}"), Kind::Unknown)
    }

    fn of(text: String, kind: Kind) -> Self {
        Self { text, kind }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::refused(error.to_string())
    }
}

/// `{ result }` or `{ throws }`, as the recordings spell it.
pub(crate) fn spelled(outcome: &Outcome) -> Value {
    match outcome {
        Ok(result) => json!({ "result": result }),
        Err(failure) => json!({ "throws": failure.text }),
    }
}

/// An operation that was run.
pub(crate) struct Record {
    pub(crate) ending: Ending,
    pub(crate) events: Vec<Value>,
    pub(crate) kind: Kind,
}

impl Record {
    pub(crate) fn new(outcome: &Outcome, events: Vec<Value>, inexpressible: bool) -> Self {
        let kind = match outcome {
            Err(failure) if failure.kind != Kind::Run => failure.kind,
            _ if inexpressible => Kind::Inexpressible,
            _ => Kind::Run,
        };
        Self {
            ending: Ending::of(&spelled(outcome), Side::Ours),
            events,
            kind,
        }
    }
}
