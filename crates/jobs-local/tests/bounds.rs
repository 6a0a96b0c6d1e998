//! What a registry remembers of what it no longer keeps.

#![expect(clippy::unwrap_used, reason = "a failed check says where")]

use std::num::NonZeroU32;

use jobs::{Error, Hooks, JobId, JobRegistry, JobSpec, Outcome, Owner, Scope};
use jobs_local::{Config, LocalJobRegistry};

/// How many evicted ids of an owner are told from unknown ones.
const REMEMBERED: usize = 10_000;

async fn told(jobs: &LocalJobRegistry, owner: &Owner) -> JobId {
    let spec = JobSpec::new("job", "a job", |_| {
        Ok(Hooks::from_future(|_stop| async { Outcome::completed() }))
    });
    let id = jobs.start(spec.with_owner(owner)).await.unwrap();
    jobs.settled(&id, &owner.caller()).await.unwrap().commit();
    id
}

#[tokio::test]
async fn the_oldest_evicted_ids_become_unknown() {
    let config = Config::default().with_max_finished_jobs_per_owner(NonZeroU32::MIN);
    let jobs = LocalJobRegistry::new(config).unwrap();
    assert!(format!("{jobs:?}").contains("LocalJobRegistry"));
    let _controller = jobs.controller("test", &Scope::root()).unwrap();
    let owner = jobs.owner("s".into(), Scope::root());
    let first = told(&jobs, &owner).await;
    let second = told(&jobs, &owner).await;
    for _ in 1..REMEMBERED {
        told(&jobs, &owner).await;
    }
    let gone = |id| Err(Error::NoLongerKept { id });
    let look = async |id| jobs.get(id, &owner.caller()).await.map(drop);
    assert_eq!(
        look(&first).await,
        gone(first.clone()),
        "the last that fits"
    );
    told(&jobs, &owner).await;
    assert!(matches!(look(&first).await, Err(Error::UnknownJob { .. })));
    assert_eq!(look(&second).await, gone(second.clone()));
}
