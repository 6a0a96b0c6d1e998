//! Receipts: answers that count only once they are delivered (design D2).
//!
//! Whatever tells an owner's side something hands out a [`Receipt`]. Committing
//! it says *delivered*; dropping it gives everything back, so that a cancelled
//! call, a broken connection or a failing policy loses nothing.
//!
//! 1. A receipt is committed at most once, and commit cannot fail.
//! 2. A receipt that is dropped changes nothing but gives its share back.
//! 3. Nobody waits for a receipt: a registry stops counting on a share after
//!    its lease.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::snapshot::Snapshot;

/// An answer together with what its delivery commits.
///
/// Dereferences to the answer, so it can be looked at before it is delivered.
#[must_use = "dropping a receipt means that its answer was not delivered: commit it"]
#[derive(Debug)]
pub struct Receipt<T> {
    answer: T,
    delivery: Delivery,
}

impl<T> Receipt<T> {
    /// For implementors: `answer`, whose delivery commits `delivery`.
    pub fn new(answer: T, delivery: Delivery) -> Self {
        Self { answer, delivery }
    }

    /// Says that the answer was delivered, and hands it out.
    pub fn commit(self) -> T {
        self.delivery.commit();
        self.answer
    }

    /// Separates the answer from what its delivery commits, for whoever
    /// delivers it later in another form.
    pub fn into_parts(self) -> (T, Delivery) {
        (self.answer, self.delivery)
    }
}

impl<T> Deref for Receipt<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.answer
    }
}

/// What the delivery of an answer commits: a range of output, a share of a
/// completion, both, or neither.
#[must_use = "dropping a delivery means that nothing was delivered: commit it"]
#[derive(Debug, Default)]
pub struct Delivery {
    range: Option<OutputRange>,
    share: Option<Share>,
}

impl Delivery {
    /// Delivery that commits nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a range of output.
    pub fn with_range(mut self, range: OutputRange) -> Self {
        self.range = Some(range);
        self
    }

    /// Adds a share of a completion.
    pub fn with_share(mut self, share: Option<Share>) -> Self {
        self.share = share;
        self
    }

    /// Whether there is nothing to commit.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.range.is_none() && self.share.is_none()
    }

    /// Whether a share of a completion is among it.
    #[must_use]
    pub fn has_share(&self) -> bool {
        self.share.is_some()
    }

    /// Gives the share back at once and keeps the range: what will be
    /// delivered shows the output, but not that the job has ended.
    pub fn without_share(mut self) -> Self {
        self.share = None;
        self
    }

    /// Everything was delivered.
    pub fn commit(self) {
        if let Some(range) = self.range {
            range.commit();
        }
        if let Some(share) = self.share {
            share.commit();
        }
    }

    /// The output was delivered, the news of the end was not: the share goes
    /// back.
    pub fn commit_range(self) {
        if let Some(range) = self.range {
            range.commit();
        }
    }
}

/// The right to tell the owner's side that a job ended.
///
/// While one is out, no reporter is offered the completion.
#[must_use = "dropping a share gives it back: the completion is announced by somebody else"]
pub struct Share {
    desk: Option<Arc<dyn ShareDesk>>,
    ticket: u64,
}

impl Share {
    /// For implementors: a share that `desk` has already counted, under a
    /// `ticket` of its own choice.
    pub fn new(desk: Arc<dyn ShareDesk>, ticket: u64) -> Self {
        Self {
            desk: Some(desk),
            ticket,
        }
    }

    /// The owner's side was told.
    pub fn commit(mut self) {
        if let Some(desk) = self.desk.take() {
            desk.told(self.ticket);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(desk) = self.desk.take() {
            desk.given_back(self.ticket);
        }
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Share")
    }
}

/// For implementors: where shares come back to. Exactly one of the two is
/// called for each share, from any thread; neither blocks nor fails.
pub trait ShareDesk: Send + Sync {
    /// The share with this ticket was committed.
    fn told(&self, ticket: u64);

    /// The share with this ticket was dropped.
    fn given_back(&self, ticket: u64);
}

/// The right to say that a range of output was delivered. Dropping it leaves
/// the model's cursor where it was.
#[must_use = "dropping a range means that the output was not delivered"]
pub struct OutputRange {
    desk: Arc<dyn CursorDesk>,
    to: u64,
}

impl OutputRange {
    /// For implementors: output up to the absolute byte offset `to`.
    pub fn new(desk: Arc<dyn CursorDesk>, to: u64) -> Self {
        Self { desk, to }
    }

    /// The output was delivered: the cursor moves to the end of the range,
    /// never back.
    pub fn commit(self) {
        self.desk.delivered(self.to);
    }
}

impl fmt::Debug for OutputRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputRange").field("to", &self.to).finish()
    }
}

/// For implementors: the model's cursor in the output of a job.
pub trait CursorDesk: Send + Sync {
    /// Output up to `to` was delivered. Neither blocks nor fails.
    fn delivered(&self, to: u64);
}

/// Output of a job, with the job as it stood then.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Delta {
    /// The output as the model reads it: a *rendering* of `range`, so its
    /// length is not the length of the range.
    pub text: String,
    /// The absolute byte offsets that the text covers; its end is where to go
    /// on.
    pub range: Range<u64>,
    /// How many bytes between the offset that was asked for and `range` are no
    /// longer kept.
    pub dropped: u64,
    /// The job, looked at before the output was read: of a terminal one there is
    /// nothing to read beyond this.
    pub job: Snapshot,
}

impl Delta {
    /// For implementors: an answer to a read.
    #[must_use]
    pub fn new(text: String, range: Range<u64>, dropped: u64, job: Snapshot) -> Self {
        Self {
            text,
            range,
            dropped,
            job,
        }
    }
}

/// The answer to a kill.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Kill {
    /// What the kill did.
    pub outcome: KillOutcome,
    /// The job right after it.
    pub job: Snapshot,
}

impl Kill {
    /// For implementors: an answer to a kill.
    #[must_use]
    pub fn new(outcome: KillOutcome, job: Snapshot) -> Self {
        Self { outcome, job }
    }
}

/// What a kill did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KillOutcome {
    /// The producer accepted the request; the job is `stopping`.
    Requested,
    /// There was nothing left to kill.
    AlreadyFinished,
}
