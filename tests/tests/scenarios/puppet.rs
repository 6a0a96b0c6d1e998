//! Puppet producers: jobs that do what a script says.

use std::sync::{Arc, Weak};

use jobs::{Hooks, JobId, JobSpec, Outcome, ProducerError, TerminalStatus};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::feed::Feed;
use crate::op::{Op, whole};
use crate::project::DONE;
use crate::record::{self, Failure};
use crate::world::World;

/// The strings of one puppet.
pub(crate) struct Puppet {
    id: Mutex<Option<JobId>>,
    end: Mutex<Option<oneshot::Sender<End>>>,
    feed: Option<Arc<Feed>>,
}

/// How a puppet's `done` resolves.
enum End {
    Outcome(Outcome),
    /// The producer breaks its contract.
    Panic(String),
}

/// What a puppet does when it is asked to stop.
struct Cancel {
    job: String,
    mode: String,
    message: String,
    ops: Vec<Value>,
    failures: Mutex<u64>,
}

impl Puppet {
    /// The id, once its start returned one.
    pub(crate) fn id(&self) -> Option<JobId> {
        self.id.lock().clone()
    }

    fn end(&self, end: End) {
        if let Some(feed) = &self.feed {
            feed.close();
        }
        let sender = self.end.lock().take();
        if let Some(sender) = sender {
            // A job that settled otherwise does not hear of it any more.
            let _unheard = sender.send(end);
        }
    }

    fn settle(&self, outcome: &Value) -> Expressed {
        match expressed(outcome) {
            Some(outcome) => {
                self.end(End::Outcome(outcome));
                Expressed::Exactly
            }
            None => {
                self.end(End::Panic(format!(
                    "an outcome of the wrong shape: {outcome}"
                )));
                Expressed::AsPanic
            }
        }
    }
}

/// Whether an outcome could be said with our types.
#[derive(PartialEq)]
enum Expressed {
    Exactly,
    AsPanic,
}

/// `start`
pub(crate) async fn start(world: Arc<World>, op: Op) -> record::Outcome {
    let registry = world.registry()?;
    let spec = spec(&world, &op)?;
    let alias = op.text("job").unwrap_or("job").to_owned();
    let id = registry.start(spec).await?;
    if let Some(puppet) = world.state().puppets.get(&alias) {
        *puppet.id.lock() = Some(id.clone());
    }
    Ok(json!({ "id": id }))
}

fn spec(world: &Arc<World>, op: &Op) -> Result<JobSpec, Failure> {
    let text = |key: &str, default: &str, what: &str| match op.given(key) {
        None => Ok(default.to_owned()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(Failure::inexpressible(format!(
            "invalid job {what}: expected a text, got {other}"
        ))),
    };
    let kind = text("kind", "bash", "kind")?;
    let label = text("label", "work", "label")?;
    let limit = match op.given("limit") {
        None => None,
        Some(limit) => Some(whole(limit).ok_or_else(|| {
            Failure::inexpressible(format!(
                "invalid output limit: expected a count of bytes, got {limit}"
            ))
        })?),
    };
    let owner = op
        .text("owner")
        .map(|owner| world.owner_key(owner))
        .transpose()?;
    let starter = {
        let (world, op) = (Arc::downgrade(world), op.clone());
        move |id: &JobId| run(&world, &op, id)
    };
    let mut spec = JobSpec::new(kind, label, starter);
    if let Some(limit) = limit {
        spec = spec.with_output_limit(limit);
    }
    if let Some(owner) = owner {
        spec = spec.with_owner_key(owner);
    }
    Ok(spec)
}

/// The starter.
fn run(world: &Weak<World>, op: &Op, _id: &JobId) -> Result<Hooks, ProducerError> {
    let Some(world) = world.upgrade() else {
        return Err(ProducerError::new("the scenario is over"));
    };
    let job = op.text("job").unwrap_or("job").to_owned();
    world.event(json!({ "ev": "run", "job": job }));
    world.reenter(&op.list("run_ops"));
    if op.text("run") == Some("throw") {
        return Err(ProducerError::new(
            op.text("run_message").unwrap_or("starter failed"),
        ));
    }
    let streams = op.get("chunks").is_some() || op.flag("stream");
    let (sender, done) = oneshot::channel();
    let puppet = Arc::new(Puppet {
        id: Mutex::new(None),
        end: Mutex::new(Some(sender)),
        feed: streams.then(|| Arc::new(Feed::new(&op.list("chunks")))),
    });
    if let Some(settled) = op
        .get("settled")
        .filter(|settled| *settled != &Value::Bool(false))
    {
        let outcome = match settled {
            Value::Bool(_) => json!({ "status": "completed" }),
            outcome => outcome.clone(),
        };
        if puppet.settle(&outcome) == Expressed::AsPanic {
            world.inexpressible();
        }
    }
    let cancel = Cancel {
        job: job.clone(),
        mode: op.text("cancel").unwrap_or("ignore").to_owned(),
        message: op
            .text("cancel_message")
            .unwrap_or("cancel failed")
            .to_owned(),
        ops: op.list("cancel_ops"),
        failures: Mutex::new(0),
    };
    let hooks = {
        let (world, puppet) = (Arc::downgrade(&world), Arc::downgrade(&puppet));
        Hooks::new(
            move |reason| cancel.run(&world, &puppet, reason),
            async move {
                match done.await {
                    Ok(End::Outcome(outcome)) => outcome,
                    // Not `panic!`: a script's panic need not be printed.
                    Ok(End::Panic(text)) => std::panic::resume_unwind(Box::new(text)),
                    Err(_) => std::future::pending().await,
                }
            },
        )
    };
    let feed = puppet.feed.clone();
    world.state().puppets.insert(job, puppet);
    Ok(match feed {
        Some(feed) => hooks.with_output(feed),
        None => hooks,
    })
}

impl Cancel {
    fn run(
        &self,
        world: &Weak<World>,
        puppet: &Weak<Puppet>,
        reason: Option<&str>,
    ) -> Result<(), ProducerError> {
        let (Some(world), Some(puppet)) = (world.upgrade(), puppet.upgrade()) else {
            return Ok(());
        };
        world.event(json!({ "ev": "cancel", "job": self.job, "reason": reason }));
        world.reenter(&self.ops);
        match self.mode.as_str() {
            "throw" => Err(ProducerError::new(self.message.as_str())),
            "throw-once" => {
                let mut failures = self.failures.lock();
                *failures += 1;
                match *failures {
                    1 => Err(ProducerError::new(self.message.as_str())),
                    _ => Ok(()),
                }
            }
            mode => {
                if let Some(status) = mode.strip_prefix("settle-") {
                    puppet.settle(&json!({ "status": status }));
                }
                Ok(())
            }
        }
    }
}

/// `settle`
pub(crate) fn settle(world: &World, op: &Op) -> record::Outcome {
    let puppet = world.puppet(op.need("job")?)?;
    let outcome = match op.given("outcome") {
        Some(outcome) => outcome.clone(),
        None => {
            let mut outcome = json!({ "status": op.get("status").unwrap_or(&json!("completed")) });
            for key in ["detail", "output"] {
                if let Some(value) = op.get(key) {
                    outcome[key] = value.clone();
                }
            }
            outcome
        }
    };
    if puppet.settle(&outcome) == Expressed::AsPanic {
        world.inexpressible();
    }
    Ok(json!("resolved"))
}

/// `reject`
pub(crate) fn reject(world: &World, op: &Op) -> record::Outcome {
    let puppet = world.puppet(op.need("job")?)?;
    let text = match op.given("message").or_else(|| op.given("value")) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "rejected".to_owned(),
    };
    puppet.end(End::Panic(text));
    Ok(json!(DONE))
}

/// `push`
pub(crate) fn push(world: &World, op: &Op) -> record::Outcome {
    let puppet = world.puppet(op.need("job")?)?;
    if let (Some(feed), Some(chunk)) = (&puppet.feed, op.given("chunk")) {
        feed.push(chunk);
    }
    Ok(json!("pushed"))
}

/// `outcome` in our types, unless its shape is wrong.
fn expressed(outcome: &Value) -> Option<Outcome> {
    let status = match outcome.get("status")?.as_str()? {
        "completed" => TerminalStatus::Completed,
        "killed" => TerminalStatus::Killed,
        "failed" => TerminalStatus::Failed,
        _ => return None,
    };
    let mut expressed = Outcome::of(status);
    match outcome.get("detail") {
        None | Some(Value::Null) => {}
        Some(detail) => expressed = expressed.with_detail(detail.as_str()?),
    }
    match outcome.get("output") {
        None | Some(Value::Null) => {}
        Some(output) => expressed = expressed.with_output(output.as_str()?),
    }
    Some(expressed)
}
