//! The end of a registry: nothing lives on, and nobody waits for ever.

use std::sync::Arc;

use jobs::{Error, JobRegistry, Outcome, Scope};
use jobs_local::Config;
use shuttle::future::spawn;

use crate::support::{OnCancel, Puppet, World, check, coin, poll_once};

/// A shutdown against starts, an end and a wait: what started was cancelled
/// or had ended, the wait resolves, the changes end, and all else is refused.
#[test]
fn shutdown_starts_and_settle() {
    check("shutdown_starts_and_settle", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::on_cancel(OnCancel::Die);
        let id = world.start(&puppet).await.unwrap();
        let (mut changes, mut reporter) = (world.jobs.changes(&Scope::root()), world.reporter());
        let observes = spawn(async move { while changes.next().await.is_some() {} });
        let reports = spawn(async move { while reporter.next().await.is_some() {} });
        let mut wait = {
            let (world, id) = (Arc::clone(&world), id.clone());
            Box::pin(async move { world.jobs.settled(&id, &world.caller()).await })
        };
        assert!(poll_once(&mut wait).await.is_pending());
        let waits = spawn(wait);
        let starts: Vec<_> = (0..2)
            .map(|_| {
                let world = Arc::clone(&world);
                spawn(async move {
                    let puppet = Puppet::on_cancel(OnCancel::Die);
                    let started = world.start(&puppet).await;
                    (started, puppet)
                })
            })
            .collect();
        let settles = coin().then(|| spawn(async move { puppet.settle(Outcome::completed()) }));
        world.jobs.shutdown().await;

        assert!(waits.await.unwrap().unwrap().is_terminal());
        for start in starts {
            match start.await.unwrap() {
                (Ok(id), puppet) => assert!(puppet.cancels() > 0, "{id} was not cancelled"),
                (Err(Error::ShutDown | Error::OwnerClosed { .. }), _) => {}
                (Err(error), _) => panic!("unexpected: {error}"),
            }
        }
        observes.await.unwrap();
        reports.await.unwrap();
        if let Some(settles) = settles {
            settles.await.unwrap();
        }
        let caller = world.caller();
        assert_eq!(world.jobs.list(&caller).await, Err(Error::ShutDown));
        assert_eq!(world.jobs.get(&id, &caller).await, Err(Error::ShutDown));
        let late = world.start(&Puppet::default()).await;
        assert_eq!(late, Err(Error::ShutDown));
        world.owner.close().await;
    });
}

/// Closes of one owner, the drop of its last handle and a shutdown at once:
/// all of them end.
#[test]
fn close_abandon_and_shutdown() {
    check("close_abandon_and_shutdown", || async {
        let world = World::new(Config::default());
        let owner = world.jobs.owner("other".into(), Scope::root());
        let puppet = Puppet::on_cancel(OnCancel::Die);
        world.start_for(&owner, puppet.hooks()).await.unwrap();
        let mut changes = world.jobs.changes(&Scope::root());
        let closes = coin().then(|| {
            let owner = owner.clone();
            spawn(async move { owner.close().await })
        });
        let abandons = spawn(async move { drop(owner) });
        world.jobs.shutdown().await;
        abandons.await.unwrap();
        if let Some(closes) = closes {
            closes.await.unwrap();
        }
        assert_eq!(puppet.cancels(), 1);
        while changes.next().await.is_some() {}
    });
}
