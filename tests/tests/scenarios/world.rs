//! One scenario's world: a registry, its mounts, owners, puppets and observers.

use std::collections::HashMap;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jobs::contain::Contained;
use jobs::{JobRegistry, Owner, Registration, Scope};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::task::{AbortHandle, unconstrained, yield_now};

use crate::agent::Agent;
use crate::handle::Handle;
use crate::load::Scenario;
use crate::mount::{self, Mount};
use crate::ops;
use crate::pipeline::Policy;
use crate::puppet::Puppet;
use crate::record::{Failure, Kind, Outcome, Record, spelled};

/// How often the other tasks get their turn before they count as idle.
const YIELDS: usize = 100;

/// How often the world may go on moving by itself after one operation.
const ROUNDS: usize = 100;

/// More than any wait of the tools or grace of the registry, in virtual time.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// What the operations of a scenario act on.
///
/// No lock is held while a registry or a tool is called.
pub(crate) struct World {
    me: Weak<World>,
    state: Mutex<State>,
    events: Mutex<Vec<Value>>,
    inexpressible: Mutex<bool>,
}

/// Everything that operations name.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) registry: Option<Arc<dyn JobRegistry>>,
    /// Whether the registry is not shut down.
    pub(crate) serves: bool,
    pub(crate) registry_config: Value,
    pub(crate) scopes: HashMap<String, Scope>,
    pub(crate) agents: Vec<Arc<Agent>>,
    pub(crate) agents_are_registered: bool,
    /// Instances that took the place of unregistered agents.
    pub(crate) nobodies: Vec<Owner>,
    pub(crate) puppets: HashMap<String, Arc<Puppet>>,
    /// In the order in which their calls began.
    pub(crate) handles: Vec<(String, Arc<Handle>)>,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) observers: HashMap<String, AbortHandle>,
    pub(crate) controllers: HashMap<String, Registration>,
    pub(crate) policies: Vec<Arc<Policy>>,
}

/// Runs a scenario in a world of its own.
pub(crate) fn run(scenario: &Scenario) -> Vec<Record> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let script = async {
        let world = World::new();
        let made = mount::found(&world, &scenario.config).await;
        world.settle().await;
        world.drain();
        let mut records = Vec::new();
        for op in &scenario.ops {
            let outcome = match &made {
                Ok(()) => world.operation(op.clone()).await,
                Err(failure) => Err(failure.clone()),
            };
            world.settle().await;
            let inexpressible = mem::take(&mut *world.inexpressible.lock());
            records.push(Record::new(&outcome, world.drain(), inexpressible));
        }
        records
    };
    match runtime {
        Ok(runtime) => runtime.block_on(unconstrained(script)),
        Err(error) => {
            let outcome = Err(Failure::refused(format!("no runtime: {error}")));
            let record = |_| Record::new(&outcome, Vec::new(), false);
            scenario.ops.iter().map(record).collect()
        }
    }
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            state: Mutex::default(),
            events: Mutex::default(),
            inexpressible: Mutex::default(),
        })
    }

    /// The tables of the world. To be let go before anything foreign is called.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The registry, also one that was shut down.
    pub(crate) fn registry(&self) -> Result<Arc<dyn JobRegistry>, Failure> {
        let registry = self.state().registry.clone();
        registry.ok_or_else(|| Failure::refused("no job registry is mounted"))
    }

    /// The puppet that was started last under this name.
    pub(crate) fn puppet(&self, job: &str) -> Result<Arc<Puppet>, Failure> {
        let puppet = self.state().puppets.get(job).cloned();
        puppet.ok_or_else(|| Failure::refused(format!("no puppet \"{job}\" was started")))
    }

    /// A scope by its name; the root without one.
    pub(crate) fn scope(&self, name: Option<&str>) -> Result<Scope, Failure> {
        let Some(name) = name else {
            return Ok(Scope::root());
        };
        let scope = self.state().scopes.get(name).cloned();
        scope.ok_or_else(|| Failure::refused(format!("no scope \"{name}\"")))
    }

    /// Notes what happened.
    pub(crate) fn event(&self, event: Value) {
        self.events.lock().push(event);
    }

    /// How much has happened since the last operation.
    pub(crate) fn events(&self) -> usize {
        self.events.lock().len()
    }

    fn drain(&self) -> Vec<Value> {
        mem::take(&mut *self.events.lock())
    }

    /// The operation that runs has a value that our types cannot hold.
    pub(crate) fn inexpressible(&self) {
        *self.inexpressible.lock() = true;
    }

    fn arc(&self) -> Option<Arc<World>> {
        self.me.upgrade()
    }

    /// Runs one operation to its end, in virtual time.
    pub(crate) async fn operation(self: &Arc<Self>, op: Value) -> Outcome {
        let performed = Contained::new(Box::pin(ops::perform(self.clone(), op)));
        match tokio::time::timeout(FOREVER, performed).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panicked)) => Err(Failure::refused(format!("panicked: {panicked}"))),
            Err(_) => Err(Failure::refused("never ended")),
        }
    }

    /// Lets every task run until all are idle, delivering the answers of
    /// asynchronous calls only when nothing else moves.
    pub(crate) async fn settle(&self) {
        for _ in 0..ROUNDS {
            let before = self.events();
            for _ in 0..YIELDS {
                yield_now().await;
            }
            if self.events() != before {
                continue;
            }
            if !self.deliver_ready().await {
                return;
            }
        }
    }

    async fn deliver_ready(&self) -> bool {
        let handles = self.state().handles.clone();
        let mut delivered = false;
        for (name, handle) in handles {
            if let Some(outcome) = handle.deliver().await {
                let mut event = spelled(&outcome);
                event["ev"] = json!("completed");
                event["handle"] = json!(name);
                self.event(event);
                delivered = true;
            }
        }
        delivered
    }

    /// Runs operations inside a synchronous call of the registry.
    pub(crate) fn reenter(&self, ops: &[Value]) {
        for op in ops {
            let outcome = self.at_once(op.clone());
            self.reentrant(op, &outcome);
        }
    }

    /// Notes how an operation ended that was run inside another.
    pub(crate) fn reentrant(&self, op: &Value, outcome: &Outcome) {
        let mut event = spelled(outcome);
        event["ev"] = json!("reentrant");
        event["op"] = op.get("op").cloned().unwrap_or_default();
        self.event(event);
        if let Err(Failure { kind, text }) = outcome
            && *kind == Kind::Unknown
        {
            // An operation that nobody knows must not pass unseen inside one.
            self.event(json!({ "ev": "violation", "rule": text }));
        }
    }

    /// Runs an operation without letting any task run: one poll. One that has
    /// to wait goes on by itself.
    pub(crate) fn at_once(&self, op: Value) -> Outcome {
        let Some(world) = self.arc() else {
            return Err(Failure::refused("the scenario is over"));
        };
        let mut performed = Box::pin(ops::perform(world, op));
        let mut cx = Context::from_waker(Waker::noop());
        match pin!(unconstrained(performed.as_mut())).poll(&mut cx) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => {
                // It goes on; nobody has asked for its end.
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    drop(runtime.spawn(performed));
                }
                Ok(json!({ "pending": true }))
            }
        }
    }
}
