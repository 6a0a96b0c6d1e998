//! What is composed: scopes, the registry, the tools, controllers, observers.

use std::sync::Arc;

use jobs::{JobRegistry, Owner, Registration, Scope};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tool_jobs::{Attachment, JobTools};

use crate::agent::{Agent, Post};
use crate::handle::{self, Answer};
use crate::op::Op;
use crate::project::DONE;
use crate::record::{Failure, Outcome};
use crate::world::World;
use crate::{config, observer, tools};

/// Something mounted at a scope under a name.
pub(crate) struct Mount {
    name: String,
    pub(crate) scope: Scope,
    what: What,
}

enum What {
    Tools {
        config: Value,
        /// None while there is no registry.
        live: Option<Live>,
    },
    Controller {
        _guard: Registration,
    },
    /// By its name among the observers.
    Observer,
    Registry,
}

/// Mounted tools, with the owners that take notices through them.
#[derive(Clone)]
struct Live {
    tools: Arc<JobTools>,
    attached: Arc<Mutex<Vec<Attachment>>>,
}

impl Live {
    /// Lets the notices for an owner that stands within `scope` reach its agent.
    fn attach(&self, scope: &Scope, agent: &Arc<Agent>, owner: &Owner) {
        if owner.scope().is_within(scope) {
            let attached = self.tools.attach(owner, Post(Arc::downgrade(agent)));
            self.attached.lock().push(attached);
        }
    }
}

impl Mount {
    /// The tools, if these are some and there is a registry.
    pub(crate) fn tools(&self) -> Option<Arc<JobTools>> {
        self.live().map(|live| live.tools.clone())
    }

    fn live(&self) -> Option<&Live> {
        match &self.what {
            What::Tools { live, .. } => live.as_ref(),
            _ => None,
        }
    }

    /// Whether these are tools without a registry.
    fn waits(&self) -> bool {
        matches!(&self.what, What::Tools { live: None, .. })
    }
}

/// Makes the world that a scenario begins in.
pub(crate) async fn found(world: &Arc<World>, config: &Value) -> Result<(), Failure> {
    let absent = |key: &str| config.get(key).is_some_and(Value::is_null);
    world.state().agents_are_registered = !absent("agents");
    world.state().registry_config = config.get("jobs").cloned().unwrap_or(Value::Null);
    if !absent("jobs") {
        open(world)?;
        if config.get("observe") != Some(&Value::Bool(false)) {
            observer::host(world).await?;
        }
    }
    if !absent("toolJobs") {
        let config = config.get("toolJobs").cloned().unwrap_or_else(|| json!({}));
        mount_tools(world, "root", Scope::root(), config)?;
    }
    Ok(())
}

/// Makes a registry, and gives every tool and every owner its part in it.
fn open(world: &Arc<World>) -> Result<(), Failure> {
    let registry_config = world.state().registry_config.clone();
    let registry: Arc<dyn JobRegistry> = config::registry(&registry_config)?;
    let (agents, waiting) = {
        let mut state = world.state();
        state.registry = Some(registry);
        state.serves = true;
        let waiting: Vec<Mount> = state.mounts.extract_if(.., |mount| mount.waits()).collect();
        (state.agents.clone(), waiting)
    };
    for agent in agents.iter().filter(|agent| agent.is_registered()) {
        agent.register(world);
    }
    for mount in waiting {
        if let What::Tools { config, .. } = mount.what {
            mount_tools(world, &mount.name, mount.scope, config)?;
        }
    }
    Ok(())
}

fn mount_tools(world: &Arc<World>, name: &str, scope: Scope, config: Value) -> Result<(), Failure> {
    let registry = {
        let state = world.state();
        state.registry.clone().filter(|_| state.serves)
    };
    let live = match registry {
        None => None,
        Some(registry) => {
            let live = Live {
                tools: tools::mount(registry, scope.clone(), &config)?,
                attached: Arc::default(),
            };
            let agents = world.state().agents.clone();
            for agent in agents {
                for owner in agent.owners() {
                    live.attach(&scope, &agent, &owner);
                }
            }
            Some(live)
        }
    };
    let what = What::Tools { config, live };
    let name = name.to_owned();
    world.state().mounts.push(Mount { name, scope, what });
    Ok(())
}

/// Lets the notices for a new owner reach its agent.
pub(crate) fn attach_owner(world: &World, agent: &Arc<Agent>, owner: &Owner) {
    let mounted: Vec<(Live, Scope)> = {
        let state = world.state();
        let mounts = state.mounts.iter();
        mounts
            .filter_map(|mount| Some((mount.live()?.clone(), mount.scope.clone())))
            .collect()
    };
    for (live, scope) in mounted {
        live.attach(&scope, agent, owner);
    }
}

/// `scope`
pub(crate) fn scope(world: &World, op: &Op) -> Outcome {
    let name = op.need("name")?;
    let scope = world.scope(op.text("parent"))?.child(name);
    world.state().scopes.insert(name.to_owned(), scope);
    Ok(json!(name))
}

/// `mount`
pub(crate) async fn mount(world: &Arc<World>, op: &Op) -> Outcome {
    let name = op.need("name")?;
    let scope = world.scope(op.text("scope"))?;
    let what = match op.text("plugin").unwrap_or("toolJobs") {
        "toolJobs" | "toolJobsBare" | "tools" => {
            let config = op.get("config").cloned().unwrap_or_else(|| json!({}));
            mount_tools(world, name, scope, config)?;
            return Ok(json!("mounted"));
        }
        "controller" => {
            let _guard = world.registry()?.controller(name, &scope)?;
            What::Controller { _guard }
        }
        "observer" => {
            observer::observe(world, op).await?;
            What::Observer
        }
        "jobsLocal" | "jobs" if !world.state().serves => {
            if let Some(config) = op.get("config") {
                world.state().registry_config = config.clone();
            }
            open(world)?;
            What::Registry
        }
        "jobsLocal" | "jobs" | "jobsLocalSubclass" | "jobsAbstract" => {
            return Err(Failure::not_ours("mount of a service"));
        }
        other => return Err(Failure::unknown(&format!("mount of \"{other}\""))),
    };
    let name = name.to_owned();
    world.state().mounts.push(Mount { name, scope, what });
    Ok(json!("mounted"))
}

/// `unmount`
pub(crate) async fn unmount(world: &Arc<World>, op: &Op) -> Outcome {
    let name = op.need("name")?;
    let mount = {
        let mut state = world.state();
        let at = state.mounts.iter().position(|mount| mount.name == name);
        at.map(|at| state.mounts.remove(at))
    };
    match mount.map(|mount| mount.what) {
        None => {
            return Err(Failure::refused(format!(
                "nothing is mounted as \"{name}\""
            )));
        }
        Some(What::Observer) => {
            observer::unobserve(world, op)?;
        }
        Some(What::Registry) => close(world).await,
        Some(What::Tools { .. } | What::Controller { .. }) => {}
    }
    Ok(json!("unmounted"))
}

/// `attach`
pub(crate) fn attach(world: &World, op: &Op) -> Outcome {
    let name = op.text("name").unwrap_or("controller");
    let scope = world.scope(op.text("scope"))?;
    let earlier = world.state().controllers.remove(name);
    drop(earlier);
    let guard = world.registry()?.controller(name, &scope)?;
    world.state().controllers.insert(name.to_owned(), guard);
    Ok(json!("attached"))
}

/// `detach`
pub(crate) fn detach(world: &World, op: &Op) -> Outcome {
    let name = op.text("name").unwrap_or("controller");
    let guard = world.state().controllers.remove(name);
    guard.map_or_else(
        || {
            Err(Failure::refused(format!(
                "no controller \"{name}\" is attached"
            )))
        },
        |_guard| Ok(json!(DONE)),
    )
}

/// `dispose_service`
pub(crate) async fn dispose_service(world: &Arc<World>, op: &Op) -> Outcome {
    let disposed = world.clone();
    handle::call(world, op, |_| async move {
        close(&disposed).await;
        Answer::plain(Ok(json!("disposed")))
    })
    .await
}

/// Shuts the registry down. What needs it goes first, and comes back with the
/// next one.
async fn close(world: &World) {
    let (registry, gone) = {
        let mut state = world.state();
        state.serves = false;
        let mounts = state.mounts.iter_mut();
        let gone: Vec<Live> = mounts
            .filter_map(|mount| match &mut mount.what {
                What::Tools { live, .. } => live.take(),
                _ => None,
            })
            .collect();
        (state.registry.clone(), gone)
    };
    drop(gone);
    if let Some(registry) = registry {
        registry.shutdown().await;
    }
}
