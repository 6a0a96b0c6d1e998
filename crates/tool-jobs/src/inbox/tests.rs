//! What an inbox does in one thread.

use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use jobs::{InstanceId, NoticeId};

use super::{Deliver, Inbox, Lane, Message, WakeBudget};
use crate::notice::Notice;

fn notice(text: &str) -> Notice {
    let id = NoticeId::new(InstanceId::fresh(), "bash-1".parse().unwrap());
    Notice::new(id, text, "")
}

fn budget(wakes: u32) -> WakeBudget {
    WakeBudget::new(NonZeroU32::new(wakes).unwrap(), None)
}

fn deliver(inbox: &Inbox, text: &str, wake: Option<&WakeBudget>) -> Lane {
    inbox.deliver(notice(text), wake).unwrap()
}

fn is_woken(inbox: &Inbox) -> bool {
    let mut woken = pin!(inbox.woken());
    woken.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(Message::text).collect()
}

#[test]
fn the_first_notice_wakes_and_the_others_join() {
    let (inbox, budget) = (Inbox::new(), budget(3));
    assert_eq!(deliver(&inbox, "a", Some(&budget)), Lane::Woke);
    assert!(inbox.is_busy(), "from the wake on the owner is busy");
    assert_eq!(deliver(&inbox, "b", Some(&budget)), Lane::Joined);
    assert!(is_woken(&inbox) && is_woken(&inbox), "a level, not an edge");
    let mut turn = inbox.begin_turn();
    assert!(!is_woken(&inbox));
    assert_eq!(deliver(&inbox, "c", Some(&budget)), Lane::Joined);
    assert_eq!(texts(&turn.claim()), ["a", "b", "c"]);
    assert!(turn.close().is_ok());
    assert!(!inbox.is_busy());
    assert!(budget.try_take() && budget.try_take() && !budget.try_take());
}

#[test]
fn a_turn_does_not_close_over_what_arrived() {
    let inbox = Inbox::new();
    let turn = inbox.begin_turn();
    deliver(&inbox, "late", None);
    let mut turn = turn.close().unwrap_err();
    assert!(inbox.is_busy());
    assert_eq!(texts(&turn.claim()), ["late"]);
    assert!(turn.close().is_ok());
}

#[test]
fn quiet_and_unpaid_notices_wait_for_a_turn() {
    let (inbox, budget) = (Inbox::new(), budget(1));
    assert_eq!(deliver(&inbox, "quiet", None), Lane::Joined);
    assert!(!is_woken(&inbox));
    assert!(budget.try_take());
    assert_eq!(deliver(&inbox, "unpaid", Some(&budget)), Lane::Joined);
    assert!(!is_woken(&inbox) && !inbox.is_busy());
    assert_eq!(texts(&inbox.begin_turn().claim()), ["quiet", "unpaid"]);
}

#[test]
fn an_aborted_turn_wakes_again_as_long_as_somebody_pays() {
    let (inbox, budget) = (Inbox::new(), budget(3));
    assert_eq!(deliver(&inbox, "a", Some(&budget)), Lane::Woke);
    for _paid in 0..2 {
        assert!(is_woken(&inbox));
        drop(inbox.begin_turn());
    }
    assert!(is_woken(&inbox));
    drop(inbox.begin_turn());
    assert!(!is_woken(&inbox), "nobody paid for this wake");
    assert_eq!(
        texts(&inbox.begin_turn().claim()),
        ["a"],
        "it is still there"
    );
}

#[test]
fn an_aborted_turn_over_an_empty_inbox_wakes_nobody() {
    let (inbox, budget) = (Inbox::new(), budget(3));
    assert_eq!(deliver(&inbox, "a", Some(&budget)), Lane::Woke);
    let mut turn = inbox.begin_turn();
    assert_eq!(turn.claim().len(), 1);
    drop(turn);
    assert!(!inbox.is_busy());
}

#[test]
fn only_a_claimed_message_of_a_user_restores() {
    let (inbox, budget) = (Inbox::new(), budget(1));
    assert_eq!(deliver(&inbox, "a", Some(&budget)), Lane::Woke);
    let mut turn = inbox.begin_turn();
    assert_eq!(turn.claim().len(), 1);
    assert!(turn.close().is_ok());
    assert_eq!(deliver(&inbox, "b", Some(&budget)), Lane::Joined);
    assert_eq!(
        inbox.send_user("hello"),
        Lane::Woke,
        "a user needs no budget"
    );
    assert!(!budget.try_take(), "not claimed yet");
    let mut turn = inbox.begin_turn();
    assert_eq!(texts(&turn.claim()), ["b", "hello"]);
    assert!(turn.close().is_ok());
    assert_eq!(deliver(&inbox, "c", Some(&budget)), Lane::Woke);
}

#[test]
fn a_budget_of_another_mount_pays_for_its_own_notices() {
    let (inbox, one, two) = (Inbox::new(), budget(1), budget(1));
    assert_eq!(deliver(&inbox, "a", Some(&one)), Lane::Woke);
    assert_eq!(deliver(&inbox, "b", Some(&two)), Lane::Joined);
    drop(inbox.begin_turn());
    assert!(
        is_woken(&inbox),
        "the second budget pays for the second try"
    );
    drop(inbox.begin_turn());
    assert!(!is_woken(&inbox));
}

#[test]
fn a_replaced_turn_claims_and_ends_nothing() {
    let inbox = Inbox::new();
    let mut old = inbox.begin_turn();
    let mut new = inbox.begin_turn();
    deliver(&inbox, "a", None);
    assert!(old.claim().is_empty());
    assert!(old.close().is_ok());
    assert!(inbox.is_busy(), "the new turn runs on");
    assert_eq!(texts(&new.claim()), ["a"]);
    drop(new);
    assert!(!inbox.is_busy());
}

#[test]
fn a_message_of_a_user_has_a_wire_form() {
    assert_eq!(
        serde_json::to_value(Message::User("hi".into())).unwrap(),
        serde_json::json!({ "role": "user", "text": "hi", "source": { "kind": "user" } })
    );
}

#[test]
fn budgets_of_gone_attachments_are_forgotten() {
    let inbox = Inbox::new();
    for _attachment in 0..100 {
        let budget = budget(1);
        deliver(&inbox, "a", Some(&budget));
        let _claimed = inbox.begin_turn().claim();
    }
    assert!(format!("{inbox:?}").matches("WakeBudget").count() <= 2);
}

#[test]
fn an_inbox_shows_its_state() {
    let inbox = Inbox::new();
    inbox.send_user("hello");
    let shown = format!("{inbox:?}");
    assert!(
        shown.contains("Woken") && shown.contains("hello"),
        "{shown}"
    );
}
