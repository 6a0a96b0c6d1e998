//! C-61 and C-62: what reporters are offered, and in which order.

use jobs::{Outcome, Scope, SessionId, Status};

use super::stage::{World, heard, idle, silent};

pub(super) async fn a_completion_is_offered_to_its_owners_reporter(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    silent(&mut reporter).await;
    puppet.settle(Outcome::failed().with_detail("exit code: 3"));
    let offered = heard(&mut reporter).await;
    assert_eq!((&offered.job.id, &offered.owner), (&id, owner.key()));
    assert_eq!(offered.job.status(), Status::Failed);
    assert_eq!(offered.job.detail(), Some("exit code: 3"));
    assert_eq!(offered.job.owner.as_ref(), Some(owner.session()));
    assert!(!stage.look(&id, &owner).await.reported());
    offered.commit();
    assert!(stage.look(&id, &owner).await.reported());
}

pub(super) async fn ends_before_the_reporter_came_are_offered(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let told = stage.told(&owner).await;
    let untold = stage.ended(&owner, Outcome::completed()).await;
    let mut reporter = stage.reporter();
    let offered = heard(&mut reporter).await.commit();
    assert_eq!(offered.job.id, untold);
    assert_ne!(offered.job.id, told);
    silent(&mut reporter).await;
}

pub(super) async fn unowned_jobs_are_offered_to_nobody(world: World) {
    let stage = world.stage().await;
    let mut reporter = stage.reporter();
    let (_id, puppet) = stage.begin_unowned().await;
    puppet.settle(Outcome::completed());
    silent(&mut reporter).await;
}

pub(super) async fn completions_of_a_closed_owner_are_offered_to_nobody(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    stage.ended(&owner, Outcome::completed()).await;
    let id = stage.ended(&other, Outcome::completed()).await;
    owner.close().await;
    let mut reporter = stage.reporter();
    assert_eq!(heard(&mut reporter).await.commit().job.id, id);
    silent(&mut reporter).await;
}

pub(super) async fn a_reporter_hears_its_scope_and_below(world: World) {
    let stage = world.stage().await;
    let preset = Scope::root().child("preset");
    let below = preset.child("below");
    let sibling = Scope::root().child("preset");
    let mut reporter = stage.completions(&preset, None);
    let mut ids = Vec::new();
    let mut owners = Vec::new();
    for scope in [&preset, &below, &sibling, &Scope::root()] {
        let owner = stage.owner(SessionId::new("s"), scope.clone());
        ids.push(stage.ended(&owner, Outcome::completed()).await);
        owners.push(owner);
    }
    let mut heard_of = Vec::new();
    for _ in 0..2 {
        heard_of.push(heard(&mut reporter).await.commit().job.id);
    }
    heard_of.sort();
    assert_eq!(heard_of, ids[..2]);
    silent(&mut reporter).await;
}

pub(super) async fn a_narrowed_reporter_hears_one_instance(world: World) {
    let stage = world.stage().await;
    let replaced = stage.agent("s");
    let old = stage.ended(&replaced, Outcome::completed()).await;
    let current = stage.agent("s");
    let new = stage.ended(&current, Outcome::completed()).await;
    let mut of_current = stage.completions(&Scope::root(), Some(current.key()));
    let mut of_replaced = stage.completions(&Scope::root(), Some(replaced.key()));
    assert_eq!(heard(&mut of_current).await.commit().job.id, new);
    silent(&mut of_current).await;
    assert_eq!(heard(&mut of_replaced).await.commit().job.id, old);
}

pub(super) async fn completions_come_in_the_order_of_settlement(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let mut jobs = Vec::new();
    for _ in 0..4 {
        jobs.push(stage.begin(&owner).await);
    }
    let order = [2, 0, 3, 1];
    for at in order {
        jobs[at].1.settle(Outcome::completed());
        idle().await;
    }
    for at in order {
        assert_eq!(heard(&mut reporter).await.commit().job.id, jobs[at].0);
    }
    silent(&mut reporter).await;
}

pub(super) async fn what_was_given_back_comes_first_again(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let first = stage.ended(&owner, Outcome::completed()).await;
    let second = stage.ended(&owner, Outcome::completed()).await;
    let mut reporter = stage.reporter();
    let offered = heard(&mut reporter).await;
    assert_eq!(offered.job.id, first);
    drop(offered);
    assert_eq!(heard(&mut reporter).await.commit().job.id, first);
    assert_eq!(heard(&mut reporter).await.commit().job.id, second);
}

pub(super) async fn the_innermost_reporter_is_offered_first(world: World) {
    let stage = world.stage().await;
    let preset = Scope::root().child("preset");
    let owner = stage.owner(SessionId::new("s"), preset.child("below"));
    let mut outer = stage.reporter();
    let mut inner = stage.completions(&preset, None);
    let id = stage.ended(&owner, Outcome::completed()).await;
    silent(&mut outer).await;
    let offered = heard(&mut inner).await;
    drop(offered);
    silent(&mut outer).await;
    drop(inner);
    assert_eq!(heard(&mut outer).await.commit().job.id, id);
}

pub(super) async fn a_narrowed_reporter_ends_with_its_owner(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let mut narrow = stage.completions(&Scope::root(), Some(owner.key()));
    let mut of_other = stage.completions(&Scope::root(), Some(other.key()));
    let mut wide = stage.reporter();
    silent(&mut narrow).await;
    stage.told(&owner).await;
    owner.close().await;
    assert!(narrow.next().await.is_none());
    let late = stage
        .completions(&Scope::root(), Some(owner.key()))
        .next()
        .await;
    assert!(late.is_none());
    silent(&mut of_other).await;
    silent(&mut wide).await;
}
