//! What finished jobs may keep (spec: registry, §9).
//!
//! 1. Records go oldest told first; an untold one is never taken.
//! 2. Output goes oldest first, told or not.
//! 3. Nothing here looks at more jobs than it takes.

use std::sync::Arc;

use crate::effects::Effects;
use crate::ids::Slot;
use crate::job::{Job, Output, Phase};
use crate::room::{Room, RoomState};
use crate::sequence::Sequence;

/// How many ids an owner's room remembers as evicted; older ones are unknown.
const MAX_EVICTED_IDS: usize = 10_000;

/// Takes what is above the bounds of a room.
pub(crate) fn enforce(room: &Arc<Room>, state: &mut RoomState, effects: &mut Effects) {
    let config = &room.core.config;
    while state.finished > config.max_finished_jobs_per_owner.get() {
        let Some((settlement, commit)) = state.told.pop_first() else {
            break;
        };
        evict(room, state, settlement, commit, effects);
    }
    while state.output_bytes > config.max_finished_output_bytes_per_owner {
        let Some((_, commit)) = state.outputs.pop_first() else {
            break;
        };
        if let Some(job) = state.visible.get(commit).map(Arc::clone) {
            take_output(&job, state, effects);
        }
    }
}

/// Takes one record.
fn evict(
    room: &Arc<Room>,
    state: &mut RoomState,
    settlement: u64,
    commit: u64,
    effects: &mut Effects,
) {
    let Some(job) = state.visible.remove(commit) else {
        return;
    };
    state.finished -= 1;
    state.outputs.remove(settlement);
    take_output(&job, state, effects);
    let ids = &room.core.ids;
    ids.put(&job.id, Slot::Evicted(Arc::clone(room)));
    state.evicted.push_back(job.id.clone());
    if state.evicted.len() > MAX_EVICTED_IDS
        && let Some(oldest) = state.evicted.pop_front()
    {
        ids.remove(&oldest);
    }
    effects.changed = true;
}

/// Takes everything: the room is closed.
pub(crate) fn clear(room: &Room, state: &mut RoomState, effects: &mut Effects) {
    let ids = &room.core.ids;
    for (_, job) in state.visible.take() {
        take_output(&job, state, effects);
        ids.remove(&job.id);
    }
    for id in std::mem::take(&mut state.evicted) {
        ids.remove(&id);
    }
    state.told = Sequence::new();
    state.outputs = Sequence::new();
    state.offerable = Sequence::new();
    state.finished = 0;
    state.untold = 0;
}

fn take_output(job: &Job, state: &mut RoomState, effects: &mut Effects) {
    let mut job_state = job.state.lock();
    if let Phase::Ended(ended) = &mut job_state.phase {
        state.output_bytes -= std::mem::take(&mut ended.output_bytes);
    }
    if let Output::Source { source, .. } = std::mem::replace(&mut job_state.output, Output::Evicted)
    {
        effects.dropped.push(source);
    }
}
