//! Waiting for the end of a job.
//!
//! 1. A wait that is pending at settlement holds a share from then on, whether
//!    it is polled or not.
//! 2. A wait that is dropped gives its share, or its place among the waiters,
//!    back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use jobs::{Delivery, Receipt, ShareDesk, Snapshot};

use crate::job::Job;
use crate::shares::WAITED;

/// Resolves when the job has ended.
pub(crate) struct Settled {
    job: Arc<Job>,
    /// The place among the waiters of a live job.
    slot: Option<usize>,
}

impl Settled {
    pub(crate) fn new(job: Arc<Job>) -> Self {
        Self { job, slot: None }
    }
}

impl Future for Settled {
    type Output = Receipt<Snapshot>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let job = Arc::clone(&self.job);
        let mut state = job.state.lock();
        if let Some(live) = state.live() {
            match self.slot {
                Some(slot) => live.waiters.renew(slot, cx.waker()),
                None => self.slot = Some(live.waiters.add(cx.waker())),
            }
            return Poll::Pending;
        }
        let (snapshot, share) = if self.slot.take().is_some() {
            (job.project(&state), Some(job.share_of(WAITED)))
        } else {
            drop(state);
            job.share()
        };
        Poll::Ready(Receipt::new(snapshot, Delivery::none().with_share(share)))
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let mut state = self.job.state.lock();
        if let Some(live) = state.live() {
            let waker = live.waiters.remove(slot);
            drop(state);
            drop(waker);
        } else {
            drop(state);
            self.job.given_back(WAITED);
        }
    }
}
