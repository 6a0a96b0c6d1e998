//! The locks of the state machines, so that the release build and the model
//! checker run the same sources (design D8).
//!
//! Everywhere else in this crate a lock comes from here. Under `--cfg shuttle`
//! each operation on it is a point where the checker may switch threads.

#[cfg(not(shuttle))]
pub(crate) use parking_lot::Mutex;
#[cfg(not(shuttle))]
pub(crate) use std::sync::Arc;

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
