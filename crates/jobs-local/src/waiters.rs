//! The wakers of whoever waits for a job to end.
//!
//! 1. A slot belongs to one waiter until it is removed or all are released.
//! 2. Releasing keeps the count: each waiter that was there holds a share from
//!    then on (see `shares`).

use std::task::Waker;

/// A slab of wakers.
#[derive(Default)]
pub(crate) struct Waiters {
    slots: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Waiters {
    /// Adds a waiter and names its slot.
    pub(crate) fn add(&mut self, waker: &Waker) -> usize {
        if let Some(slot) = self.free.pop() {
            self.slots[slot] = Some(waker.clone());
            slot
        } else {
            self.slots.push(Some(waker.clone()));
            self.slots.len() - 1
        }
    }

    /// Renews the waker of a waiter.
    pub(crate) fn renew(&mut self, slot: usize, waker: &Waker) {
        if let Some(Some(kept)) = self.slots.get_mut(slot) {
            kept.clone_from(waker);
        }
    }

    /// Takes a waiter out.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<Waker> {
        let waker = self.slots.get_mut(slot)?.take();
        if waker.is_some() {
            self.free.push(slot);
        }
        waker
    }

    /// Takes all of them out.
    pub(crate) fn release(&mut self) -> Vec<Waker> {
        self.free = Vec::new();
        let slots = std::mem::take(&mut self.slots);
        slots.into_iter().flatten().collect()
    }
}
