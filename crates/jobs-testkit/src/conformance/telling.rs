//! C-32: what a terminal read tells.

use jobs::{Caller, KilledBy, Outcome};

use super::stage::{World, heard, idle, peek, silent};
use crate::puppet::Puppet;
use crate::source::ScriptedSource;

pub(super) async fn a_committed_read_of_an_end_tells_it(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    stage.must_read(&id, &owner.caller()).await.commit();
    puppet.settle(Outcome::completed());
    idle().await;
    let read = stage.must_read(&id, &owner.caller()).await;
    silent(&mut reporter).await;
    assert!(!stage.look(&id, &owner).await.reported());
    assert!(!read.commit().job.reported(), "the snapshot is of before");
    assert!(stage.look(&id, &owner).await.reported());
    silent(&mut reporter).await;
    silent(&mut stage.reporter()).await;
}

pub(super) async fn a_dropped_read_of_an_end_is_announced(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let id = stage.ended(&owner, Outcome::completed()).await;
    let read = stage.must_read(&id, &owner.caller()).await;
    let mut reporter = stage.reporter();
    silent(&mut reporter).await;
    drop(read);
    let told = heard(&mut reporter).await.commit();
    assert_eq!(told.job.id, id);
    assert!(stage.look(&id, &owner).await.reported());
}

pub(super) async fn a_read_of_a_live_job_holds_no_share(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (spec, puppet) = Puppet::streaming("job", "a job", ScriptedSource::new("text"));
    let id = stage.must_start(spec.with_owner(&owner)).await;
    let read = stage.must_read(&id, &owner.caller()).await;
    puppet.settle(Outcome::completed());
    let offered = heard(&mut reporter).await;
    read.commit();
    assert!(!stage.look(&id, &owner).await.reported());
    drop(offered);
    drop(heard(&mut reporter).await);
}

pub(super) async fn the_range_can_be_committed_without_the_share(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, puppet) = Puppet::streaming("job", "a job", ScriptedSource::new("text"));
    let id = stage.must_start(spec.with_owner(&owner)).await;
    puppet.settle(Outcome::completed());
    idle().await;
    let (delta, delivery) = stage.must_read(&id, &owner.caller()).await.into_parts();
    assert_eq!(delta.text, "text");
    assert!(delivery.has_share());
    delivery.commit_range();
    assert!(!stage.look(&id, &owner).await.reported());
    let mut reporter = stage.reporter();
    heard(&mut reporter).await.commit();
    assert_eq!(stage.must_read(&id, &owner.caller()).await.text, "");
}

pub(super) async fn one_of_several_shares_is_enough_to_tell(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    puppet.settle(Outcome::completed());
    heard(&mut reporter).await.commit();
    assert!(stage.look(&id, &owner).await.reported());

    let other = stage.ended(&owner, Outcome::completed()).await;
    let offered = heard(&mut reporter).await;
    let first = stage.must_read(&other, &owner.caller()).await;
    let second = stage.must_read(&other, &owner.caller()).await;
    drop(offered);
    silent(&mut reporter).await;
    first.commit();
    drop(second);
    silent(&mut reporter).await;
    assert!(stage.look(&other, &owner).await.reported());
}

pub(super) async fn the_last_share_given_back_announces(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let caller = owner.caller();
    let mut wait = stage.settled(&id, &caller);
    assert!(peek(&mut wait).is_none());
    puppet.settle(Outcome::completed());
    let waited = wait.await.expect("it ends");
    let read = stage.must_read(&id, &owner.caller()).await;
    let kill = stage.must_kill(&id, &owner, KilledBy::Model, None).await;
    for share in [
        waited.into_parts().1,
        read.into_parts().1,
        kill.into_parts().1,
    ] {
        assert!(share.has_share());
        silent(&mut reporter).await;
        drop(share);
    }
    heard(&mut reporter).await.commit();
}

pub(super) async fn a_read_of_an_unowned_end_tells_it(world: World) {
    let stage = world.stage().await;
    let (id, puppet) = stage.begin_unowned().await;
    puppet.settle(Outcome::completed());
    idle().await;
    drop(stage.must_read(&id, &Caller::Anonymous).await);
    let job = stage.get(&id, &Caller::Anonymous).await.expect("the job");
    assert!(!job.reported());
    stage.must_read(&id, &Caller::Anonymous).await.commit();
    let job = stage.get(&id, &Caller::Anonymous).await.expect("the job");
    assert!(job.reported());
}
