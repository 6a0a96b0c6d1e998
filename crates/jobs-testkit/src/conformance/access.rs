//! C-01 to C-04: who may ask for what.

use jobs::{Caller, Error, JobId, KilledBy, Outcome, OwnerKey, Scope, SessionId};

use super::stage::{World, count, idle, now, peek, session, text};
use crate::harness::{Settings, UnownedAccess};
use crate::puppet::Puppet;
use crate::source::ScriptedSource;

fn id(text: &str) -> JobId {
    text.parse().expect("the text is an id")
}

pub(super) async fn ids_never_handed_out_are_unknown(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let _live = stage.begin(&owner).await;
    for never in ["job-2", "other-1"] {
        for caller in [owner.caller(), session("t"), Caller::Anonymous] {
            for refusal in stage.refusals(&id(never), &caller).await {
                let error = refusal.expect("an id that was never handed out is refused");
                assert!(matches!(error, Error::UnknownJob { .. }), "{error}");
                assert_eq!(error.to_string(), format!("unknown job {never}"));
            }
        }
    }
}

pub(super) async fn ids_of_a_closed_owner_are_unknown(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let id = stage.ended(&owner, Outcome::completed()).await;
    owner.close().await;
    for caller in [owner.caller(), session("t"), Caller::Anonymous] {
        for refusal in stage.refusals(&id, &caller).await {
            assert!(
                matches!(refusal, Some(Error::UnknownJob { .. })),
                "{refusal:?}"
            );
        }
    }
}

pub(super) async fn a_record_that_retention_took_is_no_longer_kept(world: World) {
    let stage = world
        .stage_with(Settings {
            max_finished_per_owner: count(2),
            ..Settings::default()
        })
        .await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let of_other = stage.told(&other).await;
    let untold = stage.ended(&owner, Outcome::completed()).await;
    let oldest = stage.told(&owner).await;
    let newest = stage.told(&owner).await;

    let listed = stage.list(&owner.caller()).await.expect("a list");
    let listed: Vec<_> = listed.into_iter().map(|job| job.id).collect();
    assert_eq!(listed, [untold, newest], "the oldest told one goes");
    let read = stage.read(&oldest, &owner.caller()).await;
    assert_eq!(text(read), format!("job {oldest} is no longer kept"));
    let read = stage.read(&oldest, &session("t")).await;
    assert!(
        !matches!(read, Ok(_) | Err(Error::NoLongerKept { .. })),
        "{read:?}"
    );
    assert!(stage.look(&of_other, &other).await.is_terminal());

    owner.close().await;
    let read = stage.read(&oldest, &owner.caller()).await;
    assert_eq!(text(read), format!("unknown job {oldest}"));
}

pub(super) async fn output_that_retention_took_is_no_longer_kept(world: World) {
    let stage = world
        .stage_with(Settings {
            max_output_kept_per_owner: 60,
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let silent = stage.told(&owner).await;
    let caller = owner.caller();
    let mut last = None;
    for streams in [true, true, false, false] {
        let output = "x".repeat(60);
        let (spec, puppet) = if streams {
            Puppet::streaming("job", "a job", ScriptedSource::new(&output))
        } else {
            Puppet::spec("job", "a job")
        };
        let id = stage.must_start(spec.with_owner(&owner)).await;
        let outcome = Outcome::completed();
        puppet.settle(if streams {
            outcome
        } else {
            outcome.with_output(output)
        });
        idle().await;
        let kept = stage.must_read(&id, &caller).await.commit();
        assert_eq!(kept.text.len(), 60, "it fits exactly");
        if let Some(lost) = last.replace(id) {
            let observed = stage.observe(&lost, &caller, 0, None).await;
            assert_eq!(text(observed), format!("job {lost} is no longer kept"));
            let job = stage.look(&lost, &owner).await;
            assert!(job.is_terminal(), "the record stays");
        }
    }
    let newest = last.expect("the loop ran");
    let again = stage.must_read(&newest, &caller).await;
    assert_eq!(again.text.len(), 60, "nothing else made room");
    let empty = stage.must_read(&silent, &owner.caller()).await;
    assert_eq!(empty.text, "", "it had nothing that could be taken");
}

pub(super) async fn jobs_of_another_session_are_foreign(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (live, puppet) = stage.begin(&owner).await;
    let (stopping, _stopping) = stage.begin(&owner).await;
    stage
        .must_kill(&stopping, &owner, KilledBy::Model, None)
        .await
        .commit();
    let ended = stage.ended(&owner, Outcome::completed()).await;
    for id in [live, stopping, ended] {
        for caller in [session("t"), stage.agent("t").caller(), Caller::Anonymous] {
            for refusal in stage.refusals(&id, &caller).await {
                let error = refusal.expect("a job of another session is refused");
                assert!(matches!(error, Error::ForeignJob { .. }), "{error}");
                assert_eq!(
                    error.to_string(),
                    format!("job {id} belongs to another session")
                );
            }
        }
    }
    assert_eq!(puppet.cancels(), [], "a refused kill cancels nothing");
}

pub(super) async fn every_caller_of_the_session_has_access(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, _puppet) = stage.begin(&owner).await;
    let sibling = Caller::Owner(OwnerKey::fresh(SessionId::new("s")));
    for caller in [owner.caller(), session("s"), sibling] {
        assert_eq!(stage.refusals(&id, &caller).await, [const { None }; 5]);
        assert_eq!(stage.list(&caller).await.expect("a list").len(), 1);
    }
}

pub(super) async fn unowned_jobs_are_open_to_every_caller(world: World) {
    let stage = world.stage().await;
    let (id, puppet) = stage.begin_unowned().await;
    for caller in [Caller::Anonymous, session("s"), stage.agent("t").caller()] {
        assert_eq!(stage.refusals(&id, &caller).await, [const { None }; 5]);
        assert_eq!(stage.list(&caller).await.expect("a list").len(), 1);
    }
    assert_eq!(puppet.cancels().len(), 3);
    assert_eq!(
        stage.get(&id, &Caller::Anonymous).await.expect("it").owner,
        None
    );
}

pub(super) async fn unowned_jobs_can_be_protected_from_kills(world: World) {
    let stage = world
        .stage_with(Settings {
            unowned_access: UnownedAccess::ReadOnly,
            ..Settings::default()
        })
        .await;
    let (id, puppet) = stage.begin_unowned().await;
    for caller in [Caller::Anonymous, session("s")] {
        let [get, read, observe, kill, settled] = stage.refusals(&id, &caller).await;
        assert_eq!([get, read, observe, settled], [const { None }; 4]);
        assert_eq!(kill, Some(Error::UnownedProtected { id: id.clone() }));
        assert_eq!(stage.list(&caller).await.expect("a list").len(), 1);
    }
    assert_eq!(puppet.cancels(), []);
}

pub(super) async fn unowned_jobs_can_be_hidden(world: World) {
    let stage = world
        .stage_with(Settings {
            unowned_access: UnownedAccess::Nothing,
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let (owned, _puppet) = stage.begin(&owner).await;
    let (id, puppet) = stage.begin_unowned().await;
    for caller in [Caller::Anonymous, owner.caller()] {
        for refusal in stage.refusals(&id, &caller).await {
            assert!(
                matches!(refusal, Some(Error::UnknownJob { .. })),
                "{refusal:?}"
            );
        }
    }
    let listed = stage.list(&owner.caller()).await.expect("a list");
    assert_eq!(
        listed.iter().map(|job| &job.id).collect::<Vec<_>>(),
        [&owned]
    );
    assert_eq!(puppet.cancels(), []);
}

pub(super) async fn every_call_after_a_shutdown_is_refused(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let id = stage.ended(&owner, Outcome::completed()).await;
    stage.shutdown().await;

    for refusal in stage.refusals(&id, &owner.caller()).await {
        assert_eq!(refusal, Some(Error::ShutDown));
    }
    let (spec, puppet) = Puppet::spec("job", "late");
    let start = stage.start(spec.with_owner(&owner)).await;
    assert_eq!(text(start), "job registry is shut down");
    assert_eq!(puppet.id(), None, "no starter runs");
    assert_eq!(stage.list(&Caller::Anonymous).await, Err(Error::ShutDown));
    let controller = stage.controller("late", &Scope::root());
    assert!(matches!(controller, Err(Error::ShutDown)), "{controller:?}");
    assert_eq!(owner.hand_over(&other).await, Err(Error::ShutDown));
}

pub(super) async fn an_owner_made_after_a_shutdown_starts_nothing(world: World) {
    let stage = world.stage().await;
    stage.shutdown().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "late");
    let start = stage.start(spec.with_owner(&owner)).await;
    assert_eq!(start, Err(Error::ShutDown));
    assert_eq!(puppet.id(), None);
    owner.close().await;
}

pub(super) async fn calls_during_a_shutdown_are_refused(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let mut reporter = stage.reporter();
    let mut shutdown = stage.shutdown();
    assert!(peek(&mut shutdown).is_none(), "a job lives");
    for refusal in stage.refusals(&id, &owner.caller()).await {
        assert_eq!(refusal, Some(Error::ShutDown));
    }
    puppet.settle(Outcome::killed());
    shutdown.await;
    idle().await;
    assert!(now(reporter.next()).is_some_and(|news| news.is_none()));
}
