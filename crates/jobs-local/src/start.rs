//! Starting a job: preflight, starter, commit.
//!
//! 1. Until the starter is called, a refusal leaves nothing.
//! 2. The place is taken before the starter runs, so nothing passes the limit.
//! 3. Once the starter returned hooks nothing can fail.
//! 4. There is no await between the first check and the commit.

use std::num::NonZeroU64;
use std::sync::Arc;

use jobs::text::Echo;
use jobs::{Error, Hooks, JobId, JobSpec, Kind, ProducerError, UnixMillis, contain};

use crate::core::Core;
use crate::driver::drive;
use crate::ids::Slot;
use crate::job::{Job, JobState, Live, Output, Phase};
use crate::room::{Room, RoomPhase};
use crate::shares::Shares;
use crate::sync::{Mutex, Spawner};
use crate::teardown;
use crate::waiters::Waiters;

pub(crate) fn start(core: &Arc<Core>, spec: JobSpec) -> Result<JobId, Error> {
    let room = core.controlled_room_of(spec.owner.as_ref())?;
    let kind = Kind::new(&spec.kind)?;
    if spec.label.is_empty() {
        return Err(Error::InvalidLabel);
    }
    let output_limit = match spec.output_limit {
        None => None,
        Some(got) => Some(NonZeroU64::new(got).ok_or(Error::InvalidOutputLimit { got })?),
    };
    let room = match (room, &spec.owner) {
        (Some(room), _) => room,
        (None, Some(owner)) => {
            return Err(Error::OwnerNotCurrent {
                session: owner.session.clone(),
            });
        }
        (None, None) => return Err(Error::ShutDown),
    };
    let reservation = Reservation::make(&room)?;
    let spawner = Spawner::current().ok_or_else(|| Error::Unavailable {
        reason: Echo::new("expected a call from within a tokio runtime"),
    })?;

    let id = core.ids.next(kind);
    let starter = spec.starter;
    let hooks = contain::call(|| starter(&id))
        .unwrap_or_else(|panicked| {
            Err(ProducerError::new(format!("producer panicked: {panicked}")))
        })
        .inspect_err(|_| core.ids.give_back(&id))?;
    commit(
        reservation.keep(),
        &spawner,
        id.clone(),
        spec.label,
        output_limit,
        hooks,
    );
    Ok(id)
}

/// The place of a job that is about to start; given back unless it is kept.
struct Reservation<'a> {
    room: &'a Arc<Room>,
    kept: bool,
}

impl<'a> Reservation<'a> {
    fn make(room: &'a Arc<Room>) -> Result<Self, Error> {
        room.admit()?;
        Ok(Self { room, kept: false })
    }

    fn keep(mut self) -> &'a Arc<Room> {
        self.kept = true;
        self.room
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.room.withdraw();
        }
    }
}

/// Nothing here can fail: the job runs.
fn commit(
    room: &Arc<Room>,
    spawner: &Spawner,
    id: JobId,
    label: Arc<str>,
    output_limit: Option<NonZeroU64>,
    hooks: Hooks,
) {
    let core = &room.core;
    let Hooks {
        cancel,
        done,
        output,
        detail,
        ..
    } = hooks;
    let live = Live {
        cancel,
        detail,
        stopping: false,
        attempts: Vec::new(),
        accepted: None,
        give_up: None,
        waiters: Waiters::default(),
    };
    let mut room_state = room.state.lock();
    room_state.starting -= 1;
    room_state.live += 1;
    let commit = core.count();
    let mut shares = Shares::new();
    let closing = match room_state.phase {
        RoomPhase::Closing(why) => Some(why),
        RoomPhase::Open | RoomPhase::Closed => None,
    };
    if closing.is_some() {
        shares.tell();
    }
    let job = Arc::new(Job {
        id,
        label,
        output_limit,
        started_at: UnixMillis::now(),
        state: Mutex::new(JobState {
            room: Arc::clone(room),
            commit,
            phase: Phase::Live(Box::new(live)),
            shares,
            output: output.map_or(Output::Text(None), |source| Output::Source {
                source,
                cursor: 0,
            }),
            driver: None,
        }),
    });
    room_state.visible.insert(commit, Arc::clone(&job));
    core.ids.put(&job.id, Slot::Job(Arc::clone(&job)));
    drop(room_state);
    core.changes.moved(room);
    spawner.spawn(drive(Arc::clone(&job), done));
    if let Some(why) = closing {
        teardown::stop(&job, why);
    }
}
