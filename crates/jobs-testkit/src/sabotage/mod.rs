//! Registries that break one clause each, and nothing else: with them a check
//! shows that it can fail.
//!
//! Each [`Sabotage`] wraps a working registry and names the conformance cases
//! that fail under it; all others pass. The crate's own tests hold both.

mod broken;
mod rows;

mod hooks;
mod kills;
mod looks;
mod observers;
mod owners;
mod reads;
mod reporters;
mod starts;
mod waits;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use jobs::{Delivery, JobRegistry, News, Receipt};

use crate::harness::Settings;
use broken::{Broken, Fault};

pub use rows::SABOTAGES;

/// A way to break one clause of the contract.
///
/// ```
/// use jobs_testkit::sabotage::Sabotage;
///
/// let fault = Sabotage::named("ReadsUseOutputUp").expect("a fault");
/// assert_eq!(fault.clause, "C-31");
/// assert!(fault.noticed_by.contains(&"a_dropped_read_is_read_again"));
/// ```
#[non_exhaustive]
pub struct Sabotage {
    /// The clause that it breaks: `C-31`.
    pub clause: &'static str,
    /// What it does, as a name: `ReadsUseOutputUp`.
    pub name: &'static str,
    /// The conformance cases that fail under it, but for those in real time.
    pub noticed_by: &'static [&'static str],
    fault: fn() -> Box<dyn Fault>,
}

impl Sabotage {
    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SABOTAGES.iter().find(|sabotage| sabotage.name == name)
    }

    /// Wraps the registry that `fresh` makes. Some faults are settings: `fresh`
    /// gets them changed.
    pub fn fresh(
        &self,
        settings: &Settings,
        fresh: impl FnOnce(&Settings) -> Arc<dyn JobRegistry>,
    ) -> Arc<dyn JobRegistry> {
        let fault = (self.fault)();
        let mut settings = settings.clone();
        fault.configure(&mut settings);
        let jobs = fresh(&settings);
        Arc::new(Broken { jobs, fault })
    }
}

impl fmt::Debug for Sabotage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.clause, self.name)
    }
}

/// The answer, with nothing left to commit.
fn committed<T>(receipt: Receipt<T>) -> Receipt<T> {
    Receipt::new(receipt.commit(), Delivery::none())
}

/// News that `change` makes of other news.
struct Changed<T, F> {
    news: News<T>,
    change: F,
}

impl<T, F> Stream for Changed<T, F>
where
    F: FnMut(&mut News<T>, &mut Context<'_>) -> Poll<Option<T>> + Unpin,
{
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { news, change } = self.get_mut();
        change(news, cx)
    }
}

fn changed<T: Send + 'static>(
    news: News<T>,
    change: impl FnMut(&mut News<T>, &mut Context<'_>) -> Poll<Option<T>> + Send + Unpin + 'static,
) -> News<T> {
    News::new(Changed { news, change })
}
