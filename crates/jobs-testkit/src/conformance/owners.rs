//! C-70, C-73, C-74: instances, dropped handles, hand-over.

use jobs::{Caller, Change, Error, KilledBy, Outcome, Scope, SessionId, Status};

use super::stage::{Stage, World, heard, idle, silent};
use crate::harness::Settings;
use crate::puppet::Puppet;

fn disposed() -> Option<String> {
    Some("owner disposed".to_owned())
}

pub(super) async fn a_replaced_instance_keeps_its_jobs(world: World) {
    let stage = world.stage().await;
    let replaced = stage.agent("s");
    let (old, puppet) = stage.begin(&replaced).await;
    let current = stage.agent("s");
    assert_ne!(replaced.key(), current.key());
    assert_eq!(puppet.cancels(), [], "a replacement cancels nothing");
    let (spec, late) = Puppet::spec("job", "late");
    let start = stage.start(spec.with_owner(&replaced)).await;
    let session = SessionId::new("s");
    assert_eq!(start, Err(Error::OwnerNotCurrent { session }));
    assert_eq!(late.id(), None);
    for owner in [&replaced, &current] {
        assert_eq!(stage.status(&old, owner).await, Status::Running);
    }
    stage
        .must_kill(&old, &current, KilledBy::User, None)
        .await
        .commit();
    assert_eq!(puppet.cancels().len(), 1);
    puppet.settle(Outcome::killed());
    let told = heard(&mut stage.reporter()).await.commit();
    assert_eq!(&told.owner, replaced.key(), "the old instance is told");
}

pub(super) async fn the_close_of_a_replaced_instance_is_its_own(world: World) {
    let stage = world.stage().await;
    let replaced = stage.agent("s");
    let (old, old_puppet) = stage.begin(&replaced).await;
    let current = stage.agent("s");
    let (new, new_puppet) = stage.begin(&current).await;
    old_puppet.settle(Outcome::completed());
    idle().await;
    replaced.close().await;
    assert_eq!(new_puppet.cancels(), []);
    assert_eq!(stage.status(&new, &current).await, Status::Running);
    let gone = stage.get(&old, &current.caller()).await;
    assert!(matches!(gone, Err(Error::UnknownJob { .. })), "{gone:?}");
    stage.begin(&current).await;
}

pub(super) async fn a_dropped_owner_without_live_jobs_is_gone_at_once(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let caller = owner.caller();
    let id = stage.ended(&owner, Outcome::completed()).await;
    drop(owner.clone());
    assert!(stage.get(&id, &caller).await.is_ok(), "a clone is left");
    drop(owner);
    let gone = stage.get(&id, &caller).await;
    assert!(matches!(gone, Err(Error::UnknownJob { .. })), "{gone:?}");
    silent(&mut stage.reporter()).await;
}

pub(super) async fn a_dropped_owner_signals_its_live_jobs(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let caller = owner.caller();
    let mut changes = stage.changes(&Scope::root());
    let mut reporter = stage.reporter();
    let (id, puppet) = stage.begin(&owner).await;
    let key = owner.key().clone();
    drop(owner);
    assert_eq!(puppet.cancels(), [disposed()]);
    let job = stage.get(&id, &caller).await.expect("it lives");
    assert_eq!(job.status(), Status::Stopping);
    puppet.settle(Outcome::killed());
    idle().await;
    let gone = stage.get(&id, &caller).await;
    assert!(matches!(gone, Err(Error::UnknownJob { .. })), "{gone:?}");
    assert_eq!(heard(&mut changes).await, Change::Owner(key));
    silent(&mut reporter).await;
}

pub(super) async fn an_owner_may_be_dropped_outside_a_runtime(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let caller = owner.caller();
    let (id, puppet) = stage.begin(&owner).await;
    let thread = std::thread::spawn(move || drop(owner));
    thread.join().expect("a drop does not panic");
    puppet.cancelled(1).await;
    assert_eq!(puppet.cancels(), [disposed()]);
    puppet.settle(Outcome::killed());
    idle().await;
    assert!(stage.get(&id, &caller).await.is_err());
}

pub(super) async fn a_dropped_owner_cannot_hang_its_jobs(world: World) {
    let grace = std::time::Duration::from_secs(3);
    let stage = world
        .stage_with(Settings {
            teardown_grace: grace,
            ..Settings::default()
        })
        .await;
    let owner = stage.agent("s");
    let caller = owner.caller();
    let (id, puppet) = stage.begin(&owner).await;
    let wait = stage.settled(&id, &caller);
    drop(owner);
    let job = wait.await.expect("it is failed by force").commit();
    assert_eq!(
        job.detail(),
        Some("did not stop within 3000 ms; work may be orphaned")
    );
    idle().await;
    assert!(puppet.is_released());
    assert!(stage.get(&id, &caller).await.is_err());
}

pub(super) async fn a_dropped_registry_signals_its_live_jobs(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (_owned, owned) = stage.begin(&owner).await;
    let (_unowned, unowned) = stage.begin_unowned().await;
    let Stage { jobs, controller } = stage;
    drop(controller);
    let thread = std::thread::spawn(move || drop(jobs));
    thread.join().expect("a drop does not panic");
    for puppet in [owned, unowned] {
        puppet.cancelled(1).await;
        assert_eq!(puppet.cancels(), [Some("jobs service disposed".to_owned())]);
        puppet.settle(Outcome::killed());
        idle().await;
        assert!(puppet.is_released());
    }
    drop(owner);
}

pub(super) async fn a_hand_over_moves_live_jobs_and_untold_completions(world: World) {
    let stage = world.stage().await;
    let (child, parent) = (stage.agent("child"), stage.agent("parent"));
    let (live, puppet) = stage.begin(&child).await;
    let untold = stage.ended(&child, Outcome::completed()).await;
    let told = stage.told(&child).await;
    let mut reporter = stage.completions(&Scope::root(), Some(parent.key()));
    let mut changes = stage.changes(&Scope::root());
    while super::stage::now(changes.next()).is_some() {}
    child.hand_over(&parent).await.expect("a hand-over");

    for id in [&live, &untold] {
        let job = stage.look(id, &parent).await;
        assert_eq!((&job.id, job.owner.as_ref()), (id, Some(parent.session())));
        let foreign = stage.get(id, &child.caller()).await;
        assert_eq!(foreign, Err(Error::ForeignJob { id: id.clone() }));
    }
    assert_eq!(
        stage.look(&told, &child).await.owner.as_ref(),
        Some(child.session())
    );
    let mut moved = [heard(&mut changes).await, heard(&mut changes).await];
    if moved[0] != Change::Owner(child.key().clone()) {
        moved.swap(0, 1);
    }
    assert_eq!(
        moved,
        [&child, &parent].map(|owner| Change::Owner(owner.key().clone()))
    );

    child.close().await;
    assert_eq!(puppet.cancels(), [], "it is not the child's any more");
    assert_eq!(heard(&mut reporter).await.commit().job.id, untold);
    puppet.settle(Outcome::completed());
    let offered = heard(&mut reporter).await.commit();
    assert_eq!((&offered.job.id, &offered.owner), (&live, parent.key()));
}

pub(super) async fn a_hand_over_moves_the_places(world: World) {
    let stage = world
        .stage_with(Settings {
            max_live_per_owner: super::stage::count(1),
            ..Settings::default()
        })
        .await;
    let (child, parent) = (stage.agent("child"), stage.agent("parent"));
    let (live, puppet) = stage.begin(&child).await;
    child.hand_over(&parent).await.expect("a hand-over");
    let (spec, _puppet) = Puppet::spec("job", "a job");
    let full = stage.start(spec.with_owner(&parent)).await;
    assert!(matches!(full, Err(Error::LimitReached { .. })), "{full:?}");
    stage.begin(&child).await;
    puppet.settle(Outcome::completed());
    idle().await;
    stage.begin(&parent).await;
    assert!(stage.look(&live, &parent).await.is_terminal());
}

pub(super) async fn a_wait_follows_a_hand_over(world: World) {
    let stage = world.stage().await;
    let (child, parent) = (stage.agent("child"), stage.agent("parent"));
    let (live, puppet) = stage.begin(&child).await;
    let caller = child.caller();
    let mut wait = stage.settled(&live, &caller);
    assert!(super::stage::peek(&mut wait).is_none());
    child.hand_over(&parent).await.expect("a hand-over");
    puppet.settle(Outcome::completed());
    let settled = wait.await.expect("the wait resolves");
    assert_eq!(settled.owner.as_ref(), Some(parent.session()));
    drop(settled);
    let told = heard(&mut stage.reporter()).await.commit();
    assert_eq!(&told.owner, parent.key());
}

pub(super) async fn a_replaced_instance_may_hand_over_to_the_current_one(world: World) {
    let stage = world.stage().await;
    let replaced = stage.agent("s");
    let untold = stage.ended(&replaced, Outcome::completed()).await;
    let current = stage.agent("s");
    replaced.hand_over(&current).await.expect("a hand-over");
    replaced.close().await;
    let told = heard(&mut stage.reporter()).await.commit();
    assert_eq!((&told.job.id, &told.owner), (&untold, current.key()));
}

pub(super) async fn a_start_under_way_is_not_handed_over(world: World) {
    let stage = world.stage().await;
    let (child, parent) = (stage.agent("child"), stage.agent("parent"));
    let (live, _live) = stage.begin(&child).await;
    let (spec, puppet) = Puppet::spec("job", "under way");
    puppet.on_start({
        let (child, parent) = (child.clone(), parent.clone());
        move |_| {
            let moved = super::stage::now(child.hand_over(&parent));
            assert_eq!(moved, Some(Ok(())));
            Ok(())
        }
    });
    let late = stage.must_start(spec.with_owner(&child)).await;
    assert_eq!(stage.status(&live, &parent).await, Status::Running);
    assert_eq!(stage.status(&late, &child).await, Status::Running);
}

pub(super) async fn a_refused_hand_over_moves_nothing(world: World) {
    let (stage, elsewhere) = (world.stage().await, world.stage().await);
    let (child, closed) = (stage.agent("child"), stage.agent("closed"));
    let (live, _puppet) = stage.begin(&child).await;
    closed.close().await;
    let session = SessionId::new("closed");
    assert_eq!(
        child.hand_over(&closed).await,
        Err(Error::OwnerClosed { session })
    );
    let foreign = elsewhere.agent("child");
    let session = SessionId::new("child");
    assert_eq!(
        child.hand_over(&foreign).await,
        Err(Error::OwnerNotCurrent { session })
    );
    assert_eq!(stage.status(&live, &child).await, Status::Running);

    let replaced = stage.agent("replaced");
    let _current = stage.agent("replaced");
    let session = SessionId::new("replaced");
    assert_eq!(
        child.hand_over(&replaced).await,
        Err(Error::OwnerNotCurrent { session })
    );
    assert_eq!(stage.status(&live, &child).await, Status::Running);

    child.close().await;
    let parent = stage.agent("parent");
    let session = SessionId::new("child");
    assert_eq!(
        child.hand_over(&parent).await,
        Err(Error::OwnerClosed { session })
    );
    assert_eq!(
        stage.list(&Caller::Session("parent".into())).await,
        Ok(Vec::new())
    );
}
