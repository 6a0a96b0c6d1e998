//! Hand-overs: every job has one owner at a time, and none is left behind.

use std::any::Any;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use jobs::{Caller, Error, JobId, JobRegistry, JobSpec, KilledBy, Outcome, ProducerError, Scope};
use jobs_local::Config;
use jobs_local::sync::advance;
use shuttle::future::{spawn, yield_now};

use crate::support::{OnCancel, Puppet, World, check, check_all, coin, offered, poll_once};

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

/// A list while its jobs go from one instance of a session to the next, and
/// others start or fail to: each job is listed once, in order, and its id is known.
#[test]
fn lists_and_a_hand_over() {
    check("lists_and_a_hand_over", || async {
        let world = World::new(Config::default());
        let puppets = [(); 2].map(|()| Puppet::on_cancel(OnCancel::Die));
        let mut first = Vec::new();
        for puppet in &puppets {
            first.push(world.start(puppet).await.unwrap());
        }
        let next = world.jobs.owner("s".into(), Scope::root());
        let hands_over = spawn({
            let (world, next) = (Arc::clone(&world), next.clone());
            async move { world.owner.hand_over(&next).await }
        });
        let starts = [false, true].map(|fails| {
            let (world, next) = (Arc::clone(&world), next.clone());
            spawn(async move {
                if fails {
                    let failing = |_: &JobId| Err(ProducerError::new("no"));
                    let spec = JobSpec::new("bash", "no work", failing).with_owner(&next);
                    world.jobs.start(spec).await.unwrap_err();
                }
                let puppet = Puppet::on_cancel(OnCancel::Die);
                world.start_for(&next, puppet.hooks()).await.unwrap()
            })
        });
        let [ends, _] = puppets;
        let settles = spawn(async move { ends.settle(Outcome::completed()) });
        let caller = world.caller();
        let listed = async || {
            let mut ids = Vec::new();
            for job in world.jobs.list(&caller).await.unwrap() {
                let known = world.jobs.get(&job.id, &caller).await;
                assert_eq!(known.expect("what is listed is known").id, job.id);
                assert!(!ids.contains(&job.id), "{} is listed twice", job.id);
                ids.push(job.id);
            }
            assert!(ids.starts_with(&first), "{ids:?}");
            ids
        };
        for _ in 0..3 {
            listed().await;
            yield_now().await;
        }
        let mut all = first.clone();
        for start in starts {
            all.push(start.await.unwrap());
        }
        hands_over.await.unwrap().unwrap();
        settles.await.unwrap();
        let puppet = Puppet::on_cancel(OnCancel::Die);
        all.push(world.start_for(&next, puppet.hooks()).await.unwrap());
        let mut ids = listed().await;
        ids.sort();
        all.sort();
        assert_eq!(ids, all);
        next.close().await;
        world.owner.close().await;
    });
}

/// Whatever can hold a share of the end: a read, a kill, a wait, a notice.
async fn hold(world: &World, id: &JobId, caller: Caller) -> Option<Box<dyn Any + Send>> {
    fn held<T: Send + 'static>(receipt: Result<T, Error>) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(receipt.ok()?))
    }
    match (coin(), coin()) {
        (false, false) => held(world.jobs.read(id, &caller).await),
        (false, true) => held(world.jobs.kill(id, &caller, KilledBy::Model, None).await),
        (true, false) => {
            let (jobs, id) = (Arc::clone(&world.jobs), id.clone());
            let mut wait = Box::pin(async move { jobs.settled(&id, &caller).await });
            match poll_once(&mut wait).await {
                Poll::Ready(receipt) => held(receipt),
                Poll::Pending => Some(Box::new(wait)),
            }
        }
        (true, true) => {
            let mut reporter = world.jobs.completions(&Scope::root(), None);
            held(Ok(offered(&mut reporter).await?))
        }
    }
}

/// Shares that are kept for good, taken around the end and a hand-over: the
/// heir is told when the leases have run out, and no driver outlives its owner.
#[test]
fn kept_shares_and_a_hand_over() {
    check("kept_shares_and_a_hand_over", || async {
        let lease = Duration::from_millis(50);
        let world = World::new(Config::default().with_share_lease(lease));
        let heir = world.jobs.owner("heir".into(), Scope::root());
        let puppet = Puppet::on_cancel(OnCancel::Die);
        let (hooks, label) = (puppet.hooks(), Arc::from("work"));
        let record = Arc::downgrade(&label);
        let spec = JobSpec::new("bash", label, move |_| Ok(hooks)).with_owner(&world.owner);
        let id = world.jobs.start(spec).await.unwrap();
        let holds: Vec<_> = (0..2)
            .map(|_| {
                let (world, id, heir) = (Arc::clone(&world), id.clone(), heir.clone());
                spawn(async move {
                    [
                        hold(&world, &id, world.caller()).await,
                        hold(&world, &id, heir.caller()).await,
                    ]
                })
            })
            .collect();
        let settles = spawn(async move { puppet.settle(Outcome::completed()) });
        let hands_over = spawn({
            let (world, heir) = (Arc::clone(&world), heir.clone());
            async move { world.owner.hand_over(&heir).await }
        });
        let mut kept = Vec::new();
        for hold in holds {
            kept.push(hold.await.unwrap());
        }
        hands_over.await.unwrap().unwrap();
        settles.await.unwrap();
        let ended = world.jobs.settled(&id, &heir.caller()).await.unwrap();
        advance(lease);
        let mut reporter = world.jobs.completions(&Scope::root(), None);
        let again = reporter.next().await.expect("the leases run out");
        assert_eq!(again.owner, *heir.key());
        advance(lease);
        let last = reporter.next().await.expect("a notice has a lease too");
        let last = if coin() {
            last.commit();
            None
        } else {
            heir.close().await;
            Some(last)
        };
        drop((kept, ended, again, last));
        assert!(offered(&mut reporter).await.is_none(), "told twice");
        heir.close().await;
        world.owner.close().await;
        while record.strong_count() > 0 {
            yield_now().await;
        }
    });
}
