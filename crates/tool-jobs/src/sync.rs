//! Locks, tasks and clocks: the release build and the model checker run the
//! same sources otherwise.
//!
//! Under `--cfg shuttle` each operation on a lock is a point where the checker
//! may switch threads. The checks are about the inbox, so tasks and clocks are
//! those of tokio in both.

#[cfg(not(shuttle))]
pub(crate) use parking_lot::Mutex;
#[cfg(not(shuttle))]
pub(crate) use std::sync::Arc;

pub(crate) use tokio::task::{JoinHandle, spawn};
pub(crate) use tokio::time::{Instant, sleep};

#[cfg(shuttle)]
pub(crate) use self::checked::Mutex;
#[cfg(shuttle)]
pub(crate) use shuttle::sync::Arc;

#[cfg(shuttle)]
mod checked {
    use shuttle::sync::{Mutex as Inner, MutexGuard};

    /// A lock that the model checker schedules, with the interface of
    /// `parking_lot`.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(Inner<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(Inner::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
        }
    }
}
