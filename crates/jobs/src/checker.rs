//! A companion that watches an implementation and says where it breaks the
//! rules of snapshots (spec: registry, §10).
//!
//! What a [`Snapshot`] cannot express needs no check here: an end time without
//! an end, a live job that is reported, an id of another kind.

use std::collections::HashMap;

use crate::id::JobId;
use crate::news::Completion;
use crate::owner::SessionId;
use crate::snapshot::{Snapshot, Status};

/// Watches snapshots and completions of one registry.
///
/// Feed it everything that a consumer sees. It keeps one entry a job, so it is
/// for tests and soaks, not for production.
///
/// ```
/// use jobs::{Checker, Snapshot, State, UnixMillis};
///
/// let mut checker = Checker::default();
/// let state = State::Running { detail: None };
/// let job = Snapshot::new("bash-1".parse()?, "", UnixMillis(10), state);
/// assert_eq!(checker.see(&job).unwrap_err().to_string(), "job bash-1: the label is empty");
/// # Ok::<(), jobs::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Checker {
    seen: HashMap<JobId, Seen>,
}

#[derive(Debug)]
struct Seen {
    status: Status,
    tellings: usize,
}

/// A rule that an implementation broke.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("job {id}: {rule}")]
#[non_exhaustive]
pub struct Violation {
    /// The job.
    pub id: JobId,
    /// What is not as it must be.
    pub rule: &'static str,
}

impl Checker {
    /// Checks one snapshot by itself and against what was seen of the job.
    ///
    /// # Errors
    ///
    /// The first broken rule.
    pub fn see(&mut self, job: &Snapshot) -> Result<(), Violation> {
        let broken = |rule| {
            Err(Violation {
                id: job.id.clone(),
                rule,
            })
        };
        if job.label.is_empty() {
            return broken("the label is empty");
        }
        if job
            .end()
            .is_some_and(|end| end.finished_at < job.started_at)
        {
            return broken("it finished before it started");
        }
        let seen = self.seen.entry(job.id.clone()).or_insert(Seen {
            status: Status::Running,
            tellings: 0,
        });
        let before = std::mem::replace(&mut seen.status, job.status());
        match (before, job.status()) {
            (Status::Stopping, Status::Running) => broken("it runs again after it was stopping"),
            (Status::Running | Status::Stopping, _) => Ok(()),
            (before, now) if before == now => Ok(()),
            _ => broken("its status left a terminal one"),
        }
    }

    /// Checks the list of one moment.
    ///
    /// # Errors
    ///
    /// The first broken rule, among them that an id occurs twice.
    pub fn see_list(&mut self, jobs: &[Snapshot]) -> Result<(), Violation> {
        let mut ids = std::collections::HashSet::new();
        for job in jobs {
            self.see(job)?;
            if !ids.insert(&job.id) {
                return Err(Violation {
                    id: job.id.clone(),
                    rule: "it is listed twice",
                });
            }
        }
        Ok(())
    }

    /// Checks a completion that a reporter *committed*, for `owner`, the
    /// session that it told.
    ///
    /// # Errors
    ///
    /// The first broken rule, among them a second telling.
    pub fn told(&mut self, completion: &Completion, owner: &SessionId) -> Result<(), Violation> {
        let job = &completion.job;
        self.see(job)?;
        let broken = |rule| {
            Err(Violation {
                id: job.id.clone(),
                rule,
            })
        };
        if !job.is_terminal() {
            return broken("it was told while it lives");
        }
        if job.owner.as_ref() != Some(owner) || &completion.owner.session != owner {
            return broken("its owner is not the one that was told");
        }
        if let Some(seen) = self.seen.get_mut(&job.id) {
            seen.tellings += 1;
            if seen.tellings > 1 {
                return broken("it was told twice");
            }
        }
        Ok(())
    }
}
