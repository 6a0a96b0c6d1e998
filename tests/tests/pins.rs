//! What hosts build on without a word in any signature: which public types
//! and futures cross threads, and how large the small ones are.

use std::sync::Arc;

use jobs::{
    Caller, CancellationToken, Change, Changes, Checker, Completion, Completions, Delivery, Delta,
    End, Error, Hooks, InstanceId, JobId, JobRegistry, JobRegistryExt, JobSpec, Kill, Kind,
    LogReader, NoticeId, Outcome, OutputLog, Owner, OwnerKey, Receipt, Registration, Scope,
    SessionId, Share, Snapshot, Waited,
};
use jobs_local::{Config, LocalJobRegistry};
use tool_jobs::{Attachment, Inbox, JobTools, Notice, Policies, ToolsConfig, Turn, WakeBudget};

/// Checked by the compiler.
macro_rules! pins {
    ($check:ident: $bound:path; $($type:ty),* $(,)?) => {
        #[test]
        fn $check() {
            fn pin<T: $bound>() -> usize {
                size_of::<T>()
            }
            let sizes = [$(pin::<$type>()),*];
            assert!(!sizes.is_empty());
        }
    };
}

trait SendSync: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> SendSync for T {}

trait OnlySend: Send + 'static {}
impl<T: Send + 'static> OnlySend for T {}

pins! {
    what_is_shared: SendSync;
    Arc<dyn JobRegistry>, LocalJobRegistry, Config, Owner, OwnerKey, Caller, Scope, SessionId,
    InstanceId, JobId, Kind, Snapshot, End, Error, Outcome, Change, Completion, NoticeId, Delta,
    Kill, Receipt<Snapshot>, Receipt<Delta>, Receipt<Kill>, Receipt<Completion>, Delivery, Share,
    Registration, Checker, OutputLog, LogReader, CancellationToken, Waited,
    jobs::tool::Reply, jobs::tool::ToolCall, jobs::tool::ToolResult,
    JobTools, ToolsConfig, Inbox, Notice, Policies, WakeBudget, Attachment,
}

pins! {
    what_moves_between_threads: OnlySend;
    Hooks, JobSpec, Completions, Changes, Turn,
}

fn sends<T: Send>(_: &T) {}

/// Futures that a host spawns. None of them is run here.
#[test]
fn futures_cross_threads() {
    async fn all(jobs: Arc<dyn JobRegistry>, tools: JobTools, owner: Owner, mut news: Completions) {
        let id: JobId = "a-1".parse().expect("an id");
        let caller = owner.caller();
        let spec = JobSpec::new("a", "b", |_| {
            Ok(Hooks::from_future(|_| std::future::pending()))
        });
        sends(&jobs.start(spec));
        sends(&jobs.settled(&id, &caller));
        sends(&jobs.settled_or(&id, &caller, std::future::pending()));
        sends(&jobs.kill_and_wait(&id, &caller, None, std::future::pending()));
        sends(&owner.close());
        sends(&owner.hand_over(&owner));
        sends(&news.next());
        sends(&tools.call("job_list", serde_json::Value::Null, caller.clone()));
    }
    let run: fn(Arc<dyn JobRegistry>, JobTools, Owner, Completions) -> _ = all;
    fn of<F: Future + Send>(_: &dyn Fn(Arc<dyn JobRegistry>, JobTools, Owner, Completions) -> F) {}
    of(&run);
}

/// Records hold these by the thousand, so their growth is a decision.
#[test]
#[cfg(target_pointer_width = "64")]
fn sizes() {
    let sizes = [
        ("Kind", size_of::<Kind>(), 24),
        ("JobId", size_of::<JobId>(), 32),
        ("SessionId", size_of::<SessionId>(), 16),
        ("InstanceId", size_of::<InstanceId>(), 16),
        ("OwnerKey", size_of::<OwnerKey>(), 32),
        ("Scope", size_of::<Scope>(), 8),
        ("Owner", size_of::<Owner>(), 8),
        ("Share", size_of::<Share>(), 24),
        ("Delivery", size_of::<Delivery>(), 56),
        ("End", size_of::<End>(), 40),
        ("Snapshot", size_of::<Snapshot>(), 120),
        ("Error", size_of::<Error>(), 40),
        ("OutputLog", size_of::<OutputLog>(), 8),
        ("LogReader", size_of::<LogReader>(), 8),
    ];
    let grown: Vec<_> = sizes
        .iter()
        .filter(|(_, size, pinned)| size != pinned)
        .collect();
    assert!(grown.is_empty(), "name, bytes, pinned: {grown:?}");
}
