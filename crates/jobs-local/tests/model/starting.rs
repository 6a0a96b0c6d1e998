//! Starts against whatever may refuse or end them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jobs::{Error, JobRegistry, Outcome, TerminalStatus};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{OnCancel, Puppet, World, check};

/// Starts against a close: what started was cancelled, and nothing is left.
#[test]
fn start_and_close() {
    check("start_and_close", || async {
        let world = World::new(Config::default());
        let starts: Vec<_> = (0..3)
            .map(|_| {
                let world = Arc::clone(&world);
                spawn(async move {
                    let puppet = Puppet::on_cancel(OnCancel::Die);
                    let started = world.start(&puppet).await;
                    (started, puppet)
                })
            })
            .collect();
        world.owner.close().await;
        assert_eq!(world.jobs.list(&world.caller()).await.unwrap(), []);
        for start in starts {
            let (started, puppet) = start.await.unwrap();
            match started {
                Ok(id) => {
                    assert!(puppet.cancels() > 0, "{id} started and was not cancelled");
                    assert!(matches!(
                        world.jobs.get(&id, &world.caller()).await,
                        Err(Error::UnknownJob { .. })
                    ));
                }
                Err(Error::OwnerClosed { .. }) => {}
                Err(error) => panic!("unexpected: {error}"),
            }
        }
        assert_eq!(world.jobs.list(&world.caller()).await.unwrap(), []);
    });
}

/// Starts at the limit: none passes it, and a place comes back with its job.
#[test]
fn start_and_start_at_the_limit() {
    check("start_and_start_at_the_limit", || async {
        let limit = std::num::NonZeroU32::new(2).unwrap();
        let world = World::new(Config::default().with_max_concurrent_jobs_per_owner(limit));
        let live = Arc::new(AtomicUsize::new(0));
        let starts: Vec<_> = (0..3)
            .map(|_| {
                let (world, live) = (Arc::clone(&world), Arc::clone(&live));
                spawn(async move {
                    let puppet = Puppet::default();
                    match world.start(&puppet).await {
                        Ok(id) => {
                            assert!(
                                live.fetch_add(1, Ordering::SeqCst) < 2,
                                "the limit was passed"
                            );
                            yield_now().await;
                            live.fetch_sub(1, Ordering::SeqCst);
                            puppet.settle(Outcome::of(TerminalStatus::Completed));
                            world
                                .jobs
                                .settled(&id, &world.caller())
                                .await
                                .unwrap()
                                .commit();
                            world.start(&Puppet::on_cancel(OnCancel::Die)).await.is_ok()
                        }
                        Err(Error::LimitReached { .. }) => false,
                        Err(error) => panic!("unexpected: {error}"),
                    }
                })
            })
            .collect();
        let mut restarted = 0;
        for start in starts {
            restarted += usize::from(start.await.unwrap());
        }
        assert!(restarted > 0, "no place came back");
        world.owner.close().await;
    });
}
