//! The reporter of one owner: from the registry's completions into its inbox
//! (spec/tools.md, Completion notices).
//!
//! 1. A completion is committed after its notice was taken, and only then.
//! 2. A delivery that fails drops the receipt, so that a read may tell the
//!    completion meanwhile. It is tried again without a wake.
//! 3. Owners do not wait for each other: each attachment has a task.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use jobs::{CancellationToken, Completion, Completions, InstanceId, NoticeId, contain};

use crate::inbox::{Deliver, Lane, WakeBudget};
use crate::notice::Notice;
use crate::sync::{JoinHandle, Mutex, sleep, spawn};

const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// Delivers the completions of one owner for as long as it is held.
///
/// Made by [`JobTools::attach`](crate::JobTools::attach). Dropping it, or the
/// tools, stops the delivery; what was not delivered waits for the next
/// attachment.
#[must_use = "dropping an attachment stops the notices of its owner"]
#[derive(Debug)]
pub struct Attachment(JoinHandle<()>);

impl Drop for Attachment {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The wake budgets of one mount: one for each owner instance, however often it
/// is attached.
pub(crate) struct Budgets(Mutex<HashMap<InstanceId, WakeBudget>>);

impl Budgets {
    /// Above this many, those that nobody else holds are forgotten: their
    /// owners have neither an attachment nor an inbox any more.
    const KEPT: usize = 1024;

    pub(crate) fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    /// The budget of `owner`; `fresh` if it has none yet.
    pub(crate) fn of(&self, owner: InstanceId, fresh: WakeBudget) -> WakeBudget {
        let mut budgets = self.0.lock();
        if budgets.len() >= Self::KEPT {
            budgets.retain(|_, budget| !budget.is_last());
        }
        budgets.entry(owner).or_insert(fresh).clone()
    }
}

/// What an attachment delivers, and how.
pub(crate) struct Reporter {
    pub(crate) completions: Completions,
    pub(crate) deliver: Arc<dyn Deliver>,
    /// None for quiet delivery.
    pub(crate) wake: Option<WakeBudget>,
    pub(crate) default_cap: Option<NonZeroUsize>,
}

impl Reporter {
    /// Starts the task. It ends with the registry, with `unmounted`, or with
    /// the attachment.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub(crate) fn spawn(self, unmounted: CancellationToken) -> Attachment {
        Attachment(spawn(async move {
            unmounted.run_until_cancelled(self.run()).await;
        }))
    }

    async fn run(mut self) {
        let mut failing: Option<NoticeId> = None;
        let mut delay = FIRST_DELAY;
        while let Some(receipt) = self.completions.next().await {
            let wake = if failing.as_ref() == Some(&receipt.notice) {
                None
            } else {
                self.wake.as_ref()
            };
            match self.try_deliver(&receipt, wake) {
                Ok(lane) => {
                    tracing::debug!(job = %receipt.job.id, ?lane, "told a completion");
                    let _told = receipt.commit();
                    failing = None;
                    delay = FIRST_DELAY;
                }
                Err(reason) => {
                    tracing::warn!(
                        job = %receipt.job.id,
                        reason,
                        ?delay,
                        "a completion could not be delivered and will be tried again"
                    );
                    failing = Some(receipt.notice.clone());
                    drop(receipt);
                    sleep(delay).await;
                    delay = (delay * 2).min(LONGEST_DELAY);
                }
            }
        }
    }

    fn try_deliver(
        &self,
        completion: &Completion,
        wake: Option<&WakeBudget>,
    ) -> Result<Lane, String> {
        let notice = Notice::of(completion, self.default_cap);
        match contain::call(|| self.deliver.deliver(notice, wake)) {
            Ok(Ok(lane)) => Ok(lane),
            Ok(Err(refused)) => Err(refused.to_string()),
            Err(panicked) => Err(format!("delivery panicked: {panicked}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn fresh() -> WakeBudget {
        WakeBudget::new(NonZeroU32::MIN, None)
    }

    #[test]
    fn an_owner_keeps_its_budget_and_the_gone_are_forgotten() {
        let budgets = Budgets::new();
        let owner = InstanceId::fresh();
        let held = budgets.of(owner, fresh());
        assert!(held.try_take());
        for _gone in 0..5 * Budgets::KEPT {
            assert!(budgets.of(InstanceId::fresh(), fresh()).try_take());
        }
        assert!(budgets.0.lock().len() <= Budgets::KEPT);
        assert!(!budgets.of(owner, fresh()).try_take(), "a budget came back");
    }
}
