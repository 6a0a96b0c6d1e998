//! Who told the end of which job: what the sessions and their reporters write
//! down, and what the contract says of it.
//!
//! 1. A telling is committed and written down under one lock.
//! 2. An offer is taken under the same lock: what was told by then must not be
//!    offered.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use futures_core::Stream as _;
use jobs::{
    Cause, Checker, Completion, Completions, JobId, JobRegistry, Owner, Receipt, Snapshot, Status,
    Violation,
};
use parking_lot::Mutex;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::sleep;

use crate::session::Chance;
use crate::tally::Tally;

/// What one session knows of the ends of its jobs.
#[derive(Clone)]
pub(crate) struct Desk {
    tally: Arc<Tally>,
    ledger: Arc<Mutex<Ledger>>,
}

#[derive(Default)]
struct Ledger {
    /// What the session saw, in its order; and what reporters did, in theirs.
    looks: Checker,
    tellings: Checker,
    told: HashMap<JobId, Told>,
    /// A kill by the model was delivered: it tells an end that it caused.
    killed: HashSet<JobId>,
}

/// By whom a job was told first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Notice,
    Answer,
}

/// When the share behind an answer was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// At the settlement: nobody may have told the end since.
    FromTheEnd,
    /// At the call: a notice may have been on the way.
    FromTheCall,
}

/// What a reporter keeps of a poll.
enum Kept {
    Offer(Box<Receipt<Completion>>),
    Nothing,
    Over,
}

impl Ledger {
    /// Whether what was delivered by now has told this end.
    fn is_told(&self, job: &Snapshot) -> bool {
        let by_kill = self.killed.contains(&job.id)
            && job.status() == Status::Killed
            && job.end().is_some_and(|end| end.cause == Cause::Model);
        by_kill || self.told.contains_key(&job.id)
    }
}

impl Desk {
    pub(crate) fn new(tally: Arc<Tally>) -> Self {
        Self {
            tally,
            ledger: Arc::default(),
        }
    }

    /// An answer that tells the end of `job`, unless that was reported when
    /// the answer was made; `commit` delivers it.
    pub(crate) fn answer(&self, job: &Snapshot, held: Held, commit: impl FnOnce()) {
        let mut ledger = self.ledger.lock();
        commit();
        if !job.is_terminal() || job.reported() {
            return;
        }
        match (ledger.told.get(&job.id), held) {
            (Some(Told::Notice), Held::FromTheEnd) => self.tally.doubles.add(),
            (Some(Told::Notice), Held::FromTheCall) => self.tally.overlaps.add(),
            // It was asked for again.
            (Some(Told::Answer), _) => {}
            (None, _) => {
                ledger.told.insert(job.id.clone(), Told::Answer);
                self.tally.answers.add();
            }
        }
    }

    /// The answer to an accepted kill by the model; `commit` delivers it.
    pub(crate) fn kill(&self, id: &JobId, commit: impl FnOnce()) {
        let mut ledger = self.ledger.lock();
        commit();
        ledger.killed.insert(id.clone());
    }

    /// Somebody looks: nothing may break a rule of snapshots.
    pub(crate) fn look(&self, list: &[Snapshot]) {
        let held = self.ledger.lock().looks.see_list(list);
        self.hold(held);
    }

    fn hold(&self, checked: Result<(), Violation>) {
        if let Err(violation) = checked {
            eprintln!("soak: {violation}");
            self.tally.violations.add();
        }
    }

    /// Whether the end of this job was told.
    pub(crate) fn is_told(&self, job: &Snapshot) -> bool {
        self.ledger.lock().is_told(job)
    }

    /// The record of a job is gone although it had an heir: only what was told
    /// may go.
    pub(crate) fn is_gone(&self, id: &JobId) {
        let ledger = self.ledger.lock();
        if !ledger.told.contains_key(id) && !ledger.killed.contains(id) {
            self.tally.lost.add();
        }
    }

    /// Starts a reporter of one owner.
    pub(crate) fn report(
        &self,
        jobs: &dyn JobRegistry,
        owner: &Owner,
        chance: Chance,
    ) -> JoinHandle<()> {
        let completions = jobs.completions(owner.scope(), Some(owner.key()));
        tokio::spawn(self.clone().deliver(completions, chance))
    }

    async fn deliver(self, mut completions: Completions, mut chance: Chance) {
        loop {
            // Some answers come first.
            sleep(Duration::from_millis(chance.below(2) * chance.below(60))).await;
            let drops = chance.below(4) == 0;
            let waits = drops || chance.below(3) == 0;
            let kept = poll_fn(|cx| {
                let mut ledger = self.ledger.lock();
                let offer = ready!(Pin::new(&mut completions).poll_next(cx));
                let Some(offer) = offer else {
                    return Poll::Ready(Kept::Over);
                };
                if ledger.is_told(&offer.job) {
                    self.tally.doubles.add();
                }
                if waits {
                    return Poll::Ready(Kept::Offer(Box::new(offer)));
                }
                self.commit(&mut ledger, offer);
                Poll::Ready(Kept::Nothing)
            });
            match kept.await {
                Kept::Over => return,
                Kept::Nothing => {}
                Kept::Offer(offer) => {
                    yield_now().await;
                    if drops {
                        drop(offer);
                        self.tally.dropped.add();
                    } else {
                        self.commit(&mut self.ledger.lock(), *offer);
                    }
                }
            }
        }
    }

    fn commit(&self, ledger: &mut Ledger, offer: Receipt<Completion>) {
        let session = offer.owner.session.clone();
        let completion = offer.commit();
        self.hold(ledger.tellings.told(&completion, &session));
        match ledger.told.insert(completion.job.id, Told::Notice) {
            None => self.tally.notices.add(),
            Some(Told::Answer) => self.tally.overlaps.add(),
            Some(Told::Notice) => self.tally.doubles.add(),
        }
    }
}
