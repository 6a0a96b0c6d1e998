//! C-10 and C-11: the checks of a start.

use jobs::{Caller, Error, JobSpec, Outcome, OwnerKey, Scope, SessionId, Status};

use super::stage::{Stage, World, count, idle, text};
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

pub(super) async fn checks_come_in_their_order(world: World) {
    let jobs = world
        .bare(Settings {
            max_live_per_owner: count(1),
            max_untold_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let owner = jobs.owner(SessionId::new("s"), Scope::root());
    let closed = jobs.owner(SessionId::new("closed"), Scope::root());
    closed.close().await;

    // From a spec that breaks every rule, one rule after the other is kept.
    let wrong = |kind: &str, label: &str, limit: u64, owner: &jobs::Owner| {
        let (spec, _puppet) = Puppet::spec(kind, label);
        spec.with_output_limit(limit).with_owner(owner)
    };
    let refused = jobs.start(wrong("a b", "", 0, &closed)).await;
    assert_eq!(
        text(refused),
        "background jobs are unavailable: no job controller serves this agent"
    );
    let controller = jobs.controller("c", &Scope::root()).expect("a controller");
    let stage = Stage { jobs, controller };
    let refused = stage.start(wrong("a b", "", 0, &closed)).await;
    assert!(text(refused).starts_with("invalid job kind: expected"));
    let refused = stage.start(wrong("job", "", 0, &closed)).await;
    assert_eq!(
        text(refused),
        "invalid job label: expected a non-empty string"
    );
    let refused = stage.start(wrong("job", "l", 0, &closed)).await;
    assert_eq!(
        text(refused),
        "invalid output limit: expected at least 1 byte, got 0"
    );
    let refused = stage.start(wrong("job", "l", 1, &closed)).await;
    assert_eq!(text(refused), "job owner \"closed\" is closed");

    let untold = stage.ended(&owner, Outcome::completed()).await;
    stage.ended(&owner, Outcome::completed()).await;
    let full = stage.start(wrong("job", "l", 1, &owner)).await;
    assert_eq!(full, Err(Error::TooManyUntold { limit: count(1) }));
    stage.must_read(&untold, &owner.caller()).await.commit();
    let (_live, puppet) = stage.begin(&owner).await;
    let full = stage.start(wrong("job", "l", 1, &owner)).await;
    assert_eq!(full, Err(Error::LimitReached { limit: count(1) }));

    stage.shutdown().await;
    let Stage { jobs, controller } = stage;
    drop((controller, puppet));
    let refused = jobs.start(wrong("a b", "", 0, &closed)).await;
    assert_eq!(refused, Err(Error::ShutDown));
}

pub(super) async fn a_full_owner_is_refused_before_an_untold_one(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(1),
            max_untold_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (_first, first) = stage.begin(&owner).await;
    let other = stage.agent("t");
    let moved = stage.ended(&other, Outcome::completed()).await;
    stage.ended(&other, Outcome::completed()).await;
    other
        .hand_over(&owner)
        .await
        .expect("an untold completion moves");
    assert!(!stage.look(&moved, &owner).await.reported());
    let refused = refusal(&stage, |spec| spec.with_owner(&owner)).await;
    assert_eq!(refused, Error::LimitReached { limit: count(1) });
    drop(first);
}

pub(super) async fn kind_label_and_limit_are_checked(world: World) {
    let stage = world.stage().await;
    let long = "k".repeat(65);
    for kind in ["", "-a", "a b", "é", "a/b", "a\n", long.as_str()] {
        let kind = kind.to_owned();
        let refused = refusal(&stage, |mut spec| {
            spec.kind = kind.into();
            spec
        })
        .await;
        assert!(matches!(refused, Error::InvalidKind { .. }), "{refused}");
    }
    let refused = refusal(&stage, |mut spec| {
        spec.label = "".into();
        spec
    })
    .await;
    assert_eq!(refused, Error::InvalidLabel);
    let refused = refusal(&stage, |spec| spec.with_output_limit(0)).await;
    assert_eq!(refused, Error::InvalidOutputLimit { got: 0 });

    let longest = "9".repeat(64);
    let (spec, _puppet) = Puppet::spec(&longest, "two\nlines");
    let id = stage.must_start(spec.with_output_limit(u64::MAX)).await;
    let job = stage.get(&id, &Caller::Anonymous).await.expect("the job");
    assert_eq!(
        (&*job.label, id.kind().as_str()),
        ("two\nlines", longest.as_str())
    );
    assert_eq!(job.output_limit.map(u64::from), Some(u64::MAX));
}

pub(super) async fn only_the_current_instance_may_start(world: World) {
    let (stage, elsewhere) = (world.stage().await, world.stage().await);
    let replaced = stage.agent("s");
    let current = stage.agent("s");
    let foreign = elsewhere.agent("s");
    let unknown = OwnerKey::fresh(SessionId::new("never"));
    let not_current = |name: &str| Error::OwnerNotCurrent {
        session: SessionId::new(name),
    };

    let refused = refusal(&stage, |spec| spec.with_owner(&replaced)).await;
    assert_eq!(refused, not_current("s"));
    assert_eq!(
        refused.to_string(),
        "job owner \"s\" is not the current instance"
    );
    let refused = refusal(&stage, |spec| spec.with_owner(&foreign)).await;
    assert_eq!(refused, not_current("s"));
    let refused = refusal(&stage, |spec| spec.with_owner_key(unknown)).await;
    assert_eq!(refused, not_current("never"));

    stage.begin(&current).await;
    current.close().await;
    let refused = refusal(&stage, |spec| spec.with_owner(&current)).await;
    assert_eq!(
        refused,
        Error::OwnerClosed {
            session: SessionId::new("s")
        }
    );
}

pub(super) async fn too_many_untold_completions_are_refused(world: World) {
    let stage = world
        .stage_with(Settings {
            max_untold_per_owner: count(2),
            ..Settings::default()
        })
        .await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let first = stage.ended(&owner, Outcome::completed()).await;
    for _ in 0..2 {
        stage.ended(&owner, Outcome::completed()).await;
    }
    let refused = refusal(&stage, |spec| spec.with_owner(&owner)).await;
    assert_eq!(refused, Error::TooManyUntold { limit: count(2) });
    assert!(
        refused
            .to_string()
            .starts_with("too many unread completions: ")
    );
    stage.begin(&other).await;

    drop(stage.must_read(&first, &owner.caller()).await);
    let refused = refusal(&stage, |spec| spec.with_owner(&owner)).await;
    assert_eq!(refused, Error::TooManyUntold { limit: count(2) });
    stage.must_read(&first, &owner.caller()).await.commit();
    stage.begin(&owner).await;
}

pub(super) async fn ended_unowned_jobs_count_as_told(world: World) {
    let stage = world
        .stage_with(Settings {
            max_untold_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    for _ in 0..3 {
        let (id, puppet) = stage.begin_unowned().await;
        puppet.settle(Outcome::completed());
        idle().await;
        let job = stage.get(&id, &Caller::Anonymous).await.expect("the job");
        assert_eq!((job.status(), job.reported()), (Status::Completed, false));
    }
}

pub(super) async fn a_refused_start_leaves_nothing(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: count(1),
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let replaced = stage.agent("t");
    let _current = stage.agent("t");
    refusal(&stage, |spec| spec.with_owner(&replaced)).await;
    refusal(&stage, |spec| spec.with_owner(&owner).with_output_limit(0)).await;
    let listed = stage.list(&owner.caller()).await.expect("a list");
    assert_eq!(listed, [], "a refused start leaves no record");
    let (id, _puppet) = stage.begin(&owner).await;
    assert_eq!(id.to_string(), "job-1", "a refused start uses no ordinal");
    refusal(&stage, |spec| spec.with_owner(&owner)).await;
    assert_eq!(stage.list(&owner.caller()).await.expect("a list").len(), 1);
}

pub(super) async fn a_start_that_is_dropped_before_it_ran_starts_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "a job");
    drop(stage.start(spec.with_owner(&owner)));
    idle().await;
    assert_eq!(puppet.id(), None);
    assert_eq!(stage.list(&owner.caller()).await.expect("a list"), []);
    assert_eq!(stage.begin(&owner).await.0.to_string(), "job-1");
}
