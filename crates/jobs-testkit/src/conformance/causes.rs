//! C-42: which ends a kill tells, and what names their cause.

use std::sync::Arc;

use jobs::{Cause, KilledBy, Outcome, ProducerError, Status};

use super::stage::{World, heard, idle, now, silent, text};

pub(super) async fn a_kill_by_the_model_tells_a_killed_end(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    stage
        .must_kill(&id, &owner, KilledBy::Model, Some("enough"))
        .await
        .commit();
    assert!(!stage.look(&id, &owner).await.reported(), "it lives");
    puppet.settle(Outcome::killed().with_detail("signal: SIGTERM"));
    silent(&mut reporter).await;
    let job = stage.look(&id, &owner).await;
    assert_eq!(job.status(), Status::Killed);
    assert_eq!(
        job.detail(),
        Some("signal: SIGTERM"),
        "a model's kill adds nothing"
    );
    assert_eq!(
        job.end().map(|end| (end.cause, end.reported)),
        Some((Cause::Model, true))
    );
}

pub(super) async fn a_kill_committed_after_the_end_tells_it(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let kill = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    puppet.settle(Outcome::killed());
    silent(&mut reporter).await;
    assert!(!stage.look(&id, &owner).await.reported());
    kill.commit();
    assert!(stage.look(&id, &owner).await.reported());
    silent(&mut reporter).await;
}

pub(super) async fn an_own_end_after_a_kill_is_announced(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    for outcome in [Outcome::completed(), Outcome::failed()] {
        let (id, puppet) = stage.begin(&owner).await;
        stage
            .must_kill(&id, &owner, KilledBy::Model, None)
            .await
            .commit();
        puppet.settle(outcome.clone().with_detail("exit code: 0"));
        let told = heard(&mut reporter).await.commit();
        assert_eq!(told.job.status(), Status::from(outcome.status));
        assert_eq!(told.job.detail(), Some("exit code: 0"));
        assert_eq!(told.job.end().map(|end| end.cause), Some(Cause::Itself));
    }
}

pub(super) async fn a_kill_by_somebody_else_is_announced(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    for (by, reason, detail, cause, shown) in [
        (
            KilledBy::User,
            Some("too loud"),
            Some("signal: SIGTERM"),
            Cause::User,
            "signal: SIGTERM, stopped by user: too loud",
        ),
        (
            KilledBy::Host,
            Some("low memory"),
            Some("signal: SIGKILL"),
            Cause::Host,
            "signal: SIGKILL, stopped by host: low memory",
        ),
        (
            KilledBy::User,
            Some("why not"),
            None,
            Cause::User,
            "stopped by user: why not",
        ),
        (KilledBy::Host, None, None, Cause::Host, "stopped by host"),
    ] {
        let (id, puppet) = stage.begin(&owner).await;
        stage.must_kill(&id, &owner, by, reason).await.commit();
        puppet.settle(match detail {
            Some(detail) => Outcome::killed().with_detail(detail),
            None => Outcome::killed(),
        });
        let told = heard(&mut reporter).await.commit();
        assert_eq!(told.job.detail(), Some(shown));
        assert_eq!(told.job.end().map(|end| end.cause), Some(cause));
    }
}

pub(super) async fn a_user_kill_of_a_job_that_ends_by_itself_adds_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    stage
        .must_kill(&id, &owner, KilledBy::User, Some("why"))
        .await
        .commit();
    puppet.settle(Outcome::completed().with_detail("exit code: 0"));
    idle().await;
    let job = stage.look(&id, &owner).await;
    assert_eq!(job.detail(), Some("exit code: 0"));
    assert_eq!(job.end().map(|end| end.cause), Some(Cause::Itself));
}

pub(super) async fn the_first_accepted_kill_names_the_cause(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();

    let (id, puppet) = stage.begin(&owner).await;
    for (by, reason) in [(KilledBy::User, "mine"), (KilledBy::Model, "no, mine")] {
        stage
            .must_kill(&id, &owner, by, Some(reason))
            .await
            .commit();
    }
    puppet.settle(Outcome::killed());
    let told = heard(&mut reporter).await.commit();
    assert_eq!(told.job.detail(), Some("stopped by user: mine"));
    assert_eq!(told.job.end().map(|end| end.cause), Some(Cause::User));

    let (id, puppet) = stage.begin(&owner).await;
    for by in [KilledBy::Model, KilledBy::User] {
        stage.must_kill(&id, &owner, by, Some("why")).await.commit();
    }
    puppet.settle(Outcome::killed());
    silent(&mut reporter).await;
    let job = stage.look(&id, &owner).await;
    assert_eq!(job.detail(), None);
    assert_eq!(
        job.end().map(|end| (end.cause, end.reported)),
        Some((Cause::Model, true))
    );
}

pub(super) async fn a_kill_under_way_yields_to_one_that_is_accepted_first(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_cancel({
        let (jobs, puppet) = (Arc::clone(&stage.jobs), puppet.clone());
        let (id, caller) = (id.clone(), owner.caller());
        move |_| {
            puppet.on_cancel(|_| Ok(()));
            let inner = now(jobs.kill(&id, &caller, KilledBy::User, Some("inner")));
            inner
                .expect("a kill is done at once")
                .expect("it is accepted")
                .commit();
            Ok(())
        }
    });
    let outer = stage.must_kill(&id, &owner, KilledBy::Host, Some("outer"));
    drop(outer.await);
    puppet.settle(Outcome::killed());
    let told = heard(&mut reporter).await.commit();
    assert_eq!(told.job.detail(), Some("stopped by user: inner"));
}

pub(super) async fn a_refused_kill_names_no_cause(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_cancel(|_| Err(ProducerError::new("not now")));
    let failed = stage
        .kill(&id, &owner.caller(), KilledBy::Model, Some("first"))
        .await;
    assert_eq!(text(failed), "not now");
    puppet.on_cancel(|_| Ok(()));
    stage
        .must_kill(&id, &owner, KilledBy::User, Some("second"))
        .await
        .commit();
    puppet.settle(Outcome::killed());
    let told = heard(&mut reporter).await.commit();
    assert_eq!(told.job.detail(), Some("stopped by user: second"));
}

pub(super) async fn a_kept_kill_by_a_user_holds_nobody_back(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let kill = stage.must_kill(&id, &owner, KilledBy::User, None).await;
    puppet.settle(Outcome::killed());
    let offered = heard(&mut reporter).await;
    kill.commit();
    assert!(!stage.look(&id, &owner).await.reported());
    assert_eq!(offered.commit().job.id, id);
}
