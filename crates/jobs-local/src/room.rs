//! A room: everything that belongs to one owner instance, or to nobody, behind
//! one lock.
//!
//! 1. Locks are taken in this order: rooms by number, then jobs, then the
//!    tables of the core. Under a room's lock several jobs may be locked, one
//!    after the other.
//! 2. `live + starting` never exceeds the limit, but for what a hand-over
//!    brings.
//! 3. `visible` holds the live jobs and the kept finished ones; until the room
//!    closes, every finished one is either untold or in `told`.
//! 4. Until the room closes, `offerable` holds exactly the untold, published
//!    completions of which no share is out; none of unowned jobs.
//! 5. A room closes once. It is closed when nothing in it lives or starts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use jobs::{Error, JobId, OwnerKey, Scope, SessionId};

use crate::core::Core;
use crate::effects::Effects;
use crate::job::{Ended, Job, JobState, Phase, Teardown};
use crate::offers::Reporter;
use crate::sequence::Sequence;
use crate::sync::{Instant, Mutex};

pub(crate) struct Room {
    /// The order of locks among rooms.
    pub(crate) number: u64,
    /// Whose it is; none for the unowned jobs.
    pub(crate) owner: Option<OwnerKey>,
    pub(crate) scope: Scope,
    pub(crate) core: Arc<Core>,
    pub(crate) state: Mutex<RoomState>,
}

pub(crate) struct RoomState {
    pub(crate) phase: RoomPhase,
    /// A newer instance of the session exists.
    pub(crate) replaced: bool,
    /// No handle of the owner is left.
    pub(crate) abandoned: bool,
    pub(crate) starting: u32,
    pub(crate) live: u32,
    pub(crate) untold: u32,
    pub(crate) finished: u32,
    /// By order of commit.
    pub(crate) visible: Sequence<Arc<Job>>,
    /// Told finished jobs, by order of settlement: where retention begins.
    pub(crate) told: Sequence<u64>,
    /// Finished jobs that keep output, by order of settlement.
    pub(crate) outputs: Sequence<u64>,
    pub(crate) output_bytes: u64,
    /// Ids that retention took, so that they can be told from unknown ones.
    pub(crate) evicted: VecDeque<JobId>,
    /// By order of settlement.
    pub(crate) offerable: Sequence<u64>,
    /// Reporters that serve this owner alone.
    pub(crate) reporters: Vec<Arc<Reporter>>,
    /// Who waits for the close.
    pub(crate) closers: Vec<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomPhase {
    Open,
    Closing(Teardown),
    Closed,
}

impl Room {
    pub(crate) fn new(
        core: Arc<Core>,
        number: u64,
        owner: Option<OwnerKey>,
        scope: Scope,
        phase: RoomPhase,
    ) -> Self {
        let state = RoomState {
            phase,
            replaced: false,
            abandoned: false,
            starting: 0,
            live: 0,
            untold: 0,
            finished: 0,
            visible: Sequence::new(),
            told: Sequence::new(),
            outputs: Sequence::new(),
            output_bytes: 0,
            evicted: VecDeque::new(),
            offerable: Sequence::new(),
            reporters: Vec::new(),
            closers: Vec::new(),
        };
        Self {
            number,
            owner,
            scope,
            core,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn session(&self) -> Option<&SessionId> {
        self.owner.as_ref().map(|owner| &owner.session)
    }

    /// Refuses an owner that cannot start or receive jobs.
    pub(crate) fn check_live(&self, state: &RoomState) -> Result<(), Error> {
        let Some(owner) = &self.owner else {
            return match state.phase {
                RoomPhase::Open => Ok(()),
                RoomPhase::Closing(_) | RoomPhase::Closed => Err(Error::ShutDown),
            };
        };
        let session = owner.session.clone();
        match state.phase {
            RoomPhase::Closing(_) | RoomPhase::Closed => Err(Error::OwnerClosed { session }),
            RoomPhase::Open if state.replaced => Err(Error::OwnerNotCurrent { session }),
            RoomPhase::Open => Ok(()),
        }
    }

    /// Takes the place of a job that is about to start.
    pub(crate) fn admit(&self) -> Result<(), Error> {
        let mut state = self.state.lock();
        self.check_live(&state)?;
        let config = &self.core.config;
        if state.live.saturating_add(state.starting) >= config.max_concurrent_jobs_per_owner.get() {
            return Err(Error::LimitReached {
                limit: config.max_concurrent_jobs_per_owner,
            });
        }
        if state.untold > config.max_untold_completions_per_owner.get() {
            return Err(Error::TooManyUntold {
                limit: config.max_untold_completions_per_owner,
            });
        }
        state.starting += 1;
        Ok(())
    }

    /// Gives the place of a start that failed back.
    pub(crate) fn withdraw(self: &Arc<Self>) {
        let mut effects = Effects::default();
        let mut state = self.state.lock();
        state.starting -= 1;
        self.tidy(&mut state, &mut effects);
        drop(state);
        effects.fire(self);
    }

    /// Takes a share of an ended job.
    pub(crate) fn take_share(
        &self,
        room_state: &mut RoomState,
        state: &mut JobState,
        effects: &mut Effects,
    ) -> Option<u64> {
        let Phase::Ended(ended) = &state.phase else {
            return None;
        };
        let expires = Instant::now().checked_add(self.core.config.share_lease);
        let ticket = state.shares.take(expires)?;
        room_state.offerable.remove(ended.settlement);
        effects.driver = state.driver.take();
        Some(ticket)
    }

    /// A completion became told.
    pub(crate) fn told(
        &self,
        room_state: &mut RoomState,
        state: &mut JobState,
        effects: &mut Effects,
    ) {
        effects.driver = state.driver.take();
        let Phase::Ended(ended) = &state.phase else {
            return;
        };
        if self.owner.is_some() {
            room_state.untold -= 1;
            room_state.offerable.remove(ended.settlement);
            room_state.told.insert(ended.settlement, state.commit);
        }
    }

    /// Offers a completion to reporters, if nothing stands against it.
    pub(crate) fn offer(
        self: &Arc<Self>,
        room_state: &mut RoomState,
        state: &JobState,
        effects: &mut Effects,
    ) {
        let Phase::Ended(Ended {
            published: true,
            settlement,
            ..
        }) = &state.phase
        else {
            return;
        };
        if self.owner.is_some() && room_state.phase == RoomPhase::Open && state.shares.is_free() {
            room_state.offerable.insert(*settlement, state.commit);
            effects.reporter = self.core.offers.due(self, room_state);
        }
    }

    /// Counts a job that has just ended.
    pub(crate) fn ended(&self, room_state: &mut RoomState, state: &JobState, ended: &Ended) {
        room_state.live -= 1;
        room_state.finished += 1;
        if self.owner.is_none() || state.shares.is_told() {
            room_state.told.insert(ended.settlement, state.commit);
        } else {
            room_state.untold += 1;
        }
        if ended.output_bytes > 0 {
            room_state.outputs.insert(ended.settlement, state.commit);
            room_state.output_bytes += ended.output_bytes;
        }
    }

    /// Keeps to the bounds, and ends a close that has nothing to wait for.
    /// No job may be locked: retention locks them.
    pub(crate) fn tidy(self: &Arc<Self>, state: &mut RoomState, effects: &mut Effects) {
        crate::retention::enforce(self, state, effects);
        let RoomPhase::Closing(_) = state.phase else {
            return;
        };
        if state.live == 0 && state.starting == 0 {
            state.phase = RoomPhase::Closed;
            effects.changed |= !state.visible.is_empty();
            crate::retention::clear(self, state, effects);
            effects.closed = true;
        }
    }
}
