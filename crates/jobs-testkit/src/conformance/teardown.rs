//! C-71 and C-72: closing an owner.

use std::sync::Arc;
use std::time::Duration;

use jobs::{Cause, Error, Outcome, ProducerError, SessionId, Status};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::stage::{World, idle, now, peek, silent};
use crate::harness::Settings;
use crate::puppet::Puppet;

fn disposed() -> Option<String> {
    Some("owner disposed".to_owned())
}

fn settling(puppet: &Puppet, outcome: Outcome) {
    let settled = puppet.clone();
    puppet.on_cancel(move |_| {
        settled.settle(outcome.clone());
        Ok(())
    });
}

pub(super) async fn closing_cancels_and_shows_stopping(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let mut close = Box::pin(owner.close());
    assert!(peek(&mut close).is_none(), "a job lives");
    idle().await;
    assert_eq!(puppet.cancels(), [disposed()]);
    let job = stage.look(&id, &owner).await;
    assert_eq!((job.status(), job.reported()), (Status::Stopping, false));

    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    puppet.settle(Outcome::killed().with_detail("signal: SIGTERM"));
    close.await;
    let settled = wait.await.expect("the wait resolves");
    assert_eq!(
        settled.detail(),
        Some("signal: SIGTERM"),
        "a teardown adds nothing"
    );
    let end = settled.end().expect("an end");
    assert_eq!((end.cause, end.reported), (Cause::OwnerClosed, true));
    drop(settled);
    silent(&mut reporter).await;
}

pub(super) async fn closing_refuses_new_starts_first(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (_id, puppet) = stage.begin(&owner).await;
    let refused = Arc::new(Mutex::new(None));
    puppet.on_cancel({
        let (jobs, refused, owner) = (
            Arc::clone(&stage.jobs),
            Arc::clone(&refused),
            owner.key().clone(),
        );
        let puppet = puppet.clone();
        move |_| {
            let (spec, _late) = Puppet::spec("job", "late");
            *refused.lock() = now(jobs.start(spec.with_owner_key(owner.clone())));
            puppet.settle(Outcome::killed());
            Ok(())
        }
    });
    owner.close().await;
    let session = SessionId::new("s");
    let refused = refused.lock().take().expect("a refusal is done at once");
    assert_eq!(refused, Err(Error::OwnerClosed { session }));
}

pub(super) async fn a_start_under_way_is_committed_cancelled(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "a job");
    let close = Arc::new(Mutex::new(None));
    puppet.on_start({
        let (owner, close) = (owner.clone(), Arc::clone(&close));
        move |_| {
            let mut closing = Box::pin(async move { owner.close().await });
            assert!(peek(&mut closing).is_none(), "a start is under way");
            *close.lock() = Some(closing);
            Ok(())
        }
    });
    let id = stage.must_start(spec.with_owner(&owner)).await;
    idle().await;
    assert_eq!(puppet.cancels(), [disposed()]);
    let job = stage.look(&id, &owner).await;
    assert_eq!((job.status(), job.reported()), (Status::Stopping, false));
    puppet.settle(Outcome::killed());
    let close = close.lock().take().expect("the starter ran");
    close.await;
    assert!(stage.get(&id, &owner.caller()).await.is_err());
    silent(&mut stage.reporter()).await;
}

pub(super) async fn a_starter_that_fails_does_not_hang_the_close(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "a job");
    let close = Arc::new(Mutex::new(None));
    puppet.on_start({
        let (owner, close) = (owner.clone(), Arc::clone(&close));
        move |_| {
            let mut closing = Box::pin(async move { owner.close().await });
            assert!(peek(&mut closing).is_none(), "a start is under way");
            *close.lock() = Some(closing);
            Err(ProducerError::new("no shell"))
        }
    });
    let failed = stage.start(spec.with_owner(&owner)).await;
    assert_eq!(failed, Err(Error::Producer(ProducerError::new("no shell"))));
    let close = close.lock().take().expect("the starter ran");
    let from = Instant::now();
    close.await;
    assert_eq!(from.elapsed(), Duration::ZERO);
}

pub(super) async fn a_close_waits_for_all_and_removes_all(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let (_first, first) = stage.begin(&owner).await;
    let (_second, second) = stage.begin(&owner).await;
    stage.told(&owner).await;
    let (foreign, foreign_puppet) = stage.begin(&other).await;
    let mut close = Box::pin(owner.close());
    assert!(peek(&mut close).is_none());
    first.settle(Outcome::killed());
    idle().await;
    assert!(peek(&mut close).is_none(), "one job is left");
    second.settle(Outcome::completed());
    close.await;
    assert_eq!(stage.list(&owner.caller()).await, Ok(Vec::new()));
    assert_eq!(stage.status(&foreign, &other).await, Status::Running);
    assert_eq!(foreign_puppet.cancels(), []);
}

pub(super) async fn a_job_that_was_stopping_is_cancelled_again(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let kill = stage
        .must_kill(&id, &owner, jobs::KilledBy::User, Some("why"))
        .await;
    settling(&puppet, Outcome::killed());
    owner.close().await;
    assert_eq!(puppet.cancels(), [Some("why".to_owned()), disposed()]);
    drop(kill);
    silent(&mut stage.reporter()).await;
}

pub(super) async fn a_failed_cancel_of_a_teardown_fails_the_job(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (failing, failing_puppet) = stage.begin(&owner).await;
    let (panicking, panicking_puppet) = stage.begin(&owner).await;
    failing_puppet.on_cancel(|_| Err(ProducerError::new("no such group")));
    panicking_puppet.on_cancel(|_| panic!("cancel broke"));
    let caller = owner.caller();
    let mut waits = [
        stage.settled(&failing, &caller),
        stage.settled(&panicking, &caller),
    ];
    for wait in &mut waits {
        assert!(peek(wait).is_none());
    }
    let from = Instant::now();
    owner.close().await;
    assert_eq!(
        from.elapsed(),
        Duration::ZERO,
        "a failed cancel hangs nobody"
    );
    for (wait, text) in waits.into_iter().zip(["no such group", "cancel broke"]) {
        let job = wait.await.expect("the wait resolves").commit();
        let detail = job.detail().expect("a detail");
        let begin = "cancel failed during teardown; work may be orphaned: ";
        assert!(
            detail.starts_with(begin) && detail.ends_with(text),
            "{detail}"
        );
        assert_eq!(job.status(), Status::Failed);
        assert_eq!(job.end().map(|end| end.cause), Some(Cause::Orphaned));
    }
    assert!(failing_puppet.is_released() && panicking_puppet.is_released());
}

pub(super) async fn a_stuck_job_is_failed_after_the_teardown_grace(world: World) {
    let grace = Duration::from_secs(3);
    let stage = world
        .stage_with(Settings {
            teardown_grace: grace,
            stop_grace: None,
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    let from = Instant::now();
    owner.close().await;
    assert_eq!(from.elapsed(), grace);
    let job = wait.await.expect("the wait resolves").commit();
    assert_eq!(job.status(), Status::Failed);
    assert_eq!(
        job.detail(),
        Some("did not stop within 3000 ms; work may be orphaned")
    );
    assert_eq!(job.end().map(|end| end.cause), Some(Cause::Orphaned));
    idle().await;
    assert!(puppet.is_released());
}

pub(super) async fn closes_return_together_and_again(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (_id, puppet) = stage.begin(&owner).await;
    let clone = owner.clone();
    let mut closes = [Box::pin(owner.close()), Box::pin(clone.close())];
    for close in &mut closes {
        assert!(peek(close).is_none());
    }
    puppet.settle(Outcome::killed());
    for close in closes {
        close.await;
    }
    assert_eq!(puppet.cancels(), [disposed()], "one teardown");
    let from = Instant::now();
    owner.close().await;
    assert_eq!(from.elapsed(), Duration::ZERO);
}

pub(super) async fn a_dropped_close_goes_on(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let mut close = Box::pin(owner.close());
    assert!(peek(&mut close).is_none());
    drop(close);
    puppet.cancelled(1).await;
    let (spec, _late) = Puppet::spec("job", "late");
    let session = SessionId::new("s");
    let start = stage.start(spec.with_owner(&owner)).await;
    assert_eq!(start, Err(Error::OwnerClosed { session }));
    puppet.settle(Outcome::killed());
    idle().await;
    assert!(
        stage.get(&id, &owner.caller()).await.is_err(),
        "the records are gone"
    );
}

pub(super) async fn a_job_that_ends_inside_its_teardown_keeps_its_end(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    settling(&puppet, Outcome::completed().with_detail("exit code: 0"));
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    owner.close().await;
    let job = wait.await.expect("the wait resolves").commit();
    assert_eq!(
        (job.status(), job.detail()),
        (Status::Completed, Some("exit code: 0"))
    );
    assert_eq!(job.end().map(|end| end.cause), Some(Cause::Itself));
}
