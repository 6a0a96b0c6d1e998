//! Killing a job on somebody's behalf.
//!
//! 1. The model's share is taken before `cancel` runs, and given back if
//!    `cancel` fails.
//! 2. While `cancel` runs the job is as it was; a failed one leaves no trace.
//! 3. A teardown's grace is not prolonged by a later kill.
//! 4. The first accepted attempt names the cause; an attempt under way stands
//!    in for it if the job ends meanwhile.

use std::sync::Arc;
use std::time::Duration;

use jobs::{
    CancelHook, Delivery, Error, Kill, KillOutcome, KilledBy, ProducerError, Receipt, contain,
};

use crate::effects::wake;
use crate::job::{GiveUp, Job, Killer, Stopper};
use crate::sync::Instant;

pub(crate) fn kill(
    job: &Arc<Job>,
    by: KilledBy,
    reason: Option<&str>,
) -> Result<Receipt<Kill>, Error> {
    let Some(attempt) = Attempt::begin(job, Stopper::Caller(by), reason) else {
        return Ok(already_finished(job));
    };
    // Given back when it is dropped; a live job has no other share yet.
    let share = attempt.ticket.map(|ticket| job.share_of(ticket));
    let grace = job.state.lock().room.core.config.stop_grace;
    match attempt.cancel(grace) {
        Err(error) => Err(Error::Producer(error)),
        Ok(Accepted::Ended) => {
            // The new share is taken before the old one is given back.
            let receipt = already_finished(job);
            drop(share);
            Ok(receipt)
        }
        Ok(Accepted::Stopping) => {
            let delivery = Delivery::none().with_share(share);
            Ok(Receipt::new(
                Kill::new(KillOutcome::Requested, job.snapshot()),
                delivery,
            ))
        }
    }
}

fn already_finished(job: &Arc<Job>) -> Receipt<Kill> {
    let (snapshot, share) = job.share();
    Receipt::new(
        Kill::new(KillOutcome::AlreadyFinished, snapshot),
        Delivery::none().with_share(share),
    )
}

/// A call of `cancel`, from before it to what it changed.
pub(crate) struct Attempt<'a> {
    job: &'a Arc<Job>,
    hook: CancelHook,
    number: u64,
    reason: Option<Arc<str>>,
    /// The share that the model took.
    ticket: Option<u64>,
    teardown: bool,
}

/// What an accepted cancel found.
pub(crate) enum Accepted {
    /// The job lives and is `stopping`.
    Stopping,
    /// The job ended while `cancel` ran.
    Ended,
}

impl<'a> Attempt<'a> {
    /// None for a job that has ended.
    pub(crate) fn begin(job: &'a Arc<Job>, by: Stopper, reason: Option<&str>) -> Option<Self> {
        let mut state = job.state.lock();
        let number = state.room.core.count();
        let reason: Option<Arc<str>> = reason.map(Arc::from);
        let live = state.live()?;
        let hook = Arc::clone(&live.cancel);
        if live.accepted.is_none() {
            live.attempts.push(Killer {
                attempt: number,
                by,
                reason: reason.clone(),
            });
        }
        let ticket = match by {
            Stopper::Caller(KilledBy::Model) => Some(state.shares.take_kill()),
            Stopper::Caller(_) | Stopper::Teardown(_) => None,
        };
        let teardown = matches!(by, Stopper::Teardown(_));
        Some(Self {
            job,
            hook,
            number,
            reason,
            ticket,
            teardown,
        })
    }

    /// Calls `cancel`. An accepted one gives the job `grace` to settle.
    pub(crate) fn cancel(self, grace: Option<Duration>) -> Result<Accepted, ProducerError> {
        let cancelled =
            contain::call(|| (self.hook)(self.reason.as_deref())).unwrap_or_else(|panicked| {
                Err(ProducerError::new(format!("producer panicked: {panicked}")))
            });
        let mut state = self.job.state.lock();
        let room = Arc::clone(&state.room);
        let Some(live) = state.live() else {
            return cancelled.map(|()| Accepted::Ended);
        };
        let mut attempts = live.attempts.iter();
        let own = attempts.position(|killer| killer.attempt == self.number);
        let own = own.map(|index| live.attempts.remove(index));
        if cancelled.is_err() {
            return cancelled.map(|()| Accepted::Stopping);
        }
        live.stopping = true;
        live.accepted = live.accepted.take().or(own);
        if !live.give_up.is_some_and(|give_up| give_up.teardown) {
            live.give_up = grace.and_then(|grace| {
                let at = Instant::now().checked_add(grace)?;
                Some(GiveUp {
                    at,
                    after_ms: grace.as_millis(),
                    teardown: self.teardown,
                })
            });
        }
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        room.core.changes.moved(&room);
        Ok(Accepted::Stopping)
    }
}
