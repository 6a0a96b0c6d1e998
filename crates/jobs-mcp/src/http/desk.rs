//! The owners behind HTTP requests, which outlive them.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jobs::{Owner, Scope, Snapshot};
use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::sessions::{SessionKey, Sessions};
use crate::connection::Connection;
use crate::ledger::Order;
use crate::server::Shared;

/// How many owners were made behind HTTP requests, by all desks: a registry may have several, and a
/// session's name is what grants access to its jobs.
static MADE: AtomicU64 = AtomicU64::new(0);

/// The name of a user.
pub(super) type Principal = Arc<str>;

/// Who has come, and with which owner.
#[derive(Debug)]
pub(super) struct Desk {
    shared: Arc<Shared>,
    seats: Mutex<Seats>,
}

#[derive(Debug, Default)]
struct Seats {
    sessions: HashMap<SessionKey, Session>,
    users: HashMap<Principal, User>,
}

#[derive(Debug)]
struct Session {
    connection: Connection,
    /// Who opened it. Nobody else can use it.
    principal: Principal,
    seen: Instant,
}

/// A session that was silent when it was looked at.
struct Silent {
    key: SessionKey,
    owner: Owner,
    seen: Instant,
}

#[derive(Debug)]
struct User {
    owner: Owner,
    seen: Instant,
}

impl Desk {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            seats: Mutex::default(),
        }
    }

    fn owner(&self, name: &str) -> Owner {
        // Each owner has a session of its own: nobody inherits by a name.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let session = format!("http:{number}:{name}");
        self.shared.registry.owner(session.into(), Scope::root())
    }

    /// Opens a session, with an owner of its own.
    pub(super) fn open(&self, key: SessionKey, principal: Principal) -> Connection {
        let owner = self.owner("session");
        let connection = Connection::new(Arc::clone(&self.shared), owner, Order::Mixed);
        let session = Session {
            connection: connection.clone(),
            principal,
            seen: Instant::now(),
        };
        let earlier = self.seats.lock().sessions.insert(key, session);
        drop(earlier);
        connection
    }

    /// The session of this id, if it is theirs.
    pub(super) fn session(&self, key: &str, principal: &Principal) -> Option<Connection> {
        let mut seats = self.seats.lock();
        let session = seats.sessions.get_mut(key)?;
        if session.principal != *principal {
            return None;
        }
        session.seen = Instant::now();
        Some(session.connection.clone())
    }

    /// The owner of a user's requests outside sessions.
    pub(super) fn user(&self, principal: &Principal) -> Owner {
        if let Some(user) = self.seats.lock().users.get_mut(principal) {
            user.seen = Instant::now();
            return user.owner.clone();
        }
        let made = self.owner(principal);
        let owner = self
            .seats
            .lock()
            .users
            .entry(Arc::clone(principal))
            .or_insert_with(|| User {
                owner: made.clone(),
                seen: Instant::now(),
            })
            .owner
            .clone();
        drop(made); // ends it, if another request was faster
        owner
    }

    /// Ends a session and the jobs of its owner.
    pub(super) async fn end_session(&self, key: &str) {
        let session = self.seats.lock().sessions.remove(key);
        if let Some(session) = session {
            session.connection.owner().close().await;
        }
    }

    /// Sees to it that a user has fewer sessions than `most`: the one that was silent for longest,
    /// and has no live job, ends. Whether there is room.
    pub(super) async fn make_room(
        &self,
        principal: &Principal,
        most: NonZeroUsize,
        sessions: &Sessions,
    ) -> bool {
        let of_them = |session: &Session| session.principal == *principal;
        let count = {
            let seats = self.seats.lock();
            seats.sessions.values().filter(|one| of_them(one)).count()
        };
        if count < most.get() {
            return true;
        }
        for silent in self.silent_sessions(of_them) {
            if self.is_idle(&silent).await {
                let Silent { key, .. } = silent;
                tracing::warn!(user = %principal, session = %key, "too many sessions: one that is idle ends");
                sessions.end(&key).await;
                return true;
            }
        }
        false
    }

    /// Ends the owners that have no live job and were not heard of for so long.
    pub(super) async fn end_idle(&self, limit: Duration, sessions: &Sessions) {
        for silent in self.silent_sessions(|session| session.seen.elapsed() > limit) {
            if self.is_idle(&silent).await {
                let Silent { key, .. } = silent;
                tracing::info!(session = %key, "an idle session ends");
                sessions.end(&key).await;
            }
        }
        for owner in self.idle_users(limit).await {
            tracing::info!(session = %owner.session(), "an idle owner ends");
            owner.close().await;
        }
    }

    /// Some sessions; those that were silent for longest first.
    fn silent_sessions(&self, which: impl Fn(&Session) -> bool) -> Vec<Silent> {
        let mut silent: Vec<Silent> = {
            let seats = self.seats.lock();
            let of = |(key, session): (&SessionKey, &Session)| {
                which(session).then(|| Silent {
                    key: Arc::clone(key),
                    owner: session.connection.owner().clone(),
                    seen: session.seen,
                })
            };
            seats.sessions.iter().filter_map(of).collect()
        };
        silent.sort_by_key(|session| session.seen);
        silent
    }

    /// Whether a session has neither a live job nor an open call, and is still silent. A command in
    /// the foreground is no job.
    async fn is_idle(&self, silent: &Silent) -> bool {
        if self.has_live_jobs(&silent.owner).await {
            return false;
        }
        let seats = self.seats.lock();
        let session = seats.sessions.get(&silent.key);
        session.is_some_and(|session| session.seen == silent.seen && !session.connection.is_busy())
    }

    /// They are at the desk no more: a request that comes now has a new owner.
    async fn idle_users(&self, limit: Duration) -> Vec<Owner> {
        let silent: Vec<(Principal, Owner)> = {
            let seats = self.seats.lock();
            let of = |(name, user): (&Principal, &User)| {
                (user.seen.elapsed() > limit).then(|| (Arc::clone(name), user.owner.clone()))
            };
            seats.users.iter().filter_map(of).collect()
        };
        let mut idle = Vec::new();
        for (name, owner) in silent {
            if self.has_live_jobs(&owner).await {
                continue;
            }
            let mut seats = self.seats.lock();
            let still = seats
                .users
                .get(&name)
                .is_some_and(|user| user.seen.elapsed() > limit);
            let user = if still {
                seats.users.remove(&name)
            } else {
                None
            };
            drop(seats);
            idle.extend(user.map(|user| user.owner));
        }
        idle
    }

    async fn has_live_jobs(&self, owner: &Owner) -> bool {
        let jobs = self.shared.registry.list(&owner.caller()).await;
        jobs.is_ok_and(|jobs| jobs.iter().any(|job: &Snapshot| !job.is_terminal()))
    }

    /// Ends all owners at once.
    pub(super) async fn close(&self) {
        let Seats { sessions, users } = std::mem::take(&mut *self.seats.lock());
        let of_sessions = sessions
            .into_values()
            .map(|session| session.connection.owner().clone());
        let of_users = users.into_values().map(|user| user.owner);
        let mut closing = JoinSet::new();
        for owner in of_sessions.chain(of_users) {
            closing.spawn(async move { owner.close().await });
        }
        closing.join_all().await;
    }
}

#[cfg(test)]
mod tests {
    use jobs_local::{Config, LocalJobRegistry};

    use super::*;
    use crate::{McpConfig, McpServer};

    #[test]
    fn the_owners_of_two_desks_have_sessions_of_their_own() {
        let registry = LocalJobRegistry::new(Config::default()).expect("a registry");
        let server = McpServer::new(registry, [], McpConfig::default()).expect("a server");
        let desks = [(); 2].map(|()| Desk::new(Arc::clone(&server.0)));
        let [one, two] = desks.each_ref().map(|desk| desk.user(&"ann".into()));
        assert_ne!(one.session(), two.session());
        let [one, two] = desks
            .each_ref()
            .map(|desk| desk.open("key".into(), "ann".into()));
        assert_ne!(one.owner().session(), two.owner().session());
    }
}
