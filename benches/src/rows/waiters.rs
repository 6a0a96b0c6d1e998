//! B6: ten thousand tasks wait for one job: arming them, and settling until the last one is served.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jobs::{Hooks, JobRegistry as _, JobSpec, Outcome};
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::side::{Side, by_turns, timed};
use crate::stage::{OUTPUT, Stage, one_thread};

/// How many tasks wait.
pub const WAITERS: u64 = 10_000;

/// What of it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From the first task to the last that waits.
    Arm,
    /// From the settlement to the last that has its answer.
    Serve,
}

/// Both parts, each against its floor; a figure is for all waiters together.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let waiters = effort.count(WAITERS);
    let parts = [(Part::Serve, "settle, last served"), (Part::Arm, "arm")];
    parts
        .map(|(part, name)| {
            let mut sides = [ours(waiters, part), floor(waiters, part)];
            let spreads = by_turns(effort.runs(), &mut sides);
            Figure::new("B6", name, spreads[0], spreads[1], Goal::RatioAtMost(1.5))
        })
        .into()
}

/// How many have come so far.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU64>);

impl Counter {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets tasks run until all have come.
    fn wait(&self, runtime: &Runtime, all: u64) {
        runtime.block_on(async {
            while self.0.load(Ordering::Relaxed) < all {
                tokio::task::yield_now().await;
            }
        });
    }
}

/// Arms with `arm`, which starts the tasks, then serves with `serve`.
fn both(
    runtime: &Runtime,
    waiters: u64,
    part: Part,
    (armed, served): (&Counter, &Counter),
    arm: impl FnOnce(),
    serve: impl FnOnce(),
) -> f64 {
    let arming = timed(1, || {
        runtime.block_on(async { arm() });
        armed.wait(runtime, waiters);
    });
    let serving = timed(1, || {
        serve();
        served.wait(runtime, waiters);
    });
    match part {
        Part::Arm => arming,
        Part::Serve => serving,
    }
}

/// Tasks that each wait for the job by `settled` and say that the answer was delivered.
#[must_use]
pub fn ours(waiters: u64, part: Part) -> Side {
    let runtime = one_thread();
    let stage = Stage::new();
    let actor = Arc::new(stage.actor("session"));
    Side::new(move || {
        let (finish, finished) = oneshot::channel::<()>();
        let spec = JobSpec::new("work", "look for errors", move |_id| {
            Ok(Hooks::new(|_reason| Ok(()), async move {
                finished.await.expect("somebody who finishes");
                Outcome::completed().with_output(OUTPUT)
            }))
        });
        let start = stage.jobs().start(spec.with_owner(actor.owner()));
        let id = runtime.block_on(start).expect("a start");
        let (armed, served) = (Counter::default(), Counter::default());
        let arm = || {
            for _ in 0..waiters {
                let (jobs, actor) = (Arc::clone(stage.jobs()), Arc::clone(&actor));
                let (id, armed, served) = (id.clone(), armed.clone(), served.clone());
                drop(tokio::spawn(async move {
                    armed.add();
                    let settled = jobs.settled(&id, actor.caller()).await.expect("own job");
                    assert!(settled.commit().is_terminal());
                    served.add();
                }));
            }
        };
        let serve = || finish.send(()).expect("work that waits");
        both(&runtime, waiters, part, (&armed, &served), arm, serve)
    })
}

/// The least for it: tasks that each wait for the value of a watch and take a copy of it.
#[must_use]
pub fn floor(waiters: u64, part: Part) -> Side {
    let runtime = one_thread();
    Side::new(move || {
        let (settle, settled) = watch::channel(None::<Arc<str>>);
        let (armed, served) = (Counter::default(), Counter::default());
        let arm = || {
            for _ in 0..waiters {
                let (mut settled, armed, served) = (settled.clone(), armed.clone(), served.clone());
                drop(tokio::spawn(async move {
                    armed.add();
                    let record = settled.wait_for(Option::is_some).await;
                    let record = record.expect("somebody who settles").clone();
                    assert_eq!(record.as_deref(), Some(OUTPUT));
                    served.add();
                }));
            }
        };
        let serve = || {
            settle.send_replace(Some(OUTPUT.into()));
        };
        both(&runtime, waiters, part, (&armed, &served), arm, serve)
    })
}
