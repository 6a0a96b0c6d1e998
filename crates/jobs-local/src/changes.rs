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

use crate::board::Board;
use crate::effects::wake;
use crate::room::Room;
use crate::sync::Mutex;

/// How many owners an observer keeps apart.
const MAX_BEHIND: usize = 4096;

/// All observers of a registry.
pub(crate) struct ChangeBoard(Board<Observer>);

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
        Self(Board::new())
    }

    /// Registers an observer.
    pub(crate) fn observe(board: &Arc<Self>, scope: &Scope) -> Changes {
        let observer = Arc::new(Observer {
            scope: scope.clone(),
            state: Mutex::new(Pending::default()),
        });
        if !board.0.add(&observer) {
            observer.state.lock().closed = true;
        }
        Changes::new(ObserverStream {
            board: Arc::clone(board),
            observer,
        })
    }

    /// Jobs of `room` moved.
    pub(crate) fn moved(&self, room: &Room) {
        if self.0.is_empty() {
            return;
        }
        let change = room.owner.clone().map_or(Change::Unowned, Change::Owner);
        let wakers = self.0.look(|observers| {
            let concerned = observers
                .iter()
                .filter(|observer| room.scope.is_within(&observer.scope));
            concerned
                .filter_map(|observer| observer.state.lock().add(&change))
                .collect::<Vec<_>>()
        });
        wake(wakers);
    }

    /// Nothing moves any more.
    pub(crate) fn close(&self) {
        for observer in self.0.close() {
            let mut state = observer.state.lock();
            state.closed = true;
            let waker = state.waker.take();
            drop(state);
            wake(waker);
        }
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
        self.board.0.remove(&self.observer);
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_observer_leaves_nothing() {
        let board = Arc::new(ChangeBoard::new());
        let observer = ChangeBoard::observe(&board, &Scope::root());
        assert!(!board.0.is_empty());
        drop(observer);
        assert!(board.0.is_empty());
    }
}
