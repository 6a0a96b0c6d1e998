//! The ends of jobs that nobody has told yet, as one block in front of an answer
//! (spec/compositions.md, Completion without push).

use std::num::{NonZeroU64, NonZeroUsize};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use jobs::{Delivery, JobRegistry, Owner};
use rmcp::model::{ContentBlock, MetaObject, TextContent};
use serde_json::{Value, json};
use tool_jobs::Notice;

use crate::config::McpConfig;

/// The key of the notices' ids in the metadata of their block: a second telling has the same id.
const IDS: &str = "agent-jobs/notices";

/// The last line when not all had room.
const MORE: &str = "[more notices come with the next answer]";

/// Notices, and what their delivery commits.
pub(crate) struct Notices {
    pub(crate) block: ContentBlock,
    pub(crate) told: Vec<Delivery>,
}

/// What there is to tell `owner` now, within the limit; what has no room stays untold.
///
/// To be called after the body of a call has run, so that what the answer itself reports is not
/// announced in front of it: the answer holds a share of it.
pub(crate) fn collect(
    registry: &dyn JobRegistry,
    owner: &Owner,
    config: &McpConfig,
) -> Option<Notices> {
    let cap = config.notice_limit;
    let reader = format!("{}job_output", config.tool_prefix);
    let mut news = registry.completions(owner.scope(), Some(owner.key()));
    let mut now = Context::from_waker(Waker::noop());
    let mut lines = Lines::new(cap);
    while let Poll::Ready(Some(receipt)) = Pin::new(&mut news).poll_next(&mut now) {
        let (mut completion, delivery) = receipt.into_parts();
        let limit = completion.job.output_limit;
        completion.job.output_limit = Some(least(limit, cap));
        let notice = Notice::naming(&reader, &completion, Some(cap));
        if !lines.add(&notice) {
            break; // dropping the delivery gives the completion back
        }
        lines.told.push(delivery);
    }
    lines.finish()
}

fn least(limit: Option<NonZeroU64>, cap: NonZeroUsize) -> NonZeroU64 {
    let cap = NonZeroU64::try_from(cap).unwrap_or(NonZeroU64::MAX);
    limit.map_or(cap, |limit| limit.min(cap))
}

struct Lines {
    cap: usize,
    text: String,
    ids: Vec<Value>,
    told: Vec<Delivery>,
    more: bool,
}

impl Lines {
    fn new(cap: NonZeroUsize) -> Self {
        Self {
            cap: cap.get(),
            text: String::new(),
            ids: Vec::new(),
            told: Vec::new(),
            more: false,
        }
    }

    /// Whether there was room. The first notice always has: it was cut to the cap.
    fn add(&mut self, notice: &Notice) -> bool {
        let first = self.ids.is_empty();
        let needed = self.text.len() + 1 + notice.text.len() + 1 + MORE.len();
        self.more = !first && needed > self.cap;
        if self.more {
            return false;
        }
        if !first {
            self.text.push('\n');
        }
        self.text.push_str(&notice.text);
        self.ids.push(json!(notice.id.to_string()));
        true
    }

    fn finish(mut self) -> Option<Notices> {
        if self.ids.is_empty() {
            return None;
        }
        if self.more && self.text.len() + 1 + MORE.len() <= self.cap {
            self.text.push('\n');
            self.text.push_str(MORE);
        }
        let mut meta = MetaObject::default();
        meta.0.insert(IDS.to_owned(), Value::Array(self.ids));
        Some(Notices {
            block: ContentBlock::Text(TextContent::new(self.text).with_meta(meta)),
            told: self.told,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jobs::{Hooks, JobSpec, Outcome, Scope};
    use jobs_local::{Config, LocalJobRegistry};

    use super::*;

    const CAP: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

    struct Host {
        registry: Arc<dyn JobRegistry>,
        owner: Owner,
        _controller: jobs::Registration,
    }

    impl Host {
        fn new() -> Self {
            let registry: Arc<dyn JobRegistry> =
                LocalJobRegistry::new(Config::default()).expect("a registry");
            let controller = registry.controller("test", &Scope::root()).expect("free");
            let owner = registry.owner("session".into(), Scope::root());
            Self {
                registry,
                owner,
                _controller: controller,
            }
        }

        /// A job that ended, and whose end nobody has told.
        async fn ended(&self, label: &str) {
            let hooks = Hooks::from_future(|_| async { Outcome::completed() });
            let spec = JobSpec::new("work", label, |_id| Ok(hooks)).with_owner(&self.owner);
            let id = self.registry.start(spec).await.expect("started");
            let caller = self.owner.caller();
            drop(self.registry.settled(&id, &caller).await.expect("ended"));
        }

        fn collect(&self, cap: NonZeroUsize) -> Option<(String, usize, Notices)> {
            let config = McpConfig::default().with_notice_limit(cap);
            let notices = collect(&*self.registry, &self.owner, &config)?;
            let text = notices.block.as_text()?;
            let ids = text.meta.as_ref()?.0.get(IDS)?.as_array()?.len();
            Some((text.text.clone(), ids, notices))
        }
    }

    #[tokio::test]
    async fn what_is_committed_is_told_and_what_is_dropped_is_not() {
        let host = Host::new();
        assert!(host.collect(CAP).is_none());
        host.ended("one").await;
        let (first, ids, notices) = host.collect(CAP).expect("a notice");
        assert!(first.starts_with("background job work-1 (work: one) finished"));
        assert_eq!(ids, 1);
        assert!(host.collect(CAP).is_none(), "held by the first");
        drop(notices);
        let (again, _, notices) = host.collect(CAP).expect("the same notice");
        assert_eq!(again, first);
        notices.told.into_iter().for_each(Delivery::commit);
        assert!(host.collect(CAP).is_none());
    }

    #[tokio::test]
    async fn what_has_no_room_comes_next_time() {
        let host = Host::new();
        for label in ["one", "two", "three"] {
            host.ended(label).await;
        }
        let mut seen = String::new();
        let mut answers = 0;
        while let Some((text, ids, notices)) = host.collect(CAP) {
            assert!(text.len() <= CAP.get(), "{text}");
            assert_eq!(ids, notices.told.len());
            answers += 1;
            assert_eq!(text.contains(MORE), answers == 1, "{text}");
            seen.push_str(&text);
            notices.told.into_iter().for_each(Delivery::commit);
        }
        assert_eq!(answers, 2);
        for id in ["work-1", "work-2", "work-3"] {
            assert_eq!(seen.matches(id).count(), 1, "{seen}");
        }
        host.ended("four").await;
        host.ended("five").await;
        let room = NonZeroUsize::new(4_096).expect("not zero");
        let (text, ids, _) = host.collect(room).expect("two notices");
        assert_eq!((ids, text.lines().count()), (2, 2), "{text}");
    }

    #[tokio::test]
    async fn a_long_label_does_not_pass_the_cap() {
        let host = Host::new();
        host.ended(&"x".repeat(10_000)).await;
        let (text, ids, _) = host.collect(CAP).expect("a notice");
        assert_eq!(ids, 1);
        assert!(text.len() <= CAP.get());
    }
}
