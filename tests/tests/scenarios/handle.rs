//! Calls that run under a name: started, aborted, awaited.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jobs::CancellationToken;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::op::Op;
use crate::project::NOT_YET;
use crate::record::{Failure, Outcome, spelled};
use crate::world::World;

/// An answer that counts only once it is delivered. It is told whether its call
/// was cancelled meanwhile.
pub(crate) struct Answer(Box<dyn FnOnce(Cancelled) -> Pending + Send>);

/// A future of anything.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Whether a call was cancelled before its answer was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    Yes,
    No,
}

impl Answer {
    pub(crate) fn new(deliver: impl FnOnce(Cancelled) -> Pending + Send + 'static) -> Self {
        Self(Box::new(deliver))
    }

    /// An answer that commits nothing.
    pub(crate) fn plain(outcome: Outcome) -> Self {
        Self::new(move |_| Box::pin(async move { outcome }))
    }

    pub(crate) async fn deliver(self, cancelled: Cancelled) -> Outcome {
        (self.0)(cancelled).await
    }
}

/// A call under a name.
pub(crate) struct Handle {
    cancel: CancellationToken,
    stage: Mutex<Stage>,
    moved: Notify,
}

enum Stage {
    Running,
    Ready(Answer),
    Delivering,
    Done(Outcome),
}

impl Handle {
    /// Delivers the answer if it is there, and gives it out once.
    pub(crate) async fn deliver(&self) -> Option<Outcome> {
        let answer = {
            let mut stage = self.stage.lock();
            match std::mem::replace(&mut *stage, Stage::Delivering) {
                Stage::Ready(answer) => answer,
                other => {
                    *stage = other;
                    return None;
                }
            }
        };
        let cancelled = match self.cancel.is_cancelled() {
            true => Cancelled::Yes,
            false => Cancelled::No,
        };
        let outcome = answer.deliver(cancelled).await;
        *self.stage.lock() = Stage::Done(outcome.clone());
        self.moved.notify_one();
        Some(outcome)
    }

    fn done(&self) -> Option<Outcome> {
        match &*self.stage.lock() {
            Stage::Done(outcome) => Some(outcome.clone()),
            _ => None,
        }
    }
}

/// Runs a call: here, delivered at once, or under the name that `as` gives it.
pub(crate) async fn call<F>(
    world: &Arc<World>,
    op: &Op,
    call: impl FnOnce(CancellationToken) -> F,
) -> Outcome
where
    F: Future<Output = Answer> + Send + 'static,
{
    let cancel = CancellationToken::new();
    if op.flag("aborted") {
        cancel.cancel();
    }
    let answer = call(cancel.clone());
    let Some(name) = op.text("as") else {
        return answer.await.deliver(Cancelled::No).await;
    };
    let handle = Arc::new(Handle {
        cancel,
        stage: Mutex::new(Stage::Running),
        moved: Notify::new(),
    });
    {
        let mut state = world.state();
        state.handles.retain(|(other, _)| other != name);
        state.handles.push((name.to_owned(), handle.clone()));
    }
    let running = tokio::spawn(async move {
        let answer = answer.await;
        *handle.stage.lock() = Stage::Ready(answer);
        handle.moved.notify_one();
    });
    // The task ends with its call or with the runtime.
    drop(running);
    Ok(json!({ "pending": name }))
}

fn named(world: &World, op: &Op) -> Result<Arc<Handle>, Failure> {
    let name = op.need("handle")?;
    let handles = world.state().handles.clone();
    let handle = handles.into_iter().find(|(other, _)| other == name);
    handle
        .map(|(_, handle)| handle)
        .ok_or_else(|| Failure::refused(format!("no handle \"{name}\"")))
}

/// `abort`
pub(crate) fn abort(world: &World, op: &Op) -> Outcome {
    named(world, op)?.cancel.cancel();
    Ok(json!("aborted"))
}

/// `await`
pub(crate) async fn wait(world: &World, op: &Op) -> Outcome {
    let handle = named(world, op)?;
    let within = Duration::from_millis(op.count("within_ms").unwrap_or(3_600_000));
    let until = Instant::now() + within;
    loop {
        world.settle().await;
        if let Some(outcome) = handle.done() {
            return Ok(ended(&outcome));
        }
        if tokio::time::timeout_at(until, handle.moved.notified())
            .await
            .is_err()
        {
            world.settle().await;
            let outcome = handle.done();
            return Ok(outcome.map_or_else(|| json!({ "state": NOT_YET }), |it| ended(&it)));
        }
    }
}

fn ended(outcome: &Outcome) -> Value {
    let mut ended = spelled(outcome);
    ended["state"] = match outcome {
        Ok(_) => json!("done"),
        Err(_) => json!("failed"),
    };
    ended
}
