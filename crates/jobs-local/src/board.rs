//! Those who hear of what happens in a registry: a list that is looked at often
//! and rarely changes.
//!
//! 1. To look at an empty board takes no lock.
//! 2. A closed board is empty, and stays so.

use std::sync::Arc;

use crate::sync::{AtomicUsize, Mutex, Ordering};

pub(crate) struct Board<T> {
    listed: Mutex<Listed<T>>,
    /// How many are listed.
    count: AtomicUsize,
}

struct Listed<T> {
    all: Vec<Arc<T>>,
    closed: bool,
}

impl<T> Board<T> {
    pub(crate) fn new() -> Self {
        Self {
            listed: Mutex::new(Listed {
                all: Vec::new(),
                closed: false,
            }),
            count: AtomicUsize::new(0),
        }
    }

    /// Adds a listener, unless the board is closed.
    #[must_use]
    pub(crate) fn add(&self, listener: &Arc<T>) -> bool {
        let mut listed = self.listed.lock();
        if !listed.closed {
            listed.all.push(Arc::clone(listener));
            self.count.store(listed.all.len(), Ordering::SeqCst);
        }
        !listed.closed
    }

    pub(crate) fn remove(&self, listener: &Arc<T>) {
        let mut listed = self.listed.lock();
        listed.all.retain(|other| !Arc::ptr_eq(other, listener));
        self.count.store(listed.all.len(), Ordering::SeqCst);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Looks at all of them, in the order in which they came; the board is locked
    /// meanwhile.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&[Arc<T>]) -> R) -> R {
        if self.is_empty() {
            look(&[])
        } else {
            look(&self.listed.lock().all)
        }
    }

    /// Closes the board; gives those who were listed.
    pub(crate) fn close(&self) -> Vec<Arc<T>> {
        let mut listed = self.listed.lock();
        listed.closed = true;
        self.count.store(0, Ordering::SeqCst);
        std::mem::take(&mut listed.all)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn it_lists_who_came_and_did_not_go() {
        let board = Board::new();
        let [first, second, third] = [1, 2, 3].map(Arc::new);
        let listed = || board.look(|all| all.iter().map(|listener| **listener).collect::<Vec<_>>());
        assert!(board.is_empty() && listed().is_empty());
        for listener in [&first, &second, &third] {
            assert!(board.add(listener));
        }
        assert_eq!(listed(), [1, 2, 3]);
        board.remove(&second);
        board.remove(&second);
        assert_eq!(listed(), [1, 3]);
        assert_eq!(board.close(), [first, third]);
        assert!(board.is_empty() && !board.add(&second) && listed().is_empty());
    }
}
