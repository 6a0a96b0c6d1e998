//! What a job is at one moment: status, outcome, cause, snapshot.
//!
//! What belongs to an ended job only (cause, facts, end time, `reported`) sits
//! inside [`State::Ended`], so a snapshot cannot contradict its status. The wire
//! form is flat; reading one that contradicts itself fails.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{JobId, Kind};
use crate::owner::SessionId;

/// A fresh projection of a job; never live state.
///
/// Cloning copies no text but a short kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Flat", try_from = "Flat")]
#[non_exhaustive]
pub struct Snapshot {
    /// The id; it holds the kind.
    pub id: JobId,
    /// The label as given: one line for people, but not yet made one line.
    pub label: Arc<str>,
    /// The cap in bytes on each complete text that the model sees of the job.
    pub output_limit: Option<NonZeroU64>,
    /// The session that the job belongs to; none for an unowned job.
    pub owner: Option<SessionId>,
    /// When the job was committed.
    pub started_at: UnixMillis,
    /// Where the job stands.
    pub state: State,
}

impl Snapshot {
    /// For implementors: a snapshot without limit and owner.
    #[must_use]
    pub fn new(
        id: JobId,
        label: impl Into<Arc<str>>,
        started_at: UnixMillis,
        state: State,
    ) -> Self {
        Self {
            id,
            label: label.into(),
            output_limit: None,
            owner: None,
            started_at,
            state,
        }
    }

    /// Sets the output limit.
    #[must_use]
    pub fn with_output_limit(mut self, limit: Option<NonZeroU64>) -> Self {
        self.output_limit = limit;
        self
    }

    /// Sets the owning session.
    #[must_use]
    pub fn with_owner(mut self, owner: Option<SessionId>) -> Self {
        self.owner = owner;
        self
    }

    /// The kind of the job.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        self.id.kind()
    }

    /// The status, without what belongs to it.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.state {
            State::Running { .. } => Status::Running,
            State::Stopping { .. } => Status::Stopping,
            State::Ended(end) => end.status.into(),
        }
    }

    /// What the job says of itself (`exit code: 3`); never an empty text.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        match &self.state {
            State::Running { detail } | State::Stopping { detail } => detail.as_deref(),
            State::Ended(end) => end.detail.as_deref(),
        }
        .filter(|detail| !detail.is_empty())
    }

    /// The end of the job, once it has one.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        match &self.state {
            State::Ended(end) => Some(end),
            State::Running { .. } | State::Stopping { .. } => None,
        }
    }

    /// Whether the job has ended.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.end().is_some()
    }

    /// Whether the owner's side has been told of the end; false while it lives.
    #[must_use]
    pub fn reported(&self) -> bool {
        self.end().is_some_and(|end| end.reported)
    }
}

/// Where a job stands, with what belongs to it there.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// The work goes on.
    Running {
        /// What the live job says of itself.
        detail: Option<Arc<str>>,
    },
    /// A cancel was accepted; the work has not ended yet.
    Stopping {
        /// What the live job says of itself.
        detail: Option<Arc<str>>,
    },
    /// The work and its resources are gone.
    Ended(End),
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct End {
    /// Which of the three ends.
    pub status: TerminalStatus,
    /// What the job says of its end.
    pub detail: Option<Arc<str>>,
    /// Who or what ended it.
    pub cause: Cause,
    /// The producer's own facts.
    pub facts: Option<Arc<Value>>,
    /// When it settled.
    pub finished_at: UnixMillis,
    /// Whether the owner's side has been told.
    pub reported: bool,
}

impl End {
    /// For implementors: an untold end without detail and facts.
    #[must_use]
    pub fn new(status: TerminalStatus, cause: Cause, finished_at: UnixMillis) -> Self {
        Self {
            status,
            detail: None,
            cause,
            facts: None,
            finished_at,
            reported: false,
        }
    }
}

/// The status of a job: `running`, optionally `stopping`, then exactly one of
/// the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The work goes on.
    Running,
    /// A cancel was accepted.
    Stopping,
    /// The work ended by itself; a process may have failed in its own terms.
    Completed,
    /// The work was stopped.
    Killed,
    /// The work could not be done, or its end could not be had.
    Failed,
}

impl Status {
    /// The wire text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Completed => "completed",
            Self::Killed => "killed",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The three ends of a job; see [`Status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TerminalStatus {
    /// See [`Status::Completed`].
    Completed,
    /// See [`Status::Killed`].
    Killed,
    /// See [`Status::Failed`].
    Failed,
}

impl From<TerminalStatus> for Status {
    fn from(status: TerminalStatus) -> Self {
        match status {
            TerminalStatus::Completed => Self::Completed,
            TerminalStatus::Killed => Self::Killed,
            TerminalStatus::Failed => Self::Failed,
        }
    }
}

/// Who or what ended a job (spec: registry, §12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Its own end.
    #[serde(rename = "self")]
    Itself,
    /// The owner's model killed it.
    Model,
    /// A user or operator killed it.
    User,
    /// The embedding host killed it.
    Host,
    /// Its owner was closed.
    OwnerClosed,
    /// The registry was shut down.
    Shutdown,
    /// A limit of the producer: time, output, memory.
    Limit,
    /// A signal from outside that nobody here asked for.
    Signal,
    /// Given up after a grace or a failed cancel; work may go on unseen.
    Orphaned,
    /// The host that ran it is gone (registries shared by many hosts).
    Lost,
}

/// A time of day: milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// Now, by the system clock; zero if that stands before the epoch.
    #[must_use]
    pub fn now() -> Self {
        let elapsed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The wire form of a snapshot.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flat {
    id: JobId,
    kind: Kind,
    label: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_limit_bytes: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner_session: Option<SessionId>,
    status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<Value>,
    started_at: UnixMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished_at: Option<UnixMillis>,
    reported: bool,
}

impl From<Snapshot> for Flat {
    fn from(snapshot: Snapshot) -> Self {
        let status = snapshot.status();
        let detail = snapshot.detail().map(Arc::from);
        let end = snapshot.end();
        Self {
            kind: snapshot.kind().clone(),
            status,
            detail,
            cause: end.map(|end| end.cause),
            facts: end.and_then(|end| end.facts.as_deref().cloned()),
            finished_at: end.map(|end| end.finished_at),
            reported: snapshot.reported(),
            id: snapshot.id,
            label: snapshot.label,
            output_limit_bytes: snapshot.output_limit,
            owner_session: snapshot.owner,
            started_at: snapshot.started_at,
        }
    }
}

impl TryFrom<Flat> for Snapshot {
    type Error = String;

    fn try_from(flat: Flat) -> Result<Self, String> {
        if flat.id.kind() != &flat.kind {
            return Err(format!(
                "job id: expected {}-<ordinal>, got {}",
                flat.kind, flat.id
            ));
        }
        let terminal = match flat.status {
            Status::Completed => Some(TerminalStatus::Completed),
            Status::Killed => Some(TerminalStatus::Killed),
            Status::Failed => Some(TerminalStatus::Failed),
            Status::Running | Status::Stopping => None,
        };
        let state = match (terminal, flat.finished_at) {
            (Some(status), Some(finished_at)) => State::Ended(End {
                detail: flat.detail,
                facts: flat.facts.map(Arc::new),
                reported: flat.reported,
                ..End::new(status, flat.cause.unwrap_or(Cause::Itself), finished_at)
            }),
            (None, None) if flat.reported => {
                return Err(format!(
                    "job {}: expected a live job to be unreported, got reported",
                    flat.id
                ));
            }
            (None, None) if flat.status == Status::Stopping => State::Stopping {
                detail: flat.detail,
            },
            (None, None) => State::Running {
                detail: flat.detail,
            },
            (Some(_), None) | (None, Some(_)) => {
                return Err(format!(
                    "job {}: expected finishedAt exactly with a terminal status, got status {}",
                    flat.id, flat.status
                ));
            }
        };
        Ok(Self::new(flat.id, flat.label, flat.started_at, state)
            .with_output_limit(flat.output_limit_bytes)
            .with_owner(flat.owner_session))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(change: &Value) -> Result<Snapshot, String> {
        let mut flat = json!({
            "id": "bash-1", "kind": "bash", "label": "l", "status": "completed",
            "startedAt": 10, "finishedAt": 20, "reported": true,
        });
        for (key, value) in change.as_object().unwrap() {
            flat[key] = value.clone();
        }
        serde_json::from_value(flat).map_err(|error| error.to_string())
    }

    #[test]
    fn the_wire_form_survives_a_round_trip() {
        let snapshot = parse(
            &json!({"cause": "owner_closed", "facts": {"n": 1}, "ownerSession": "s",
            "outputLimitBytes": 64, "detail": "d"}),
        )
        .unwrap();
        assert_eq!(snapshot.end().unwrap().cause, Cause::OwnerClosed);
        let wire = serde_json::to_value(&snapshot).unwrap();
        assert_eq!(serde_json::from_value::<Snapshot>(wire).unwrap(), snapshot);
    }

    #[test]
    fn a_wire_form_that_contradicts_itself_is_refused() {
        for change in [
            json!({"kind": "other"}),
            json!({"status": "running"}),
            json!({"finishedAt": null}),
            json!({"status": "running", "finishedAt": null}),
            json!({"outputLimitBytes": 0}),
            json!({"startedAt": -1}),
            json!({"startedAt": 0.5}),
            json!({"id": "bash-01"}),
        ] {
            assert!(parse(&change).is_err(), "{change}");
        }
    }
}
