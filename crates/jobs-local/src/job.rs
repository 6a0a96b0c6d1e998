//! One job: what never changes, and its state behind one lock.
//!
//! 1. A job is live or has ended; ending happens once (`Phase`).
//! 2. Its room is locked before the job is, never the other way round; see
//!    [`Job::locked`].
//! 3. No foreign code runs under a lock but the cloning of wakers, and no output
//!    is copied.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::task::Waker;

use jobs::{
    CancelHook, Cause, CursorDesk, DetailHook, End, JobId, KilledBy, OutputSource, Share,
    ShareDesk, Snapshot, State, UnixMillis, contain,
};

use crate::effects::Effects;
use crate::room::{Room, RoomState};
use crate::shares::{Returned, Shares};
use crate::sync::{Instant, Mutex};
use crate::waiters::Waiters;

pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) label: Arc<str>,
    pub(crate) output_limit: Option<NonZeroU64>,
    pub(crate) started_at: UnixMillis,
    pub(crate) state: Mutex<JobState>,
}

pub(crate) struct JobState {
    /// Changes only in a hand-over.
    pub(crate) room: Arc<Room>,
    /// The position in the order of commits.
    pub(crate) commit: u64,
    pub(crate) phase: Phase,
    pub(crate) shares: Shares,
    pub(crate) output: Output,
    /// The driver, while it has something to wait for.
    pub(crate) driver: Option<Waker>,
}

pub(crate) enum Phase {
    /// Apart, because most jobs that a registry holds have ended.
    Live(Box<Live>),
    Ended(Ended),
}

/// What only a live job has.
pub(crate) struct Live {
    pub(crate) cancel: CancelHook,
    pub(crate) detail: Option<DetailHook>,
    pub(crate) stopping: bool,
    /// Attempts under way, in the order of their begin.
    pub(crate) attempts: Vec<Killer>,
    /// The first attempt that was accepted: it names the cause.
    pub(crate) accepted: Option<Killer>,
    /// When to give up on a cancelled job, and after how long.
    pub(crate) give_up: Option<GiveUp>,
    /// Who waits for the end.
    pub(crate) waiters: Waiters,
}

/// Somebody who asked the work to stop.
pub(crate) struct Killer {
    pub(crate) attempt: u64,
    pub(crate) by: Stopper,
    pub(crate) reason: Option<Arc<str>>,
}

/// Who can stop a job.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopper {
    Caller(KilledBy),
    Teardown(Teardown),
}

/// Why a room is torn down.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Teardown {
    OwnerClosed,
    Shutdown,
}

#[derive(Clone, Copy)]
pub(crate) struct GiveUp {
    pub(crate) at: Instant,
    pub(crate) after_ms: u128,
    /// Set by a teardown, whose grace no later kill prolongs.
    pub(crate) teardown: bool,
}

/// What only an ended job has.
pub(crate) struct Ended {
    pub(crate) end: End,
    /// The position in the order of settlements.
    pub(crate) settlement: u64,
    /// Whether the other news of the settlement are out, so that reporters may
    /// hear of it.
    pub(crate) published: bool,
    /// What its output counts in the room's bound.
    pub(crate) output_bytes: u64,
}

/// Where the output of a job is.
pub(crate) enum Output {
    Source {
        source: Arc<dyn OutputSource>,
        /// The model's cursor.
        cursor: u64,
    },
    /// Final output: none while the job lives, nor if it ended without.
    Text(Option<Arc<str>>),
    /// Retention took it.
    Evicted,
}

impl Job {
    /// Runs `work` on the job and the room it is in, both locked, tidies the
    /// room up, and does what that leaves to do.
    pub(crate) fn locked<T>(
        &self,
        work: impl FnOnce(&Arc<Room>, &mut RoomState, &mut JobState, &mut Effects) -> T,
    ) -> T {
        loop {
            let room = Arc::clone(&self.state.lock().room);
            let mut room_state = room.state.lock();
            let mut state = self.state.lock();
            // A hand-over may have come between.
            if Arc::ptr_eq(&state.room, &room) {
                let mut effects = Effects::default();
                let result = work(&room, &mut room_state, &mut state, &mut effects);
                drop(state);
                room.tidy(&mut room_state, &mut effects);
                drop(room_state);
                effects.fire(&room);
                return result;
            }
        }
    }

    /// The job as it is now, with what a live one says of itself.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.snapshot_and(|_| ()).0
    }

    /// The same, and what else there is to see at that moment.
    pub(crate) fn snapshot_and<T>(&self, look: impl FnOnce(&JobState) -> T) -> (Snapshot, T) {
        let state = self.state.lock();
        let mut snapshot = self.project(&state);
        let hook = state.detail_hook();
        let seen = look(&state);
        drop(state);
        self.add_detail(&mut snapshot, hook);
        (snapshot, seen)
    }

    /// Asks a live job what it says of itself.
    fn add_detail(&self, snapshot: &mut Snapshot, hook: Option<DetailHook>) {
        if let Some(hook) = hook
            && let Some(told) = self.ask(&hook)
            && let State::Running { detail } | State::Stopping { detail } = &mut snapshot.state
        {
            *detail = Some(told);
        }
    }

    fn ask(&self, hook: &DetailHook) -> Option<Arc<str>> {
        match contain::call(|| hook()) {
            Ok(detail) => detail.map(Arc::from),
            Err(panicked) => {
                tracing::warn!(job = %self.id, %panicked, "the detail hook panicked");
                None
            }
        }
    }

    /// The job under its lock; a live one says nothing of itself here.
    pub(crate) fn project(&self, state: &JobState) -> Snapshot {
        let now = match &state.phase {
            Phase::Live(live) if live.stopping => State::Stopping { detail: None },
            Phase::Live(_) => State::Running { detail: None },
            Phase::Ended(ended) => {
                let mut end = ended.end.clone();
                end.reported = state.shares.is_told();
                State::Ended(end)
            }
        };
        Snapshot::new(
            self.id.clone(),
            Arc::clone(&self.label),
            self.started_at,
            now,
        )
        .with_output_limit(self.output_limit)
        .with_owner(state.room.session().cloned())
    }

    /// The job as it is now; with a share, if the answer will carry the
    /// terminal state.
    pub(crate) fn share(self: &Arc<Self>) -> (Snapshot, Option<Share>) {
        let (snapshot, share, ()) = self.share_and(|_| ());
        (snapshot, share)
    }

    /// The same, and what else there is to see at that moment.
    pub(crate) fn share_and<T>(
        self: &Arc<Self>,
        look: impl FnOnce(&JobState) -> T,
    ) -> (Snapshot, Option<Share>, T) {
        let state = self.state.lock();
        if let Phase::Live(live) = &state.phase {
            let (mut snapshot, hook) = (self.project(&state), live.detail.clone());
            let seen = look(&state);
            drop(state);
            self.add_detail(&mut snapshot, hook);
            return (snapshot, None, seen);
        }
        drop(state);
        let (snapshot, ticket, seen) = self.locked(|room, room_state, state, effects| {
            let ticket = room.take_share(room_state, state, effects);
            (self.project(state), ticket, look(state))
        });
        let share = ticket.map(|ticket| self.share_of(ticket));
        (snapshot, share, seen)
    }

    pub(crate) fn share_of(self: &Arc<Self>, ticket: u64) -> Share {
        Share::new(Arc::clone(self) as Arc<dyn ShareDesk>, ticket)
    }

    /// Stops counting on shares whose lease ran out.
    pub(crate) fn expire_shares(&self, now: Instant) {
        self.returned(|shares| shares.expire(now));
    }

    /// Changes the shares and lets the room follow.
    fn returned(&self, change: impl FnOnce(&mut Shares) -> Returned) {
        self.locked(
            |room, room_state, state, effects| match change(&mut state.shares) {
                Returned::Nothing => {}
                Returned::Told => room.told(room_state, state, effects),
                Returned::Free => room.offer(room_state, state, effects),
            },
        );
    }
}

impl Live {
    /// Who names the cause if the job ends as killed now.
    pub(crate) fn killer(&self) -> Option<&Killer> {
        self.accepted.as_ref().or(self.attempts.first())
    }
}

impl JobState {
    /// The live half, if the job lives.
    pub(crate) fn live(&mut self) -> Option<&mut Live> {
        match &mut self.phase {
            Phase::Live(live) => Some(live),
            Phase::Ended(_) => None,
        }
    }

    fn detail_hook(&self) -> Option<DetailHook> {
        match &self.phase {
            Phase::Live(live) => live.detail.clone(),
            Phase::Ended(_) => None,
        }
    }
}

impl ShareDesk for Job {
    fn told(&self, ticket: u64) {
        self.returned(|shares| shares.commit(ticket));
    }

    fn given_back(&self, ticket: u64) {
        self.returned(|shares| shares.give_back(ticket));
    }
}

impl CursorDesk for Job {
    fn delivered(&self, to: u64) {
        if let Output::Source { cursor, .. } = &mut self.state.lock().output {
            *cursor = (*cursor).max(to);
        }
    }
}

impl Stopper {
    pub(crate) fn cause(self) -> Cause {
        match self {
            Self::Caller(KilledBy::Model) => Cause::Model,
            Self::Caller(KilledBy::User) => Cause::User,
            Self::Caller(KilledBy::Host) => Cause::Host,
            Self::Teardown(Teardown::OwnerClosed) => Cause::OwnerClosed,
            Self::Teardown(Teardown::Shutdown) => Cause::Shutdown,
        }
    }
}
