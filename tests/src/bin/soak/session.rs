//! One session: an owner that starts, reads, waits, drops, kills, hands over
//! and closes at random, with a reporter beside it.

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use jobs::{
    Error, Hooks, JobId, JobRegistry, JobSpec, KillOutcome, KilledBy, Outcome, Owner, Scope, Stream,
};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, sleep, timeout};

use crate::desk::{Desk, Held};
use crate::tally::Tally;

/// A source of chance that is the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    fn seeded(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// A number below `below` (xorshift64; Marsaglia, 2003).
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn fork(&mut self) -> Self {
        Self::seeded(self.below(u64::MAX))
    }
}

/// For how long, and how fast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) until: Instant,
    /// How long an end may stay untold once nobody holds it back.
    pub(crate) patience: Duration,
    /// The longest rest between two calls, in milliseconds.
    pub(crate) rest: u64,
}

struct Session {
    jobs: Arc<dyn JobRegistry>,
    tally: Arc<Tally>,
    rules: Rules,
    owner: Owner,
    desk: Desk,
    reporter: JoinHandle<()>,
    /// Jobs that the owner of the moment answers for.
    known: Vec<JobId>,
    chance: Chance,
}

/// Runs sessions, one after the other, until the time is over.
pub(crate) async fn run(jobs: Arc<dyn JobRegistry>, tally: Arc<Tally>, number: u32, rules: Rules) {
    let mut chance = Chance::seeded(0x9e37_79b9_7f4a_7c15 ^ (u64::from(number) + 1));
    while Instant::now() < rules.until {
        let name = format!("session-{number}");
        let owner = jobs.owner(name.into(), Scope::root().child("soak"));
        tally.owners.add();
        let desk = Desk::new(Arc::clone(&tally));
        let mut session = Session {
            reporter: desk.report(&*jobs, &owner, chance.fork()),
            jobs: Arc::clone(&jobs),
            tally: Arc::clone(&tally),
            rules,
            owner,
            desk,
            known: Vec::new(),
            chance: chance.fork(),
        };
        for _ in 0..20 + session.chance.below(60) {
            session.step().await;
        }
        session.end().await;
    }
}

impl Session {
    async fn step(&mut self) {
        match self.chance.below(16) {
            0..=4 => self.start().await,
            5..=7 => self.read().await,
            8..=10 => self.wait().await,
            11 => self.kill().await,
            12 => self.look().await,
            13 if self.chance.below(8) == 0 => self.hand_over().await,
            14 if self.chance.below(4) == 0 => self.replace_reporter(),
            _ => {}
        }
        let rest = self.chance.below(self.rules.rest + 1);
        sleep(Duration::from_millis(rest)).await;
    }

    /// Any job, or half the time one of the last few: those live.
    fn pick(&mut self) -> Option<JobId> {
        let few = if self.chance.coin() { 3 } else { usize::MAX };
        let among = self.known.len().min(few);
        let below = u64::try_from(among).ok()?;
        let back = (below > 0).then(|| self.chance.below(below))?;
        let mut latest = self.known.iter().rev();
        latest.nth(usize::try_from(back).ok()?).cloned()
    }

    async fn start(&mut self) {
        let (millis, lines) = (self.chance.below(150), self.chance.below(30));
        let obeys = self.chance.below(4) > 0;
        let budget = NonZeroUsize::MIN.saturating_add(1023);
        let spec = JobSpec::new("soak", "work", move |_id| {
            Ok(Hooks::from_log(budget, move |stop, log| async move {
                for line in 0..lines {
                    log.push(Stream::Stdout, format!("line {line}\n").as_bytes());
                }
                let ends = sleep(Duration::from_millis(millis));
                tokio::select! {
                    () = stop.cancelled(), if obeys => Outcome::killed(),
                    () = ends => Outcome::completed(),
                }
            }))
        });
        match self.jobs.start(spec.with_owner(&self.owner)).await {
            Ok(id) => {
                self.tally.started.add();
                self.known.push(id);
            }
            Err(Error::LimitReached { .. }) => self.tally.refused.add(),
            Err(error) => panic!("a start was refused: {error}"),
        }
    }

    async fn read(&mut self) {
        let Some(id) = self.pick() else { return };
        let caller = self.owner.caller();
        let receipt = self.jobs.read(&id, &caller).await.expect("its own job");
        self.tally.reads.add();
        if self.chance.coin() {
            yield_now().await;
        }
        if self.chance.coin() {
            let (delta, delivery) = receipt.into_parts();
            let commit = || delivery.commit();
            self.desk.answer(&delta.job, Held::FromTheCall, commit);
        }
    }

    async fn wait(&mut self) {
        let Some(id) = self.pick() else { return };
        let caller = self.owner.caller();
        let mut wait = self.jobs.settled(&id, &caller);
        let first = poll_fn(|cx| match wait.as_mut().poll(cx) {
            Poll::Pending => Poll::Ready(None),
            Poll::Ready(receipt) => Poll::Ready(Some(receipt)),
        });
        let (receipt, held) = match first.await {
            Some(receipt) => (receipt, Held::FromTheCall),
            None if self.chance.below(3) == 0 => {
                sleep(Duration::from_millis(self.chance.below(20))).await;
                self.tally.aborted.add();
                return;
            }
            None => (wait.await, Held::FromTheEnd),
        };
        self.tally.waits.add();
        let receipt = receipt.expect("its own job");
        yield_now().await;
        if self.chance.coin() {
            let (job, delivery) = receipt.into_parts();
            self.desk.answer(&job, held, || delivery.commit());
        }
    }

    async fn kill(&mut self) {
        let Some(id) = self.pick() else { return };
        let by = match self.chance.below(3) {
            0 => KilledBy::User,
            1 => KilledBy::Host,
            _ => KilledBy::Model,
        };
        let caller = self.owner.caller();
        let receipt = self.jobs.kill(&id, &caller, by, None).await;
        self.tally.kills.add();
        let (kill, delivery) = receipt.expect("its own job").into_parts();
        if self.chance.coin() {
            return;
        }
        match kill.outcome {
            KillOutcome::AlreadyFinished => {
                let commit = || delivery.commit();
                self.desk.answer(&kill.job, Held::FromTheCall, commit);
            }
            KillOutcome::Requested if by == KilledBy::Model => {
                self.desk.kill(&id, || delivery.commit());
            }
            KillOutcome::Requested => delivery.commit(),
        }
    }

    async fn look(&self) {
        let list = self.jobs.list(&self.owner.caller()).await.expect("a list");
        self.desk.look(&list);
    }

    fn replace_reporter(&mut self) {
        self.reporter.abort();
        let chance = self.chance.fork();
        self.reporter = self.desk.report(&*self.jobs, &self.owner, chance);
    }

    /// Goes on as a successor of the same session.
    async fn hand_over(&mut self) {
        let (session, scope) = (self.owner.session().clone(), self.owner.scope().clone());
        let heir = self.jobs.owner(session, scope);
        self.tally.owners.add();
        self.owner.hand_over(&heir).await.expect("both are open");
        self.tally.hand_overs.add();
        self.owner.close().await;
        self.tally.closes.add();
        // What was told stayed with the giver, and went with it.
        let list = self.jobs.list(&heir.caller()).await.expect("a list");
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.known)
            .into_iter()
            .partition(|id| list.iter().any(|job| job.id == *id));
        self.known = kept;
        for id in gone {
            self.desk.is_gone(&id);
        }
        self.owner = heir;
        self.replace_reporter();
    }

    /// Waits until everything has ended and was told, and goes: three times of
    /// four; else it goes at once.
    async fn end(mut self) {
        if self.chance.below(4) > 0 {
            self.everything_is_told().await;
        }
        if self.chance.coin() {
            self.owner.close().await;
            self.tally.closes.add();
        }
        drop(self.owner);
        timeout(self.rules.patience, self.reporter)
            .await
            .expect("the reporter of a closed owner ends")
            .expect("the reporter does not panic");
    }

    async fn everything_is_told(&self) {
        let caller = self.owner.caller();
        for id in &self.known {
            let ended = self.jobs.settled(id, &caller);
            let ended = timeout(self.rules.patience, ended).await;
            drop(ended.expect("it ends").expect("its own job"));
        }
        let until = Instant::now() + self.rules.patience;
        loop {
            let list = self.jobs.list(&caller).await.expect("a list");
            self.desk.look(&list);
            let untold = |job: &&jobs::Snapshot| !job.reported() || !self.desk.is_told(job);
            let lost = list.iter().filter(untold).count();
            if lost == 0 {
                return;
            }
            if Instant::now() >= until {
                (0..lost).for_each(|_| self.tally.lost.add());
                return;
            }
            sleep(Duration::from_millis(2)).await;
        }
    }
}
