//! What happened, and what must not have.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) owners: Count,
    pub(crate) started: Count,
    pub(crate) refused: Count,
    pub(crate) reads: Count,
    pub(crate) waits: Count,
    pub(crate) aborted: Count,
    pub(crate) kills: Count,
    pub(crate) hand_overs: Count,
    pub(crate) closes: Count,
    pub(crate) changes: Count,
    /// Completions that a reporter took and dropped.
    pub(crate) dropped: Count,
    /// Jobs that a reporter told first, or an answer.
    pub(crate) notices: Count,
    pub(crate) answers: Count,
    /// Told by an answer while a notice was on the way: the contract allows it.
    pub(crate) overlaps: Count,
    /// Offered once more after it was told: the contract does not.
    pub(crate) doubles: Count,
    /// Ended, and told by nobody although its owner lived.
    pub(crate) lost: Count,
    /// Against a rule of snapshots.
    pub(crate) violations: Count,
}

impl Tally {
    /// What is not as it must be.
    pub(crate) fn faults(&self) -> Vec<String> {
        let told = self.notices.get() + self.answers.get();
        let mut faults = Vec::new();
        let mut fault = |count: u64, what: &str| {
            if count > 0 {
                faults.push(format!("{count} {what}"));
            }
        };
        fault(self.lost.get(), "completions are lost");
        fault(self.doubles.get(), "completions were told twice");
        fault(self.violations.get(), "snapshots break a rule");
        if told == 0 {
            faults.push("nothing was told: this run says nothing".to_owned());
        }
        faults
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("owners", &self.owners),
            ("jobs started", &self.started),
            ("starts refused at the limit", &self.refused),
            ("reads", &self.reads),
            ("waits answered", &self.waits),
            ("waits dropped", &self.aborted),
            ("kills", &self.kills),
            ("hand-overs", &self.hand_overs),
            ("closes", &self.closes),
            ("changes seen", &self.changes),
            ("offers taken and dropped", &self.dropped),
            ("told by a notice", &self.notices),
            ("told by an answer", &self.answers),
            ("told by both, at once", &self.overlaps),
            ("told twice against the contract", &self.doubles),
            ("lost", &self.lost),
            ("snapshots against a rule", &self.violations),
        ];
        for (name, count) in rows {
            writeln!(f, "{:>10}  {name}", count.get())?;
        }
        Ok(())
    }
}
