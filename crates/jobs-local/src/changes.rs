//! Observers of changes: whose visible jobs moved since the last look.
//!
//! 1. An observer holds an owner at most once, and at most [`MAX_BEHIND`] of
//!    them; beyond that it holds *everything* instead.
//! 2. What is moved before a close is given out before the end.

use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use jobs::{Change, Changes, Scope};

use crate::effects::wake;
use crate::room::Room;
use crate::sync::{AtomicUsize, Mutex, Ordering};

/// How many owners an observer keeps apart.
const MAX_BEHIND: usize = 4096;

/// All observers of a registry.
pub(crate) struct ChangeBoard {
    observers: Mutex<Observers>,
    /// Lets a registry that nobody observes pass without a lock.
    count: AtomicUsize,
}

struct Observers {
    all: Vec<Arc<Observer>>,
    closed: bool,
}

struct Observer {
    scope: Scope,
    state: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    order: VecDeque<Change>,
    held: HashSet<Change>,
    closed: bool,
    waker: Option<Waker>,
}

impl ChangeBoard {
    pub(crate) fn new() -> Self {
        Self {
            observers: Mutex::new(Observers {
                all: Vec::new(),
                closed: false,
            }),
            count: AtomicUsize::new(0),
        }
    }

    /// Registers an observer.
    pub(crate) fn observe(board: &Arc<Self>, scope: &Scope) -> Changes {
        let mut observers = board.observers.lock();
        let pending = Pending {
            closed: observers.closed,
            ..Pending::default()
        };
        let observer = Arc::new(Observer {
            scope: scope.clone(),
            state: Mutex::new(pending),
        });
        observers.all.push(Arc::clone(&observer));
        board.count.store(observers.all.len(), Ordering::SeqCst);
        drop(observers);
        Changes::new(ObserverStream {
            board: Arc::clone(board),
            observer,
        })
    }

    /// Jobs of `room` moved.
    pub(crate) fn moved(&self, room: &Room) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let change = room.owner.clone().map_or(Change::Unowned, Change::Owner);
        let mut wakers = Vec::new();
        for observer in &self.observers.lock().all {
            if room.scope.is_within(&observer.scope) {
                wakers.extend(observer.state.lock().add(&change));
            }
        }
        wake(wakers);
    }

    /// Nothing moves any more.
    pub(crate) fn close(&self) {
        let mut observers = self.observers.lock();
        observers.closed = true;
        let wakers: Vec<_> = observers
            .all
            .iter()
            .filter_map(|observer| {
                let mut state = observer.state.lock();
                state.closed = true;
                state.waker.take()
            })
            .collect();
        drop(observers);
        wake(wakers);
    }
}

impl Pending {
    fn add(&mut self, change: &Change) -> Option<Waker> {
        if self.held.contains(change) || self.held.contains(&Change::Everything) {
            return None;
        }
        let change = if self.order.len() < MAX_BEHIND {
            change.clone()
        } else {
            self.order.clear();
            self.held.clear();
            Change::Everything
        };
        self.held.insert(change.clone());
        self.order.push_back(change);
        self.waker.take()
    }
}

struct ObserverStream {
    board: Arc<ChangeBoard>,
    observer: Arc<Observer>,
}

impl Stream for ObserverStream {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let mut state = self.observer.state.lock();
        if let Some(change) = state.order.pop_front() {
            state.held.remove(&change);
            return Poll::Ready(Some(change));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for ObserverStream {
    fn drop(&mut self) {
        let mut observers = self.board.observers.lock();
        observers
            .all
            .retain(|other| !Arc::ptr_eq(other, &self.observer));
        self.board
            .count
            .store(observers.all.len(), Ordering::SeqCst);
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_observer_leaves_nothing() {
        let board = Arc::new(ChangeBoard::new());
        let [first, second] = [(); 2].map(|()| ChangeBoard::observe(&board, &Scope::root()));
        let left = || {
            (
                board.observers.lock().all.len(),
                board.count.load(Ordering::SeqCst),
            )
        };
        assert_eq!(left(), (2, 2));
        let kept = Arc::clone(&board.observers.lock().all[1]);
        drop(first);
        assert_eq!(left(), (1, 1));
        assert!(Arc::ptr_eq(&board.observers.lock().all[0], &kept));
        drop(second);
        assert_eq!(left(), (0, 0));
    }
}
