//! Reporters: who is offered which completion.
//!
//! 1. An owner's completions are offered to one reporter: the innermost along
//!    its scopes that is registered.
//! 2. A reporter's queue holds rooms, not completions: what a room has to offer
//!    is looked at by the poll that takes it.
//! 3. Whenever a room gets something to offer, or gets another innermost
//!    reporter, it is put into that reporter's queue.

use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use jobs::{Completion, Completions, Delivery, NoticeId, OwnerKey, Receipt, Scope};

use crate::board::Board;
use crate::core::Core;
use crate::effects::{Effects, wake};
use crate::room::{Room, RoomPhase, RoomState};
use crate::sync::Mutex;

/// The reporters that serve more than one owner; the others are in their rooms.
pub(crate) struct OfferBoard(Board<Reporter>);

pub(crate) struct Reporter {
    scope: Scope,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    rooms: VecDeque<Arc<Room>>,
    queued: HashSet<u64>,
    closed: bool,
    waker: Option<Waker>,
}

impl OfferBoard {
    pub(crate) fn new() -> Self {
        Self(Board::new())
    }

    /// The reporter to be told that a room has something to offer, if it has.
    ///
    /// Runs under the room's lock, and who comes later looks at the room after
    /// that.
    pub(crate) fn due(&self, room: &Room, state: &RoomState) -> Option<Arc<Reporter>> {
        if state.offerable.is_empty() {
            None
        } else {
            self.serving(room, state)
        }
    }

    /// The reporter that serves a room now.
    fn serving(&self, room: &Room, state: &RoomState) -> Option<Arc<Reporter>> {
        let distance = |reporter: &Reporter| {
            let mut scopes = room.scope.chain();
            scopes.position(|scope| *scope == reporter.scope)
        };
        self.0.look(|wide| {
            let reporters = state.reporters.iter().chain(wide);
            reporters
                .filter_map(|reporter| Some((distance(reporter)?, reporter)))
                .min_by_key(|(distance, _)| *distance)
                .map(|(_, reporter)| Arc::clone(reporter))
        })
    }

    /// Wakes the reporter of a room that has something to offer.
    fn route(&self, room: &Arc<Room>) {
        let due = self.due(room, &room.state.lock());
        if let Some(reporter) = due {
            reporter.offer(room);
        }
    }

    /// No completion is offered any more to reporters of more than one owner.
    pub(crate) fn close(&self) {
        self.0.close().iter().for_each(|reporter| reporter.close());
    }
}

impl Reporter {
    /// `room` may have something for this reporter.
    pub(crate) fn offer(&self, room: &Arc<Room>) {
        let waker = self.queue.lock().add(room);
        wake(waker);
    }

    /// Ends the stream of this reporter.
    pub(crate) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.rooms.clear();
        let waker = queue.waker.take();
        drop(queue);
        wake(waker);
    }
}

impl Queue {
    fn add(&mut self, room: &Arc<Room>) -> Option<Waker> {
        if !self.closed && self.queued.insert(room.number) {
            self.rooms.push_back(Arc::clone(room));
        }
        self.waker.take()
    }
}

/// Registers a reporter for all owners at `scope` or below it, or for one.
pub(crate) fn report(core: &Arc<Core>, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
    let reporter = Arc::new(Reporter {
        scope: scope.clone(),
        queue: Mutex::new(Queue::default()),
    });
    let reach = match owner {
        None => Reach::Wide,
        Some(owner) => match core.tables.lock().rooms.get(&owner.instance) {
            Some(room) => Reach::Owner(Arc::clone(room)),
            None => Reach::Nobody,
        },
    };
    let open = match &reach {
        Reach::Wide => core.offers.0.add(&reporter),
        Reach::Owner(room) => {
            let mut state = room.state.lock();
            let open = state.phase != RoomPhase::Closed;
            if open {
                state.reporters.push(Arc::clone(&reporter));
            }
            open
        }
        Reach::Nobody => false,
    };
    if !open {
        reporter.queue.lock().closed = true;
    }
    let stream = ReporterStream {
        core: Arc::clone(core),
        reporter,
        reach,
    };
    stream.reroute();
    Completions::new(stream)
}

/// Whom a reporter can serve.
enum Reach {
    /// All owners at its scope or below.
    Wide,
    Owner(Arc<Room>),
    /// One owner, of which the registry knows nothing.
    Nobody,
}

struct ReporterStream {
    core: Arc<Core>,
    reporter: Arc<Reporter>,
    reach: Reach,
}

impl ReporterStream {
    /// Routes what the rooms in reach of this reporter have to offer.
    fn reroute(&self) {
        let rooms = match &self.reach {
            Reach::Wide => {
                let tables = self.core.tables.lock();
                let scope = &self.reporter.scope;
                let rooms = tables.rooms.values();
                rooms
                    .filter(|room| room.scope.is_within(scope))
                    .map(Arc::clone)
                    .collect()
            }
            Reach::Owner(room) => vec![Arc::clone(room)],
            Reach::Nobody => Vec::new(),
        };
        for room in &rooms {
            self.core.offers.route(room);
        }
    }

    /// The next completion of `room`, if this reporter still serves it.
    fn take(&self, room: &Arc<Room>) -> Option<Receipt<Completion>> {
        let mut room_state = room.state.lock();
        let serving = self.core.offers.serving(room, &room_state)?;
        if !Arc::ptr_eq(&serving, &self.reporter) {
            return None;
        }
        let commit = *room_state.offerable.first()?;
        let job = Arc::clone(room_state.visible.get(commit)?);
        let mut state = job.state.lock();
        let mut effects = Effects::default();
        let ticket = room.take_share(&mut room_state, &mut state, &mut effects)?;
        let snapshot = job.project(&state);
        drop(state);
        let more = !room_state.offerable.is_empty();
        drop(room_state);
        effects.fire(room);
        if more {
            self.reporter.queue.lock().add(room);
        }
        let notice = NoticeId::new(self.core.instance, job.id.clone());
        let completion = Completion::new(snapshot, room.owner.clone()?, notice);
        let delivery = Delivery::none().with_share(Some(job.share_of(ticket)));
        Some(Receipt::new(completion, delivery))
    }
}

impl Stream for ReporterStream {
    type Item = Receipt<Completion>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let mut queue = self.reporter.queue.lock();
            if queue.closed {
                return Poll::Ready(None);
            }
            let Some(room) = queue.rooms.pop_front() else {
                queue.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            queue.queued.remove(&room.number);
            drop(queue);
            if let Some(completion) = self.take(&room) {
                return Poll::Ready(Some(completion));
            }
        }
    }
}

impl Drop for ReporterStream {
    fn drop(&mut self) {
        match &self.reach {
            Reach::Wide => self.core.offers.0.remove(&self.reporter),
            Reach::Owner(room) => {
                let reporters = &mut room.state.lock().reporters;
                reporters.retain(|other| !Arc::ptr_eq(other, &self.reporter));
            }
            Reach::Nobody => {}
        }
        self.reroute();
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_room_waits_in_a_queue_once_and_not_in_a_closed_one() {
        let core = Core::new(Config::default());
        let room = core.room_of(None).unwrap().unwrap();
        let mut queue = Queue::default();
        for _ in 0..3 {
            queue.add(&room);
        }
        assert_eq!(queue.rooms.len(), 1);
        let reporter = Reporter {
            scope: Scope::root(),
            queue: Mutex::new(queue),
        };
        reporter.close();
        reporter.queue.lock().queued.clear();
        reporter.queue.lock().add(&room);
        assert_eq!(reporter.queue.lock().rooms.len(), 0);
    }
}
