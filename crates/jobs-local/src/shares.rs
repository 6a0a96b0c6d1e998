//! Telling the end of a job: the `told` flag and the shares that hold
//! reporters back.
//!
//! 1. `told` never goes back.
//! 2. While a share is out and its lease runs, no reporter is offered the
//!    completion; nobody else waits for a share.
//! 3. A share that a kill took while the job lived counts for one outcome only:
//!    killed by the model. At any other end it is gone.
//! 4. A waiter that was pending at settlement has a share from then on.
//! 5. A share comes back at most once; one whose lease ran out comes back to
//!    nobody.
//!
//! Pure: no lock, no waker, no clock.

use crate::sync::Instant;

/// The ticket of a share that a kill of a live job took.
const KILL: u64 = 0;
/// The ticket of the shares of those who waited at settlement.
pub(crate) const WAITED: u64 = 1;

/// The shares of one job's completion.
#[derive(Debug)]
pub(crate) struct Shares(Phase);

#[derive(Debug)]
enum Phase {
    /// The job lives: kills may hold shares, and may have been delivered. Once
    /// one was, how many are out makes no difference.
    Live {
        kills: usize,
        kill_delivered: bool,
        /// Nobody will be left to tell.
        told: bool,
    },
    /// The job has ended.
    Untold {
        by_model: bool,
        /// Nearly always at most one, and never for long.
        out: Vec<Batch>,
        next_ticket: u64,
    },
    /// The job has ended, and whatever share is still out means nothing.
    Told,
}

/// Shares that were taken at the same moment.
#[derive(Debug)]
struct Batch {
    ticket: u64,
    count: usize,
    expires: Option<Instant>,
}

/// What coming back of a share did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returned {
    /// Nothing that anybody waits for.
    Nothing,
    /// The completion became told.
    Told,
    /// No share is out any more.
    Free,
}

impl Shares {
    pub(crate) fn new() -> Self {
        Self(Phase::Live {
            kills: 0,
            kill_delivered: false,
            told: false,
        })
    }

    pub(crate) fn is_told(&self) -> bool {
        matches!(self.0, Phase::Told | Phase::Live { told: true, .. })
    }

    /// Whether a reporter may be offered the completion.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self.0, Phase::Untold { ref out, .. } if out.is_empty())
    }

    /// The kill of a live job takes a share before it calls `cancel`.
    pub(crate) fn take_kill(&mut self) -> u64 {
        if let Phase::Live { kills, .. } = &mut self.0 {
            *kills += 1;
        }
        KILL
    }

    /// An answer or a reporter takes a share of an ended job; none is left to
    /// take once it is told.
    pub(crate) fn take(&mut self, expires: Option<Instant>) -> Option<u64> {
        let Phase::Untold {
            out, next_ticket, ..
        } = &mut self.0
        else {
            return None;
        };
        let ticket = *next_ticket;
        *next_ticket += 1;
        out.push(Batch {
            ticket,
            count: 1,
            expires,
        });
        Some(ticket)
    }

    /// The job ended with `waiters` waiting; `by_model`: killed, and the model
    /// is the one who did it.
    pub(crate) fn settle(
        &mut self,
        waiters: usize,
        by_model: bool,
        expires: impl Fn() -> Option<Instant>,
    ) {
        let Phase::Live {
            kills,
            kill_delivered,
            told,
        } = self.0
        else {
            return;
        };
        if told || (kill_delivered && by_model) {
            self.0 = Phase::Told;
            return;
        }
        let kills = if by_model { kills } else { 0 };
        let out = [(KILL, kills), (WAITED, waiters)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(ticket, count)| Batch {
                ticket,
                count,
                expires: expires(),
            })
            .collect();
        self.0 = Phase::Untold {
            by_model,
            out,
            next_ticket: WAITED + 1,
        };
    }

    /// Tells without a share: nobody is left to tell, or it is the owner's end.
    pub(crate) fn tell(&mut self) {
        match &mut self.0 {
            Phase::Live { told, .. } => *told = true,
            Phase::Untold { .. } | Phase::Told => self.0 = Phase::Told,
        }
    }

    /// A share was committed.
    pub(crate) fn commit(&mut self, ticket: u64) -> Returned {
        match &mut self.0 {
            Phase::Live { kill_delivered, .. } => {
                *kill_delivered = true;
                Returned::Nothing
            }
            Phase::Untold { by_model, .. } if ticket != KILL || *by_model => {
                self.0 = Phase::Told;
                Returned::Told
            }
            Phase::Untold { .. } | Phase::Told => self.give_back(ticket),
        }
    }

    /// A share was dropped.
    pub(crate) fn give_back(&mut self, ticket: u64) -> Returned {
        match &mut self.0 {
            Phase::Live { kills, .. } => {
                *kills -= 1;
                Returned::Nothing
            }
            Phase::Untold { out, .. } => {
                let Some(index) = out.iter().position(|batch| batch.ticket == ticket) else {
                    return Returned::Nothing;
                };
                out[index].count -= 1;
                if out[index].count == 0 {
                    out.remove(index);
                }
                if out.is_empty() {
                    Returned::Free
                } else {
                    Returned::Nothing
                }
            }
            Phase::Told => Returned::Nothing,
        }
    }

    /// When the first lease runs out.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        match &self.0 {
            Phase::Untold { out, .. } => out.iter().filter_map(|batch| batch.expires).min(),
            Phase::Live { .. } | Phase::Told => None,
        }
    }

    /// Stops counting on shares whose lease has run out.
    pub(crate) fn expire(&mut self, now: Instant) -> Returned {
        let Phase::Untold { out, .. } = &mut self.0 else {
            return Returned::Nothing;
        };
        let before = out.len();
        out.retain(|batch| batch.expires.is_none_or(|expires| expires > now));
        if before > 0 && out.is_empty() {
            Returned::Free
        } else {
            Returned::Nothing
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ended(waiters: usize, by_model: bool) -> Shares {
        let mut shares = Shares::new();
        shares.settle(waiters, by_model, || None);
        shares
    }

    #[test]
    fn a_share_holds_reporters_back_until_it_is_back() {
        let mut shares = ended(0, false);
        assert!(shares.is_free());
        let first = shares.take(None).unwrap();
        let second = shares.take(None).unwrap();
        assert!(!shares.is_free());
        assert_eq!(shares.give_back(first), Returned::Nothing);
        assert_eq!(shares.give_back(second), Returned::Free);
        assert_eq!(shares.give_back(second), Returned::Nothing);
    }

    #[test]
    fn nobody_else_has_the_ticket_of_those_who_waited() {
        let mut shares = ended(1, false);
        assert_ne!(shares.take(None).unwrap(), WAITED);
    }

    #[test]
    fn only_the_last_lease_that_runs_out_makes_it_free() {
        let now = Instant::now();
        let in_seconds = |seconds| now.checked_add(Duration::from_secs(seconds));
        let mut shares = ended(0, false);
        assert_eq!(shares.expire(now), Returned::Nothing, "none is out");
        shares.take(in_seconds(1)).unwrap();
        shares.take(in_seconds(2)).unwrap();
        assert_eq!(shares.next_expiry(), in_seconds(1));
        assert_eq!(shares.expire(now), Returned::Nothing);
        assert_eq!(shares.expire(in_seconds(1).unwrap()), Returned::Nothing);
        assert_eq!(shares.next_expiry(), in_seconds(2));
        assert_eq!(shares.expire(in_seconds(2).unwrap()), Returned::Free);
        assert_eq!(shares.expire(in_seconds(2).unwrap()), Returned::Nothing);
    }

    #[test]
    fn told_stays_told() {
        let mut shares = ended(2, false);
        assert_eq!(shares.commit(WAITED), Returned::Told);
        assert_eq!(shares.give_back(WAITED), Returned::Nothing);
        assert!(shares.is_told() && !shares.is_free());
        assert_eq!(shares.take(None), None);
    }

    #[test]
    fn a_delivered_kill_tells_only_a_kill_by_the_model() {
        for (by_model, told) in [(true, true), (false, false)] {
            let mut before = Shares::new();
            let ticket = before.take_kill();
            before.commit(ticket);
            before.settle(0, by_model, || None);
            assert_eq!(before.is_told(), told);

            let mut after = Shares::new();
            let ticket = after.take_kill();
            after.settle(0, by_model, || None);
            assert_eq!(
                after.is_free(),
                !told,
                "a share that cannot tell holds nobody back"
            );
            let returned = if told {
                Returned::Told
            } else {
                Returned::Nothing
            };
            assert_eq!(after.commit(ticket), returned);
        }
    }

    #[test]
    fn a_kill_that_failed_leaves_nothing() {
        let mut shares = Shares::new();
        let ticket = shares.take_kill();
        shares.give_back(ticket);
        shares.settle(0, false, || None);
        assert!(shares.is_free());
    }
}
