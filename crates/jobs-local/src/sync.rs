//! Everything that a schedule can interleave, in one place.
//!
//! The release build takes it from `parking_lot`, std and tokio; the model
//! checks (`--cfg shuttle`) take it from shuttle. All other files are the same
//! in both. Under the model time stands still until a check advances it.

#[cfg(not(shuttle))]
mod real {
    use std::future::Future;

    pub(crate) use parking_lot::Mutex;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

    /// Where driver tasks are started.
    #[derive(Debug)]
    pub(crate) struct Spawner(tokio::runtime::Handle);

    impl Spawner {
        /// The runtime of the caller, if there is one.
        pub(crate) fn current() -> Option<Self> {
            tokio::runtime::Handle::try_current().ok().map(Self)
        }

        pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
            drop(self.0.spawn(task));
        }
    }
}

#[cfg(shuttle)]
mod model {
    use std::future::Future;
    use std::marker::PhantomData;
    use std::ops::{Deref, DerefMut};
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

    pub(crate) struct MutexGuard<'a, T>(shuttle::sync::MutexGuard<'a, T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(shuttle::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(
                self.0
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner),
            )
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.0
        }
    }

    #[derive(Debug)]
    pub(crate) struct Spawner(PhantomData<()>);

    impl Spawner {
        pub(crate) fn current() -> Option<Self> {
            Some(Self(PhantomData))
        }

        pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
            drop(shuttle::future::spawn(task));
        }
    }

    shuttle::lazy_static! {
        /// The clock of the execution that runs.
        static ref CLOCK: Mutex<Clock> = Mutex::new(Clock::default());
    }

    #[derive(Debug, Default)]
    struct Clock {
        now: Duration,
        sleepers: Vec<(Duration, Waker)>,
    }

    /// Lets time pass, and wakes every sleeper whose moment has come.
    pub fn advance(by: Duration) {
        let mut clock = CLOCK.lock();
        clock.now += by;
        let now = clock.now;
        let sleepers = std::mem::take(&mut clock.sleepers);
        let (due, asleep): (Vec<_>, Vec<_>) = sleepers.into_iter().partition(|(at, _)| *at <= now);
        clock.sleepers = asleep;
        drop(clock);
        due.into_iter().for_each(|(_, waker)| waker.wake());
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub(crate) fn now() -> Self {
            Self(CLOCK.lock().now)
        }

        pub(crate) fn checked_add(&self, duration: Duration) -> Option<Self> {
            self.0.checked_add(duration).map(Self)
        }
    }

    #[derive(Debug)]
    pub(crate) struct Sleep(Instant);

    impl Future for Sleep {
        type Output = ();

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let Instant(at) = self.0;
            let mut clock = CLOCK.lock();
            if at <= clock.now {
                return Poll::Ready(());
            }
            clock.sleepers.push((at, cx.waker().clone()));
            Poll::Pending
        }
    }

    pub(crate) fn sleep_until(deadline: Instant) -> Sleep {
        Sleep(deadline)
    }
}

#[cfg(shuttle)]
pub use model::advance;
#[cfg(shuttle)]
pub(crate) use model::*;
#[cfg(not(shuttle))]
pub(crate) use real::*;
