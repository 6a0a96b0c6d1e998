//! Who a job belongs to, and who asks.
//!
//! An owner has two identities (design D4): its *session* grants access, its
//! *instance* selects cleanup, admission and delivery. Records hold both as
//! plain values, never a handle.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::Error;
use crate::scope::Scope;
use crate::text::Echo;

/// A live agent instance that jobs can belong to.
///
/// Made by [`JobRegistry::owner`](crate::JobRegistry::owner). Clones are the
/// same owner. Dropping the last one only *signals* the end: what is live is
/// cancelled, and nobody waits. [`close`](Owner::close) signals the same and
/// waits.
#[derive(Clone)]
pub struct Owner(Arc<Handle>);

struct Handle {
    key: OwnerKey,
    scope: Scope,
    control: Arc<dyn OwnerControl>,
}

impl Owner {
    /// For implementors: an owner that `control` will end.
    #[must_use]
    pub fn new(key: OwnerKey, scope: Scope, control: Arc<dyn OwnerControl>) -> Self {
        Self(Arc::new(Handle {
            key,
            scope,
            control,
        }))
    }

    /// Both identities, as a value.
    #[must_use]
    pub fn key(&self) -> &OwnerKey {
        &self.0.key
    }

    /// The session that grants access to this owner's jobs.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.0.key.session
    }

    /// Where the owner's news are routed.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// The caller that this owner is.
    #[must_use]
    pub fn caller(&self) -> Caller {
        Caller::Owner(self.0.key.clone())
    }

    /// Ends the owner: refuses new starts, cancels its live jobs, waits until
    /// they settled (at most the registry's teardown grace), and removes its
    /// records. Idempotent; concurrent callers all return when it is over.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo the end and does not delay it.
    pub async fn close(&self) {
        self.0.control.close().await;
    }

    /// Moves the live jobs and the untold completions to `to`, atomically and
    /// with unchanged ids; starts that are still under way stay here.
    ///
    /// # Errors
    ///
    /// [`Error::OwnerClosed`] when either owner is; [`Error::OwnerNotCurrent`]
    /// when `to` was replaced or is of another registry (this owner may have
    /// been replaced); [`Error::ShutDown`]. Nothing has moved then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future did all or nothing.
    pub async fn hand_over(&self, to: &Owner) -> Result<(), Error> {
        self.0.control.hand_over(to.key()).await
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.control.abandon();
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owner").field(&self.0.key).finish()
    }
}

/// For implementors: the registry's end of an [`Owner`].
#[async_trait]
pub trait OwnerControl: Send + Sync {
    /// See [`Owner::close`].
    async fn close(&self);

    /// See [`Owner::hand_over`].
    ///
    /// # Errors
    ///
    /// As there.
    async fn hand_over(&self, to: &OwnerKey) -> Result<(), Error>;

    /// The last handle is gone. Signals the end and waits for nothing; may be
    /// called outside a runtime and after `close`.
    fn abandon(&self);
}

/// The two identities of an owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnerKey {
    /// Grants access.
    pub session: SessionId,
    /// Selects cleanup, admission and delivery.
    pub instance: InstanceId,
}

impl OwnerKey {
    /// A new instance of `session`.
    #[must_use]
    pub fn fresh(session: SessionId) -> Self {
        Self {
            session,
            instance: InstanceId::fresh(),
        }
    }
}

/// The name of an agent session, chosen by the host. Any text; compared whole.
/// Cloning is a reference count.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Names a session.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, one-lined and bounded, for texts that a model may see.
    #[must_use]
    pub fn echo(&self) -> Echo {
        Echo::new(&self.0)
    }
}

impl<T: Into<Arc<str>>> From<T> for SessionId {
    fn from(name: T) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// One incarnation of an agent or of a registry; unique among all hosts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(Uuid);

impl InstanceId {
    /// An id that nothing else has.
    #[must_use]
    pub fn fresh() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Who asks a registry.
///
/// Access is decided by the session alone. An exact instance matters where a
/// tool starts a job for its caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Nobody in particular: sees unowned jobs only.
    Anonymous,
    /// Somebody of a session, such as a UI that shows it.
    Session(SessionId),
    /// An owner itself.
    Owner(OwnerKey),
}

impl Caller {
    /// The session whose jobs the caller may see.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Anonymous => None,
            Self::Session(session) => Some(session),
            Self::Owner(key) => Some(&key.session),
        }
    }

    /// The exact instance, where the caller is one.
    #[must_use]
    pub fn owner(&self) -> Option<&OwnerKey> {
        match self {
            Self::Owner(key) => Some(key),
            Self::Anonymous | Self::Session(_) => None,
        }
    }
}
