//! The sessions of the older protocol: the SDK's, each with a connection that listens in.
//!
//! The SDK's own idle time is switched off. It would end a session, and with it the way to its
//! jobs, while they live; the desk ends those that are idle.

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionManager};
use tokio::sync::Mutex;

use super::desk::{Desk, Principal};
use crate::watch::Watched;

/// The id of a session, as the SDK makes it.
pub(super) type SessionKey = Arc<str>;

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("no more than {most} sessions of a user: each has a live job")]
    Full { most: NonZeroUsize },
    #[error("the request does not say whose it is")]
    Nobody,
    #[error(transparent)]
    Inner(#[from] LocalSessionManagerError),
}

tokio::task_local! {
    /// Whose request is answered. The SDK does not say for whom it makes a session.
    pub(super) static CALLER: Principal;
}

/// The sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    inner: LocalSessionManager,
    desk: Arc<Desk>,
    /// How many a user may have at once. A client that vanishes leaves its session behind.
    most: NonZeroUsize,
    /// One is made after the other: two at once would both find the last place.
    making: Mutex<()>,
}

impl Sessions {
    pub(super) fn new(desk: Arc<Desk>, most: NonZeroUsize) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = None;
        Self {
            inner,
            desk,
            most,
            making: Mutex::new(()),
        }
    }

    /// Ends a session and the jobs of its owner.
    pub(super) async fn end(&self, key: &SessionKey) {
        if let Err(error) = self.close_session(key).await {
            tracing::warn!(session = %key, %error, "a session did not end in order");
        }
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = Watched<WorkerTransport<LocalSessionWorker>>;

    async fn create_session(&self) -> Result<(SessionKey, Self::Transport), Self::Error> {
        let most = self.most;
        let caller = CALLER.try_with(Arc::clone);
        let caller = caller.map_err(|_outside| SessionError::Nobody)?;
        let _alone = self.making.lock().await;
        if !self.desk.make_room(&caller, most, self).await {
            return Err(SessionError::Full { most });
        }
        let (key, transport) = self.inner.create_session().await?;
        let connection = self.desk.open(Arc::clone(&key), caller);
        Ok((key, connection.watch(transport)))
    }

    async fn initialize_session(
        &self,
        key: &SessionKey,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.inner.initialize_session(key, message).await?)
    }

    async fn has_session(&self, key: &SessionKey) -> Result<bool, Self::Error> {
        Ok(self.inner.has_session(key).await?)
    }

    /// By the client's wish, by the desk's, or after the session has ended: its jobs end too.
    async fn close_session(&self, key: &SessionKey) -> Result<(), Self::Error> {
        let closed = self.inner.close_session(key).await;
        self.desk.end_session(key).await;
        Ok(closed?)
    }

    async fn create_stream(
        &self,
        key: &SessionKey,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.create_stream(key, message).await?)
    }

    async fn accept_message(
        &self,
        key: &SessionKey,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.inner.accept_message(key, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        key: &SessionKey,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.create_standalone_stream(key).await?)
    }

    async fn resume(
        &self,
        key: &SessionKey,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.resume(key, last_event_id).await?)
    }
}
