//! C-80: the end of the registry.

use std::collections::HashSet;
use std::time::Duration;

use jobs::{Caller, Cause, Change, Outcome, ProducerError, Scope, Status};
use tokio::time::Instant;

use super::stage::{World, heard, idle, now, peek};
use crate::harness::Settings;

fn disposed() -> Option<String> {
    Some("jobs service disposed".to_owned())
}

pub(super) async fn a_shutdown_tears_everything_down(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (owned, owned_puppet) = stage.begin(&owner).await;
    let (unowned, unowned_puppet) = stage.begin_unowned().await;
    let caller = owner.caller();
    let mut waits = [
        stage.settled(&owned, &caller),
        stage.settled(&unowned, &caller),
    ];
    for wait in &mut waits {
        assert!(peek(wait).is_none());
    }
    let mut shutdown = stage.shutdown();
    assert!(peek(&mut shutdown).is_none(), "jobs live");
    idle().await;
    for puppet in [&owned_puppet, &unowned_puppet] {
        assert_eq!(puppet.cancels(), [disposed()]);
    }
    owned_puppet.settle(Outcome::killed());
    idle().await;
    assert!(peek(&mut shutdown).is_none(), "one job is left");
    unowned_puppet.settle(Outcome::killed().with_detail("signal: SIGTERM"));
    shutdown.await;
    for (wait, detail) in waits.into_iter().zip([None, Some("signal: SIGTERM")]) {
        let job = wait.await.expect("a pending wait resolves").commit();
        assert_eq!((job.status(), job.detail()), (Status::Killed, detail));
        assert_eq!(job.end().map(|end| end.cause), Some(Cause::Shutdown));
    }
    assert!(owned_puppet.is_released() && unowned_puppet.is_released());
}

pub(super) async fn after_a_shutdown_no_completion_is_offered(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    stage.ended(&owner, Outcome::completed()).await;
    let (_live, puppet) = stage.begin(&owner).await;
    let mut before = stage.reporter();
    let held = heard(&mut before).await;
    puppet.on_cancel({
        let puppet = puppet.clone();
        move |_| {
            puppet.settle(Outcome::completed());
            Ok(())
        }
    });
    stage.shutdown().await;
    drop(held);
    assert!(before.next().await.is_none());
    assert!(stage.reporter().next().await.is_none());
    assert!(
        stage
            .completions(&Scope::root(), Some(owner.key()))
            .next()
            .await
            .is_none()
    );
}

pub(super) async fn a_pending_reporter_ends_with_the_registry(world: World) {
    let stage = world.stage().await;
    let mut reporter = stage.reporter();
    let reporting = tokio::spawn(async move { reporter.next().await.is_none() });
    idle().await;
    stage.shutdown().await;
    assert!(reporting.await.expect("the reporter's task ends"));
}

pub(super) async fn changes_give_their_last_items_and_end(world: World) {
    let stage = world.stage().await;
    let owners = [stage.agent("s"), stage.agent("t"), stage.agent("u")];
    let items = owners
        .each_ref()
        .map(|owner| Change::Owner(owner.key().clone()));
    let mut changes = stage.changes(&Scope::root());
    stage.told(&owners[0]).await;
    stage.told(&owners[1]).await;
    let (_lasting, puppet) = stage.begin(&owners[2]).await;
    idle().await;
    while now(changes.next()).is_some() {}
    let mut shutdown = stage.shutdown();
    assert!(peek(&mut shutdown).is_none(), "a job lives");
    let mut heard_of = HashSet::new();
    while heard_of.len() < items.len() {
        heard_of.insert(heard(&mut changes).await);
    }
    assert_eq!(heard_of, HashSet::from(items.clone()));
    idle().await;
    while now(changes.next()).is_some() {}
    puppet.settle(Outcome::killed());
    let mut last = heard(&mut changes).await;
    loop {
        assert_eq!(last, items[2], "the last end");
        match changes.next().await {
            Some(change) => last = change,
            None => break,
        }
    }
    shutdown.await;
    assert_eq!(stage.changes(&Scope::root()).next().await, None);
}

pub(super) async fn a_shutdown_waits_for_a_stuck_job_no_longer_than_the_grace(world: World) {
    let grace = Duration::from_secs(3);
    let stage = world
        .stage_with(Settings {
            teardown_grace: grace,
            stop_grace: None,
            ..Settings::default()
        })
        .await;
    let (stuck, _stuck) = stage.begin_unowned().await;
    let (failing, puppet) = stage.begin_unowned().await;
    puppet.on_cancel(|_| Err(ProducerError::new("no such group")));
    let mut waits = [&stuck, &failing].map(|id| stage.settled(id, &Caller::Anonymous));
    for wait in &mut waits {
        assert!(peek(wait).is_none());
    }
    let from = Instant::now();
    stage.shutdown().await;
    assert_eq!(from.elapsed(), grace);
    for (wait, detail) in waits.into_iter().zip([
        "did not stop within 3000 ms; work may be orphaned",
        "cancel failed during teardown; work may be orphaned: no such group",
    ]) {
        let job = wait.await.expect("a pending wait resolves").commit();
        assert_eq!(job.detail(), Some(detail));
        assert_eq!(job.end().map(|end| end.cause), Some(Cause::Orphaned));
    }
}

pub(super) async fn a_dropped_shutdown_goes_on(world: World) {
    let stage = world.stage().await;
    let (_id, puppet) = stage.begin_unowned().await;
    let mut shutdown = stage.shutdown();
    assert!(peek(&mut shutdown).is_none(), "a job lives");
    drop(shutdown);
    let mut changes = stage.changes(&Scope::root());
    puppet.cancelled(1).await;
    assert_eq!(puppet.cancels(), [disposed()]);
    puppet.settle(Outcome::killed());
    idle().await;
    while now(changes.next()).flatten().is_some() {}
    assert_eq!(changes.next().await, None);
}

pub(super) async fn shutdowns_return_together_and_again(world: World) {
    let stage = world.stage().await;
    let (_id, puppet) = stage.begin_unowned().await;
    let mut shutdowns = [stage.shutdown(), stage.shutdown()];
    for shutdown in &mut shutdowns {
        assert!(peek(shutdown).is_none());
    }
    puppet.settle(Outcome::killed());
    for shutdown in shutdowns {
        shutdown.await;
    }
    assert_eq!(puppet.cancels(), [disposed()], "one teardown");
    let from = Instant::now();
    stage.shutdown().await;
    assert_eq!(from.elapsed(), Duration::ZERO);
}

pub(super) async fn an_owner_can_be_closed_after_the_shutdown(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    stage.told(&owner).await;
    stage.shutdown().await;
    owner.close().await;
    drop(owner);
}
