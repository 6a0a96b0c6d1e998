//! C-63 and C-64: who holds an offer, and when it is made.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use jobs::{Change, KilledBy, Outcome, Scope, Status};
use parking_lot::Mutex;

use super::stage::{World, heard, idle, now, peek, silent};

pub(super) async fn only_the_poll_that_returns_it_holds_it(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut woken = stage.reporter();
    assert!(now(woken.next()).is_none());
    let read = stage.ended(&owner, Outcome::completed()).await;
    stage.must_read(&read, &owner.caller()).await.commit();
    assert!(stage.look(&read, &owner).await.reported());
    silent(&mut woken).await;

    let id = stage.ended(&owner, Outcome::completed()).await;
    let mut other = stage.reporter();
    drop(woken);
    assert_eq!(heard(&mut other).await.commit().job.id, id);
}

pub(super) async fn one_of_several_reporters_holds_it(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (mut one, mut two) = (stage.reporter(), stage.reporter());
    assert!(now(one.next()).is_none() && now(two.next()).is_none());
    let id = stage.ended(&owner, Outcome::completed()).await;
    for _ in 0..2 {
        let offers = [now(one.next()).flatten(), now(two.next()).flatten()];
        let offered: Vec<_> = offers.into_iter().flatten().collect();
        assert_eq!(offered.len(), 1, "one of them holds it");
        assert_eq!(offered[0].job.id, id);
    }
}

pub(super) async fn a_dropped_offer_comes_again_under_its_notice_id(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    stage.ended(&owner, Outcome::completed()).await;
    let first = heard(&mut reporter).await;
    let notice = first.notice.clone();
    silent(&mut reporter).await;
    drop(first);
    let second = heard(&mut reporter).await;
    assert_eq!(second.notice, notice);
    drop(second);
    let mut other = stage.reporter();
    drop(reporter);
    assert_eq!(heard(&mut other).await.commit().notice, notice);
    stage.ended(&owner, Outcome::completed()).await;
    assert_ne!(heard(&mut other).await.commit().notice, notice);
}

pub(super) async fn a_committed_completion_is_told_for_good(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let id = stage.ended(&owner, Outcome::completed()).await;
    heard(&mut reporter).await.commit();
    drop(stage.must_read(&id, &owner.caller()).await);
    drop(stage.settled(&id, &owner.caller()).await.expect("it ended"));
    drop(stage.must_kill(&id, &owner, KilledBy::Model, None).await);
    silent(&mut reporter).await;
    silent(&mut stage.reporter()).await;
    assert!(stage.look(&id, &owner).await.reported());
}

pub(super) async fn a_reporter_that_holds_is_not_offered_again(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let mut reporter = stage.reporter();
    let first = stage.ended(&owner, Outcome::completed()).await;
    let second = stage.ended(&owner, Outcome::completed()).await;
    let (one, two) = (heard(&mut reporter).await, heard(&mut reporter).await);
    assert_eq!((&one.job.id, &two.job.id), (&first, &second));
    silent(&mut reporter).await;
    drop((two, one));
    assert_eq!(heard(&mut reporter).await.commit().job.id, first);
}

/// Writes down in which order wakers are woken.
struct Noted {
    name: &'static str,
    order: Arc<Mutex<Vec<&'static str>>>,
}

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        let mut order = self.order.lock();
        if !order.contains(&self.name) {
            order.push(self.name);
        }
    }
}

pub(super) async fn the_offer_is_the_last_news_of_a_settlement(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let order = Arc::default();
    let noted = |name| {
        Waker::from(Arc::new(Noted {
            name,
            order: Arc::clone(&order),
        }))
    };
    let (id, puppet) = stage.begin(&owner).await;
    let mut changes = stage.changes(&Scope::root());
    while now(changes.next()).is_some() {}
    let mut reporter = stage.reporter();
    {
        let (mut change, mut offer) = (Box::pin(changes.next()), Box::pin(reporter.next()));
        let waker = noted("offer");
        assert!(
            offer
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        let waker = noted("change");
        assert!(
            change
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        puppet.settle(Outcome::completed());
        idle().await;
    }
    assert_eq!(*order.lock(), ["change", "offer"]);
    assert!(now(reporter.next()).flatten().is_some());
    assert_eq!(
        now(changes.next()),
        Some(Some(Change::Owner(owner.key().clone())))
    );
    assert_eq!(stage.status(&id, &owner).await, Status::Completed);
}

pub(super) async fn waiters_are_released_before_changes_are_out(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let caller = owner.caller();
    let order = Arc::default();
    let noted = |name| {
        Waker::from(Arc::new(Noted {
            name,
            order: Arc::clone(&order),
        }))
    };
    let (id, puppet) = stage.begin(&owner).await;
    let mut changes = stage.changes(&Scope::root());
    while now(changes.next()).is_some() {}
    let mut wait = stage.settled(&id, &caller);
    let mut change = Box::pin(changes.next());
    let waker = noted("change");
    assert!(
        change
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let waker = noted("wait");
    assert!(
        wait.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    puppet.settle(Outcome::completed());
    idle().await;
    assert_eq!(*order.lock(), ["wait", "change"]);
    assert!(peek(&mut wait).is_some_and(|settled| settled.is_ok()));
}
