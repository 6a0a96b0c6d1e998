//! C-50 and C-51: waits and their shares.

use jobs::{Cause, KilledBy, Outcome, Status};

use super::stage::{World, heard, idle, peek, silent};

pub(super) async fn a_wait_for_an_ended_job_resolves_at_once(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let id = stage
        .ended(&owner, Outcome::completed().with_detail("exit code: 0"))
        .await;
    let from = tokio::time::Instant::now();
    let settled = stage
        .settled(&id, &owner.caller())
        .await
        .expect("it has ended");
    assert_eq!(
        (settled.status(), settled.detail()),
        (Status::Completed, Some("exit code: 0"))
    );
    assert_eq!(from.elapsed(), std::time::Duration::ZERO);
    let mut reporter = stage.reporter();
    silent(&mut reporter).await;
    settled.commit();
    assert!(stage.look(&id, &owner).await.reported());
    silent(&mut reporter).await;
}

pub(super) async fn a_wait_outlives_the_stop_of_its_job(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    stage
        .must_kill(&id, &owner, KilledBy::User, None)
        .await
        .commit();
    idle().await;
    assert!(peek(&mut wait).is_none(), "a stopping job has not ended");
    puppet.settle(Outcome::killed());
    assert_eq!(
        wait.await.expect("it ends").commit().status(),
        Status::Killed
    );
}

pub(super) async fn a_wait_resolves_when_the_record_is_removed(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let (mut polled, mut sleeping) = (stage.settled(&id, &caller), stage.settled(&id, &caller));
    assert!(peek(&mut polled).is_none() && peek(&mut sleeping).is_none());
    puppet.on_cancel({
        let puppet = puppet.clone();
        move |_| {
            puppet.settle(Outcome::killed());
            Ok(())
        }
    });
    owner.close().await;
    assert!(stage.get(&id, &caller).await.is_err(), "the record is gone");
    for wait in [polled, sleeping] {
        let job = wait.await.expect("the wait resolves").commit();
        assert_eq!(job.status(), Status::Killed);
        assert_eq!(job.end().map(|end| end.cause), Some(Cause::OwnerClosed));
    }
}

pub(super) async fn a_wait_holds_a_share_from_settlement_on(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    puppet.settle(Outcome::completed());
    silent(&mut reporter).await;
    assert_eq!(stage.status(&id, &owner).await, Status::Completed);
    let settled = peek(&mut wait)
        .expect("the wait is released")
        .expect("it ended");
    silent(&mut reporter).await;
    settled.commit();
    assert!(stage.look(&id, &owner).await.reported());
    silent(&mut reporter).await;
}

pub(super) async fn a_wait_dropped_before_the_end_has_no_share(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    drop(wait);
    assert_eq!(
        stage.status(&id, &owner).await,
        Status::Running,
        "the job goes on"
    );
    puppet.settle(Outcome::completed());
    assert_eq!(heard(&mut reporter).await.commit().job.id, id);
}

pub(super) async fn a_wait_dropped_after_the_end_gives_its_share_back(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    puppet.settle(Outcome::completed());
    silent(&mut reporter).await;
    drop(wait);
    assert_eq!(heard(&mut reporter).await.commit().job.id, id);
}

pub(super) async fn an_undelivered_wait_gives_its_share_back(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    puppet.settle(Outcome::completed());
    let settled = wait.await.expect("it ends");
    silent(&mut reporter).await;
    drop(settled);
    assert_eq!(heard(&mut reporter).await.commit().job.id, id);
}

pub(super) async fn every_pending_wait_has_a_share_of_its_own(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut waits = [(); 3].map(|()| stage.settled(&id, &caller));
    for wait in &mut waits {
        assert!(peek(wait).is_none());
    }
    puppet.settle(Outcome::completed());
    for wait in waits {
        silent(&mut reporter).await;
        drop(wait);
    }
    heard(&mut reporter).await.commit();
    assert!(stage.look(&id, &owner).await.reported());
}
