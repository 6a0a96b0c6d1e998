//! Which operation is which.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::handle::Pending;
use crate::op::Op;
use crate::record::{Failure, Outcome, spelled};
use crate::values;
use crate::world::World;
use crate::{agent, config, handle, mount, observer, pipeline, puppet, registry, tools};

/// Performs one operation.
pub(crate) fn perform(world: Arc<World>, op: Value) -> Pending {
    Box::pin(async move { dispatch(&world, Op::new(op)?).await })
}

async fn dispatch(world: &Arc<World>, op: Op) -> Outcome {
    match op.name() {
        "agent" => agent::declare(world, &op),
        "register_agent" => agent::register(world, &op),
        "unregister_agent" => agent::unregister(world, &op),
        "set_status" => agent::set_status(world, &op),
        "claim" => agent::claim(world, &op),
        "dispose_agent" => agent::dispose(world, &op).await,
        "dispose_agents_registry" => agent::dispose_registry(world),

        "scope" => mount::scope(world, &op),
        "mount" => mount::mount(world, &op).await,
        "unmount" => mount::unmount(world, &op).await,
        "attach" => mount::attach(world, &op),
        "detach" => mount::detach(world, &op),
        "dispose_service" => mount::dispose_service(world, &op).await,
        "observe" => observer::observe(world, &op).await,
        "unobserve" => observer::unobserve(world, &op),
        "invariants_live" => observer::check(world).await,

        "start" => puppet::start(world.clone(), op).await,
        "settle" => puppet::settle(world, &op),
        "reject" => puppet::reject(world, &op),
        "push" => puppet::push(world, &op),

        "output" | "list" | "kill" | "tool" => tools::call(world, &op).await,
        "policy" => pipeline::install(world, &op),
        "present" => tools::present(world, &op),
        "reg_get" => registry::get(world, &op).await,
        "reg_read" => registry::read(world, &op).await,
        "reg_list" => registry::list(world, &op).await,
        "reg_ids" => registry::ids(world, &op).await,
        "reg_kill" => registry::kill(world, &op).await,
        "reg_wait" => registry::wait(world, &op).await,

        "abort" => handle::abort(world, &op),
        "await" => handle::wait(world, &op).await,
        "tick" => {
            tick(world, op.count("ms").unwrap_or(0)).await;
            Ok(json!("ticked"))
        }
        "batch" => Ok(batch(world, &op)),
        "repeat" => repeat(world, &op).await,

        "config" => config::parse(&op),
        "load" => config::load(&op),
        "invariant" => config::invariant(&op),

        name @ ("hold" | "tools_visible" | "owner_effects" | "wait_resolvers"
        | "service_effects" | "has_service") => Err(Failure::not_ours(name)),
        name => Err(Failure::unknown(&format!("\"{name}\""))),
    }
}

/// Lets virtual time pass, in steps after which answers are delivered.
async fn tick(world: &World, ms: u64) {
    let step = (ms / 50).max(10);
    let mut left = ms;
    while left > 0 {
        let now = left.min(step);
        tokio::time::sleep(Duration::from_millis(now)).await;
        world.settle().await;
        left -= now;
    }
}

/// Runs operations in one synchronous stretch.
fn batch(world: &World, op: &Op) -> Value {
    let run = |op: Value| {
        let name = op.get("op").cloned().unwrap_or_default();
        let mut record = spelled(&world.at_once(op));
        record["op"] = name;
        record
    };
    op.list("ops").into_iter().map(run).collect()
}

/// Runs operations many times, `$i` being the round.
async fn repeat(world: &Arc<World>, op: &Op) -> Outcome {
    let count = op.count("count").unwrap_or(1);
    for i in 1..=count {
        for inner in op.list("ops") {
            let outcome = perform(world.clone(), values::numbered(&inner, i)).await;
            world.settle().await;
            if let Err(failure) = outcome
                && failure.kind == crate::record::Kind::Unknown
            {
                return Err(failure);
            }
        }
    }
    Ok(json!(format!("x{count}")))
}
