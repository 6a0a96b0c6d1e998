//! The ends of owners and of the registry, and the hand-over that avoids one.
//!
//! 1. Closing refuses new starts before anything else happens.
//! 2. What lives or waits to be told at that moment counts as told.
//! 3. Nobody has to wait for a close for it to go on: the last settlement in a
//!    room ends it.

use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use jobs::{Error, OwnerControl, OwnerKey};

use crate::core::Core;
use crate::effects::{Effects, wake};
use crate::job::{Job, Phase, Stopper, Teardown};
use crate::kill::Attempt;
use crate::room::{Room, RoomPhase, RoomState};
use crate::sequence::Sequence;
use crate::settle::{Verdict, settle};

/// The registry's end of an owner.
pub(crate) struct RoomControl(pub(crate) Arc<Room>);

#[async_trait]
impl OwnerControl for RoomControl {
    async fn close(&self) {
        begin_close(&self.0, Teardown::OwnerClosed);
        closed(&self.0).await;
    }

    async fn hand_over(&self, to: &OwnerKey) -> Result<(), Error> {
        hand_over(&self.0, to)
    }

    fn abandon(&self) {
        self.0.state.lock().abandoned = true;
        begin_close(&self.0, Teardown::OwnerClosed);
        if self.0.state.lock().phase == RoomPhase::Closed {
            self.0.core.forget(&self.0);
        }
    }
}

/// Resolves when the room is closed.
pub(crate) async fn closed(room: &Room) {
    std::future::poll_fn(|cx| {
        let mut state = room.state.lock();
        if state.phase == RoomPhase::Closed {
            return Poll::Ready(());
        }
        if !state
            .closers
            .iter()
            .any(|other| other.will_wake(cx.waker()))
        {
            state.closers.push(cx.waker().clone());
        }
        Poll::Pending
    })
    .await;
}

/// Begins to end a room, unless that has begun.
pub(crate) fn begin_close(room: &Arc<Room>, why: Teardown) {
    let mut effects = Effects::default();
    let mut state = room.state.lock();
    if state.phase != RoomPhase::Open {
        return;
    }
    state.phase = RoomPhase::Closing(why);
    let live = tell_everything(&mut state, &mut effects);
    room.tidy(&mut state, &mut effects);
    drop(state);
    effects.fire(room);
    for job in &live {
        stop(job, why);
    }
}

/// Nobody is left to tell. Gives the live jobs.
fn tell_everything(room_state: &mut RoomState, effects: &mut Effects) -> Vec<Arc<Job>> {
    let mut live = Vec::new();
    for (_, job) in room_state.visible.iter() {
        let mut state = job.state.lock();
        state.shares.tell();
        match &state.phase {
            Phase::Live(_) => live.push(Arc::clone(job)),
            Phase::Ended(_) => effects.waiters.extend(state.driver.take()),
        }
    }
    room_state.offerable = Sequence::new();
    live
}

/// Cancels one job of a room that closes.
pub(crate) fn stop(job: &Arc<Job>, why: Teardown) {
    let reason = match why {
        Teardown::Shutdown => "jobs service disposed",
        Teardown::OwnerClosed => "owner disposed",
    };
    let grace = job.state.lock().room.core.config.teardown_grace;
    let Some(attempt) = Attempt::begin(job, Stopper::Teardown(why), Some(reason)) else {
        return;
    };
    if let Err(error) = attempt.cancel(Some(grace)) {
        let detail = format!("cancel failed during teardown; work may be orphaned: {error}");
        tracing::warn!(job = %job.id, "{detail}");
        settle(job, Verdict::Forced(detail));
        let driver = job.state.lock().driver.take();
        wake(driver);
    }
}

/// Begins to end the registry, unless that has begun. Gives the rooms to wait
/// for.
pub(crate) fn begin_shutdown(core: &Arc<Core>) -> Vec<Arc<Room>> {
    let rooms = core.shut();
    for room in &rooms {
        begin_close(room, Teardown::Shutdown);
    }
    core.offers.close();
    rooms
}

/// Moves what lives and what is untold.
fn hand_over(from: &Arc<Room>, to: &OwnerKey) -> Result<(), Error> {
    let core = &from.core;
    let to = core
        .room_of(Some(to))?
        .ok_or_else(|| Error::OwnerNotCurrent {
            session: to.session.clone(),
        })?;
    if Arc::ptr_eq(from, &to) {
        return Ok(());
    }
    let (mut from_state, mut to_state) = if from.number < to.number {
        let from_state = from.state.lock();
        (from_state, to.state.lock())
    } else {
        let to_state = to.state.lock();
        (from.state.lock(), to_state)
    };
    to.check_live(&to_state)?;
    if from_state.phase != RoomPhase::Open {
        from.check_live(&from_state)?;
    }
    let jobs: Vec<_> = from_state.visible.iter().cloned().collect();
    for (_, job) in &jobs {
        carry(job, &mut from_state, &mut to_state, &to);
    }
    let mut effects = Effects {
        changed: true,
        reporter: core.offers.due(&to, &to_state),
        ..Effects::default()
    };
    to.tidy(&mut to_state, &mut effects);
    drop(from_state);
    drop(to_state);
    core.changes.moved(from);
    effects.fire(&to);
    Ok(())
}

/// Moves one job, if it lives or is untold.
fn carry(job: &Arc<Job>, from: &mut RoomState, to: &mut RoomState, room: &Arc<Room>) {
    let mut state = job.state.lock();
    match &state.phase {
        Phase::Live(_) => {
            from.live -= 1;
            to.live += 1;
        }
        Phase::Ended(_) if state.shares.is_told() => return,
        Phase::Ended(ended) => {
            from.finished -= 1;
            to.finished += 1;
            from.untold -= 1;
            to.untold += 1;
            if from.offerable.remove(ended.settlement).is_some() {
                to.offerable.insert(ended.settlement, state.commit);
            }
            if from.outputs.remove(ended.settlement).is_some() {
                to.outputs.insert(ended.settlement, state.commit);
            }
            from.output_bytes -= ended.output_bytes;
            to.output_bytes += ended.output_bytes;
        }
    }
    from.visible.remove(state.commit);
    to.visible.insert(state.commit, Arc::clone(job));
    state.room = Arc::clone(room);
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::pin::pin;

    use super::*;
    use crate::config::Config;

    #[tokio::test]
    async fn who_looks_again_and_again_for_a_close_is_kept_once() {
        let core = Core::new(Config::default());
        let room = core.room_of(None).unwrap().unwrap();
        let mut close = pin!(closed(&room));
        std::future::poll_fn(|cx| {
            for _ in 0..3 {
                assert_eq!(close.as_mut().poll(cx), Poll::Pending);
            }
            Poll::Ready(())
        })
        .await;
        assert_eq!(room.state.lock().closers.len(), 1);
    }
}
