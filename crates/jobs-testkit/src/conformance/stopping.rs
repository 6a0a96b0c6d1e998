//! C-44: jobs that do not stop.

use std::time::Duration;

use jobs::{Cause, KilledBy, Outcome, Status};
use tokio::time::{Instant, advance};

use super::stage::{Stage, World, count, heard, idle, silent};
use crate::harness::Settings;

const GRACE: Duration = Duration::from_secs(5);

async fn stage(world: &World) -> Stage {
    world
        .stage_with(Settings {
            stop_grace: Some(GRACE),
            max_live_per_owner: count(1),
            ..Settings::default()
        })
        .await
}

pub(super) async fn a_job_that_does_not_stop_is_failed_after_the_grace(world: World) {
    let stage = stage(&world).await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let from = Instant::now();
    stage
        .must_kill(&id, &owner, KilledBy::Model, Some("enough"))
        .await
        .commit();
    let settled = stage.settled(&id, &owner.caller()).await;
    drop(settled.expect("it is failed by force"));
    assert_eq!(from.elapsed(), GRACE);

    let job = stage.look(&id, &owner).await;
    assert_eq!(job.status(), Status::Failed);
    assert_eq!(
        job.detail(),
        Some("did not stop within 5000 ms; work may be orphaned")
    );
    assert_eq!(job.end().map(|end| end.cause), Some(Cause::Orphaned));
    assert!(puppet.is_released());
    stage.begin(&owner).await;
    let told = heard(&mut stage.reporter()).await.commit();
    assert_eq!(told.job.id, id, "the model's kill does not tell this end");

    puppet.settle(Outcome::completed());
    idle().await;
    assert_eq!(
        stage.status(&id, &owner).await,
        Status::Failed,
        "the first end wins"
    );
}

pub(super) async fn the_grace_counts_from_the_last_cancel(world: World) {
    let stage = stage(&world).await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    advance(GRACE - Duration::from_secs(1)).await;
    idle().await;
    let from = Instant::now();
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    advance(GRACE - Duration::from_secs(1)).await;
    idle().await;
    assert_eq!(stage.status(&id, &owner).await, Status::Stopping);
    let settled = stage.settled(&id, &owner.caller()).await;
    settled.expect("it is failed by force").commit();
    assert_eq!(from.elapsed(), GRACE);
    assert_eq!(puppet.cancels().len(), 2);
}

pub(super) async fn a_job_that_stops_in_time_is_not_failed(world: World) {
    let stage = stage(&world).await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    advance(GRACE - Duration::from_secs(1)).await;
    idle().await;
    puppet.settle(Outcome::killed());
    idle().await;
    advance(GRACE * 2).await;
    silent(&mut reporter).await;
    assert_eq!(stage.status(&id, &owner).await, Status::Killed);
}

pub(super) async fn without_a_grace_a_job_may_stop_for_ever(world: World) {
    let stage = world
        .stage_with(Settings {
            stop_grace: None,
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    advance(Duration::from_secs(24 * 60 * 60)).await;
    idle().await;
    assert_eq!(stage.status(&id, &owner).await, Status::Stopping);
    puppet.settle(Outcome::killed());
    idle().await;
    assert_eq!(stage.status(&id, &owner).await, Status::Killed);
}
