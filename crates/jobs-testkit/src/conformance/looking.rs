//! C-20 to C-22: looks at jobs.

use std::sync::Arc;

use jobs::{Caller, Cause, KilledBy, Origin, Outcome, Status};
use serde_json::json;

use super::stage::{World, heard, idle, now, session};
use crate::puppet::Puppet;
use crate::source::ScriptedSource;

pub(super) async fn a_look_tells_nobody_anything(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("all of it");
    let (spec, puppet) = Puppet::streaming("job", "a job", source);
    let id = stage.must_start(spec.with_owner(&owner)).await;
    puppet.settle(Outcome::completed());
    idle().await;
    for _ in 0..2 {
        assert!(!stage.look(&id, &owner).await.reported());
        let listed = stage.list(&owner.caller()).await.expect("a list");
        assert!(!listed[0].reported());
        let seen = stage.observe(&id, &owner.caller(), 0, None).await;
        assert_eq!(seen.expect("the output").text, "all of it");
    }
    let mut reporter = stage.reporter();
    drop(heard(&mut reporter).await);
    assert_eq!(
        stage.must_read(&id, &owner.caller()).await.text,
        "all of it"
    );
}

pub(super) async fn a_live_job_shows_itself(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::spec("job", "first\nsecond");
    let id = stage
        .must_start(spec.with_owner(&owner).with_output_limit(64))
        .await;
    let job = stage.look(&id, &owner).await;
    assert_eq!((job.status(), job.detail()), (Status::Running, None));
    assert_eq!((&job.id, &*job.label), (&id, "first\nsecond"));
    assert_eq!(job.output_limit.map(u64::from), Some(64));
    assert_eq!(job.owner.as_ref(), Some(owner.session()));
    puppet.on_detail(|| Some("half done".to_owned()));
    assert_eq!(stage.look(&id, &owner).await.detail(), Some("half done"));
    puppet.on_detail(|| Some(String::new()));
    assert_eq!(stage.look(&id, &owner).await.detail(), None);
}

pub(super) async fn an_end_never_changes(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_detail(|| Some("live".to_owned()));
    puppet.settle(
        Outcome::failed()
            .with_detail("exit code: 3")
            .with_output("out"),
    );
    idle().await;
    let before = stage.look(&id, &owner).await;
    assert_eq!(
        (before.status(), before.detail()),
        (Status::Failed, Some("exit code: 3"))
    );

    stage
        .must_kill(&id, &owner, KilledBy::User, Some("late"))
        .await
        .commit();
    stage.must_read(&id, &owner.caller()).await.commit();
    let settled = stage.settled(&id, &owner.caller()).await;
    settled.expect("it has ended").commit();
    let after = stage.look(&id, &owner).await;
    assert!(after.reported());
    let (mut before, after) = (
        before.end().expect("an end").clone(),
        after.end().expect("an end").clone(),
    );
    before.reported = true;
    assert_eq!(before, after, "only `reported` changes");
    assert_eq!(puppet.cancels(), []);
}

pub(super) async fn an_end_holds_what_the_producer_said(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    for (outcome, status, detail, cause) in [
        (
            Outcome::completed().with_detail(""),
            Status::Completed,
            None,
            Cause::Itself,
        ),
        (Outcome::killed(), Status::Killed, None, Cause::Itself),
        (
            Outcome::failed()
                .with_detail("limit: max runtime 60s")
                .with_origin(Origin::Limit),
            Status::Failed,
            Some("limit: max runtime 60s"),
            Cause::Limit,
        ),
        (
            Outcome::killed()
                .with_detail("signal: SIGTERM")
                .with_origin(Origin::Signal),
            Status::Killed,
            Some("signal: SIGTERM"),
            Cause::Signal,
        ),
    ] {
        let id = stage
            .ended(&owner, outcome.with_facts(json!({"exit": 3})))
            .await;
        let job = stage.look(&id, &owner).await;
        assert_eq!((job.status(), job.detail()), (status, detail));
        let end = job.end().expect("an end");
        assert_eq!(end.cause, cause, "{detail:?}");
        assert_eq!(end.facts.as_deref(), Some(&json!({"exit": 3})));
        assert!(end.finished_at >= job.started_at);
        assert!(!end.reported);
    }
}

pub(super) async fn a_list_is_in_commit_order_and_hides_other_sessions(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let (first, _p) = stage.begin(&owner).await;
    let (unowned, _p) = stage.begin_unowned().await;
    let (foreign, _p) = stage.begin(&other).await;
    let last = stage.ended(&owner, Outcome::completed()).await;
    for (caller, ids) in [
        (owner.caller(), vec![&first, &unowned, &last]),
        (session("s"), vec![&first, &unowned, &last]),
        (other.caller(), vec![&unowned, &foreign]),
        (session("nobody"), vec![&unowned]),
        (Caller::Anonymous, vec![&unowned]),
    ] {
        let listed = stage.list(&caller).await.expect("a list");
        assert_eq!(
            listed.iter().map(|job| &job.id).collect::<Vec<_>>(),
            ids,
            "{caller:?}"
        );
    }
}

pub(super) async fn a_job_started_in_a_starter_is_listed_first(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (inner, _inner) = Puppet::spec("job", "inner");
    let (outer, puppet) = Puppet::spec("job", "outer");
    let (jobs, inner) = (Arc::clone(&stage.jobs), inner.with_owner(&owner));
    puppet.on_start(move |_| {
        let started = now(jobs.start(inner));
        assert!(matches!(started, Some(Ok(_))), "{started:?}");
        Ok(())
    });
    stage.must_start(outer.with_owner(&owner)).await;
    let listed = stage.list(&owner.caller()).await.expect("a list");
    let labels: Vec<_> = listed.iter().map(|job| &*job.label).collect();
    assert_eq!(
        labels,
        ["inner", "outer"],
        "the inner one was committed first"
    );
}
