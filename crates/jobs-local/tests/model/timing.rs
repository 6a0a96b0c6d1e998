//! Graces and leases: what time takes away, and what it does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jobs::{Cause, JobRegistry, KilledBy, Outcome, Status};
use jobs_local::Config;
use jobs_local::sync::advance;
use shuttle::future::{spawn, yield_now};

use crate::support::{Puppet, World, check, coin, offered, poll_once};

const LEASE: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_millis(100);

fn config() -> Config {
    Config::default()
        .with_share_lease(LEASE)
        .with_stop_grace(Some(GRACE))
        .with_teardown_grace(GRACE)
        .with_max_concurrent_jobs_per_owner(std::num::NonZeroU32::MIN)
}

/// A share whose lease runs out while it is delivered: a reporter hears of
/// the end only if time passed first, and nothing is lost.
#[test]
fn lease_and_commit() {
    check("lease_and_commit", || async {
        let world = World::new(config());
        let puppet = Puppet::default();
        puppet.settle(Outcome::completed());
        let id = world.start(&puppet).await.unwrap();
        let mut reporter = world.reporter();
        let receipt = world.jobs.settled(&id, &world.caller()).await.unwrap();
        let passed = Arc::new(AtomicBool::new(false));
        let passes = spawn({
            let passed = Arc::clone(&passed);
            async move {
                yield_now().await;
                passed.store(true, Ordering::SeqCst);
                advance(LEASE);
            }
        });
        let delivers = spawn(async move {
            yield_now().await;
            receipt.commit();
        });
        for _ in 0..4 {
            if let Some(completion) = offered(&mut reporter).await {
                assert!(passed.load(Ordering::SeqCst), "offered within the lease");
                if coin() {
                    completion.commit();
                }
            }
            yield_now().await;
        }
        delivers.await.unwrap();
        passes.await.unwrap();
        assert!(world.get(&id).await.reported());
        assert!(offered(&mut reporter).await.is_none(), "offered once told");
        world.owner.close().await;
    });
}

/// A share that is neither delivered nor dropped: its lease runs out, and the
/// end is announced. Waits that are never polled again count the same.
#[test]
fn a_forgotten_share_is_no_loss() {
    check("a_forgotten_share_is_no_loss", || async {
        let world = World::new(config());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let caller = world.caller();
        let mut forgotten = world.jobs.settled(&id, &caller);
        if coin() {
            assert!(poll_once(&mut forgotten).await.is_pending());
        }
        let settles = spawn(async move { puppet.settle(Outcome::completed()) });
        let passes = spawn({
            let (world, id) = (Arc::clone(&world), id.clone());
            async move {
                let held = world.jobs.settled(&id, &world.caller()).await;
                advance(LEASE);
                held
            }
        });
        let mut reporter = world.reporter();
        let completion = reporter.next().await.expect("the lease runs out");
        assert_eq!(completion.job.id, id);
        completion.commit();
        settles.await.unwrap();
        drop(passes.await.unwrap());
        drop(forgotten);
        assert!(offered(&mut reporter).await.is_none(), "offered once told");
        world.owner.close().await;
    });
}

/// The end of a stopping job against its grace: one of them wins, everybody
/// sees the same, and the place is free.
#[test]
fn stop_grace_and_settle() {
    check("stop_grace_and_settle", || async {
        let world = World::new(config());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let caller = world.caller();
        let kill = world.jobs.kill(&id, &caller, KilledBy::User, None);
        drop(kill.await.unwrap().commit());
        let ends = coin();
        let settles = spawn(async move {
            if ends {
                puppet.settle(Outcome::completed());
            }
        });
        let passes = spawn(async move { advance(GRACE) });
        let job = world.ended(&id).await;
        settles.await.unwrap();
        passes.await.unwrap();
        let cause = job.end().unwrap().cause;
        match job.status() {
            Status::Completed => assert!(ends && cause == Cause::Itself),
            Status::Failed => assert_eq!(cause, Cause::Orphaned),
            other => panic!("unexpected: {other}"),
        }
        assert_eq!(world.get(&id).await.status(), job.status());
        world
            .start(&Puppet::default())
            .await
            .expect("the place is free");
        let close = spawn({
            let world = Arc::clone(&world);
            async move { world.owner.close().await }
        });
        yield_now().await;
        // The new job does not stop: the close gives it up after its grace.
        while !world.jobs.list(&world.caller()).await.unwrap().is_empty() {
            advance(GRACE);
            yield_now().await;
        }
        close.await.unwrap();
    });
}

/// A second kill prolongs the grace of the first, also while that runs out.
#[test]
fn a_second_kill_and_the_first_grace() {
    check("a_second_kill_and_the_first_grace", || async {
        let world = World::new(config());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let kill = || async {
            let caller = world.caller();
            let kill = world.jobs.kill(&id, &caller, KilledBy::User, None);
            drop(kill.await.unwrap().commit());
        };
        kill().await;
        advance(GRACE / 2);
        let second = coin();
        if second {
            kill().await;
        }
        let passes = spawn(async move { advance(GRACE / 2) });
        if !second {
            assert!(world.ended(&id).await.is_terminal());
            passes.await.unwrap();
            world.owner.close().await;
            return;
        }
        passes.await.unwrap();
        for _ in 0..3 {
            let job = world.get(&id).await;
            assert_eq!(job.status(), Status::Stopping, "given up too early");
            yield_now().await;
        }
        advance(GRACE / 2);
        let job = world.ended(&id).await;
        assert_eq!(job.end().unwrap().cause, Cause::Orphaned);
        world.owner.close().await;
    });
}
