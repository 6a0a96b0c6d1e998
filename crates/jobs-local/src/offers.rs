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

use crate::core::Core;
use crate::effects::{Effects, wake};
use crate::room::{Room, RoomPhase, RoomState};
use crate::sync::{AtomicUsize, Mutex, Ordering};

/// The reporters that serve more than one owner; the others are in their rooms.
pub(crate) struct OfferBoard {
    wide: Mutex<Wide>,
    /// Lets a registry without such reporters pass without a lock.
    count: AtomicUsize,
}

struct Wide {
    reporters: Vec<Arc<Reporter>>,
    closed: bool,
}

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
        Self {
            wide: Mutex::new(Wide {
                reporters: Vec::new(),
                closed: false,
            }),
            count: AtomicUsize::new(0),
        }
    }

    fn add(&self, reporter: &Arc<Reporter>) {
        let mut wide = self.wide.lock();
        if wide.closed {
            reporter.queue.lock().closed = true;
        } else {
            wide.reporters.push(Arc::clone(reporter));
            self.count.store(wide.reporters.len(), Ordering::SeqCst);
        }
    }

    fn remove(&self, reporter: &Arc<Reporter>) {
        let mut wide = self.wide.lock();
        wide.reporters.retain(|other| !Arc::ptr_eq(other, reporter));
        self.count.store(wide.reporters.len(), Ordering::SeqCst);
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
        let wide = (self.count.load(Ordering::SeqCst) > 0).then(|| self.wide.lock());
        state
            .reporters
            .iter()
            .chain(wide.iter().flat_map(|wide| &wide.reporters))
            .filter_map(|reporter| {
                let distance = room
                    .scope
                    .chain()
                    .position(|scope| *scope == reporter.scope)?;
                Some((distance, reporter))
            })
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, reporter)| Arc::clone(reporter))
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
        let mut wide = self.wide.lock();
        wide.closed = true;
        let reporters = std::mem::take(&mut wide.reporters);
        drop(wide);
        reporters.iter().for_each(|reporter| reporter.close());
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
    let room = owner.map(|owner| {
        core.tables
            .lock()
            .rooms
            .get(&owner.instance)
            .map(Arc::clone)
    });
    match &room {
        None => core.offers.add(&reporter),
        Some(Some(room)) => {
            let mut state = room.state.lock();
            if state.phase == RoomPhase::Closed {
                reporter.queue.lock().closed = true;
            } else {
                state.reporters.push(Arc::clone(&reporter));
            }
        }
        Some(None) => reporter.queue.lock().closed = true,
    }
    let stream = ReporterStream {
        core: Arc::clone(core),
        reporter,
        room: room.flatten(),
        narrowed: owner.is_some(),
    };
    stream.reroute();
    Completions::new(stream)
}

struct ReporterStream {
    core: Arc<Core>,
    reporter: Arc<Reporter>,
    room: Option<Arc<Room>>,
    narrowed: bool,
}

impl ReporterStream {
    /// Routes what the rooms in reach of this reporter have to offer.
    fn reroute(&self) {
        if self.narrowed {
            if let Some(room) = &self.room {
                self.core.offers.route(room);
            }
            return;
        }
        let rooms: Vec<_> = self
            .core
            .tables
            .lock()
            .rooms
            .values()
            .map(Arc::clone)
            .collect();
        for room in rooms
            .iter()
            .filter(|room| room.scope.is_within(&self.reporter.scope))
        {
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
        let other = |reporter: &Arc<Reporter>| !Arc::ptr_eq(reporter, &self.reporter);
        match &self.room {
            Some(room) => room.state.lock().reporters.retain(other),
            None => self.core.offers.remove(&self.reporter),
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
