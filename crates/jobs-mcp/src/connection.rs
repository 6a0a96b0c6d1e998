//! One client's connection: whose jobs it works with, and which of its answers have arrived.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jobs::{CancellationToken, Delivery, Owner};
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use rmcp::transport::Transport;
use tokio::time::{Instant, sleep_until};

use crate::handler::Handler;
use crate::ledger::{Ledger, Order, Verdict};
use crate::server::Shared;
use crate::watch::Watched;

/// How long a cancellation may cross the answer to its request.
const CROSSING: Duration = Duration::from_secs(5);

/// How long calls that are open at the end of the input may go on.
const LAST_CALLS: Duration = Duration::from_secs(1);

/// What the delivery of one answer commits: its own, and that of the notices in front of it.
pub(crate) type Receipts = Vec<Delivery>;

/// One connection of a client that works with the jobs of one owner. Cloning shares it.
///
/// For hosts that serve `rmcp` themselves: [`handler`](Self::handler) answers, and a transport
/// that is [watched](Self::watch) tells which answers arrived. Without the watching an answer
/// counts as delivered five seconds after it was made.
///
/// # Examples
///
/// ```no_run
/// # async fn host(
/// #     server: jobs_mcp::McpServer,
/// #     owner: jobs::Owner,
/// #     transport: impl rmcp::transport::Transport<rmcp::RoleServer> + 'static,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let connection = server.connection(owner);
/// let transport = connection.watch(transport);
/// rmcp::serve_server(connection.handler(), transport).await?.waiting().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    owner: Owner,
    calls: Mutex<Calls>,
    /// The client says nothing more, and its last calls had their time.
    over: CancellationToken,
}

struct Calls {
    ledger: Ledger<RequestId, Receipts, Instant>,
    /// A task waits for the time at which something is due. There is one at most, however many the
    /// answers.
    timed: bool,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>, owner: Owner, order: Order) -> Self {
        let calls = Calls {
            ledger: Ledger::new(order),
            timed: false,
        };
        Self(Arc::new(Inner {
            shared,
            owner,
            calls: Mutex::new(calls),
            over: CancellationToken::new(),
        }))
    }

    /// What answers the client.
    #[must_use]
    pub fn handler(&self) -> Handler {
        Handler::new(Arc::clone(&self.0.shared), self.clone())
    }

    /// The transport, with this connection listening in.
    #[must_use]
    pub fn watch<T: Transport<RoleServer>>(&self, transport: T) -> Watched<T> {
        Watched::new(transport, self.clone())
    }

    /// Whose jobs these are.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }

    pub(crate) fn over(&self) -> &CancellationToken {
        &self.0.over
    }

    /// Whether a call goes on.
    pub(crate) fn is_busy(&self) -> bool {
        self.0.calls.lock().ledger.is_busy()
    }

    /// Whether a call was cancelled before it began: over HTTP a cancellation may overtake its request.
    pub(crate) fn is_cancelled(&self, id: &RequestId) -> bool {
        self.0.calls.lock().ledger.is_cancelled(id)
    }

    /// A message of the client came in.
    pub(crate) fn received(&self, message: &ClientJsonRpcMessage) {
        let verdict = self.change(|ledger, due| match message {
            ClientJsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::CallToolRequest(_)) =>
            {
                ledger.request(request.id.clone())
            }
            ClientJsonRpcMessage::Notification(notification) => {
                match cancels(&notification.notification) {
                    Some(id) => ledger.cancelled(id, due),
                    None => ledger.message(),
                }
            }
            _ => ledger.message(),
        });
        carry_out(verdict);
    }

    /// No message of the client will come any more.
    pub(crate) fn input_ended(&self) {
        let connection = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(LAST_CALLS).await;
            if let Some(connection) = connection.upgrade() {
                connection.over.cancel();
            }
        });
    }

    /// The answer to a call was made; `receipts` is what its delivery commits.
    pub(crate) fn answered(&self, id: RequestId, receipts: Receipts) {
        let verdict = self.change(|ledger, due| ledger.answered(id, receipts, due));
        carry_out(verdict);
    }

    /// There will be no answer to a call.
    pub(crate) fn abandoned(&self, id: &RequestId) {
        self.0.calls.lock().ledger.abandoned(id);
    }

    /// The answer to a request was given to the transport.
    pub(crate) fn sent(&self, id: &RequestId) {
        self.change(|ledger, due| ledger.sent(id, due));
    }

    /// Changes the ledger in a way after which it may have to be told the time; what happens now has
    /// its time until `due`.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Ledger<RequestId, Receipts, Instant>, Instant) -> T,
    ) -> T {
        let mut calls = self.0.calls.lock();
        let changed = change(&mut calls.ledger, Instant::now() + CROSSING);
        if !calls.timed
            && let Some(due) = calls.ledger.next_due()
        {
            calls.timed = true;
            drop(calls);
            tokio::spawn(deliver(Arc::downgrade(&self.0), due));
        }
        changed
    }
}

/// Delivers what is due from that moment on, until nothing is left that waits for its time.
async fn deliver(connection: Weak<Inner>, mut due: Instant) {
    loop {
        sleep_until(due).await;
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let (verdict, next) = {
            let mut calls = connection.calls.lock();
            let verdict = calls.ledger.elapsed(Instant::now());
            let next = calls.ledger.next_due();
            calls.timed = next.is_some();
            (verdict, next)
        };
        carry_out(verdict);
        let Some(next) = next else { return };
        due = next;
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("owner", &self.0.owner)
            .finish_non_exhaustive()
    }
}

/// The request that a notification cancels.
fn cancels(notification: &ClientNotification) -> Option<&RequestId> {
    match notification {
        ClientNotification::CancelledNotification(cancelled) => {
            cancelled.params.request_id.as_ref()
        }
        _ => None,
    }
}

fn carry_out(verdict: Verdict<Receipts>) {
    let Verdict { delivered, lost } = verdict;
    delivered.into_iter().flatten().for_each(Delivery::commit);
    drop(lost);
}

#[cfg(test)]
mod tests {
    use jobs::{Hooks, JobRegistry, JobSpec, Outcome, Scope};
    use jobs_local::{Config, LocalJobRegistry};
    use serde_json::{Value, json};

    use super::*;
    use crate::{McpConfig, McpServer};

    /// A connection that was given the end of a job as the answer to request 1.
    struct Stage {
        registry: Arc<dyn JobRegistry>,
        connection: Connection,
        job: jobs::JobId,
        _controller: jobs::Registration,
    }

    impl Stage {
        async fn answered() -> Self {
            let registry: Arc<dyn JobRegistry> =
                LocalJobRegistry::new(Config::default()).expect("a registry");
            let controller = registry.controller("test", &Scope::root()).expect("free");
            let owner = registry.owner("session".into(), Scope::root());
            let hooks = Hooks::from_future(|_| async { Outcome::completed() });
            let spec = JobSpec::new("work", "x", |_id| Ok(hooks)).with_owner(&owner);
            let job = registry.start(spec).await.expect("started");
            let settled = registry.settled(&job, &owner.caller()).await;
            let (_, delivery) = settled.expect("ended").into_parts();
            let server = McpServer::new(Arc::clone(&registry), [], McpConfig::default());
            let connection = server.expect("a server").connection(owner);
            let call = json!({ "id": 1, "method": "tools/call", "params": { "name": "any" } });
            connection.received(&message(call));
            connection.answered(RequestId::Number(1), vec![delivery]);
            Self {
                registry,
                connection,
                job,
                _controller: controller,
            }
        }

        async fn is_told(&self) -> bool {
            let caller = self.connection.owner().caller();
            let job = self.registry.get(&self.job, &caller).await;
            job.expect("the job").reported()
        }

        fn cancel(&self) {
            let method = "notifications/cancelled";
            let cancel = json!({ "method": method, "params": { "requestId": 1 } });
            self.connection.received(&message(cancel));
        }
    }

    fn message(mut fields: Value) -> ClientJsonRpcMessage {
        fields["jsonrpc"] = "2.0".into();
        serde_json::from_value(fields).expect("a message")
    }

    const SHORT: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn an_answer_counts_five_seconds_after_it_was_sent() {
        let stage = Stage::answered().await;
        tokio::time::sleep(10 * CROSSING).await;
        assert!(!stage.is_told().await, "it was not sent");
        stage.connection.sent(&RequestId::Number(1));
        tokio::time::sleep(CROSSING - SHORT).await;
        assert!(!stage.is_told().await, "a cancellation may still cross it");
        tokio::time::sleep(2 * SHORT).await;
        assert!(stage.is_told().await);
        stage.cancel();
        assert!(stage.is_told().await, "too late");
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancellation_within_five_seconds_takes_it_back() {
        let stage = Stage::answered().await;
        stage.connection.sent(&RequestId::Number(1));
        tokio::time::sleep(CROSSING - SHORT).await;
        stage.cancel();
        tokio::time::sleep(10 * CROSSING).await;
        assert!(!stage.is_told().await);
    }

    #[tokio::test(start_paused = true)]
    async fn many_answers_make_one_task() {
        let stage = Stage::answered().await;
        stage.connection.sent(&RequestId::Number(1));
        let tasks = || {
            let runtime = tokio::runtime::Handle::current();
            runtime.metrics().num_alive_tasks()
        };
        let before = tasks();
        for id in 2..1_000 {
            let call = json!({ "id": id, "method": "tools/call", "params": { "name": "any" } });
            stage.connection.received(&message(call));
            let id = RequestId::Number(id);
            stage.connection.answered(id.clone(), Vec::new());
            stage.connection.sent(&id);
        }
        assert_eq!(tasks(), before);
        tokio::time::sleep(2 * CROSSING).await;
        assert_eq!(stage.connection.0.calls.lock().ledger.next_due(), None);
        assert_eq!(tasks(), 0, "nothing to wait for");
    }
}
