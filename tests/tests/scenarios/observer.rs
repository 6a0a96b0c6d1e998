//! Observers of changes, and of the ends that they see through them.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use jobs::{Caller, Change, Checker, JobId, JobRegistry, Scope, SessionId, Snapshot};
use serde_json::{Value, json};

use crate::op::Op;
use crate::project::DONE;
use crate::record::{Failure, Outcome};
use crate::world::World;

/// What one observer does.
struct Observer {
    name: String,
    changed: bool,
    done: bool,
    show_status: bool,
    then: Vec<Value>,
    times: u64,
    /// Jobs whose end it has seen.
    ended: HashSet<JobId>,
    checker: Option<Checker>,
}

/// `observe`, and `mount` of an observer.
pub(crate) async fn observe(world: &Arc<World>, op: &Op) -> Outcome {
    let observer = Observer {
        name: op.need("name")?.to_owned(),
        changed: op.flag("changed"),
        done: op.flag("done"),
        show_status: op.flag("show_status"),
        then: op.list("then"),
        times: op.count("times").unwrap_or(u64::MAX),
        ended: HashSet::new(),
        checker: None,
    };
    start(world, observer, world.scope(op.text("scope"))?).await?;
    Ok(json!("observing"))
}

/// The observer `host` of changes and completions.
pub(crate) async fn host(world: &Arc<World>) -> Result<(), Failure> {
    let op = json!({ "op": "observe", "name": "host", "changed": true, "done": true });
    observe(world, &Op::new(op)?).await.map(|_| ())
}

/// `unobserve`
pub(crate) fn unobserve(world: &World, op: &Op) -> Outcome {
    let name = op.need("name")?;
    let observer = world.state().observers.remove(name);
    match observer {
        Some(observer) => {
            observer.abort();
            Ok(json!(DONE))
        }
        None => Err(Failure::refused(format!("no observer \"{name}\""))),
    }
}

/// `invariants_live`
pub(crate) async fn check(world: &Arc<World>) -> Outcome {
    let observer = Observer {
        name: "invariants".to_owned(),
        changed: false,
        done: true,
        show_status: false,
        then: Vec::new(),
        times: 0,
        ended: HashSet::new(),
        checker: Some(Checker::default()),
    };
    start(world, observer, Scope::root()).await?;
    Ok(json!("installed"))
}

async fn start(world: &Arc<World>, mut observer: Observer, scope: Scope) -> Result<(), Failure> {
    let registry = world.registry()?;
    let sessions: Vec<SessionId> = {
        let state = world.state();
        let agents = state.agents.iter();
        agents
            .map(|agent| SessionId::new(agent.session.as_str()))
            .collect()
    };
    // Ends from before are none of its news.
    let callers = sessions.into_iter().map(Caller::Session);
    for caller in callers.chain([Caller::Anonymous]) {
        observer.new_ends(&*registry, &caller).await;
    }
    let mut changes = registry.changes(&scope);
    let name = observer.name.clone();
    let weak = Arc::downgrade(world);
    let task = tokio::spawn(async move {
        while let Some(change) = changes.next().await {
            observer.see(&weak, &*registry, &change).await;
        }
    });
    let earlier = world.state().observers.insert(name, task.abort_handle());
    if let Some(earlier) = earlier {
        earlier.abort();
    }
    Ok(())
}

impl Observer {
    async fn see(&mut self, world: &Weak<World>, registry: &dyn JobRegistry, change: &Change) {
        let Some(world) = world.upgrade() else { return };
        let (owner, caller) = match change {
            Change::Owner(key) => (json!(key.session), Caller::Session(key.session.clone())),
            Change::Unowned | Change::Everything => (Value::Null, Caller::Anonymous),
        };
        if self.changed {
            let mut event = json!({ "ev": "changed", "observer": self.name, "owner": owner });
            if self.show_status {
                let jobs = registry.list(&caller).await.unwrap_or_default();
                let shown = jobs
                    .iter()
                    .map(|job| format!("{}:{}", job.id, job.status()));
                event["statuses"] = json!(shown.collect::<Vec<_>>());
            }
            world.event(event);
            self.react(&world).await;
        }
        if self.done {
            for job in self.new_ends(registry, &caller).await {
                let event =
                    json!({ "ev": "done", "observer": self.name, "owner": owner, "snapshot": job });
                world.event(event);
                self.react(&world).await;
            }
        }
        self.verify(&world, registry, &caller).await;
    }

    /// Runs what is to be done inside.
    async fn react(&mut self, world: &Arc<World>) {
        if self.times == 0 || self.then.is_empty() {
            return;
        }
        self.times -= 1;
        for op in self.then.clone() {
            let outcome = crate::ops::perform(world.clone(), op.clone()).await;
            world.reentrant(&op, &outcome);
        }
    }

    /// The jobs whose end is seen for the first time.
    async fn new_ends(&mut self, registry: &dyn JobRegistry, caller: &Caller) -> Vec<Snapshot> {
        let jobs = registry.list(caller).await.unwrap_or_default();
        let asked = caller.session();
        jobs.into_iter()
            .filter(|job| job.owner.as_ref() == asked && job.is_terminal())
            .filter(|job| self.ended.insert(job.id.clone()))
            .collect()
    }

    async fn verify(&mut self, world: &World, registry: &dyn JobRegistry, caller: &Caller) {
        let Some(checker) = &mut self.checker else {
            return;
        };
        let jobs = registry.list(caller).await.unwrap_or_default();
        if let Err(violation) = checker.see_list(&jobs) {
            world.event(json!({ "ev": "violation", "rule": violation.to_string() }));
        }
    }
}
