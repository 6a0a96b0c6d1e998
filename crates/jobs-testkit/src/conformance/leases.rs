//! C-65: shares that nobody brings back.

use std::time::Duration;

use jobs::{KilledBy, Outcome};
use tokio::time::{Instant, timeout};

use super::stage::{Stage, World, heard, peek, silent};
use crate::harness::Settings;

const LEASE: Duration = Duration::from_secs(7);

async fn leasing(world: &World) -> Stage {
    world
        .stage_with(Settings {
            share_lease: LEASE,
            ..Settings::default()
        })
        .await
}

pub(super) async fn a_read_kept_beyond_the_lease_is_announced(world: World) {
    let stage = leasing(&world).await;
    let owner = stage.agent("s");
    let id = stage.ended(&owner, Outcome::completed()).await;
    let mut reporter = stage.reporter();
    let from = Instant::now();
    let read = stage.must_read(&id, &owner.caller()).await;
    let offered = reporter.next().await.expect("the registry lives");
    assert_eq!((&offered.job.id, from.elapsed()), (&id, LEASE));
    read.commit();
    assert!(stage.look(&id, &owner).await.reported());
    drop(offered);
    silent(&mut reporter).await;
}

pub(super) async fn a_wait_kept_beyond_the_lease_is_announced(world: World) {
    let stage = leasing(&world).await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    let mut reporter = stage.reporter();
    let from = Instant::now();
    puppet.settle(Outcome::completed());
    let offered = reporter.next().await.expect("the registry lives");
    assert_eq!((&offered.job.id, from.elapsed()), (&id, LEASE));
    offered.commit();
    let late = peek(&mut wait)
        .expect("the wait is released")
        .expect("it ended");
    late.commit();
    assert!(stage.look(&id, &owner).await.reported());
    silent(&mut reporter).await;
}

pub(super) async fn an_offer_kept_beyond_the_lease_comes_again(world: World) {
    let stage = leasing(&world).await;
    let owner = stage.agent("s");
    let id = stage.ended(&owner, Outcome::completed()).await;
    let mut reporter = stage.reporter();
    let from = Instant::now();
    let kept = heard(&mut reporter).await;
    let again = reporter.next().await.expect("the registry lives");
    assert_eq!((&again.notice, from.elapsed()), (&kept.notice, LEASE));
    drop(kept);
    silent(&mut reporter).await;
    again.commit();
    assert!(stage.look(&id, &owner).await.reported());
}

pub(super) async fn a_kill_kept_beyond_the_lease_is_announced(world: World) {
    let stage = leasing(&world).await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let kill = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    puppet.settle(Outcome::killed());
    let offered = timeout(LEASE + Duration::from_millis(1), reporter.next()).await;
    let offered = offered
        .expect("the lease ends")
        .expect("the registry lives");
    assert_eq!(offered.job.id, id);
    kill.commit();
    drop(offered);
    silent(&mut reporter).await;
    assert!(stage.look(&id, &owner).await.reported());
}

pub(super) async fn each_share_has_its_own_lease(world: World) {
    let stage = leasing(&world).await;
    let owner = stage.agent("s");
    let id = stage.ended(&owner, Outcome::completed()).await;
    let mut reporter = stage.reporter();
    let from = Instant::now();
    let early = stage.must_read(&id, &owner.caller()).await;
    tokio::time::advance(LEASE - Duration::from_secs(1)).await;
    let late = stage.must_read(&id, &owner.caller()).await;
    let offered = reporter.next().await.expect("the registry lives");
    assert_eq!(from.elapsed(), LEASE * 2 - Duration::from_secs(1));
    drop((early, late, offered));
    heard(&mut reporter).await.commit();
}
