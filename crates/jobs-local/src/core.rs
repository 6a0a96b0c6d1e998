//! What the parts of a registry share: its tables and its counters.
//!
//! Each table has its own lock. They are leaves: under one of them nothing is
//! locked but the queue of an observer or a reporter that is in it.

use std::collections::HashMap;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use jobs::text::Echo;
use jobs::{Caller, Error, InstanceId, JobId, OwnerKey, Scope, SessionId};

use crate::changes::ChangeBoard;
use crate::config::{Config, UnownedAccess};
use crate::effects::wake;
use crate::ids::{Ids, Slot};
use crate::job::Job;
use crate::offers::OfferBoard;
use crate::room::{Room, RoomPhase};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};

pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) instance: InstanceId,
    pub(crate) ids: Ids,
    pub(crate) tables: CachePadded<Mutex<Tables>>,
    /// Changed under the lock of the tables, read without it.
    shut: AtomicBool,
    pub(crate) changes: Arc<ChangeBoard>,
    pub(crate) offers: OfferBoard,
    counter: CachePadded<AtomicU64>,
}

/// The rooms of a registry, and who serves them.
pub(crate) struct Tables {
    /// Every owner of which a handle or a job is left.
    pub(crate) rooms: HashMap<InstanceId, Arc<Room>>,
    /// The rooms of a session that are not closed, in order of their making.
    pub(crate) sessions: HashMap<SessionId, Vec<Arc<Room>>>,
    /// The unowned jobs; none before the start and after the shutdown.
    pub(crate) unowned: Option<Arc<Room>>,
    /// How many rooms are not closed.
    pub(crate) open: usize,
    /// By name, with the scopes that they serve.
    pub(crate) controllers: Vec<(Box<str>, Scope)>,
}

impl Tables {
    fn room_of(&self, owner: Option<&OwnerKey>) -> Option<&Arc<Room>> {
        match owner {
            Some(owner) => self.rooms.get(&owner.instance),
            None => self.unowned.as_ref(),
        }
    }
}

/// What a caller wants to do to a job.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Look,
    Change,
}

impl Core {
    pub(crate) fn new(config: Config) -> Arc<Self> {
        let tables = Tables {
            rooms: HashMap::new(),
            sessions: HashMap::new(),
            unowned: None,
            open: 1,
            controllers: Vec::new(),
        };
        let core = Arc::new(Self {
            instance: InstanceId::fresh(),
            ids: Ids::new(config.first_ordinals.clone()),
            tables: CachePadded::new(Mutex::new(tables)),
            shut: AtomicBool::new(false),
            changes: Arc::new(ChangeBoard::new()),
            offers: OfferBoard::new(),
            counter: CachePadded::new(AtomicU64::new(0)),
            config,
        });
        let unowned = core.make_room(None, Scope::root(), RoomPhase::Open);
        core.tables.lock().unowned = Some(unowned);
        core
    }

    /// The next number of an order that is never told to anybody: commits,
    /// settlements, rooms, attempts to kill.
    pub(crate) fn count(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn check_open(&self) -> Result<(), Error> {
        if self.is_shut() {
            Err(Error::ShutDown)
        } else {
            Ok(())
        }
    }

    fn is_shut(&self) -> bool {
        self.shut.load(Ordering::SeqCst)
    }

    /// Opens no more rooms from here on. Gives those that are open.
    pub(crate) fn shut(&self) -> Vec<Arc<Room>> {
        let tables = self.tables.lock();
        self.shut.store(true, Ordering::SeqCst);
        let sessions = tables.sessions.values().flatten();
        sessions.chain(&tables.unowned).map(Arc::clone).collect()
    }

    /// A new room for the current instance of a session.
    pub(crate) fn open_room(self: &Arc<Self>, key: &OwnerKey, scope: Scope) -> Arc<Room> {
        let mut tables = self.tables.lock();
        if self.is_shut() {
            drop(tables);
            return self.make_room(Some(key.clone()), scope, RoomPhase::Closed);
        }
        let room = self.make_room(Some(key.clone()), scope, RoomPhase::Open);
        tables.open += 1;
        tables.rooms.insert(key.instance, Arc::clone(&room));
        let rooms = tables.sessions.entry(key.session.clone()).or_default();
        let replaced = rooms.last().map(Arc::clone);
        rooms.push(Arc::clone(&room));
        drop(tables);
        if let Some(replaced) = replaced {
            replaced.state.lock().replaced = true;
        }
        room
    }

    fn make_room(
        self: &Arc<Self>,
        owner: Option<OwnerKey>,
        scope: Scope,
        phase: RoomPhase,
    ) -> Arc<Room> {
        Arc::new(Room::new(
            Arc::clone(self),
            self.count(),
            owner,
            scope,
            phase,
        ))
    }

    /// The room of an owner, or that of the unowned jobs; none for an owner that
    /// this registry does not know.
    pub(crate) fn room_of(&self, owner: Option<&OwnerKey>) -> Result<Option<Arc<Room>>, Error> {
        let tables = self.tables.lock();
        self.check_open()?;
        Ok(tables.room_of(owner).map(Arc::clone))
    }

    /// The same, if a controller serves it.
    pub(crate) fn controlled_room_of(
        &self,
        owner: Option<&OwnerKey>,
    ) -> Result<Option<Arc<Room>>, Error> {
        let tables = self.tables.lock();
        self.check_open()?;
        let room = tables.room_of(owner);
        let root = Scope::root();
        let scope = room.map_or(&root, |room| &room.scope);
        let mut controllers = tables.controllers.iter();
        if controllers.any(|(_, controller)| scope.is_within(controller)) {
            Ok(room.map(Arc::clone))
        } else {
            Err(Error::NoController)
        }
    }

    /// The job behind an id, if the caller may do this to it.
    pub(crate) fn find(
        &self,
        id: &JobId,
        caller: &Caller,
        access: Access,
    ) -> Result<Arc<Job>, Error> {
        self.check_open()?;
        let check = |room: &Room| self.check_access(room, id, caller, access);
        match self.ids.get(id) {
            Some(Slot::Job(job)) => {
                check(&job.state.lock().room)?;
                Ok(job)
            }
            Some(Slot::Evicted(room)) => {
                check(&room)?;
                Err(Error::NoLongerKept { id: id.clone() })
            }
            None => Err(unknown(id)),
        }
    }

    /// Whether the caller may do this to a job of `room`.
    fn check_access(
        &self,
        room: &Room,
        id: &JobId,
        caller: &Caller,
        access: Access,
    ) -> Result<(), Error> {
        match (room.session(), self.config.unowned_access, access) {
            (Some(session), _, _) if caller.session() != Some(session) => {
                Err(Error::ForeignJob { id: id.clone() })
            }
            (Some(_), _, _)
            | (None, UnownedAccess::Full, _)
            | (None, UnownedAccess::ReadOnly, Access::Look) => Ok(()),
            (None, UnownedAccess::ReadOnly, Access::Change) => {
                Err(Error::UnownedProtected { id: id.clone() })
            }
            (None, UnownedAccess::Nothing, _) => Err(unknown(id)),
        }
    }

    /// The jobs that a caller may see, in the order of their commits.
    pub(crate) fn visible(&self, caller: &Caller) -> Result<Vec<Arc<Job>>, Error> {
        let tables = self.tables.lock();
        self.check_open()?;
        let own = caller
            .session()
            .and_then(|session| tables.sessions.get(session))
            .into_iter()
            .flatten();
        let unowned = match self.config.unowned_access {
            UnownedAccess::Full | UnownedAccess::ReadOnly => tables.unowned.as_ref(),
            UnownedAccess::Nothing => None,
        };
        let rooms: Vec<_> = own.chain(unowned).map(Arc::clone).collect();
        drop(tables);
        let mut jobs = Vec::new();
        for room in rooms {
            let state = room.state.lock();
            jobs.extend(state.visible.iter().cloned());
        }
        jobs.sort_unstable_by_key(|(commit, _)| *commit);
        // A hand-over between two instances may have come between two rooms.
        jobs.dedup_by_key(|(commit, _)| *commit);
        Ok(jobs.into_iter().map(|(_, job)| job).collect())
    }

    /// A room has just closed.
    pub(crate) fn closed(&self, room: &Arc<Room>) {
        let mut tables = self.tables.lock();
        match &room.owner {
            None => tables.unowned = None,
            Some(owner) => {
                if let Some(rooms) = tables.sessions.get_mut(&owner.session) {
                    rooms.retain(|other| !Arc::ptr_eq(other, room));
                    if rooms.is_empty() {
                        tables.sessions.remove(&owner.session);
                    }
                }
            }
        }
        tables.open -= 1;
        let last = self.is_shut() && tables.open == 0;
        drop(tables);
        let mut state = room.state.lock();
        let closers = std::mem::take(&mut state.closers);
        let reporters = std::mem::take(&mut state.reporters);
        let abandoned = state.abandoned;
        drop(state);
        if abandoned {
            self.forget(room);
        }
        reporters.iter().for_each(|reporter| reporter.close());
        if last {
            self.changes.close();
        }
        wake(closers);
    }

    /// Forgets a closed owner of which no handle is left.
    pub(crate) fn forget(&self, room: &Room) {
        if let Some(owner) = &room.owner {
            self.tables.lock().rooms.remove(&owner.instance);
        }
    }
}

fn unknown(id: &JobId) -> Error {
    Error::UnknownJob {
        id: Echo::new(&id.to_string()),
    }
}
