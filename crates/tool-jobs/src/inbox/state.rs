//! What an inbox decides, without locks and wakers.
//!
//! 1. A message that was put in stays until a claim takes it, and is taken
//!    once.
//! 2. The owner is idle, woken or in one turn. From the wake on it is busy.
//! 3. A turn closes over an empty inbox only.
//! 4. Every step from idle to woken is paid: by the budget of a notice, or by
//!    a message of a user. That holds for the wake after an aborted turn too.
//! 5. An idle owner has messages only if nobody pays for them: they are quiet,
//!    or their budgets are empty.
//! 6. A turn that another one has replaced claims and ends nothing.

use super::Lane;
use super::budget::WakeBudget;
use super::message::Message;

#[derive(Debug, Default)]
pub(super) struct State {
    phase: Phase,
    turns: u64,
    pending: Vec<Entry>,
    met: Vec<WakeBudget>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Idle,
    Woken,
    Running(TurnId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnId(u64);

#[derive(Debug)]
struct Entry {
    message: Message,
    payer: Payer,
}

/// Who pays for a wake.
#[derive(Debug)]
pub(super) enum Payer {
    Nobody,
    User,
    Budget(WakeBudget),
}

/// What became of a turn that was to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closed {
    Ended,
    MoreArrived,
}

impl State {
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Puts a message in, and decides its lane in the same step.
    pub(super) fn put(&mut self, message: Message, payer: Payer) -> Lane {
        if let Payer::Budget(budget) = &payer {
            self.meet(budget);
        }
        let woke = self.phase == Phase::Idle && payer.pays();
        self.pending.push(Entry { message, payer });
        if woke {
            self.phase = Phase::Woken;
            Lane::Woke
        } else {
            Lane::Joined
        }
    }

    pub(super) fn begin(&mut self) -> TurnId {
        self.turns += 1;
        let turn = TurnId(self.turns);
        self.phase = Phase::Running(turn);
        turn
    }

    pub(super) fn claim(&mut self, turn: TurnId) -> Vec<Message> {
        if self.phase != Phase::Running(turn) {
            return Vec::new();
        }
        let claimed: Vec<Message> = self.pending.drain(..).map(|entry| entry.message).collect();
        if claimed
            .iter()
            .any(|message| matches!(message, Message::User(_)))
        {
            for budget in &self.met {
                budget.restore();
            }
        }
        claimed
    }

    pub(super) fn close(&mut self, turn: TurnId) -> Closed {
        if self.phase != Phase::Running(turn) {
            return Closed::Ended;
        }
        if !self.pending.is_empty() {
            return Closed::MoreArrived;
        }
        self.phase = Phase::Idle;
        Closed::Ended
    }

    /// The turn is gone without a close: what is pending wakes, if somebody
    /// pays.
    pub(super) fn abort(&mut self, turn: TurnId) {
        if self.phase == Phase::Running(turn) {
            let paid = self.pending.iter().any(|entry| entry.payer.pays());
            self.phase = if paid { Phase::Woken } else { Phase::Idle };
        }
    }

    /// Remembers a budget that a claimed message of a user restores, and
    /// forgets those that nobody else holds any more.
    fn meet(&mut self, budget: &WakeBudget) {
        self.met.retain(|met| !met.is_last());
        if !self.met.iter().any(|met| met.is(budget)) {
            self.met.push(budget.clone());
        }
    }
}

impl Payer {
    /// Charges one wake.
    fn pays(&self) -> bool {
        match self {
            Self::Nobody => false,
            Self::User => true,
            Self::Budget(budget) => budget.try_take(),
        }
    }
}
