//! Completions on their way to an owner's inbox.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::world::{World, soon, world};
use jobs::{Outcome, Owner, Scope};
use serde_json::json;
use tokio::sync::mpsc;
use tool_jobs::{
    CompletionDelivery, Deliver, DeliverError, Inbox, JobTools, Lane, Message, Notice, ToolsConfig,
    WakeBudget,
};

/// Takes turns as a host does, for as long as something wakes it within a
/// moment; says how many turns it took and what they claimed.
async fn turns(inbox: &Inbox) -> (usize, Vec<String>) {
    let (mut count, mut texts) = (0, Vec::new());
    while settled_wake(inbox).await {
        let mut turn = inbox.begin_turn();
        count += 1;
        loop {
            texts.extend(turn.claim().iter().map(|message| message.text().to_owned()));
            match turn.close() {
                Ok(()) => break,
                Err(more) => turn = more,
            }
        }
    }
    (count, texts)
}

/// Whether the inbox is woken once every task has run until idle: the clock is
/// paused, so time moves only then.
async fn settled_wake(inbox: &Inbox) -> bool {
    let moment = std::time::Duration::from_millis(1);
    tokio::time::timeout(moment, inbox.woken()).await.is_ok()
}

async fn six_jobs(world: &World) {
    let mut jobs = Vec::new();
    for _job in 0..6 {
        jobs.push(world.start("build", None).await);
    }
    for job in jobs {
        job.end(Outcome::completed());
    }
}

fn assert_each_once(texts: &[String], jobs: usize) {
    let mut sorted = texts.to_vec();
    sorted.sort();
    let expected: Vec<String> = (1..=jobs)
        .map(|n| {
            format!(
                "background job bash-{n} (bash: build) finished [status: completed]. \
                 Read its output with job_output."
            )
        })
        .collect();
    assert_eq!(sorted, expected);
}

#[tokio::test(start_paused = true)]
async fn six_at_once_wake_an_idle_owner_once() {
    let world = world(ToolsConfig::default());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    six_jobs(&world).await;
    let (count, texts) = turns(&inbox).await;
    assert_eq!(count, 1);
    assert_each_once(&texts, 6);
}

#[tokio::test(start_paused = true)]
async fn six_at_once_join_a_busy_owner() {
    let world = world(ToolsConfig::default());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    let mut turn = inbox.begin_turn();
    six_jobs(&world).await;
    assert!(!settled_wake(&inbox).await, "a busy owner is not woken");
    let texts: Vec<String> = turn
        .claim()
        .iter()
        .map(|message| message.text().to_owned())
        .collect();
    assert_each_once(&texts, 6);
    assert!(turn.close().is_ok());
    assert_eq!(turns(&inbox).await.0, 0);
}

#[tokio::test(start_paused = true)]
async fn six_at_once_meet_an_owner_that_turns_idle() {
    for yields in 0..12 {
        let world = world(ToolsConfig::default());
        let inbox = Inbox::new();
        let _attached = world.tools.attach(&world.owner, inbox.clone());
        let mut turn = inbox.begin_turn();
        six_jobs(&world).await;
        for _yield in 0..yields {
            tokio::task::yield_now().await;
        }
        let mut texts: Vec<String> = Vec::new();
        while let Err(more) = turn.close() {
            turn = more;
            texts.extend(turn.claim().iter().map(|message| message.text().to_owned()));
        }
        let (count, late) = turns(&inbox).await;
        assert_eq!(
            count,
            usize::from(!late.is_empty()),
            "after {yields} yields"
        );
        texts.extend(late);
        assert_each_once(&texts, 6);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_sleeps_on_every_wake_is_woken_three_times() {
    let world = world(ToolsConfig::default());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    let mut wakes = 0;
    world.start("build", None).await.end(Outcome::completed());
    while settled_wake(&inbox).await {
        wakes += 1;
        assert!(wakes <= 3, "the budget does not bound the wakes");
        let mut turn = inbox.begin_turn();
        assert_eq!(turn.claim().len(), 1);
        // `sleep 0` in the background: it ends as soon as the turn has.
        let next = world.start("build", None).await;
        assert!(turn.close().is_ok());
        next.end(Outcome::completed());
    }
    assert_eq!(wakes, 3);
    assert_eq!(inbox.send_user("and now?"), Lane::Woke);
    let mut turn = inbox.begin_turn();
    assert!(matches!(
        turn.claim()[..],
        [Message::Notice(_), Message::User(_)]
    ));
    assert!(turn.close().is_ok());
    world.start("build", None).await.end(Outcome::completed());
    assert!(
        settled_wake(&inbox).await,
        "a user's message restores the budget"
    );
}

#[tokio::test(start_paused = true)]
async fn attaching_again_does_not_restore_the_budget() {
    let config = ToolsConfig::builder().max_consecutive_wakes(NonZeroU32::MIN);
    let world = world(config.build().unwrap());
    for wakes in [true, false] {
        let inbox = Inbox::new();
        let _attached = world.tools.attach(&world.owner, inbox.clone());
        world.start("build", None).await.end(Outcome::completed());
        assert_eq!(settled_wake(&inbox).await, wakes);
        assert_eq!(inbox.begin_turn().claim().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn two_mounts_tell_an_end_once() {
    let scope = Scope::root().child("preset");
    let outer = world(ToolsConfig::default());
    let owner = outer.registry.owner("inner".into(), scope.clone());
    let inner = JobTools::mount(outer.registry.clone(), scope, ToolsConfig::default()).unwrap();
    let (far, near) = (Inbox::new(), Inbox::new());
    let _far = outer.tools.attach(&owner, far.clone());
    let attached = inner.attach(&owner, near.clone());
    let world = World { owner, ..outer };
    six_jobs(&world).await;
    assert_each_once(&turns(&near).await.1, 6);
    assert_eq!(turns(&far).await.0, 0, "the innermost mount tells");
    drop(attached);
    world.start("build", None).await.end(Outcome::completed());
    assert_eq!(turns(&far).await.1.len(), 1);
    assert_eq!(turns(&near).await.0, 0);
}

#[tokio::test(start_paused = true)]
async fn quiet_delivery_wakes_nobody() {
    let config = ToolsConfig::builder().completion_delivery(CompletionDelivery::Quiet);
    let world = world(config.build().unwrap());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    world
        .start("build", None)
        .await
        .ended(Outcome::completed())
        .await;
    assert!(!settled_wake(&inbox).await);
    assert_eq!(inbox.begin_turn().claim().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn attaching_late_yields_what_waits_and_again_nothing() {
    let world = world(ToolsConfig::default());
    world
        .start("build", None)
        .await
        .ended(Outcome::completed())
        .await;
    let inbox = Inbox::new();
    let attached = world.tools.attach(&world.owner, inbox.clone());
    assert_each_once(&turns(&inbox).await.1, 1);
    drop(attached);
    let _again = world.tools.attach(&world.owner, inbox.clone());
    assert_eq!(turns(&inbox).await.0, 0);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_attachment_and_a_dropped_mount_deliver_nothing() {
    let world = world(ToolsConfig::default());
    let (first, second) = (Inbox::new(), Inbox::new());
    drop(world.tools.attach(&world.owner, first.clone()));
    let job = world.start("build", None).await;
    let _attached = world.tools.attach(&world.owner, second.clone());
    drop(world.tools);
    job.ended(Outcome::completed()).await;
    assert!(!settled_wake(&first).await && !settled_wake(&second).await);
    let remounted = JobTools::mount(
        world.registry.clone(),
        Scope::root(),
        ToolsConfig::default(),
    )
    .unwrap();
    let _again = remounted.attach(&world.owner, second.clone());
    assert_each_once(&turns(&second).await.1, 1);
}

#[tokio::test(start_paused = true)]
async fn a_notice_goes_to_the_exact_instance() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", None).await;
    let (old, new) = (Inbox::new(), Inbox::new());
    let _old = world.tools.attach(&world.owner, old.clone());
    let replacement: Owner = world.registry.owner("session".into(), Scope::root());
    let _new = world.tools.attach(&replacement, new.clone());
    job.end(Outcome::completed());
    assert!(settled_wake(&old).await);
    assert!(!settled_wake(&new).await);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_was_delivered_first_leaves_nothing_to_tell() {
    let world = world(ToolsConfig::default());
    world
        .start("build", None)
        .await
        .ended(Outcome::completed())
        .await;
    assert!(
        !world
            .call("job_output", json!({ "job_id": "bash-1" }))
            .await
            .is_error()
    );
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    assert_eq!(turns(&inbox).await.0, 0);
}

#[tokio::test(start_paused = true)]
async fn a_notice_keeps_to_the_limit_of_its_job() {
    let world = world(ToolsConfig::default());
    world
        .start("a long label", Some(60))
        .await
        .end(Outcome::completed());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    assert!(settled_wake(&inbox).await);
    let claimed = inbox.begin_turn().claim();
    let [Message::Notice(notice)] = &claimed[..] else {
        panic!("expected one notice, got {claimed:?}");
    };
    assert_eq!(
        notice.text,
        "background job bash-1 (\n[notice truncated]\nDone; job_output."
    );
    assert_eq!(notice.summary, "bash a long label [status: completed]");
}

/// An inbox that fails at first: every other time by a panic.
struct Stubborn {
    failures: AtomicUsize,
    tried: mpsc::UnboundedSender<(tokio::time::Instant, bool)>,
    inbox: Inbox,
}

impl Deliver for Stubborn {
    fn deliver(&self, notice: Notice, wake: Option<&WakeBudget>) -> Result<Lane, DeliverError> {
        let _open = self
            .tried
            .send((tokio::time::Instant::now(), wake.is_some()));
        let left = self.failures.load(Ordering::SeqCst);
        if left == 0 {
            return self.inbox.deliver(notice, wake);
        }
        self.failures.store(left - 1, Ordering::SeqCst);
        assert!(left.is_multiple_of(2), "a bug in the host's inbox");
        Err(DeliverError::new("not now"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_delivery_is_tried_again_without_a_wake() {
    let config = ToolsConfig::builder().max_consecutive_wakes(NonZeroU32::MIN);
    let world = world(config.build().unwrap());
    let (tried, mut tries) = mpsc::unbounded_channel();
    let inbox = Inbox::new();
    let stubborn = Arc::new(Stubborn {
        failures: AtomicUsize::new(9),
        tried,
        inbox: inbox.clone(),
    });
    let _attached = world.tools.attach(&world.owner, stubborn);
    let other = world.registry.owner("other".into(), Scope::root());
    let calm = Inbox::new();
    let _calm = world.tools.attach(&other, calm.clone());
    let started = tokio::time::Instant::now();
    world
        .start("build", None)
        .await
        .ended(Outcome::completed())
        .await;
    let mut waits = Vec::new();
    for attempt in 0..10 {
        let (at, with_wake) = tries.recv().await.unwrap();
        waits.push((at - started).as_millis());
        assert_eq!(with_wake, attempt == 0, "a retry spends no wake");
    }
    assert_eq!(
        waits,
        [0, 50, 150, 350, 750, 1550, 3150, 6350, 11_350, 16_350]
    );
    assert!(
        !settled_wake(&inbox).await,
        "the retried notice waits for a turn"
    );
    assert_each_once(
        &{
            let mut turn = inbox.begin_turn();
            let texts: Vec<String> = turn.claim().iter().map(|m| m.text().to_owned()).collect();
            assert!(turn.close().is_ok());
            texts
        },
        1,
    );
    world.start("build", None).await.end(Outcome::completed());
    assert!(settled_wake(&inbox).await, "the failure has cost no wake");
}

#[tokio::test(start_paused = true)]
async fn a_read_tells_what_cannot_be_delivered() {
    let world = world(ToolsConfig::default());
    let (tried, mut tries) = mpsc::unbounded_channel();
    let inbox = Inbox::new();
    let stubborn = Arc::new(Stubborn {
        failures: AtomicUsize::new(1),
        tried,
        inbox: inbox.clone(),
    });
    let _attached = world.tools.attach(&world.owner, stubborn);
    world
        .start("build", None)
        .await
        .ended(Outcome::completed())
        .await;
    soon(tries.recv()).await.unwrap();
    assert!(
        !world
            .call("job_output", json!({ "job_id": "bash-1" }))
            .await
            .is_error()
    );
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert!(tries.try_recv().is_err(), "told twice");
    assert!(inbox.begin_turn().claim().is_empty());
}
