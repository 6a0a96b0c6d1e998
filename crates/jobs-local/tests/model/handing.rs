//! Hand-overs: every job has one owner at a time, and none is left behind.

use std::sync::Arc;

use jobs::{Error, JobRegistry, Outcome, Scope};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{OnCancel, Puppet, World, check, check_all, coin, offered};

/// Two owners that hand over to each other at once: neither waits for the
/// other, and each job is with one of them.
#[test]
fn opposite_hand_overs() {
    check("opposite_hand_overs", || async {
        let world = World::new(Config::default());
        let other = world.jobs.owner("t".into(), Scope::root());
        let (mine, its) = (Puppet::default(), Puppet::default());
        let first = world.start(&mine).await.unwrap();
        let second = world.start_for(&other, its.hooks()).await.unwrap();
        let settles = spawn(async move { mine.settle(Outcome::completed()) });
        let there = spawn({
            let (world, other) = (Arc::clone(&world), other.clone());
            async move { world.owner.hand_over(&other).await }
        });
        other.hand_over(&world.owner).await.unwrap();
        there.await.unwrap().unwrap();
        settles.await.unwrap();

        let mut ids = Vec::new();
        for owner in [&world.owner, &other] {
            let list = world.jobs.list(&owner.caller()).await.unwrap();
            for job in &list {
                assert_eq!(job.owner.as_ref(), Some(owner.session()));
                let waited = world.jobs.get(&job.id, &owner.caller()).await;
                assert_eq!(waited.unwrap().id, job.id);
            }
            ids.extend(list.into_iter().map(|job| job.id));
        }
        ids.sort();
        assert_eq!(ids, [first, second]);
        its.settle(Outcome::completed());
        let mut reporters = world.jobs.completions(&Scope::root(), None);
        for _ in 0..2 {
            reporters.next().await.expect("both are told").commit();
        }
        world.owner.close().await;
        other.close().await;
    });
}

/// The same of two owners without jobs, in every order there is.
#[test]
fn opposite_hand_overs_of_nothing() {
    check_all("opposite_hand_overs_of_nothing", || async {
        let world = World::new(Config::default());
        let other = world.jobs.owner("t".into(), Scope::root());
        let there = spawn({
            let (world, other) = (Arc::clone(&world), other.clone());
            async move { world.owner.hand_over(&other).await }
        });
        other.hand_over(&world.owner).await.unwrap();
        there.await.unwrap().unwrap();
        (world, other)
    });
}

/// A start, a hand-over and the close of the giver: the job was handed over
/// and lives, or it was cancelled and is gone.
#[test]
fn start_hand_over_and_close() {
    check("start_hand_over_and_close", || async {
        let world = World::new(Config::default());
        let heir = world.jobs.owner("heir".into(), Scope::root());
        let starts = spawn({
            let world = Arc::clone(&world);
            async move {
                let puppet = Puppet::on_cancel(OnCancel::Die);
                let started = world.start(&puppet).await;
                (started, puppet)
            }
        });
        let hands_over = spawn({
            let (world, heir) = (Arc::clone(&world), heir.clone());
            async move { world.owner.hand_over(&heir).await }
        });
        if coin() {
            yield_now().await;
        }
        world.owner.close().await;
        match hands_over.await.unwrap() {
            Ok(()) | Err(Error::OwnerClosed { .. }) => {}
            Err(error) => panic!("unexpected: {error}"),
        }
        assert_eq!(world.jobs.list(&world.caller()).await.unwrap(), []);
        let (started, puppet) = starts.await.unwrap();
        let inherited = world.jobs.list(&heir.caller()).await.unwrap();
        match started {
            Ok(id) if puppet.cancels() == 0 => {
                assert_eq!(inherited.len(), 1, "neither cancelled nor handed over");
                assert_eq!(inherited[0].id, id);
                assert!(!inherited[0].is_terminal());
            }
            Ok(_) | Err(Error::OwnerClosed { .. }) => assert_eq!(inherited, []),
            Err(error) => panic!("unexpected: {error}"),
        }
        heir.close().await;
        assert_eq!(world.jobs.list(&heir.caller()).await.unwrap(), []);
    });
}

/// A hand-over while the job settles: the heir is told, and nobody else.
#[test]
fn hand_over_and_settle() {
    check("hand_over_and_settle", || async {
        let world = World::new(Config::default());
        let heir = world.jobs.owner("heir".into(), Scope::root());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let mut reporter = world.reporter();
        let settles = spawn(async move { puppet.settle(Outcome::completed()) });
        world.owner.hand_over(&heir).await.unwrap();
        assert!(offered(&mut reporter).await.is_none(), "told the giver");
        let mut hears = world.jobs.completions(&Scope::root(), Some(heir.key()));
        let completion = hears.next().await.expect("the heir is told");
        assert_eq!((&completion.job.id, &completion.owner), (&id, heir.key()));
        completion.commit();
        settles.await.unwrap();
        world.owner.close().await;
        assert!(
            world
                .jobs
                .get(&id, &heir.caller())
                .await
                .unwrap()
                .reported()
        );
        heir.close().await;
    });
}
