//! The operations that call the registry itself.

use std::sync::Arc;
use std::time::Duration;

use jobs::{
    Caller, Error, JobId, JobRegistry, JobRegistryExt, KillOutcome, KilledBy, Snapshot, Waited,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::handle::{self, Answer};
use crate::op::Op;
use crate::record::{Failure, Outcome};
use crate::values;
use crate::world::World;

/// The text of the id that an operation names, by itself or by its puppet.
pub(crate) fn named(world: &World, op: &Op) -> Option<String> {
    match op.get("id") {
        Some(Value::String(id)) => return Some(id.clone()),
        Some(other) => return Some(other.to_string()),
        None => {}
    }
    let job = op.text("job")?;
    let puppet = world.state().puppets.get(job).cloned();
    let id = puppet.and_then(|puppet| puppet.id());
    Some(id.map_or_else(|| job.to_owned(), |id| id.to_string()))
}

fn id(world: &World, op: &Op) -> Result<JobId, Failure> {
    let id = named(world, op)
        .ok_or_else(|| Failure::refused(format!("op {}: expected an \"id\"", op.name())))?;
    Ok(id.parse::<JobId>()?)
}

/// What an operation needs of the registry.
struct Ask {
    registry: Arc<dyn JobRegistry>,
    caller: Caller,
}

impl Ask {
    fn of(world: &World, op: &Op) -> Result<Self, Failure> {
        Ok(Self {
            registry: world.registry()?,
            caller: world.caller(op)?,
        })
    }

    /// The job after an answer was delivered; as in the answer when its record
    /// is gone.
    async fn after(&self, answered: Snapshot) -> Value {
        let now = self.registry.get(&answered.id, &self.caller).await;
        json!(now.unwrap_or(answered))
    }
}

/// `reg_get`
pub(crate) async fn get(world: &World, op: &Op) -> Outcome {
    let ask = Ask::of(world, op)?;
    let id = id(world, op)?;
    Ok(json!(ask.registry.get(&id, &ask.caller).await?))
}

/// `reg_read`
pub(crate) async fn read(world: &World, op: &Op) -> Outcome {
    let ask = Ask::of(world, op)?;
    let id = id(world, op)?;
    let delta = ask.registry.read(&id, &ask.caller).await?.commit();
    Ok(json!({ "text": delta.text, "snapshot": ask.after(delta.job).await }))
}

/// `reg_list`
pub(crate) async fn list(world: &World, op: &Op) -> Outcome {
    let ask = Ask::of(world, op)?;
    Ok(json!(ask.registry.list(&ask.caller).await?))
}

/// `reg_ids`
pub(crate) async fn ids(world: &World, op: &Op) -> Outcome {
    let ask = Ask::of(world, op)?;
    let jobs = ask.registry.list(&ask.caller).await?;
    let ids = jobs
        .iter()
        .map(|job| format!("{}:{}", job.id, job.status()));
    Ok(json!(ids.collect::<Vec<_>>()))
}

/// `reg_kill`
pub(crate) async fn kill(world: &World, op: &Op) -> Outcome {
    let ask = Ask::of(world, op)?;
    let id = id(world, op)?;
    let (caller, reason) = (&ask.caller, op.text("reason"));
    let kill = ask.registry.kill(&id, caller, KilledBy::Model, reason);
    Ok(json!(match kill.await?.commit().outcome {
        KillOutcome::Requested => "requested",
        KillOutcome::AlreadyFinished => "already-finished",
    }))
}

/// `reg_wait`
pub(crate) async fn wait(world: &Arc<World>, op: &Op) -> Outcome {
    let ask = Ask::of(world, op)?;
    let id = id(world, op)?;
    // The job is looked up before the number is.
    ask.registry.get(&id, &ask.caller).await?;
    let deadline = op.given("timeout_ms").map(deadline).transpose()?;
    handle::call(world, op, |cancel| async move {
        if cancel.is_cancelled() {
            return Answer::plain(Err(Failure::refused("wait aborted")));
        }
        let waited = {
            let until = async {
                match deadline {
                    Some(deadline) => sleep(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                waited = ask.registry.settled_or(&id, &ask.caller, until) => Some(waited),
                () = cancel.cancelled() => None,
            }
        };
        answer(ask, waited)
    })
    .await
}

/// A wait that was released has its answer, whatever is cancelled after.
fn answer(ask: Ask, waited: Option<Result<Waited, Error>>) -> Answer {
    Answer::new(move |_| {
        Box::pin(async move {
            match waited {
                None => Err(Failure::refused("wait aborted")),
                Some(Err(error)) => Err(error.into()),
                Some(Ok(Waited::Settled(receipt))) => Ok(ask.after(receipt.commit()).await),
                Some(Ok(Waited::Live(job))) => Ok(json!(job)),
            }
        })
    })
}

/// The tools' check of a wait.
fn deadline(value: &Value) -> Result<Duration, Failure> {
    let millis = values::number(value).ok_or_else(|| {
        Failure::refused(format!(
            "invalid wait timeout: expected a number, got {value}"
        ))
    })?;
    crate::tools::wait_timeout(millis)
}
