//! A registry and the model side by side: applies each call to both, compares
//! the answers, lets a step of time pass, and compares what everybody sees.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jobs::{
    Caller, Completions, Delivery, Error, JobId, JobRegistry, JobSpec, KillOutcome, Owner,
    ProducerError, Receipt, Registration, Scope, Snapshot,
};
use jobs_local::{Config, LocalJobRegistry};
use jobs_testkit::sabotage::Sabotage;
use jobs_testkit::{Puppet, ScriptedSource, Settings};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::model::{
    LEASE_MS, LIMIT, Model, Room, STEP_MS, STOP_GRACE_MS, State, TEARDOWN_GRACE_MS,
};
use crate::op::{By, Op, Reaction};

type Wait = Pin<Box<dyn Future<Output = Result<Receipt<Snapshot>, Error>>>>;

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    ShutDown,
    Unknown,
    Foreign,
    OwnerClosed,
    OwnerReplaced,
    Limit,
    Producer,
}

fn refusal(error: &Error) -> Refusal {
    match error {
        Error::ShutDown => Refusal::ShutDown,
        Error::UnknownJob { .. } => Refusal::Unknown,
        Error::ForeignJob { .. } => Refusal::Foreign,
        Error::OwnerClosed { .. } => Refusal::OwnerClosed,
        Error::OwnerNotCurrent { .. } => Refusal::OwnerReplaced,
        Error::LimitReached { .. } => Refusal::Limit,
        Error::Producer(_) => Refusal::Producer,
        other => panic!("no call should be refused like this: {other}"),
    }
}

/// An answer that is neither delivered nor dropped yet.
struct Held {
    job: usize,
    share: Option<u64>,
    /// Taken by a kill while the job lived.
    kill: bool,
    read_to: Option<u64>,
    delivery: Delivery,
}

struct Producer {
    id: JobId,
    puppet: Puppet,
    output: Arc<ScriptedSource>,
}

pub(crate) struct World {
    jobs: Arc<dyn JobRegistry>,
    _controller: Registration,
    started: Instant,
    owners: Vec<Owner>,
    producers: Vec<Producer>,
    waits: Vec<(usize, u64, Wait)>,
    reporters: Vec<(Option<usize>, Completions)>,
    held: Vec<Held>,
    ends: JoinSet<()>,
    model: Model,
}

fn at(number: u8, count: usize) -> Option<usize> {
    (count > 0).then(|| usize::from(number) % count)
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn fresh(settings: &Settings) -> Arc<dyn JobRegistry> {
    let config = Config::default()
        .with_max_concurrent_jobs_per_owner(settings.max_live_per_owner)
        .with_share_lease(settings.share_lease)
        .with_stop_grace(settings.stop_grace)
        .with_teardown_grace(settings.teardown_grace);
    LocalJobRegistry::new(config).unwrap()
}

impl World {
    pub(crate) fn new(fault: Option<&Sabotage>) -> Self {
        let millis = Duration::from_millis;
        let limit = u32::try_from(LIMIT)
            .ok()
            .and_then(NonZeroU32::new)
            .expect("a small count");
        let mut settings = Settings::default();
        settings.max_live_per_owner = limit;
        settings.share_lease = millis(LEASE_MS);
        settings.stop_grace = Some(millis(STOP_GRACE_MS));
        settings.teardown_grace = millis(TEARDOWN_GRACE_MS);
        let jobs = match fault {
            Some(fault) => fault.fresh(&settings, fresh),
            None => fresh(&settings),
        };
        let _controller = jobs.controller("sequences", &Scope::root()).unwrap();
        let mut world = Self {
            jobs,
            _controller,
            started: Instant::now(),
            owners: Vec::new(),
            producers: Vec::new(),
            waits: Vec::new(),
            reporters: Vec::new(),
            held: Vec::new(),
            ends: JoinSet::new(),
            model: Model::default(),
        };
        world.add_owner(0);
        world.add_owner(1);
        world
    }

    fn add_owner(&mut self, session: u8) {
        let name = format!("s{session}");
        let owner = self.jobs.owner(name.into(), Scope::root().child("owner"));
        self.owners.push(owner);
        self.model.add_owner(session);
    }

    fn caller(&self, number: u8) -> (Caller, Option<u8>) {
        match number % 4 {
            2 => (Caller::Anonymous, None),
            3 => (self.owners[0].caller(), Some(0)),
            session => {
                let name = format!("s{session}");
                (Caller::Session(name.into()), Some(session))
            }
        }
    }

    /// Whether a caller may ask for a job.
    fn access(&self, job: usize, session: Option<u8>) -> Result<(), Refusal> {
        let owner = self.model.session_of(job);
        match () {
            () if self.model.shut => Err(Refusal::ShutDown),
            () if self.model.jobs[job].gone => Err(Refusal::Unknown),
            () if owner.is_some() && owner != session => Err(Refusal::Foreign),
            () => Ok(()),
        }
    }

    fn may_start(&self, owner: Option<usize>) -> Result<(), Refusal> {
        if self.model.shut {
            return Err(Refusal::ShutDown);
        }
        if let Some(owner) = owner.map(|owner| &self.model.owners[owner]) {
            if owner.room != Room::Open {
                return Err(Refusal::OwnerClosed);
            }
            if owner.replaced {
                return Err(Refusal::OwnerReplaced);
            }
        }
        let full = self.model.live_of(owner) >= LIMIT;
        if full { Err(Refusal::Limit) } else { Ok(()) }
    }

    /// Makes the call, compares its answer, and lets a step of time pass.
    pub(crate) async fn apply(&mut self, op: &Op) {
        match *op {
            Op::Start { owner, reaction } => self.start(owner, reaction).await,
            Op::FailStart { owner } => self.fail_start(owner).await,
            Op::NewOwner { session } => self.add_owner(session),
            Op::Subscribe { owner } => self.subscribe(owner),
            Op::Shutdown => self.shut_down(),
            Op::Tick { steps } => self.pass(u64::from(steps)).await,
            Op::Write { job, .. }
            | Op::Settle { job, .. }
            | Op::Kill { job, .. }
            | Op::Read { job, .. }
            | Op::Observe { job, .. }
            | Op::Wait { job, .. } => {
                if let Some(job) = at(job, self.producers.len()) {
                    self.apply_to(job, op).await;
                }
            }
            Op::TakeWait { wait } => self.take_wait(wait),
            Op::DropWait { wait } => {
                if let Some(wait) = at(wait, self.waits.len()) {
                    let (job, key, _) = self.waits.remove(wait);
                    self.model.give_back(job, key);
                }
            }
            Op::Unsubscribe { reporter } => {
                if let Some(reporter) = at(reporter, self.reporters.len()) {
                    drop(self.reporters.remove(reporter));
                }
            }
            Op::Next { reporter } => self.next(reporter),
            Op::Commit { held } => self.deliver(held),
            Op::Drop { held } => {
                if let Some(held) = at(held, self.held.len()) {
                    let held = self.held.remove(held);
                    if let Some(key) = held.share {
                        self.model.give_back(held.job, key);
                    }
                }
            }
            Op::Close { owner } => {
                let owner = usize::from(owner) % self.owners.len();
                let closing = self.owners[owner].clone();
                self.ends.spawn(async move { closing.close().await });
                self.model.close(owner, jobs::Cause::OwnerClosed);
            }
            Op::HandOver { from, to } => self.hand_over(from, to).await,
        }
        self.pass(1).await;
        self.compare().await;
    }

    async fn apply_to(&mut self, job: usize, op: &Op) {
        let id = self.producers[job].id.clone();
        match *op {
            Op::Write { bytes, .. } => {
                if self.model.jobs[job].is_live() {
                    let text = "x".repeat(usize::from(bytes));
                    self.producers[job].output.append(&text);
                    self.model.jobs[job].written += u64::from(bytes);
                }
            }
            Op::Settle { end, .. } => {
                self.producers[job].puppet.settle(end.outcome());
                self.model.settle(job, end);
            }
            Op::Kill { caller, by, .. } => self.kill(job, &id, caller, by).await,
            Op::Read { caller, .. } => self.read(job, &id, caller).await,
            Op::Observe {
                caller, from, max, ..
            } => {
                let (caller, session) = self.caller(caller);
                let max = max.map(usize::from);
                let answer = self.jobs.observe(&id, &caller, from.into(), max).await;
                match self.access(job, session) {
                    Err(refused) => assert_eq!(refusal(&answer.unwrap_err()), refused),
                    Ok(()) => {
                        let written = self.model.jobs[job].written;
                        let from = u64::from(from).min(written);
                        let to = max.map_or(written, |max| written.min(from + max as u64));
                        assert_eq!(answer.unwrap().range, from..to);
                    }
                }
            }
            Op::Wait { caller, .. } => self.wait(job, id, caller),
            _ => unreachable!("of one job: {op:?}"),
        }
    }

    async fn start(&mut self, owner: Option<u8>, reaction: Reaction) {
        let owner = owner.and_then(|owner| at(owner, self.owners.len()));
        let output = ScriptedSource::new("");
        let (mut spec, puppet) = Puppet::streaming("job", "work", output.clone());
        let dying = puppet.clone();
        puppet.on_cancel(move |_| match reaction {
            Reaction::Ignore => Ok(()),
            Reaction::Die => {
                dying.settle(jobs::Outcome::killed());
                Ok(())
            }
            Reaction::Refuse => Err(ProducerError::new("no")),
        });
        if let Some(owner) = owner {
            spec = spec.with_owner(&self.owners[owner]);
        }
        match (self.jobs.start(spec).await, self.may_start(owner)) {
            (Ok(id), Ok(())) => {
                let number = self.producers.len() + 1;
                assert_eq!(id.to_string(), format!("job-{number}"));
                self.producers.push(Producer { id, puppet, output });
                self.model.add_job(owner, reaction);
            }
            (Err(error), Err(refused)) => assert_eq!(refusal(&error), refused),
            (answer, expected) => panic!("{answer:?}, expected {expected:?}"),
        }
    }

    async fn fail_start(&mut self, owner: u8) {
        let owner = usize::from(owner) % self.owners.len();
        let spec = JobSpec::new("job", "work", |_| Err(ProducerError::new("no")));
        let answer = self.jobs.start(spec.with_owner(&self.owners[owner])).await;
        let refused = self.may_start(Some(owner)).err();
        let refused = refused.unwrap_or(Refusal::Producer);
        assert_eq!(refusal(&answer.unwrap_err()), refused);
    }

    async fn kill(&mut self, job: usize, id: &JobId, caller: u8, by: By) {
        let (caller, session) = self.caller(caller);
        let answer = self.jobs.kill(id, &caller, by.killed_by(), None).await;
        let refuses = self.model.jobs[job].reaction == Reaction::Refuse;
        let live = self.model.jobs[job].is_live();
        let access = self.access(job, session);
        let receipt = match (access, live && refuses) {
            (Err(refused), _) => return assert_eq!(refusal(&answer.unwrap_err()), refused),
            (Ok(()), true) => {
                return assert_eq!(refusal(&answer.unwrap_err()), Refusal::Producer);
            }
            (Ok(()), false) => answer.unwrap(),
        };
        let (outcome, share) = if live {
            (KillOutcome::Requested, self.model.kill(job, by))
        } else {
            (KillOutcome::AlreadyFinished, self.model.share(job))
        };
        assert_eq!(receipt.outcome, outcome);
        let (_, delivery) = receipt.into_parts();
        self.hold(job, share, None, delivery);
        if let Some(held) = self.held.last_mut() {
            held.kill = live;
        }
    }

    async fn read(&mut self, job: usize, id: &JobId, caller: u8) {
        let (caller, session) = self.caller(caller);
        let answer = self.jobs.read(id, &caller).await;
        if let Err(refused) = self.access(job, session) {
            return assert_eq!(refusal(&answer.unwrap_err()), refused);
        }
        let receipt = answer.unwrap();
        let (from, to) = (self.model.jobs[job].cursor, self.model.jobs[job].written);
        assert_eq!(receipt.range, from..to);
        assert_eq!(receipt.text.len() as u64, to - from);
        let share = self.model.share(job);
        let (_, delivery) = receipt.into_parts();
        self.hold(job, share, Some(to), delivery);
    }

    fn wait(&mut self, job: usize, id: JobId, caller: u8) {
        let (caller, session) = self.caller(caller);
        let jobs = Arc::clone(&self.jobs);
        let mut wait: Wait = Box::pin(async move { jobs.settled(&id, &caller).await });
        let access = self.access(job, session);
        match (poll(wait.as_mut()), access) {
            (Poll::Ready(answer), Err(refused)) => {
                assert_eq!(refusal(&answer.unwrap_err()), refused);
            }
            (Poll::Pending, Ok(())) => {
                let key = self.model.key();
                let live = self.model.jobs[job].live().expect("only live jobs wait");
                live.waiters.push(key);
                self.waits.push((job, key, wait));
            }
            (Poll::Ready(answer), Ok(())) => {
                let (snapshot, delivery) = answer.unwrap().into_parts();
                assert!(snapshot.is_terminal());
                let share = self.model.share(job);
                self.hold(job, share, None, delivery);
            }
            (Poll::Pending, Err(refused)) => panic!("waits, expected {refused:?}"),
        }
    }

    fn take_wait(&mut self, wait: u8) {
        let Some(number) = at(wait, self.waits.len()) else {
            return;
        };
        let (job, key, wait) = &mut self.waits[number];
        let (job, key) = (*job, *key);
        match poll(wait.as_mut()) {
            Poll::Pending => assert!(self.model.jobs[job].is_live(), "the wait is late"),
            Poll::Ready(answer) => {
                assert!(!self.model.jobs[job].is_live(), "the wait is early");
                drop(self.waits.remove(number));
                let (snapshot, delivery) = answer.unwrap().into_parts();
                assert!(snapshot.is_terminal());
                assert!(delivery.has_share(), "it holds a share from settlement on");
                self.held.push(Held {
                    job,
                    share: Some(key),
                    kill: false,
                    read_to: None,
                    delivery,
                });
            }
        }
    }

    fn hold(&mut self, job: usize, share: Option<u64>, read_to: Option<u64>, delivery: Delivery) {
        assert_eq!(
            delivery.has_share(),
            share.is_some(),
            "a share of job {job}"
        );
        self.held.push(Held {
            job,
            share,
            kill: false,
            read_to,
            delivery,
        });
    }

    fn deliver(&mut self, held: u8) {
        let Some(number) = at(held, self.held.len()) else {
            return;
        };
        let held = self.held.remove(number);
        held.delivery.commit();
        if let Some(to) = held.read_to {
            let cursor = &mut self.model.jobs[held.job].cursor;
            *cursor = (*cursor).max(to);
        }
        match held.share {
            Some(key) if held.kill => self.model.commit_kill(held.job, key),
            Some(key) => self.model.commit(held.job, key),
            None => {}
        }
    }

    fn subscribe(&mut self, owner: Option<u8>) {
        let owner = owner.and_then(|owner| at(owner, self.owners.len()));
        let reporter = match owner.map(|owner| &self.owners[owner]) {
            Some(owner) => self.jobs.completions(owner.scope(), Some(owner.key())),
            None => self.jobs.completions(&Scope::root(), None),
        };
        self.reporters.push((owner, reporter));
    }

    /// Whether the reporter is the first of the innermost ones of an owner.
    fn serves(&self, reporter: usize, owner: usize) -> bool {
        let of = |wanted: Option<usize>| {
            let mut reporters = self.reporters.iter();
            reporters.position(|(served, _)| *served == wanted)
        };
        of(Some(owner)).or_else(|| of(None)) == Some(reporter)
    }

    fn next(&mut self, reporter: u8) {
        let Some(number) = at(reporter, self.reporters.len()) else {
            return;
        };
        let over = match self.reporters[number].0 {
            Some(owner) => self.model.owners[owner].room == Room::Closed,
            None => self.model.shut,
        };
        let owners = (0..self.owners.len()).filter(|owner| self.serves(number, *owner));
        let offers: Vec<_> = owners
            .filter_map(|owner| self.model.offerable(owner))
            .collect();
        let polled = poll(std::pin::pin!(self.reporters[number].1.next()));
        match polled {
            Poll::Ready(None) => assert!(over, "the stream ended early"),
            Poll::Pending => assert!(!over && offers.is_empty(), "not offered: {offers:?}"),
            Poll::Ready(Some(receipt)) => {
                let (completion, delivery) = receipt.into_parts();
                let mut jobs = offers.into_iter();
                let job = jobs.find(|job| self.producers[*job].id == completion.job.id);
                let job = job.unwrap_or_else(|| panic!("offered {}", completion.job.id));
                let owner = self.model.jobs[job].owner.expect("it has an owner");
                assert_eq!(&completion.owner, self.owners[owner].key());
                let share = self.model.share(job);
                self.hold(job, share, None, delivery);
            }
        }
    }

    async fn hand_over(&mut self, from: u8, to: u8) {
        let from = usize::from(from) % self.owners.len();
        let to = usize::from(to) % self.owners.len();
        let answer = self.owners[from].hand_over(&self.owners[to]).await;
        let (giver, heir) = (&self.model.owners[from], &self.model.owners[to]);
        let expected = match () {
            () if self.model.shut => Err(Refusal::ShutDown),
            () if from == to => Ok(()),
            () if heir.room != Room::Open => Err(Refusal::OwnerClosed),
            () if heir.replaced => Err(Refusal::OwnerReplaced),
            () if giver.room != Room::Open => Err(Refusal::OwnerClosed),
            () => Ok(()),
        };
        assert_eq!(answer.map_err(|error| refusal(&error)), expected);
        if expected.is_ok() {
            self.model.hand_over(from, to);
        }
    }

    fn shut_down(&mut self) {
        let jobs = Arc::clone(&self.jobs);
        self.ends.spawn(async move { jobs.shutdown().await });
        self.model.shut_down();
    }

    /// Lets time pass: the paused clock moves when nothing else can happen.
    async fn pass(&mut self, steps: u64) {
        self.model.die();
        let until = self.model.now + steps * STEP_MS;
        sleep_until(self.started + Duration::from_millis(until)).await;
        self.model.pass(steps * STEP_MS);
    }

    /// Compares what each session sees.
    async fn compare(&self) {
        for number in 0..3 {
            let (caller, session) = self.caller(number);
            let list = self.jobs.list(&caller).await;
            if self.model.shut {
                assert_eq!(list, Err(Error::ShutDown));
                continue;
            }
            let seen: Vec<_> = list.unwrap().iter().map(shown).collect();
            let visible = (0..self.producers.len()).filter(|job| {
                let owner = self.model.session_of(*job);
                !self.model.jobs[*job].gone && (owner.is_none() || owner == session)
            });
            let expected: Vec<_> = visible
                .map(|job| (self.producers[job].id.clone(), self.model.jobs[job].shown()))
                .collect();
            assert_eq!(seen, expected, "as {caller:?} sees it");
        }
    }

    /// Ends everything: no wait is left, and no producer is held on to.
    pub(crate) async fn end(mut self) {
        self.shut_down();
        self.pass(TEARDOWN_GRACE_MS / STEP_MS + 1).await;
        for number in (0..self.waits.len()).rev() {
            self.take_wait(u8::try_from(number).expect("few waits"));
        }
        assert!(self.waits.is_empty(), "a wait is left");
        let ends = async { while self.ends.join_next().await.is_some() {} };
        let ended = timeout(Duration::from_secs(1), ends).await;
        ended.expect("a close or the shutdown did not end");
        for (number, producer) in self.producers.iter().enumerate() {
            let ended = matches!(self.model.jobs[number].state, State::Ended { .. });
            assert!(ended && producer.puppet.is_released(), "{}", producer.id);
        }
    }
}

fn shown(job: &Snapshot) -> (JobId, (jobs::Status, Option<jobs::Cause>, bool)) {
    let cause = job.end().map(|end| end.cause);
    (job.id.clone(), (job.status(), cause, job.reported()))
}
