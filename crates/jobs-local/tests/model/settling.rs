//! Settlement: one end wins, whatever else happens at that moment.

use std::sync::Arc;

use jobs::{Error, JobRegistry, Outcome, Snapshot, Status};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{OnCancel, Puppet, World, check, coin, poll_once};

/// A producer's end against a forced one: one wins, and everybody sees it.
#[test]
fn settle_and_settle() {
    check("settle_and_settle", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::on_cancel(OnCancel::Refuse);
        let id = world.start(&puppet).await.unwrap();
        let waits: Vec<_> = (0..2)
            .map(|_| {
                let (world, id) = (Arc::clone(&world), id.clone());
                spawn(async move {
                    world
                        .jobs
                        .settled(&id, &world.caller())
                        .await
                        .map(|job| Snapshot::clone(&job))
                })
            })
            .collect();
        let producer = spawn({
            let puppet = puppet.clone();
            async move { puppet.settle(Outcome::completed()) }
        });
        let closer = spawn({
            let world = Arc::clone(&world);
            async move { world.owner.close().await }
        });
        producer.await.unwrap();
        closer.await.unwrap();
        let mut seen: Vec<Status> = Vec::new();
        for wait in waits {
            match wait.await.unwrap() {
                Ok(job) => seen.push(job.status()),
                Err(Error::UnknownJob { .. }) => {}
                Err(error) => panic!("unexpected: {error}"),
            }
        }
        assert!(seen.iter().all(|status| *status == seen[0]), "{seen:?}");
        assert!(
            seen.iter()
                .all(|status| matches!(status, Status::Completed | Status::Failed)),
            "{seen:?}"
        );
        assert!(matches!(
            world.jobs.get(&id, &world.caller()).await,
            Err(Error::UnknownJob { .. })
        ));
        assert!(matches!(
            world.start(&Puppet::default()).await,
            Err(Error::OwnerClosed { .. })
        ));
    });
}

/// Waits that are dropped anywhere around the end: before the first poll,
/// while they wait, after they were woken, and with their answer in hand. The
/// completion is announced, once, and not before the last of them is gone.
#[test]
fn settle_and_dropped_waits() {
    check("settle_and_dropped_waits", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let mut reporter = world.reporter();
        let waits: Vec<_> = (0..3)
            .map(|polls| {
                let (world, id) = (Arc::clone(&world), id.clone());
                spawn(async move {
                    let caller = world.caller();
                    let mut wait = world.jobs.settled(&id, &caller);
                    for _ in 0..polls {
                        if let std::task::Poll::Ready(receipt) = poll_once(&mut wait).await {
                            yield_now().await;
                            assert!(receipt.unwrap().is_terminal());
                            return;
                        }
                        yield_now().await;
                    }
                })
            })
            .collect();
        let settles = spawn(async move { puppet.settle(Outcome::completed()) });
        let completion = reporter.next().await.expect("its end is offered");
        assert_eq!(completion.job.status(), Status::Completed);
        if coin() {
            drop(completion);
            reporter.next().await.expect("it is offered again").commit();
        } else {
            completion.commit();
        }
        for wait in waits {
            wait.await.unwrap();
        }
        settles.await.unwrap();
        assert!(world.get(&id).await.reported());
        world.owner.close().await;
    });
}
