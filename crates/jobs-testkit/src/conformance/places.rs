//! C-12 to C-15: failed starters, ids and limits.

use std::sync::Arc;

use jobs::{Error, JobSpec, KilledBy, Outcome, ProducerError};
use parking_lot::Mutex;

use super::stage::{Stage, World, count, idle, now, text};
use crate::harness::Settings;
use crate::puppet::Puppet;

async fn refusal(stage: &Stage, change: impl FnOnce(JobSpec) -> JobSpec) -> Error {
    let (spec, puppet) = Puppet::spec("job", "a job");
    let refused = stage
        .start(change(spec))
        .await
        .expect_err("the start is refused");
    assert_eq!(
        puppet.id(),
        None,
        "the starter of a refused start does not run"
    );
    refused
}

pub(super) async fn a_failed_starter_leaves_nothing(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "a job");
    puppet.on_start(|_| Err(ProducerError::new("no such shell")));
    let failed = stage.start(spec.with_owner(&owner)).await;
    assert_eq!(
        failed,
        Err(Error::Producer(ProducerError::new("no such shell")))
    );
    assert_eq!(
        puppet.id().map(|id| id.to_string()).as_deref(),
        Some("job-1")
    );

    let (spec, puppet) = Puppet::spec("job", "a job");
    puppet.on_start(|_| panic!("starter broke"));
    let failed = stage.start(spec.with_owner(&owner)).await;
    assert!(matches!(failed, Err(Error::Producer(_))), "{failed:?}");
    assert!(text(failed).contains("starter broke"));
    assert_eq!(
        puppet.id().map(|id| id.to_string()).as_deref(),
        Some("job-1")
    );

    assert_eq!(stage.list(&owner.caller()).await.expect("a list"), []);
    let (id, _puppet) = stage.begin(&owner).await;
    assert_eq!(id.to_string(), "job-1", "place and ordinal are free again");
}

pub(super) async fn an_ordinal_stays_a_gap_once_a_later_one_was_given(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (inner, _inner) = Puppet::spec("job", "inner");
    let (outer, puppet) = Puppet::spec("job", "outer");
    let (jobs, inner) = (Arc::clone(&stage.jobs), inner.with_owner(&owner));
    let started = Arc::new(Mutex::new(None));
    puppet.on_start({
        let started = Arc::clone(&started);
        move |_| {
            *started.lock() = now(jobs.start(inner));
            Err(ProducerError::new("outer failed"))
        }
    });
    let failed = stage.start(outer.with_owner(&owner)).await;
    assert_eq!(text(failed), "outer failed");
    let inner = started
        .lock()
        .take()
        .expect("the inner start is done at once");
    assert_eq!(inner.expect("the inner job starts").to_string(), "job-2");
    assert_eq!(stage.begin(&owner).await.0.to_string(), "job-3");
}

pub(super) async fn a_job_that_ends_in_its_starter_starts_all_the_same(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "a job");
    let seen = Arc::new(Mutex::new(None));
    puppet.on_start({
        let (puppet, jobs, seen) = (puppet.clone(), Arc::clone(&stage.jobs), Arc::clone(&seen));
        let caller = owner.caller();
        move |id| {
            puppet.settle(Outcome::completed().with_detail("quick"));
            let listed = now(jobs.list(&caller))
                .and_then(Result::ok)
                .unwrap_or_default();
            let got = now(jobs.get(id, &caller)).and_then(Result::ok);
            *seen.lock() = Some(listed.into_iter().chain(got).collect::<Vec<_>>());
            Ok(())
        }
    });
    let id = stage.must_start(spec.with_owner(&owner)).await;
    let seen = seen.lock().take().expect("the starter ran");
    assert!(!seen.iter().any(jobs::Snapshot::is_terminal), "{seen:?}");
    let settled = stage.settled(&id, &owner.caller()).await;
    assert_eq!(settled.expect("it ends").detail(), Some("quick"));
}

pub(super) async fn ids_count_over_all_owners_of_a_kind(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let mut ids = Vec::new();
    for (kind, to) in [
        ("a", Some(&owner)),
        ("a", Some(&other)),
        ("b", Some(&other)),
        ("a", None),
        ("a-1", None),
        ("b", Some(&owner)),
    ] {
        let (spec, _puppet) = Puppet::spec(kind, "a job");
        let spec = match to {
            Some(to) => spec.with_owner(to),
            None => spec,
        };
        ids.push(stage.must_start(spec).await.to_string());
    }
    assert_eq!(ids, ["a-1", "a-2", "b-1", "a-3", "a-1-1", "b-2"]);
}

pub(super) async fn ids_of_removed_jobs_are_not_given_out_again(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    stage.told(&owner).await;
    owner.close().await;
    let next = stage.agent("s");
    assert_eq!(stage.begin(&next).await.0.to_string(), "job-2");
}

pub(super) async fn the_starter_is_told_its_id(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    assert_eq!(puppet.id(), Some(id));
}

pub(super) async fn the_limit_counts_running_and_stopping_jobs(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(2),
            stop_grace: None,
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let (_other, _puppet) = stage.begin(&owner).await;
    let full = Error::LimitReached { limit: count(2) };
    assert_eq!(refusal(&stage, |spec| spec.with_owner(&owner)).await, full);
    assert_eq!(
        full.to_string(),
        "background job limit reached (2 running): \
         kill a job that is not needed or wait for one to end, then try again"
    );
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    assert_eq!(refusal(&stage, |spec| spec.with_owner(&owner)).await, full);
    puppet.settle(Outcome::killed());
    idle().await;
    stage.begin(&owner).await;
    assert_eq!(refusal(&stage, |spec| spec.with_owner(&owner)).await, full);
}

pub(super) async fn the_limit_is_each_owners_own(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let replaced = stage.agent("s");
    stage.begin(&replaced).await;
    let current = stage.agent("s");
    stage.begin(&current).await;
    let refused = refusal(&stage, |spec| spec.with_owner(&current)).await;
    assert_eq!(refused, Error::LimitReached { limit: count(1) });
    stage.begin(&stage.agent("t")).await;
}

pub(super) async fn unowned_jobs_share_one_limit(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    stage.begin(&owner).await;
    let (_id, puppet) = stage.begin_unowned().await;
    let refused = refusal(&stage, |spec| spec).await;
    assert_eq!(refused, Error::LimitReached { limit: count(1) });
    puppet.settle(Outcome::completed());
    idle().await;
    stage.begin_unowned().await;
}

pub(super) async fn a_starter_that_starts_does_not_pass_the_limit(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (inner, inner_puppet) = Puppet::spec("job", "inner");
    let (outer, puppet) = Puppet::spec("job", "outer");
    let (jobs, inner) = (Arc::clone(&stage.jobs), inner.with_owner(&owner));
    let started = Arc::new(Mutex::new(None));
    puppet.on_start({
        let started = Arc::clone(&started);
        move |_| {
            *started.lock() = now(jobs.start(inner));
            Ok(())
        }
    });
    let id = stage.must_start(outer.with_owner(&owner)).await;
    assert_eq!(id.to_string(), "job-1");
    let refused = started
        .lock()
        .take()
        .expect("the inner start is done at once");
    assert_eq!(refused, Err(Error::LimitReached { limit: count(1) }));
    assert_eq!(inner_puppet.id(), None);
}
