//! Stub owners: agents with an inbox and a status.

use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use jobs::{Caller, Owner, OwnerKey, Scope, SessionId};
use parking_lot::Mutex;
use serde_json::json;
use tool_jobs::{Deliver, DeliverError, Inbox, Lane, Notice, Turn, WakeBudget};

use crate::handle::{self, Answer};
use crate::mount;
use crate::op::Op;
use crate::project::DONE;
use crate::record::{Failure, Outcome};
use crate::world::World;

/// An agent that does nothing but have jobs and take notices.
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) session: String,
    pub(crate) scope: Scope,
    /// Its instances in the registries it has met, the current one last.
    owners: Mutex<Vec<Owner>>,
    is_registered: Mutex<bool>,
    inbox: Inbox,
    /// Its open turn while it is busy.
    turn: Mutex<Option<Turn>>,
    stays_busy: bool,
    failure: Option<String>,
    world: Weak<World>,
}

/// `agent`
pub(crate) fn declare(world: &Arc<World>, op: &Op) -> Outcome {
    let name = op.need("name")?;
    let session = op.text("session").unwrap_or(name);
    let failure = op
        .get("delivery_throws")
        .filter(|it| it.as_bool() != Some(false));
    let agent = Arc::new(Agent {
        name: name.to_owned(),
        session: session.to_owned(),
        scope: world.scope(op.text("scope"))?,
        owners: Mutex::default(),
        is_registered: Mutex::new(false),
        inbox: Inbox::new(),
        turn: Mutex::new(None),
        stays_busy: op.flag("busy_after_followup"),
        failure: failure.map(|it| it.as_str().unwrap_or("delivery failed").to_owned()),
        world: Arc::downgrade(world),
    });
    if op.text("status") != Some("idle") {
        agent.run();
    }
    let registered = {
        let mut state = world.state();
        state.agents.retain(|other| other.name != name);
        state.agents.push(agent.clone());
        state.agents_are_registered && op.get("register") != Some(&json!(false))
    };
    if registered {
        agent.register(world);
    }
    Ok(json!({ "agent": name, "session": session, "registered": registered }))
}

/// `register_agent`
pub(crate) fn register(world: &Arc<World>, op: &Op) -> Outcome {
    named(world, op.need("name")?)?.register(world);
    Ok(json!(DONE))
}

/// `unregister_agent`
pub(crate) fn unregister(world: &World, op: &Op) -> Outcome {
    named(world, op.need("name")?)?.unregister(world);
    Ok(json!("unregistered"))
}

/// `dispose_agents_registry`
pub(crate) fn dispose_registry(world: &World) -> Outcome {
    let agents = {
        let mut state = world.state();
        state.agents_are_registered = false;
        state.agents.clone()
    };
    for agent in agents {
        agent.unregister(world);
    }
    Ok(json!("disposed"))
}

/// `set_status`
pub(crate) fn set_status(world: &World, op: &Op) -> Outcome {
    let agent = named(world, op.need("name")?)?;
    let status = op.need("status")?;
    match status {
        "idle" => agent.rest(),
        "running" => agent.run(),
        other => return Err(Failure::unknown(&format!("status {other}"))),
    }
    Ok(json!(status))
}

/// `claim`
pub(crate) fn claim(world: &World, op: &Op) -> Outcome {
    let agent = named(world, op.need("agent")?)?;
    if op.text("source") == Some("user") {
        agent.inbox.send_user("go on");
    }
    if let Some(turn) = &mut *agent.turn.lock() {
        let _claimed = turn.claim();
        return Ok(json!("claimed"));
    }
    end(agent.inbox.begin_turn());
    Ok(json!("claimed"))
}

/// `dispose_agent`
pub(crate) async fn dispose(world: &Arc<World>, op: &Op) -> Outcome {
    let agent = named(world, op.need("name")?)?;
    handle::call(world, op, |_| async move {
        let owners = agent.owners.lock().clone();
        join_all(owners.iter().map(Owner::close)).await;
        Answer::plain(Ok(json!("disposed")))
    })
    .await
}

/// The agent of a name.
pub(crate) fn named(world: &World, name: &str) -> Result<Arc<Agent>, Failure> {
    let agents = world.state().agents.clone();
    let agent = agents.into_iter().find(|agent| agent.name == name);
    agent.ok_or_else(|| Failure::refused(format!("no agent \"{name}\"")))
}

impl World {
    /// On whose behalf an operation is.
    pub(crate) fn caller(&self, op: &Op) -> Result<Caller, Failure> {
        let Some(name) = op.text("agent") else {
            return Ok(Caller::Anonymous);
        };
        let agent = named(self, name)?;
        let owner = agent.owners.lock().last().map(Owner::caller);
        Ok(owner.unwrap_or_else(|| Caller::Session(SessionId::new(agent.session.as_str()))))
    }

    /// The instance that an agent is, or one that no registry has made.
    pub(crate) fn owner_key(&self, name: &str) -> Result<OwnerKey, Failure> {
        let agent = named(self, name)?;
        let key = agent.owners.lock().last().map(|owner| owner.key().clone());
        Ok(key.unwrap_or_else(|| OwnerKey::fresh(SessionId::new(agent.session.as_str()))))
    }
}

impl Agent {
    /// Becomes the current instance of its session.
    pub(crate) fn register(self: &Arc<Self>, world: &Arc<World>) {
        *self.is_registered.lock() = true;
        let Ok(registry) = world.registry() else {
            return;
        };
        let session = SessionId::new(self.session.as_str());
        let owner = registry.owner(session, self.scope.clone());
        self.owners.lock().push(owner.clone());
        mount::attach_owner(world, self, &owner);
    }

    /// Stops being the current instance: another one, of nobody, is.
    fn unregister(&self, world: &World) {
        let was = std::mem::replace(&mut *self.is_registered.lock(), false);
        let (true, Ok(registry)) = (was, world.registry()) else {
            return;
        };
        let session = SessionId::new(self.session.as_str());
        let nobody = registry.owner(session, self.scope.clone());
        world.state().nobodies.push(nobody);
    }

    /// Whether a new registry is to know it.
    pub(crate) fn is_registered(&self) -> bool {
        *self.is_registered.lock()
    }

    /// All its instances.
    pub(crate) fn owners(&self) -> Vec<Owner> {
        self.owners.lock().clone()
    }

    fn run(&self) {
        let mut turn = self.turn.lock();
        if turn.is_none() {
            *turn = Some(self.inbox.begin_turn());
        }
    }

    fn rest(&self) {
        let turn = self.turn.lock().take();
        if let Some(turn) = turn {
            end(turn);
        }
    }
}

/// Claims everything, and ends the turn.
fn end(mut turn: Turn) {
    loop {
        let _claimed = turn.claim();
        match turn.close() {
            Ok(()) => return,
            Err(open) => turn = open,
        }
    }
}

/// Where the notices for one agent go.
pub(crate) struct Post(pub(crate) Weak<Agent>);

impl Deliver for Post {
    fn deliver(&self, notice: Notice, wake: Option<&WakeBudget>) -> Result<Lane, DeliverError> {
        let gone = || DeliverError::new("the scenario is over");
        let agent = self.0.upgrade().ok_or_else(gone)?;
        let world = agent.world.upgrade().ok_or_else(gone)?;
        if let Some(failure) = &agent.failure {
            world.event(json!({ "ev": "delivery_threw", "agent": agent.name }));
            return Err(DeliverError::new(failure.as_str()));
        }
        let mut event = json!(notice);
        let lane = agent.inbox.deliver(notice, wake)?;
        event["summary"] = event["source"]["summary"].take();
        event["ev"] = json!("notice");
        event["agent"] = json!(agent.name);
        event["lane"] = json!(match lane {
            Lane::Joined => "inject",
            Lane::Woke => "followup",
        });
        world.event(event);
        if lane == Lane::Woke {
            let mut turn = agent.inbox.begin_turn();
            if agent.stays_busy {
                let _claimed = turn.claim();
                *agent.turn.lock() = Some(turn);
            } else {
                end(turn);
            }
        }
        Ok(lane)
    }
}
