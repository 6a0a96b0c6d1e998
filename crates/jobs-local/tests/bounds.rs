//! What counts in the bounds of an owner, and what a registry remembers of what it no longer keeps.

#![expect(clippy::unwrap_used, reason = "a failed check says where")]

use std::num::NonZeroU32;
use std::sync::Arc;

use jobs::{
    Caller, Error, Hooks, JobId, JobRegistry, JobSpec, Outcome, Owner, Registration, Scope,
};
use jobs_local::{Config, LocalJobRegistry};

/// How many evicted ids of an owner are told from unknown ones.
const REMEMBERED: usize = 10_000;

fn registry(config: Config) -> (Arc<LocalJobRegistry>, Registration) {
    let jobs = LocalJobRegistry::new(config).unwrap();
    let controller = jobs.controller("test", &Scope::root()).unwrap();
    (jobs, controller)
}

/// A job that ended with this output, and that nobody was told of.
async fn untold(jobs: &LocalJobRegistry, owner: &Owner, output: &'static str) -> JobId {
    let spec = JobSpec::new("job", "a job", move |_| {
        Ok(Hooks::from_future(move |_stop| async move {
            Outcome::completed().with_output(output)
        }))
    });
    let id = jobs.start(spec.with_owner(owner)).await.unwrap();
    drop(jobs.settled(&id, &owner.caller()).await.unwrap());
    id
}

async fn told(jobs: &LocalJobRegistry, owner: &Owner) -> JobId {
    let id = untold(jobs, owner, "").await;
    jobs.settled(&id, &owner.caller()).await.unwrap().commit();
    id
}

#[tokio::test]
async fn the_oldest_evicted_ids_become_unknown() {
    let config = Config::default().with_max_finished_jobs_per_owner(NonZeroU32::MIN);
    let (jobs, _controller) = registry(config);
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

#[tokio::test]
async fn untold_completions_count_where_they_were_handed_to() {
    let config = Config::default().with_max_untold_completions_per_owner(NonZeroU32::MIN);
    let (jobs, _controller) = registry(config);
    let [from, to] = ["s", "t"].map(|session| jobs.owner(session.into(), Scope::root()));
    for _ in 0..2 {
        untold(&jobs, &from, "").await;
    }
    let start = async |owner: &Owner| {
        let spec = JobSpec::new("job", "a job", |_| {
            Ok(Hooks::from_future(|_stop| std::future::pending()))
        });
        jobs.start(spec.with_owner(owner)).await.map(drop)
    };
    let refused = Err(Error::TooManyUntold {
        limit: NonZeroU32::MIN,
    });
    assert_eq!(
        (start(&from).await, start(&to).await),
        (refused.clone(), Ok(()))
    );
    from.hand_over(&to).await.unwrap();
    assert_eq!((start(&from).await, start(&to).await), (Ok(()), refused));
}

#[tokio::test]
async fn records_count_where_they_were_handed_to() {
    let config = Config::default().with_max_finished_jobs_per_owner(NonZeroU32::MIN);
    let (jobs, _controller) = registry(config);
    let [from, to] = ["s", "t"].map(|session| jobs.owner(session.into(), Scope::root()));
    untold(&jobs, &from, "").await;
    from.hand_over(&to).await.unwrap();
    let (kept, taken) = (told(&jobs, &from).await, told(&jobs, &to).await);
    assert!(jobs.get(&kept, &from.caller()).await.is_ok());
    let gone = jobs.get(&taken, &to.caller()).await.map(drop);
    assert_eq!(gone, Err(Error::NoLongerKept { id: taken }));
}

#[tokio::test]
async fn output_counts_where_it_was_handed_to() {
    const HALF: &str = "0123456789";
    let bytes = 2 * HALF.len() as u64 - 1;
    let config = Config::default().with_max_finished_output_bytes_per_owner(bytes);
    let (jobs, _controller) = registry(config);
    let [from, to] = ["s", "t"].map(|session| jobs.owner(session.into(), Scope::root()));
    let handed = untold(&jobs, &from, HALF).await;
    from.hand_over(&to).await.unwrap();
    let length = async |id: &JobId, caller: Caller| {
        let read = jobs.observe(id, &caller, 0, None).await;
        read.map(|read| read.text.len())
    };
    let stays = untold(&jobs, &from, HALF).await;
    assert_eq!(length(&stays, from.caller()).await, Ok(HALF.len()));
    assert_eq!(length(&handed, to.caller()).await, Ok(HALF.len()));
    let newer = untold(&jobs, &to, HALF).await;
    assert_eq!(length(&newer, to.caller()).await, Ok(HALF.len()));
    let gone = Error::NoLongerKept { id: handed.clone() };
    assert_eq!(length(&handed, to.caller()).await, Err(gone));
}
