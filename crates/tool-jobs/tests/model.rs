//! Model checks of the inbox: deliveries against closes, aborts and claims,
//! under every schedule that the checker tries.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p tool-jobs --test model`
//! The number of schedules is `JOBS_MODEL_SCHEDULES`, 500 by default.
#![cfg(shuttle)]

use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jobs::{InstanceId, NoticeId};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::{future, thread};
use tool_jobs::{Deliver, Inbox, Lane, Message, Notice, Turn, WakeBudget};

/// How a deliverer of the model hands a notice to the inbox.
type Delivery = fn(&Inbox, Notice, &WakeBudget) -> Lane;

fn at_once(inbox: &Inbox, notice: Notice, budget: &WakeBudget) -> Lane {
    inbox
        .deliver(notice, Some(budget))
        .expect("an inbox takes every notice")
}

/// Looks first and delivers then: what the inbox is there to avoid.
fn look_then_deliver(inbox: &Inbox, notice: Notice, budget: &WakeBudget) -> Lane {
    let wake = (!inbox.is_busy()).then_some(budget);
    inbox
        .deliver(notice, wake)
        .expect("an inbox takes every notice")
}

#[derive(Default)]
struct Seen {
    claimed: Mutex<Vec<String>>,
    turns: AtomicUsize,
    wakes: AtomicUsize,
}

impl Seen {
    fn claim(&self, turn: &mut Turn) {
        let texts = turn.claim().into_iter().map(|message| match message {
            Message::User(text) => text,
            Message::Notice(notice) => notice.text,
        });
        self.claimed.lock().expect("not poisoned").extend(texts);
    }

    fn took(&self, lane: Lane) {
        if lane == Lane::Woke {
            self.wakes.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn notice(text: &str) -> Notice {
    let id = NoticeId::new(InstanceId::fresh(), "bash-1".parse().expect("an id"));
    Notice::new(id, text, "")
}

fn budget(wakes: u32) -> WakeBudget {
    WakeBudget::new(NonZeroU32::new(wakes).expect("not zero"), None)
}

fn schedules() -> usize {
    std::env::var("JOBS_MODEL_SCHEDULES").map_or(500, |text| {
        text.parse()
            .expect("JOBS_MODEL_SCHEDULES: expected a number")
    })
}

/// Runs a check under random and under priority-based schedules.
fn check(name: &str, body: impl Fn() + Send + Sync + Clone + 'static) {
    let schedules = schedules();
    shuttle::check_random(body.clone(), schedules);
    shuttle::check_pct(body, schedules, 3);
    println!("check {name}: {} schedules passed", 2 * schedules);
}

fn deliverers(
    inbox: &Inbox,
    seen: &Arc<Seen>,
    budget: &WakeBudget,
    how: Delivery,
) -> Vec<thread::JoinHandle<()>> {
    ["a", "b"]
        .map(|text| {
            let (inbox, seen, budget) = (inbox.clone(), Arc::clone(seen), budget.clone());
            thread::spawn(move || seen.took(how(&inbox, notice(text), &budget)))
        })
        .into()
}

/// One turn runs while two notices arrive. Afterwards the owner is woken, or
/// everything was claimed.
fn a_turn_ends_while_notices_arrive(how: Delivery) {
    let (inbox, seen, budget) = (Inbox::new(), Arc::new(Seen::default()), budget(5));
    let turn = inbox.begin_turn();
    let deliverers = deliverers(&inbox, &seen, &budget, how);
    let host = {
        let (seen, mut turn) = (Arc::clone(&seen), turn);
        thread::spawn(move || {
            loop {
                seen.claim(&mut turn);
                match turn.close() {
                    Ok(()) => break,
                    Err(more) => turn = more,
                }
            }
        })
    };
    for thread in deliverers {
        thread.join().expect("no panic");
    }
    host.join().expect("no panic");
    let claimed = seen.claimed.lock().expect("not poisoned").len();
    let wakes = seen.wakes.load(Ordering::SeqCst);
    assert_eq!(
        inbox.is_busy(),
        claimed < 2,
        "a notice is stranded in an idle inbox"
    );
    assert_eq!(
        wakes,
        usize::from(claimed < 2),
        "as many wakes as turns to come"
    );
    let mut rest = inbox.begin_turn();
    seen.claim(&mut rest);
    assert!(rest.close().is_ok());
    let mut all = seen.claimed.lock().expect("not poisoned").clone();
    all.sort_unstable();
    assert_eq!(all, ["a", "b"], "each notice is claimed once");
}

/// A host that begins turns only when it is woken, until it has everything. It
/// aborts its first turn before or after the claim.
fn a_woken_host(abort: Abort) {
    let (inbox, seen, budget) = (Inbox::new(), Arc::new(Seen::default()), budget(5));
    let deliverers = deliverers(&inbox, &seen, &budget, at_once);
    let host = {
        let (inbox, seen) = (inbox.clone(), Arc::clone(&seen));
        thread::spawn(move || {
            while seen.claimed.lock().expect("not poisoned").len() < 2 {
                future::block_on(inbox.woken());
                let mut turn = inbox.begin_turn();
                let first = seen.turns.fetch_add(1, Ordering::SeqCst) == 0;
                if first && abort == Abort::BeforeTheClaim {
                    continue;
                }
                seen.claim(&mut turn);
                if first && abort == Abort::AfterTheClaim {
                    continue;
                }
                while let Err(more) = turn.close() {
                    turn = more;
                    seen.claim(&mut turn);
                }
            }
        })
    };
    for thread in deliverers {
        thread.join().expect("no panic");
    }
    host.join().expect("no panic");
    assert!(!inbox.is_busy(), "woken, with nothing to claim");
    let turns = u32::try_from(seen.turns.load(Ordering::SeqCst)).expect("few turns");
    let mut charged = 0;
    while charged < 5 && budget.try_take() {
        charged += 1;
    }
    assert_eq!(
        5 - charged,
        turns,
        "each turn was paid for, and no wake went without a turn"
    );
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Abort {
    Never,
    BeforeTheClaim,
    AfterTheClaim,
}

/// A budget of one, two notices, a user: the owner is never woken unpaid, and
/// nothing is lost.
fn the_budget_bounds_the_wakes() {
    let (inbox, seen, budget) = (Inbox::new(), Arc::new(Seen::default()), budget(1));
    let deliverers = deliverers(&inbox, &seen, &budget, at_once);
    // Aborts without a claim, as often as it is woken.
    let aborting = {
        let (inbox, seen) = (inbox.clone(), Arc::clone(&seen));
        thread::spawn(move || {
            for _look in 0..3 {
                if inbox.is_busy() {
                    seen.turns.fetch_add(1, Ordering::SeqCst);
                    drop(inbox.begin_turn());
                }
                thread::yield_now();
            }
        })
    };
    for thread in deliverers {
        thread.join().expect("no panic");
    }
    aborting.join().expect("no panic");
    assert!(
        seen.turns.load(Ordering::SeqCst) <= 1,
        "woken more often than was paid for"
    );
    assert!(seen.wakes.load(Ordering::SeqCst) <= 1);
    let idle = !inbox.is_busy();
    assert_eq!(inbox.send_user("u") == Lane::Woke, idle);
    future::block_on(inbox.woken());
    let mut turn = inbox.begin_turn();
    seen.claim(&mut turn);
    assert!(turn.close().is_ok());
    let mut all = seen.claimed.lock().expect("not poisoned").clone();
    all.sort_unstable();
    assert_eq!(all, ["a", "b", "u"]);
    assert!(
        budget.try_take(),
        "a claimed message of a user restores the budget"
    );
}

#[test]
fn no_notice_is_stranded_at_the_end_of_a_turn() {
    check("no_notice_is_stranded_at_the_end_of_a_turn", || {
        a_turn_ends_while_notices_arrive(at_once);
    });
}

#[test]
fn looking_before_delivering_is_caught() {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let schedules = schedules();
        shuttle::check_random(
            || a_turn_ends_while_notices_arrive(look_then_deliver),
            schedules,
        );
    }));
    let message = caught.expect_err("the check does not see a stranded notice");
    let text = message
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| message.downcast_ref::<&str>().copied())
        .unwrap_or_default();
    assert!(
        text.contains("stranded"),
        "it failed for another reason: {text}"
    );
    println!("check looking_before_delivering_is_caught: fails as it must");
}

#[test]
fn every_wake_is_one_turn() {
    check("every_wake_is_one_turn", || a_woken_host(Abort::Never));
}

#[test]
fn an_abort_before_the_claim_loses_nothing() {
    check("an_abort_before_the_claim_loses_nothing", || {
        a_woken_host(Abort::BeforeTheClaim)
    });
}

#[test]
fn an_abort_after_the_claim_loses_nothing() {
    check("an_abort_after_the_claim_loses_nothing", || {
        a_woken_host(Abort::AfterTheClaim)
    });
}

#[test]
fn no_wake_goes_unpaid() {
    check("no_wake_goes_unpaid", the_budget_bounds_the_wakes);
}
