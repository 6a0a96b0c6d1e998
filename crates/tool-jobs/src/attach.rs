//! The reporter of one owner: from the registry's completions into its inbox
//! (spec/tools.md, Completion notices).
//!
//! 1. A completion is committed after its notice was taken, and only then.
//! 2. A delivery that fails drops the receipt, so that a read may tell the
//!    completion meanwhile. It is tried again without a wake.
//! 3. Owners do not wait for each other: each attachment has a task.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use jobs::{CancellationToken, Completion, Completions, NoticeId, contain};
use tokio::task::JoinHandle;

use crate::inbox::{Deliver, Lane, WakeBudget};
use crate::notice::Notice;

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
        Attachment(tokio::spawn(async move {
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
                    tokio::time::sleep(delay).await;
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
