//! C-66: what observers of changes hear.

use std::collections::HashSet;

use jobs::{Change, KilledBy, Outcome, Scope, SessionId};

use super::stage::{World, heard, idle, silent};

pub(super) async fn every_move_of_a_job_is_followed_by_an_item(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mine = Change::Owner(owner.key().clone());
    let mut changes = stage.changes(&Scope::root());
    silent(&mut changes).await;

    let (id, puppet) = stage.begin(&owner).await;
    assert_eq!(heard(&mut changes).await, mine, "a start");
    silent(&mut changes).await;
    let first = stage.must_kill(&id, &owner, KilledBy::User, None).await;
    assert_eq!(heard(&mut changes).await, mine, "the move to stopping");
    silent(&mut changes).await;
    let second = stage.must_kill(&id, &owner, KilledBy::User, None).await;
    assert_eq!(heard(&mut changes).await, mine, "a repeated kill");
    silent(&mut changes).await;
    drop((first, second));
    puppet.settle(Outcome::killed());
    assert_eq!(heard(&mut changes).await, mine, "a settlement");
    owner.close().await;
    assert_eq!(heard(&mut changes).await, mine, "a removal");
    silent(&mut changes).await;
}

pub(super) async fn looks_and_reads_of_a_live_job_change_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, _puppet) = stage.begin(&owner).await;
    let mut changes = stage.changes(&Scope::root());
    idle().await;
    while super::stage::now(changes.next()).is_some() {}
    stage.look(&id, &owner).await;
    stage.list(&owner.caller()).await.expect("a list");
    stage.must_read(&id, &owner.caller()).await.commit();
    silent(&mut changes).await;
}

pub(super) async fn moves_are_coalesced_and_none_is_missed(world: World) {
    let stage = world.stage().await;
    let (owner, other) = (stage.agent("s"), stage.agent("t"));
    let mut changes = stage.changes(&Scope::root());
    for _ in 0..3 {
        stage.told(&owner).await;
    }
    stage.begin(&other).await;
    let mut items = [heard(&mut changes).await, heard(&mut changes).await];
    silent(&mut changes).await;
    if items[0] != Change::Owner(owner.key().clone()) {
        items.swap(0, 1);
    }
    assert_eq!(
        items,
        [owner, other].map(|owner| Change::Owner(owner.key().clone()))
    );
}

pub(super) async fn every_observer_hears_for_itself(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut observers = [stage.changes(&Scope::root()), stage.changes(&Scope::root())];
    stage.begin(&owner).await;
    for changes in &mut observers {
        assert_eq!(heard(changes).await, Change::Owner(owner.key().clone()));
        silent(changes).await;
    }
}

pub(super) async fn an_observer_hears_its_scope_and_below(world: World) {
    let stage = world.stage().await;
    let preset = Scope::root().child("preset");
    let mut inside = stage.changes(&preset);
    let mut outside = stage.changes(&Scope::root().child("preset"));
    let root = stage.agent("root");
    let below = stage.owner(SessionId::new("below"), preset.child("below"));
    stage.begin(&root).await;
    silent(&mut inside).await;
    stage.begin(&below).await;
    assert_eq!(heard(&mut inside).await, Change::Owner(below.key().clone()));
    silent(&mut inside).await;
    silent(&mut outside).await;
}

pub(super) async fn unowned_jobs_are_heard_of_at_the_root_only(world: World) {
    let stage = world.stage().await;
    let mut root = stage.changes(&Scope::root());
    let mut below = stage.changes(&Scope::root().child("preset"));
    let (_id, puppet) = stage.begin_unowned().await;
    assert_eq!(heard(&mut root).await, Change::Unowned);
    puppet.settle(Outcome::completed());
    assert_eq!(heard(&mut root).await, Change::Unowned);
    silent(&mut root).await;
    silent(&mut below).await;
}

pub(super) async fn a_teardown_shows_stopping(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (_id, puppet) = stage.begin(&owner).await;
    let mut changes = stage.changes(&Scope::root());
    idle().await;
    while super::stage::now(changes.next()).is_some() {}
    let mut close = Box::pin(owner.close());
    assert!(super::stage::peek(&mut close).is_none(), "a job lives");
    assert_eq!(
        heard(&mut changes).await,
        Change::Owner(owner.key().clone())
    );
    puppet.settle(Outcome::killed());
    close.await;
    assert_eq!(
        heard(&mut changes).await,
        Change::Owner(owner.key().clone())
    );
}

pub(super) async fn the_close_of_an_owner_without_jobs_is_no_change(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut changes = stage.changes(&Scope::root());
    owner.close().await;
    silent(&mut changes).await;
}

pub(super) async fn an_observer_far_behind_hears_everything_once(world: World) {
    let stage = world.stage().await;
    let mut near = stage.changes(&Scope::root());
    let mut far = stage.changes(&Scope::root());
    let mut owners = Vec::new();
    let mut expected = HashSet::new();
    for at in 0..4096 {
        let owner = stage.agent(&format!("s{at}"));
        stage.begin(&owner).await;
        expected.insert(Change::Owner(owner.key().clone()));
        owners.push(owner);
    }
    for _ in 0..4096 {
        let change = heard(&mut near).await;
        assert!(expected.remove(&change), "{change:?}");
    }
    silent(&mut near).await;

    let last = stage.agent("last");
    stage.begin(&last).await;
    assert_eq!(heard(&mut far).await, Change::Everything);
    silent(&mut far).await;
    stage.begin(&last).await;
    for changes in [&mut near, &mut far] {
        assert_eq!(heard(changes).await, Change::Owner(last.key().clone()));
        silent(changes).await;
    }
}
