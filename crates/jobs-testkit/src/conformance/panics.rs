//! C-05: a producer's panic is its own affair.

use jobs::{Cause, Error, KilledBy, Outcome, Status};

use super::stage::{World, idle, text};
use crate::puppet::Puppet;
use crate::source::ScriptedSource;

pub(super) async fn a_panicking_starter_harms_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, _puppet) = stage.begin(&owner).await;
    let (spec, puppet) = Puppet::spec("job", "a job");
    puppet.on_start(|_| panic!("starter broke"));
    let failed = stage.start(spec.with_owner(&owner)).await;
    assert!(text(failed).contains("starter broke"));
    assert_eq!(stage.status(&id, &owner).await, Status::Running);
    stage.still_works().await;
}

pub(super) async fn a_panicking_cancel_is_a_failed_kill(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_cancel(|_| panic!("cancel broke"));
    let failed = stage
        .kill(&id, &owner.caller(), KilledBy::Model, Some("why"))
        .await;
    assert!(matches!(failed, Err(Error::Producer(_))), "{failed:?}");
    assert!(text(failed).contains("cancel broke"));
    assert_eq!(stage.status(&id, &owner).await, Status::Running);
    stage.still_works().await;
    puppet.settle(Outcome::completed());
    idle().await;
    assert_eq!(stage.status(&id, &owner).await, Status::Completed);
}

pub(super) async fn a_panicking_source_is_a_failed_read(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("text");
    let (spec, _puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    source.on_read(|_| panic!("source broke"));
    let failed = stage.read(&id, &owner.caller()).await;
    assert!(matches!(failed, Err(Error::Producer(_))), "{failed:?}");
    assert!(text(failed).contains("source broke"));
    let failed = stage.observe(&id, &owner.caller(), 0, None).await;
    assert!(text(failed).contains("source broke"));
    stage.still_works().await;
    source.on_read(|_| Ok(()));
    assert_eq!(stage.must_read(&id, &owner.caller()).await.text, "text");
}

pub(super) async fn a_panic_in_done_fails_the_job(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    puppet.panic("done broke");
    idle().await;
    let job = stage.look(&id, &owner).await;
    assert_eq!(job.status(), Status::Failed);
    assert_eq!(job.detail(), Some("producer panicked: done broke"));
    assert_eq!(job.end().map(|end| end.cause), Some(Cause::Itself));
    assert!(puppet.is_released());
    let mut reporter = stage.reporter();
    assert_eq!(super::stage::heard(&mut reporter).await.commit().job.id, id);
    stage.still_works().await;
}

pub(super) async fn a_panicking_detail_harms_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_detail(|| panic!("detail broke"));
    assert_eq!(stage.status(&id, &owner).await, Status::Running);
    assert_eq!(stage.list(&owner.caller()).await.expect("a list").len(), 1);
    stage
        .must_kill(&id, &owner, KilledBy::Model, None)
        .await
        .commit();
    assert_eq!(stage.status(&id, &owner).await, Status::Stopping);
    stage.still_works().await;
    puppet.settle(Outcome::killed().with_detail("gone"));
    idle().await;
    assert_eq!(stage.look(&id, &owner).await.detail(), Some("gone"));
}

pub(super) async fn a_panicking_drop_of_hooks_harms_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    puppet.on_release(|| panic!("drop broke"));
    puppet.settle(Outcome::completed().with_detail("fine"));
    idle().await;
    let job = stage.look(&id, &owner).await;
    assert_eq!(
        (job.status(), job.detail()),
        (Status::Completed, Some("fine"))
    );
    assert!(puppet.is_released());
    stage.still_works().await;
    owner.close().await;
}

pub(super) async fn panics_in_a_teardown_harm_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (_id, puppet) = stage.begin(&owner).await;
    let (_id, calm) = stage.begin(&owner).await;
    puppet.on_cancel(|_| panic!("cancel broke"));
    puppet.on_release(|| panic!("drop broke"));
    calm.settle_with({
        let calm = calm.clone();
        async move {
            calm.cancelled(1).await;
            panic!("done broke");
        }
    });
    owner.close().await;
    assert_eq!(calm.cancels(), [Some("owner disposed".to_owned())]);
    assert!(puppet.is_released() && calm.is_released());
    stage.still_works().await;
}
