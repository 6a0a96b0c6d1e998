//! How often completions may wake an idle owner in a row.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::sync::{Arc, Instant, Mutex};

/// The wakes that notices of one mount may still cost one owner instance
/// (spec/tools.md, Completion notices).
///
/// Clones are the same budget. A delivery that
/// opens a turn takes one wake; a claimed message of a user gives all of them
/// back.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroU32;
/// use tool_jobs::WakeBudget;
///
/// let budget = WakeBudget::new(NonZeroU32::MIN, None);
/// assert!(budget.try_take());
/// assert!(!budget.try_take());
/// budget.restore();
/// assert!(budget.try_take());
/// ```
#[derive(Clone)]
pub struct WakeBudget(Arc<Inner>);

struct Inner {
    max: NonZeroU32,
    regain: Option<Duration>,
    left: Mutex<Left>,
}

struct Left {
    wakes: u32,
    /// From when on the next wake that comes back by itself is counted; none
    /// while the budget is whole.
    since: Option<Instant>,
}

impl WakeBudget {
    /// A whole budget of `max` wakes. With `regain`, one wake comes back
    /// whenever that much time has passed.
    #[must_use]
    pub fn new(max: NonZeroU32, regain: Option<Duration>) -> Self {
        Self(Arc::new(Inner {
            max,
            regain,
            left: Mutex::new(Left {
                wakes: max.get(),
                since: None,
            }),
        }))
    }

    /// Takes one wake, if one is left. For implementors of
    /// [`Deliver`](crate::Deliver): at the moment in which the turn opens, and
    /// not for a delivery that fails.
    #[must_use = "a wake that was not taken must not happen"]
    pub fn try_take(&self) -> bool {
        let mut left = self.0.left.lock();
        if let Some(regain) = self.0.regain {
            left.catch_up(regain, self.0.max.get());
            left.since.get_or_insert_with(Instant::now);
        }
        let taken = left.wakes > 0;
        left.wakes = left.wakes.saturating_sub(1);
        taken
    }

    /// Makes the budget whole again: a message of a user was claimed.
    pub fn restore(&self) {
        let mut left = self.0.left.lock();
        left.wakes = self.0.max.get();
        left.since = None;
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the caller holds the only handle.
    pub(crate) fn is_last(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Left {
    fn catch_up(&mut self, regain: Duration, max: u32) {
        let Some(since) = self.since else { return };
        let periods = since.elapsed().as_nanos() / regain.as_nanos().max(1);
        let gained = u32::try_from(periods).unwrap_or(u32::MAX);
        self.wakes = self.wakes.saturating_add(gained).min(max);
        self.since = (self.wakes < max).then(|| since + regain * gained);
    }
}

impl fmt::Debug for WakeBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakeBudget")
            .field("left", &self.0.left.lock().wakes)
            .field("max", &self.0.max)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_wake_comes_back_per_interval() {
        let every = Duration::from_secs(60);
        let budget = WakeBudget::new(NonZeroU32::new(2).unwrap(), Some(every));
        assert!(budget.try_take() && budget.try_take());
        tokio::time::advance(every - Duration::from_millis(1)).await;
        assert!(!budget.try_take());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(budget.try_take());
        assert!(!budget.try_take());
        tokio::time::advance(every * 100).await;
        assert!(budget.try_take() && budget.try_take());
        assert!(!budget.try_take(), "more came back than the budget holds");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_comes_back_by_itself_without_an_interval() {
        let budget = WakeBudget::new(NonZeroU32::MIN, None);
        assert!(budget.try_take());
        tokio::time::advance(Duration::from_secs(1_000_000)).await;
        assert!(!budget.try_take());
    }
}
