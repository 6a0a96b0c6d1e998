//! The one place that catches panics of foreign code.
//!
//! A producer, a policy or a starter that panics must not take a registry, a
//! lock or another job with it. Whoever calls foreign code goes through
//! [`call`] or wraps its future in a [`Contained`].

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A panic of foreign code, as its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Panicked(Box<str>);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Panicked {
    fn from_payload(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&'static str>()
            .map(|text| (*text).into())
            .or_else(|| {
                payload
                    .downcast_ref::<String>()
                    .map(|text| text.as_str().into())
            })
            .unwrap_or_else(|| "a value that is not text".into());
        // A payload may panic again when it is dropped.
        if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            let _leaked = std::mem::ManuallyDrop::new(second);
        }
        Self(text)
    }
}

/// Runs foreign code and hands back its panic as a value.
///
/// # Errors
///
/// [`Panicked`] when `work` panicked; what it had half done is its own affair.
///
/// ```
/// let caught = jobs::contain::call(|| -> u8 { panic!("no {}", "luck") });
/// assert_eq!(caught.unwrap_err().to_string(), "no luck");
/// ```
pub fn call<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(Panicked::from_payload)
}

/// A foreign future whose panics, in a poll or in its drop, are values.
///
/// After it returned `Ready` the future is dropped; polling again panics.
pub struct Contained<'a, T>(Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>);

impl<'a, T> Contained<'a, T> {
    /// Contains `future`.
    #[must_use]
    pub fn new(future: Pin<Box<dyn Future<Output = T> + Send + 'a>>) -> Self {
        Self(Some(future))
    }
}

impl<T> Future for Contained<'_, T> {
    type Output = Result<T, Panicked>;

    /// # Panics
    ///
    /// When polled after it returned `Ready`.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self
            .0
            .as_mut()
            .expect("a contained future is not polled after it ended");
        let polled = match call(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(panicked) => Err(panicked),
        };
        let ended = self.0.take();
        Poll::Ready(match call(|| drop(ended)) {
            Ok(()) => polled,
            Err(panicked) => polled.and(Err(panicked)),
        })
    }
}

impl<T> Drop for Contained<'_, T> {
    fn drop(&mut self) {
        if let Some(future) = self.0.take() {
            // Nobody is left to tell; the panic hook has printed it.
            let _panicked = call(|| drop(future));
        }
    }
}

impl<T> fmt::Debug for Contained<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contained")
            .field("ended", &self.0.is_none())
            .finish()
    }
}
