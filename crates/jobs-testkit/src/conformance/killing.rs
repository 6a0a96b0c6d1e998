//! C-40, C-41, C-43: what a kill does.

use std::sync::Arc;

use jobs::{Cause, Error, KillOutcome, KilledBy, Outcome, ProducerError, Status};
use parking_lot::Mutex;

use super::stage::{World, heard, idle, now, silent, text};

fn owned(reason: &str) -> Option<String> {
    Some(reason.to_owned())
}

pub(super) async fn a_kill_forwards_its_reason_and_shows_stopping(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    for (by, reason) in [
        (KilledBy::Model, Some("enough")),
        (KilledBy::User, Some("too loud")),
        (KilledBy::Host, None),
    ] {
        let (id, puppet) = stage.begin(&owner).await;
        let kill = stage.must_kill(&id, &owner, by, reason).await.commit();
        assert_eq!(kill.outcome, KillOutcome::Requested);
        assert_eq!(kill.job.status(), Status::Stopping);
        assert_eq!(puppet.cancels(), [reason.map(str::to_owned)]);
        let job = stage.look(&id, &owner).await;
        assert_eq!((job.status(), job.reported()), (Status::Stopping, false));
    }
}

pub(super) async fn while_cancel_runs_the_job_is_as_it_was(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let seen = Arc::new(Mutex::new(None));
    puppet.on_cancel({
        let (jobs, seen) = (Arc::clone(&stage.jobs), Arc::clone(&seen));
        let (id, caller) = (id.clone(), owner.caller());
        move |_| {
            *seen.lock() = now(jobs.get(&id, &caller));
            Ok(())
        }
    });
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    let seen = seen.lock().take().expect("a look is done at once");
    assert_eq!(seen.expect("the job").status(), Status::Running);
}

pub(super) async fn a_failed_cancel_changes_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_cancel(|_| Err(ProducerError::new("not now")));
    for by in [KilledBy::User, KilledBy::Model] {
        let failed = stage.kill(&id, &owner.caller(), by, Some("why")).await;
        assert!(matches!(failed, Err(Error::Producer(_))), "{failed:?}");
        assert_eq!(text(failed), "not now");
        assert_eq!(stage.status(&id, &owner).await, Status::Running);
    }
    puppet.settle(Outcome::killed().with_detail("by itself"));
    let told = heard(&mut reporter).await.commit();
    assert_eq!(told.job.detail(), Some("by itself"));
    assert_eq!(told.job.end().map(|end| end.cause), Some(Cause::Itself));
}

pub(super) async fn a_second_kill_cancels_again_with_its_reason(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let _first = stage
        .must_kill(&id, &owner, KilledBy::Model, Some("first"))
        .await;
    let second = stage
        .must_kill(&id, &owner, KilledBy::Model, Some("second"))
        .await;
    assert_eq!(second.outcome, KillOutcome::Requested);
    assert_eq!(second.job.status(), Status::Stopping);
    assert_eq!(puppet.cancels(), [owned("first"), owned("second")]);

    puppet.on_cancel(|_| Err(ProducerError::new("no")));
    let failed = stage
        .kill(&id, &owner.caller(), KilledBy::Model, Some("third"))
        .await;
    assert_eq!(text(failed), "no");
    assert_eq!(stage.status(&id, &owner).await, Status::Stopping);
    assert_eq!(puppet.cancels().len(), 3);
}

pub(super) async fn a_kill_of_an_ended_job_is_already_finished(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    puppet.settle(Outcome::completed());
    idle().await;
    let kill = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    assert_eq!(kill.outcome, KillOutcome::AlreadyFinished);
    assert_eq!(kill.job.status(), Status::Completed);
    assert_eq!(puppet.cancels(), [], "nothing is cancelled");
    let mut reporter = stage.reporter();
    silent(&mut reporter).await;
    drop(kill);
    drop(heard(&mut reporter).await);
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    assert!(stage.look(&id, &owner).await.reported());
}

pub(super) async fn a_kill_dropped_before_the_end_is_announced(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    drop(stage.must_kill(&id, &owner, KilledBy::Model, None).await);
    assert_eq!(
        stage.status(&id, &owner).await,
        Status::Stopping,
        "the kill stays"
    );
    puppet.settle(Outcome::killed());
    let told = heard(&mut reporter).await.commit();
    assert_eq!(told.job.end().map(|end| end.cause), Some(Cause::Model));
}

pub(super) async fn a_kill_dropped_after_the_end_is_announced(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let kill = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    puppet.settle(Outcome::killed());
    silent(&mut reporter).await;
    drop(kill);
    assert_eq!(heard(&mut reporter).await.commit().job.id, id);
}

pub(super) async fn a_kept_kill_holds_no_other_end_back(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let kill = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    puppet.settle(Outcome::completed());
    let offered = heard(&mut reporter).await;
    kill.commit();
    assert!(!stage.look(&id, &owner).await.reported());
    assert_eq!(offered.commit().job.id, id);
}

pub(super) async fn one_committed_kill_of_two_is_enough(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    drop(stage.must_kill(&id, &owner, KilledBy::Model, None).await);
    let second = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    second.commit();
    puppet.settle(Outcome::killed());
    silent(&mut reporter).await;
    assert!(stage.look(&id, &owner).await.reported());
}
