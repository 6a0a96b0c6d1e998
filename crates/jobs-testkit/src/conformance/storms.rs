//! Promises that only threads can break: each completion is told once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jobs::{Checker, JobRegistry, KillOutcome, KilledBy, Outcome};
use tokio::task::JoinSet;

use super::stage::{World, count};
use crate::harness::Settings;
use crate::puppet::Puppet;

const OWNERS: usize = 1000;
const JOBS: usize = 100;

pub(super) async fn every_owner_is_told_each_completion_once(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(100),
            ..Settings::default()
        })
        .await;
    let mut reporter = stage.reporter();
    let owners: Vec<_> = (0..OWNERS)
        .map(|at| stage.agent(&format!("s{at}")))
        .collect();
    let mut tasks = JoinSet::new();
    for owner in &owners {
        let (jobs, owner) = (Arc::clone(&stage.jobs), owner.clone());
        tasks.spawn(async move {
            let mut puppets = Vec::new();
            for _ in 0..JOBS {
                let (spec, puppet) = Puppet::spec("job", "a job");
                jobs.start(spec.with_owner(&owner)).await.expect("a start");
                puppets.push(puppet);
            }
            for puppet in puppets {
                puppet.settle(Outcome::completed());
                tokio::task::yield_now().await;
            }
        });
    }
    let mut checker = Checker::default();
    let mut told: HashMap<_, usize> = HashMap::new();
    for at in 0..OWNERS * JOBS {
        let offered = reporter.next().await.expect("the registry lives");
        // Every seventh is not delivered at first.
        if at % 7 == 0 {
            drop(offered);
            continue;
        }
        let told_now = offered.commit();
        let session = told_now.owner.session.clone();
        checker
            .told(&told_now, &session)
            .expect("no rule is broken");
        *told.entry(session).or_default() += 1;
    }
    let mut rest = OWNERS * JOBS - told.values().sum::<usize>();
    while rest > 0 {
        let told_now = reporter.next().await.expect("the registry lives").commit();
        let session = told_now.owner.session.clone();
        checker
            .told(&told_now, &session)
            .expect("no rule is broken");
        *told.entry(session).or_default() += 1;
        rest -= 1;
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("a producer's task ends");
    }
    assert_eq!(told.len(), OWNERS);
    assert!(told.values().all(|&count| count == JOBS));
    for owner in &owners {
        let listed = stage.list(&owner.caller()).await.expect("a list");
        assert!(listed.iter().all(jobs::Snapshot::reported));
        checker.see_list(&listed).expect("no rule is broken");
    }
}

pub(super) async fn waits_reads_and_reporters_race_and_one_of_them_tells(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(100),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let reporting = {
        let mut reporter = stage.reporter();
        tokio::spawn(async move {
            let mut offers = 0_usize;
            let mut told = Vec::new();
            while let Some(offered) = reporter.next().await {
                offers += 1;
                if offers.is_multiple_of(3) {
                    drop(offered);
                } else {
                    told.push(offered.commit().job.id);
                }
                tokio::task::yield_now().await;
            }
            told
        })
    };
    for round in 0..200 {
        let (id, puppet) = stage.begin(&owner).await;
        let mut tasks = JoinSet::new();
        for at in 0..4 {
            let (jobs, id, caller) = (Arc::clone(&stage.jobs), id.clone(), owner.caller());
            tasks.spawn(async move {
                let settled = jobs.settled(&id, &caller).await.expect("it ends");
                if (round + at) % 5 == 0 {
                    settled.commit();
                } else {
                    drop(settled);
                }
                let read = jobs.read(&id, &caller).await.expect("a read");
                if (round + at) % 7 == 0 {
                    read.commit();
                }
            });
        }
        puppet.settle(Outcome::completed());
        tasks.join_all().await;
    }
    // Every completion is told in the end, whoever gave it back before.
    tokio::time::timeout(Duration::from_secs(30), async {
        while !all_told(&*stage.jobs, &owner).await {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("no completion is lost");
    stage.shutdown().await;
    let mut told = reporting.await.expect("the reporter's task ends");
    let before = told.len();
    told.sort();
    told.dedup();
    assert_eq!(told.len(), before, "a reporter tells each once");
}

async fn all_told(jobs: &dyn JobRegistry, owner: &jobs::Owner) -> bool {
    let listed = jobs.list(&owner.caller()).await.expect("a list");
    assert_eq!(listed.len(), 200);
    listed.iter().all(jobs::Snapshot::reported)
}

pub(super) async fn consumers_may_call_anything_while_jobs_settle(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(100),
            ..Settings::default()
        })
        .await;
    let owners: Vec<_> = (0..20).map(|at| stage.agent(&format!("s{at}"))).collect();
    let consuming = {
        let (jobs, mut reporter) = (Arc::clone(&stage.jobs), stage.reporter());
        tokio::spawn(async move {
            let mut told = 0;
            while let Some(offered) = reporter.next().await {
                let caller = jobs::Caller::Owner(offered.owner.clone());
                let id = offered.job.id.clone();
                assert!(jobs.get(&id, &caller).await.expect("the job").is_terminal());
                jobs.list(&caller).await.expect("a list");
                drop(jobs.read(&id, &caller).await.expect("a read"));
                let kill = jobs.kill(&id, &caller, KilledBy::Model, None).await;
                assert_eq!(kill.expect("a kill").outcome, KillOutcome::AlreadyFinished);
                offered.commit();
                told += 1;
                if told == 20 * 50 {
                    return told;
                }
            }
            told
        })
    };
    let observing = {
        let (jobs, mut changes) = (Arc::clone(&stage.jobs), stage.changes(&jobs::Scope::root()));
        tokio::spawn(async move {
            while changes.next().await.is_some() {
                drop(jobs.list(&jobs::Caller::Anonymous).await);
            }
        })
    };
    let mut tasks = JoinSet::new();
    for owner in owners.clone() {
        let jobs = Arc::clone(&stage.jobs);
        tasks.spawn(async move {
            for _ in 0..50 {
                let (spec, puppet) = Puppet::spec("job", "a job");
                let id = jobs.start(spec.with_owner(&owner)).await.expect("a start");
                let kill = jobs.kill(&id, &owner.caller(), KilledBy::User, None).await;
                kill.expect("a kill").commit();
                puppet.settle(Outcome::killed());
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(consuming.await.expect("the consumer ends"), 20 * 50);
    let mut closes = JoinSet::new();
    for owner in owners {
        closes.spawn(async move { owner.close().await });
    }
    closes.join_all().await;
    stage.shutdown().await;
    observing.await.expect("the observer ends");
}
