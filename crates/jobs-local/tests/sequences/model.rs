//! The reference model: what a registry owes, with lists and a clock instead
//! of locks, wakers and tasks.

use jobs::{Cause, Status};

use crate::op::{By, End, Reaction};

pub(crate) const LIMIT: usize = 3;
/// No sum of the graces and the lease is a whole number of steps, so that
/// nothing runs out at the very moment of a call.
pub(crate) const STEP_MS: u64 = 10;
pub(crate) const LEASE_MS: u64 = 34;
pub(crate) const STOP_GRACE_MS: u64 = 53;
pub(crate) const TEARDOWN_GRACE_MS: u64 = 57;

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) now: u64,
    pub(crate) owners: Vec<Owner>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) shut: bool,
    next_share: u64,
    settlements: u64,
}

#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) session: u8,
    pub(crate) room: Room,
    pub(crate) replaced: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Open,
    Closing,
    Closed,
}

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) owner: Option<usize>,
    pub(crate) reaction: Reaction,
    pub(crate) state: State,
    pub(crate) told: bool,
    /// Its owner is gone, and the record with it.
    pub(crate) gone: bool,
    pub(crate) cursor: u64,
    pub(crate) written: u64,
    pub(crate) shares: Vec<Share>,
}

#[derive(Debug)]
pub(crate) enum State {
    Live(Live),
    Ended {
        status: Status,
        cause: Cause,
        settlement: u64,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) stopping: bool,
    pub(crate) killer: Option<Cause>,
    give_up: Option<u64>,
    teardown: bool,
    /// Shares that kills took, by their keys.
    kills: Vec<u64>,
    kill_delivered: bool,
    /// Those who wait, by the keys of the shares that they will hold.
    pub(crate) waiters: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Share {
    key: u64,
    expires: u64,
}

impl Job {
    pub(crate) fn live(&mut self) -> Option<&mut Live> {
        match &mut self.state {
            State::Live(live) => Some(live),
            State::Ended { .. } => None,
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        matches!(self.state, State::Live(_))
    }

    /// Status, cause and `reported`, as a snapshot shows them.
    pub(crate) fn shown(&self) -> (Status, Option<Cause>, bool) {
        match &self.state {
            State::Live(live) if live.stopping => (Status::Stopping, None, false),
            State::Live(_) => (Status::Running, None, false),
            State::Ended { status, cause, .. } => (*status, Some(*cause), self.told),
        }
    }
}

impl Model {
    pub(crate) fn key(&mut self) -> u64 {
        self.next_share += 1;
        self.next_share
    }

    pub(crate) fn live_of(&self, owner: Option<usize>) -> usize {
        let of_owner = |job: &&Job| job.owner == owner && !job.gone && job.is_live();
        self.jobs.iter().filter(of_owner).count()
    }

    pub(crate) fn session_of(&self, job: usize) -> Option<u8> {
        self.jobs[job].owner.map(|owner| self.owners[owner].session)
    }

    pub(crate) fn add_owner(&mut self, session: u8) {
        let current = |owner: &&mut Owner| owner.session == session && owner.room != Room::Closed;
        if !self.shut
            && let Some(owner) = self.owners.iter_mut().rev().find(current)
        {
            owner.replaced = true;
        }
        let room = if self.shut { Room::Closed } else { Room::Open };
        self.owners.push(Owner {
            session,
            room,
            replaced: false,
        });
    }

    pub(crate) fn add_job(&mut self, owner: Option<usize>, reaction: Reaction) {
        self.jobs.push(Job {
            owner,
            reaction,
            state: State::Live(Live::default()),
            told: false,
            gone: false,
            cursor: 0,
            written: 0,
            shares: Vec::new(),
        });
    }

    /// A cancel that the job accepted or, if it refuses, did not.
    pub(crate) fn cancel(&mut self, job: usize, by: Cause, grace: u64, teardown: bool) {
        let now = self.now;
        let reaction = self.jobs[job].reaction;
        let Some(live) = self.jobs[job].live() else {
            return;
        };
        if reaction == Reaction::Refuse {
            if teardown {
                self.force(job);
            }
            return;
        }
        live.stopping = true;
        live.killer.get_or_insert(by);
        if !live.teardown {
            live.give_up = Some(now + grace);
            live.teardown = teardown;
        }
    }

    /// Lets the jobs that die when they are cancelled do so.
    pub(crate) fn die(&mut self) {
        for job in 0..self.jobs.len() {
            let dies = self.jobs[job].reaction == Reaction::Die;
            if dies && self.jobs[job].live().is_some_and(|live| live.stopping) {
                self.settle(job, End::Killed);
            }
        }
    }

    pub(crate) fn kill(&mut self, job: usize, by: By) -> Option<u64> {
        let key = (by == By::Model).then(|| self.key());
        self.cancel(job, by.cause(), STOP_GRACE_MS, false);
        let live = self.jobs[job].live()?;
        live.kills.extend(key);
        key
    }

    pub(crate) fn settle(&mut self, job: usize, end: End) {
        let killer = self.jobs[job].live().and_then(|live| live.killer);
        let (status, cause) = match (end, killer) {
            (End::Completed, _) => (Status::Completed, Cause::Itself),
            (End::Failed, _) => (Status::Failed, Cause::Itself),
            (End::Killed, killer) => (Status::Killed, killer.unwrap_or(Cause::Itself)),
        };
        self.ended(job, status, cause);
    }

    fn force(&mut self, job: usize) {
        self.ended(job, Status::Failed, Cause::Orphaned);
    }

    fn ended(&mut self, job: usize, status: Status, cause: Cause) {
        let expires = self.now + LEASE_MS;
        let settlement = self.settlements;
        let job = &mut self.jobs[job];
        let Some(live) = job.live().map(std::mem::take) else {
            return;
        };
        self.settlements += 1;
        let by_model = (status, cause) == (Status::Killed, Cause::Model);
        job.told |= live.kill_delivered && by_model;
        job.state = State::Ended {
            status,
            cause,
            settlement,
        };
        if !job.told {
            // The receipt of a kill holds nobody back at an end that it cannot tell.
            let kills = live.kills.into_iter().filter(|_| by_model);
            let keys = kills.chain(live.waiters);
            job.shares = keys.map(|key| Share { key, expires }).collect();
        }
        self.tidy();
    }

    /// Takes a share of an ended job that nobody told yet.
    pub(crate) fn share(&mut self, job: usize) -> Option<u64> {
        let key = self.key();
        let expires = self.now + LEASE_MS;
        let job = &mut self.jobs[job];
        (!job.is_live() && !job.told).then(|| {
            job.shares.push(Share { key, expires });
            key
        })
    }

    pub(crate) fn commit(&mut self, job: usize, key: u64) {
        let job = &mut self.jobs[job];
        if let State::Live(live) = &mut job.state {
            live.kill_delivered = true;
            live.kills.retain(|other| *other != key);
            return;
        }
        job.told = true;
        job.shares.clear();
    }

    /// As [`commit`](Self::commit), of a share that a kill of a live job took.
    pub(crate) fn commit_kill(&mut self, job: usize, key: u64) {
        match self.jobs[job].state {
            State::Ended {
                status: Status::Killed,
                cause: Cause::Model,
                ..
            }
            | State::Live(_) => {
                self.commit(job, key);
            }
            State::Ended { .. } => self.give_back(job, key),
        }
    }

    pub(crate) fn give_back(&mut self, job: usize, key: u64) {
        let job = &mut self.jobs[job];
        if let Some(live) = job.live() {
            live.kills.retain(|other| *other != key);
            live.waiters.retain(|other| *other != key);
        }
        job.shares.retain(|share| share.key != key);
    }

    pub(crate) fn close(&mut self, owner: usize, by: Cause) {
        if self.owners[owner].room == Room::Open {
            self.owners[owner].room = Room::Closing;
            self.tear_down(Some(owner), by);
        }
    }

    pub(crate) fn shut_down(&mut self) {
        if std::mem::replace(&mut self.shut, true) {
            return;
        }
        for owner in 0..self.owners.len() {
            self.close(owner, Cause::Shutdown);
        }
        self.tear_down(None, Cause::Shutdown);
    }

    fn tear_down(&mut self, owner: Option<usize>, by: Cause) {
        for job in 0..self.jobs.len() {
            if self.jobs[job].owner == owner && !self.jobs[job].gone {
                self.jobs[job].told = true;
                self.jobs[job].shares.clear();
                self.cancel(job, by, TEARDOWN_GRACE_MS, true);
            }
        }
        self.tidy();
    }

    /// Removes what belongs to owners in which nothing lives any more.
    fn tidy(&mut self) {
        let mut closed: Vec<_> = (0..self.owners.len())
            .filter(|owner| self.owners[*owner].room == Room::Closing)
            .map(Some)
            .collect();
        closed.extend(self.shut.then_some(None));
        closed.retain(|owner| self.live_of(*owner) == 0);
        for job in &mut self.jobs {
            job.gone |= closed.contains(&job.owner);
        }
        for owner in closed.into_iter().flatten() {
            self.owners[owner].room = Room::Closed;
        }
    }

    pub(crate) fn hand_over(&mut self, from: usize, to: usize) {
        for job in &mut self.jobs {
            if job.owner == Some(from) && !job.gone && (job.is_live() || !job.told) {
                job.owner = Some(to);
            }
        }
    }

    /// What an owner has to be told next.
    pub(crate) fn offerable(&self, owner: usize) -> Option<usize> {
        if self.owners[owner].room != Room::Open {
            return None;
        }
        let jobs = self.jobs.iter().enumerate();
        let of_owner = jobs.filter(|(_, job)| job.owner == Some(owner) && !job.gone);
        let untold = of_owner.filter(|(_, job)| !job.told && job.shares.is_empty());
        let ended = untold.filter_map(|(number, job)| match job.state {
            State::Ended { settlement, .. } => Some((settlement, number)),
            State::Live(_) => None,
        });
        ended.min().map(|(_, number)| number)
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += 1;
            let now = self.now;
            for job in 0..self.jobs.len() {
                let due = |live: &mut Live| live.give_up.is_some_and(|at| at <= now);
                if self.jobs[job].live().is_some_and(due) {
                    self.force(job);
                }
                self.jobs[job].shares.retain(|share| share.expires > now);
            }
        }
    }
}
