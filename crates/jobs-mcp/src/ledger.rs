//! Which answers have arrived: the receipts of each, from its request to the message that shows
//! that it was delivered (spec/compositions.md, Completion without push).
//!
//! A state machine without clock, lock or I/O: it is told the time. What is to be committed or
//! dropped is handed back, so that neither happens under the lock of its owner.
//!
//! 1. What an answer carries is either delivered or lost, once.
//! 2. It is not delivered before the answer was sent.
//! 3. A cancellation loses what its request's answer carries, unless that was delivered before,
//!    also when the answer is made later.
//! 4. Any other message delivers what was sent before it; so does the end of the time in which a
//!    cancellation may still cross the answer.
//! 5. A cancellation that overtakes its request, where it can, counts as if it had come after it,
//!    if the request comes in the time in which it may cross its answer.
//! 6. A request that is neither open nor sent takes no room, but for a few such cancellations.

use std::collections::HashMap;
use std::hash::Hash;

/// So many cancellations of requests that have not come are remembered; a client that makes them up
/// does not fill the ledger.
const MOST_EARLY: usize = 64;

/// The calls of one session, by the ids of their requests. `T` is a moment.
#[derive(Debug)]
pub(crate) struct Ledger<K, R, T> {
    order: Order,
    calls: HashMap<K, Call<R, T>>,
}

/// How messages arrive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// As they were sent: over one stream.
    Kept,
    /// Some overtake others: each may come over a stream of its own.
    Mixed,
}

#[derive(Debug)]
enum Call<R, T> {
    /// A cancellation came, and no request yet, for which there is time until that moment.
    Early(T),
    /// The answer is being made.
    Open,
    /// Nobody wants the answer that is being made.
    Cancelled,
    /// The answer is made and not yet sent.
    Answered(R),
    /// The answer is on its way or there; until that moment a cancellation may still cross it.
    Sent(R, T),
}

/// What became of receipts.
#[must_use = "receipts are committed or dropped by the caller"]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict<R> {
    /// To be committed.
    pub(crate) delivered: Vec<R>,
    /// To be dropped.
    pub(crate) lost: Vec<R>,
}

impl<R> Default for Verdict<R> {
    fn default() -> Self {
        Self {
            delivered: Vec::new(),
            lost: Vec::new(),
        }
    }
}

impl<K, R, T> Ledger<K, R, T> {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            order,
            calls: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash + Clone, R, T: Copy + Ord> Ledger<K, R, T> {
    /// Whether an answer is being made that somebody wants.
    pub(crate) fn is_busy(&self) -> bool {
        self.calls.values().any(|call| matches!(call, Call::Open))
    }

    /// Whether nobody wants the answer that is being made.
    pub(crate) fn is_cancelled(&self, id: &K) -> bool {
        matches!(self.calls.get(id), Some(Call::Cancelled))
    }

    /// A call came in.
    pub(crate) fn request(&mut self, id: K) -> Verdict<R> {
        let mut verdict = self.message();
        let call = self.calls.entry(id).or_insert(Call::Open);
        match std::mem::replace(call, Call::Open) {
            Call::Early(_) => *call = Call::Cancelled,
            Call::Answered(receipts) => verdict.lost.push(receipts),
            Call::Open | Call::Cancelled | Call::Sent(..) => {}
        }
        verdict
    }

    /// A message came in that is neither a call nor a cancellation.
    pub(crate) fn message(&mut self) -> Verdict<R> {
        self.settle(None)
    }

    /// A cancellation of the request `id` came in. If the request may still come, it has
    /// time until `due`.
    pub(crate) fn cancelled(&mut self, id: &K, due: T) -> Verdict<R> {
        let mut verdict = self.settle(Some(id));
        match self.calls.remove(id) {
            Some(Call::Open | Call::Cancelled) => {
                self.calls.insert(id.clone(), Call::Cancelled);
            }
            Some(Call::Answered(receipts) | Call::Sent(receipts, _)) => {
                verdict.lost.push(receipts);
            }
            Some(call @ Call::Early(_)) => {
                self.calls.insert(id.clone(), call);
            }
            // Its request is answered, or was never made.
            None if matches!(self.order, Order::Kept) => {}
            None => {
                let early = |call: &&Call<R, T>| matches!(call, Call::Early(_));
                if self.calls.values().filter(early).count() < MOST_EARLY {
                    self.calls.insert(id.clone(), Call::Early(due));
                }
            }
        }
        verdict
    }

    /// The answer to `id` is made. A request that never came in was not watched: its answer counts
    /// as sent, and as delivered at `due`.
    pub(crate) fn answered(&mut self, id: K, receipts: R, due: T) -> Verdict<R> {
        let mut verdict = Verdict::default();
        let call = match self.calls.remove(&id) {
            Some(Call::Cancelled | Call::Early(_)) => {
                verdict.lost.push(receipts);
                return verdict;
            }
            Some(Call::Open) => Call::Answered(receipts),
            Some(Call::Answered(earlier)) => {
                verdict.lost.push(earlier);
                Call::Answered(receipts)
            }
            Some(Call::Sent(earlier, _)) => {
                verdict.delivered.push(earlier);
                Call::Sent(receipts, due)
            }
            None => Call::Sent(receipts, due),
        };
        self.calls.insert(id, call);
        verdict
    }

    /// There will be no answer to `id`.
    pub(crate) fn abandoned(&mut self, id: &K) {
        if matches!(self.calls.get(id), Some(Call::Open | Call::Cancelled)) {
            self.calls.remove(id);
        }
    }

    /// The answer to `id` was given to the transport. It is delivered by the next message, or at
    /// `due`.
    pub(crate) fn sent(&mut self, id: &K, due: T) {
        match self.calls.remove(id) {
            Some(Call::Answered(receipts)) => {
                self.calls.insert(id.clone(), Call::Sent(receipts, due));
            }
            Some(call @ (Call::Sent(..) | Call::Early(_))) => {
                self.calls.insert(id.clone(), call);
            }
            Some(Call::Open | Call::Cancelled) | None => {}
        }
    }

    /// When [`elapsed`](Self::elapsed) changes something next, if no message comes before.
    pub(crate) fn next_due(&self) -> Option<T> {
        let due = self.calls.values().filter_map(|call| match call {
            Call::Sent(_, due) | Call::Early(due) => Some(*due),
            Call::Open | Call::Cancelled | Call::Answered(_) => None,
        });
        due.min()
    }

    /// It is so late. What is due is delivered: no cancellation has crossed it in its time.
    pub(crate) fn elapsed(&mut self, now: T) -> Verdict<R> {
        self.calls
            .retain(|_, call| !matches!(call, Call::Early(due) if *due <= now));
        self.deliver(|_, due| due <= now)
    }

    /// Delivers what was sent, except for one request.
    fn settle(&mut self, except: Option<&K>) -> Verdict<R> {
        self.deliver(|id, _| Some(id) != except)
    }

    fn deliver(&mut self, which: impl Fn(&K, T) -> bool) -> Verdict<R> {
        let delivered = self
            .calls
            .extract_if(|id, call| matches!(call, Call::Sent(_, due) if which(id, *due)))
            .filter_map(|(_, call)| match call {
                Call::Sent(receipts, _) => Some(receipts),
                Call::Early(_) | Call::Open | Call::Cancelled | Call::Answered(_) => None,
            })
            .collect();
        Verdict {
            delivered,
            lost: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Calls = Ledger<u8, &'static str, u32>;

    fn calls() -> Calls {
        Calls::new(Order::Mixed)
    }

    /// When an answer is delivered that was sent first.
    const DUE: u32 = 5;

    fn delivered(receipts: &[&'static str]) -> Verdict<&'static str> {
        Verdict {
            delivered: receipts.to_vec(),
            lost: Vec::new(),
        }
    }

    fn lost(receipts: &[&'static str]) -> Verdict<&'static str> {
        Verdict {
            delivered: Vec::new(),
            lost: receipts.to_vec(),
        }
    }

    /// A ledger with one call whose answer was sent.
    fn sent() -> Calls {
        let mut calls = calls();
        assert_eq!(calls.request(1), Verdict::default());
        assert!(calls.is_busy());
        assert_eq!(calls.answered(1, "one", DUE), Verdict::default());
        assert!(!calls.is_busy());
        assert_eq!(calls.next_due(), None, "not sent");
        calls.sent(&1, DUE);
        assert_eq!(calls.next_due(), Some(DUE));
        calls
    }

    #[test]
    fn the_next_message_delivers_what_was_sent() {
        let mut calls = sent();
        assert_eq!(calls.message(), delivered(&["one"]));
        assert_eq!(calls.message(), Verdict::default());
        assert_eq!(calls.elapsed(DUE), Verdict::default());
        let mut calls = sent();
        assert_eq!(calls.request(2), delivered(&["one"]));
    }

    #[test]
    fn the_cancellation_of_that_very_request_loses_it() {
        let mut calls = sent();
        assert_eq!(calls.cancelled(&1, DUE), lost(&["one"]));
        assert_eq!(calls.elapsed(DUE), Verdict::default());
        assert!(calls.calls.is_empty());
    }

    #[test]
    fn the_cancellation_of_another_request_is_a_message() {
        let mut calls = sent();
        assert_eq!(calls.cancelled(&2, DUE), delivered(&["one"]));
    }

    #[test]
    fn time_delivers_once() {
        let mut calls = sent();
        assert_eq!(calls.elapsed(DUE - 1), Verdict::default());
        assert_eq!(calls.elapsed(DUE), delivered(&["one"]));
        assert_eq!(calls.cancelled(&1, DUE), Verdict::default());
    }

    #[test]
    fn the_time_of_an_earlier_answer_does_not_deliver_a_later_one() {
        let mut calls = sent();
        assert_eq!(calls.request(1), delivered(&["one"]));
        let _ = calls.answered(1, "two", DUE);
        calls.sent(&1, DUE + 2);
        assert_eq!(calls.elapsed(DUE), Verdict::default());
        assert_eq!(calls.next_due(), Some(DUE + 2));
        assert_eq!(calls.elapsed(DUE + 2), delivered(&["two"]));
        assert_eq!(calls.next_due(), None);
    }

    #[test]
    fn a_cancellation_that_overtakes_its_request_counts() {
        let mut calls = calls();
        assert_eq!(calls.cancelled(&1, DUE), Verdict::default());
        assert_eq!(calls.cancelled(&1, DUE + 1), Verdict::default());
        assert_eq!(calls.message(), Verdict::default());
        assert!(!calls.is_cancelled(&1), "it did not come");
        assert_eq!(calls.request(1), Verdict::default());
        assert!(calls.is_cancelled(&1));
        assert_eq!(calls.answered(1, "one", DUE), lost(&["one"]));
        assert!(calls.calls.is_empty());
    }

    #[test]
    fn a_request_that_comes_much_later_is_another() {
        let mut calls = calls();
        let _ = calls.cancelled(&1, DUE);
        assert_eq!(calls.next_due(), Some(DUE));
        assert_eq!(calls.elapsed(DUE), Verdict::default());
        assert_eq!(calls.next_due(), None);
        let _ = calls.request(1);
        assert!(!calls.is_cancelled(&1));
    }

    #[test]
    fn where_none_is_overtaken_a_cancellation_of_nothing_is_forgotten() {
        let mut calls = Calls::new(Order::Kept);
        assert_eq!(calls.request(1), Verdict::default());
        assert_eq!(calls.answered(1, "one", DUE), Verdict::default());
        calls.sent(&1, DUE);
        assert_eq!(calls.message(), delivered(&["one"]));
        assert_eq!(calls.cancelled(&1, DUE), Verdict::default());
        assert_eq!(calls.next_due(), None);
        assert_eq!(calls.request(1), Verdict::default());
        assert!(!calls.is_cancelled(&1), "another request of that id");
    }

    #[test]
    fn made_up_cancellations_do_not_fill_it() {
        let mut calls = calls();
        for id in 0..=u8::MAX {
            let _ = calls.cancelled(&id, DUE);
        }
        assert_eq!(calls.calls.len(), MOST_EARLY);
    }

    #[test]
    fn an_answer_to_a_cancelled_request_is_lost() {
        let mut calls = calls();
        let _ = calls.request(1);
        assert_eq!(calls.cancelled(&1, DUE), Verdict::default());
        assert_eq!(calls.answered(1, "one", DUE), lost(&["one"]));
        assert!(calls.calls.is_empty());
    }

    #[test]
    fn an_answer_that_is_not_sent_yet_is_not_delivered() {
        let mut calls = calls();
        let _ = calls.request(1);
        let _ = calls.answered(1, "one", DUE);
        assert_eq!(calls.request(2), Verdict::default());
        assert_eq!(calls.message(), Verdict::default());
        assert_eq!(calls.cancelled(&1, DUE), lost(&["one"]));
        calls.sent(&1, DUE);
        assert_eq!(calls.next_due(), None);
    }

    #[test]
    fn an_id_that_is_used_again_too_early_loses_the_first_answer() {
        let mut calls = calls();
        let _ = calls.request(1);
        let _ = calls.answered(1, "one", DUE);
        assert_eq!(calls.request(1), lost(&["one"]));
    }

    #[test]
    fn an_unwatched_answer_waits_for_its_time() {
        let mut calls = calls();
        assert_eq!(calls.answered(1, "one", DUE), Verdict::default());
        assert_eq!(calls.next_due(), Some(DUE));
        assert_eq!(calls.elapsed(DUE), delivered(&["one"]));
    }

    #[test]
    fn a_call_without_an_answer_leaves_nothing() {
        let mut calls = calls();
        let _ = calls.request(1);
        let _ = calls.cancelled(&1, DUE);
        calls.abandoned(&1);
        let _ = calls.request(2);
        calls.sent(&2, DUE);
        assert!(calls.calls.is_empty());
        let mut calls = sent();
        calls.abandoned(&1);
        assert_eq!(calls.message(), delivered(&["one"]));
    }

    /// Every order of the events of one call: its receipts have exactly one fate.
    #[test]
    fn in_every_order_receipts_have_one_fate() {
        #[derive(Clone, Copy)]
        enum Step {
            Answered,
            Sent,
            Cancelled,
            Message,
            Elapsed,
        }
        use Step::*;
        let steps = [Answered, Sent, Cancelled, Message, Elapsed];
        for order in 0..5_usize.pow(6) {
            let mut calls = calls();
            let _ = calls.request(1);
            let (mut good, mut bad, mut given) = (0, 0, 0);
            let (mut was_sent, mut cancelled_first) = (false, false);
            let mut count = |verdict: Verdict<&str>| {
                good += verdict.delivered.len();
                bad += verdict.lost.len();
            };
            let mut rest = order;
            for _ in 0..6 {
                let step = steps[rest % 5];
                rest /= 5;
                match step {
                    Answered if given == 0 => {
                        given = 1;
                        count(calls.answered(1, "one", DUE));
                    }
                    // The transport sends an answer that was made, if nobody cancelled it.
                    Sent if given == 1 && !cancelled_first => {
                        calls.sent(&1, DUE);
                        was_sent = true;
                    }
                    Cancelled => {
                        cancelled_first |= !was_sent;
                        count(calls.cancelled(&1, DUE));
                    }
                    Message => count(calls.message()),
                    Elapsed => count(calls.elapsed(DUE)),
                    Answered | Sent => {}
                }
            }
            count(calls.message());
            let left = usize::from(matches!(calls.calls.get(&1), Some(Call::Answered(_))));
            assert_eq!(good + bad + left, given, "order {order}");
            assert!(!(cancelled_first && good > 0), "order {order}");
        }
    }
}
