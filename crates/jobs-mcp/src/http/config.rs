//! Who may call over HTTP, and from where.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use jobs::config::check_duration;

use super::tokens::Tokens;
use crate::error::McpError;

/// Who may call.
#[derive(Debug)]
pub enum Access {
    /// Whoever has one of these tokens, which says who it is.
    Tokens(Tokens),
    /// Everybody on this machine, who are all the same user.
    SingleUser,
}

/// Settings of [`McpServer::http`](crate::McpServer::http).
#[derive(Debug)]
pub struct HttpConfig {
    pub(super) access: Access,
    pub(super) allowed_hosts: Vec<String>,
    pub(super) allowed_origins: Vec<String>,
    pub(super) idle_limit: Option<Duration>,
    pub(super) max_sessions_per_user: NonZeroUsize,
    pub(super) max_connections: NonZeroUsize,
    /// How long a connection may take to bring the first request of somebody who may call.
    pub(super) stranger_timeout: Duration,
    /// How long the body of a request may take.
    pub(super) body_timeout: Duration,
}

impl HttpConfig {
    /// The defaults.
    #[must_use]
    pub fn new(access: Access) -> Self {
        const MAX_SESSIONS_PER_USER: NonZeroUsize = NonZeroUsize::new(1_000).expect("not zero");
        /// A process may as a rule have 1,024 files open, and jobs need some.
        const MAX_CONNECTIONS: NonZeroUsize = NonZeroUsize::new(512).expect("not zero");
        Self {
            access,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            idle_limit: Some(Duration::from_secs(24 * 60 * 60)),
            max_sessions_per_user: MAX_SESSIONS_PER_USER,
            max_connections: MAX_CONNECTIONS,
            stranger_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(60),
        }
    }

    /// The names under which clients reach the server, with or without a port (those of the
    /// machine itself; any, where it listens to other machines).
    #[must_use]
    pub fn with_allowed_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.allowed_hosts = hosts.into_iter().collect();
        self
    }

    /// The web pages that may call, as `https://host:port` (none).
    #[must_use]
    pub fn with_allowed_origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.allowed_origins = origins.into_iter().collect();
        self
    }

    /// How long an owner without live jobs is kept after its last request (a day; `None` = for
    /// ever). An owner with a live job is kept.
    #[must_use]
    pub fn with_idle_limit(mut self, limit: Option<Duration>) -> Self {
        self.idle_limit = limit;
        self
    }

    /// How many sessions a user may have at once (1,000). For another, the one of theirs that was
    /// silent for longest, and has no live job, ends.
    #[must_use]
    pub fn with_max_sessions_per_user(mut self, count: NonZeroUsize) -> Self {
        self.max_sessions_per_user = count;
        self
    }

    /// How many connections there may be at once (512). Others wait until one ends.
    #[must_use]
    pub fn with_max_connections(mut self, count: NonZeroUsize) -> Self {
        self.max_connections = count;
        self
    }

    pub(super) fn check(&self, address: SocketAddr) -> Result<(), McpError> {
        if let Some(limit) = self.idle_limit {
            check_duration("idleLimitMs", limit)?;
        }
        match self.access {
            Access::Tokens(_) => Ok(()),
            Access::SingleUser if address.ip().is_loopback() => Ok(()),
            Access::SingleUser => Err(McpError::Exposed { address }),
        }
    }
}
