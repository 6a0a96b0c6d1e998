//! Settlement: how a live job becomes an ended one, once.
//!
//! 1. The first verdict wins; a later one is dropped.
//! 2. News go out in this order: the record, the waiters, the changes, the
//!    reporters (spec: registry, §6).
//! 3. The hooks are dropped when the job has ended, with no lock held.

use std::sync::Arc;

use jobs::{Cause, End, Origin, Outcome, TerminalStatus, UnixMillis, contain};

use crate::effects;
use crate::job::{Ended, Job, Killer, Output, Phase, Stopper};
use crate::sync::Instant;

/// What ends a job.
pub(crate) enum Verdict {
    /// Its producer says how.
    Outcome(Outcome),
    /// Its producer panicked.
    Panicked(contain::Panicked),
    /// It is given up.
    Forced(String),
}

/// Ends the job by this verdict, unless it has ended.
///
/// The driver is not woken: it is the one who calls this, or is told apart.
pub(crate) fn settle(job: &Arc<Job>, verdict: Verdict) {
    let Some(source_bytes) = output_bytes(job) else {
        return;
    };
    let live = job.locked(|room, room_state, state, effects| {
        let Phase::Live(live) = &mut state.phase else {
            return None;
        };
        let (end, text) = judge(verdict, live.killer(), job.started_at);
        if let Output::Text(output) = &mut state.output {
            *output = text;
        }
        let by_model = end.status == TerminalStatus::Killed && end.cause == Cause::Model;
        let waiters = live.waiters.release();
        let expires = || Instant::now().checked_add(room.core.config.share_lease);
        state.shares.settle(waiters.len(), by_model, expires);
        let ended = Ended {
            end,
            settlement: room.core.count(),
            published: false,
            output_bytes: source_bytes + final_bytes(&state.output),
        };
        room.ended(room_state, state, &ended);
        effects.waiters = waiters;
        effects.changed = true;
        match std::mem::replace(&mut state.phase, Phase::Ended(ended)) {
            Phase::Live(live) => Some(live),
            Phase::Ended(_) => None,
        }
    });
    if let Some(live) = live {
        effects::contain("dropping the hooks of a job", || drop(live));
        publish(job);
    }
}

/// Lets reporters hear of it, now that everybody else has.
fn publish(job: &Arc<Job>) {
    job.locked(|room, room_state, state, effects| {
        if let Phase::Ended(ended) = &mut state.phase {
            ended.published = true;
        }
        room.offer(room_state, state, effects);
    });
}

/// What the source of a live job keeps; none if the job has ended.
fn output_bytes(job: &Job) -> Option<u64> {
    let state = job.state.lock();
    let source = match (&state.phase, &state.output) {
        (Phase::Ended(_), _) => return None,
        (Phase::Live(_), Output::Source { source, .. }) => Arc::clone(source),
        (Phase::Live(_), Output::Text(_) | Output::Evicted) => return Some(0),
    };
    drop(state);
    let kept = contain::call(|| source.kept_bytes()).unwrap_or_else(|panicked| {
        tracing::warn!(job = %job.id, %panicked, "the output source panicked");
        0
    });
    Some(kept as u64)
}

fn final_bytes(output: &Output) -> u64 {
    match output {
        Output::Text(Some(text)) => text.len() as u64,
        Output::Text(None) | Output::Source { .. } | Output::Evicted => 0,
    }
}

/// The end that a verdict means, and the final output.
fn judge(
    verdict: Verdict,
    killer: Option<&Killer>,
    started_at: UnixMillis,
) -> (End, Option<Arc<str>>) {
    let finished_at = UnixMillis::now().max(started_at);
    let failed = |detail: String, cause| {
        let mut end = End::new(TerminalStatus::Failed, cause, finished_at);
        end.detail = Some(detail.into());
        (end, None)
    };
    let outcome = match verdict {
        Verdict::Outcome(outcome) => outcome,
        Verdict::Panicked(panicked) => {
            return failed(format!("producer panicked: {panicked}"), Cause::Itself);
        }
        Verdict::Forced(detail) => return failed(detail, Cause::Orphaned),
    };
    let (cause, stopped_by) = match (outcome.origin, outcome.status, killer) {
        (Origin::Limit, _, _) => (Cause::Limit, None),
        (Origin::Signal, _, _) => (Cause::Signal, None),
        (Origin::Unspecified, TerminalStatus::Killed, Some(killer)) => {
            (killer.by.cause(), stopped_by(killer))
        }
        (Origin::Unspecified, _, _) => (Cause::Itself, None),
    };
    let detail = outcome.detail.filter(|detail| !detail.is_empty());
    let mut end = End::new(outcome.status, cause, finished_at);
    end.detail = match (detail, stopped_by) {
        (Some(detail), Some(stopped_by)) => Some(format!("{detail}, {stopped_by}").into()),
        (detail, stopped_by) => detail.or(stopped_by).map(Into::into),
    };
    end.facts = outcome.facts.map(Arc::new);
    (end, outcome.output)
}

/// What is added to the detail of a job that somebody else than its model
/// stopped (spec: registry, §12).
fn stopped_by(killer: &Killer) -> Option<String> {
    let who = match killer.by {
        Stopper::Caller(jobs::KilledBy::User) => "user",
        Stopper::Caller(jobs::KilledBy::Host) => "host",
        Stopper::Caller(jobs::KilledBy::Model) | Stopper::Teardown(_) => {
            return None;
        }
    };
    Some(match &killer.reason {
        Some(reason) => format!("stopped by {who}: {reason}"),
        None => format!("stopped by {who}"),
    })
}
