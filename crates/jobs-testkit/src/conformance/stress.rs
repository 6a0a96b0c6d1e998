//! Promises that only threads can break: limits and ends.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use jobs::{KillOutcome, KilledBy, Outcome, ProducerError, Status};
use tokio::task::JoinSet;

use super::stage::{World, count};
use crate::harness::Settings;
use crate::puppet::Puppet;

pub(super) async fn concurrent_starts_do_not_pass_the_limit(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(5),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    for _ in 0..50 {
        let mut tasks = JoinSet::new();
        for _ in 0..20 {
            let (jobs, owner) = (Arc::clone(&stage.jobs), owner.key().clone());
            tasks.spawn(async move {
                let (spec, puppet) = Puppet::spec("job", "a job");
                let started = jobs.start(spec.with_owner_key(owner)).await;
                (started, puppet)
            });
        }
        let (mut live, mut refused) = (Vec::new(), 0);
        for (started, puppet) in tasks.join_all().await {
            match started {
                Ok(id) => live.push((id, puppet)),
                Err(_) => {
                    refused += 1;
                    assert_eq!(puppet.id(), None);
                }
            }
        }
        assert_eq!((live.len(), refused), (5, 15));
        for (id, puppet) in live {
            puppet.settle(Outcome::completed());
            let settled = stage.settled(&id, &owner.caller()).await;
            settled.expect("it ends").commit();
        }
    }
}

pub(super) async fn a_job_that_ends_inside_cancel_is_already_finished(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let (ended, seen) = channel();
    tokio::spawn({
        let (jobs, id, caller) = (Arc::clone(&stage.jobs), id.clone(), owner.caller());
        async move {
            drop(jobs.settled(&id, &caller).await.expect("it ends"));
            ended.send(()).expect("cancel waits");
        }
    });
    let seen = parking_lot::Mutex::new(seen);
    puppet.on_cancel({
        let puppet = puppet.clone();
        move |_| {
            // A cancel must not block; this one stands for a slow thread. The
            // end comes from outside the runtime, whose worker is busy here.
            let puppet = puppet.clone();
            let settling = std::thread::spawn(move || puppet.settle(Outcome::completed()));
            settling.join().expect("a puppet settles");
            let settled = seen.lock().recv_timeout(Duration::from_secs(30));
            settled.map_err(|_| ProducerError::new("it did not settle meanwhile"))
        }
    });
    let kill = {
        let (jobs, owner, id) = (Arc::clone(&stage.jobs), owner.clone(), id.clone());
        tokio::spawn(async move {
            jobs.kill(&id, &owner.caller(), KilledBy::Model, Some("enough"))
                .await
        })
    };
    let kill = kill.await.expect("the kill ends").expect("it is answered");
    assert_eq!(kill.outcome, KillOutcome::AlreadyFinished);
    assert_eq!(kill.job.status(), Status::Completed);
    kill.commit();
    let job = stage.look(&id, &owner).await;
    assert_eq!((job.status(), job.reported()), (Status::Completed, true));
}

pub(super) async fn closes_and_starts_race_and_leave_nothing(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(100),
            ..Settings::default()
        })
        .await;
    for _ in 0..200 {
        let owner = stage.agent("s");
        let mut tasks = JoinSet::new();
        for _ in 0..4 {
            let (jobs, owner) = (Arc::clone(&stage.jobs), owner.key().clone());
            tasks.spawn(async move {
                let (spec, puppet) = Puppet::spec("job", "a job");
                let settled = puppet.clone();
                puppet.on_cancel(move |_| {
                    settled.settle(Outcome::killed());
                    Ok(())
                });
                let started = jobs.start(spec.with_owner_key(owner)).await;
                (started, puppet)
            });
        }
        let closing = {
            let owner = owner.clone();
            tokio::spawn(async move { owner.close().await })
        };
        let started = tasks.join_all().await;
        closing.await.expect("the close ends");
        for (started, puppet) in started {
            match started {
                Ok(id) => {
                    assert_eq!(puppet.cancels().len(), 1, "{id}");
                    let gone = stage.get(&id, &owner.caller()).await;
                    assert!(gone.is_err(), "{gone:?}");
                }
                Err(error) => {
                    assert!(matches!(error, jobs::Error::OwnerClosed { .. }), "{error}");
                    assert_eq!(puppet.id(), None);
                }
            }
        }
    }
}
