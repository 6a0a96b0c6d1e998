//! B9: owners start, settle and read on two threads, against one.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use crate::effort::Effort;
use crate::figure::{Figure, Goal, Unit};
use crate::side::{Side, by_turns};
use crate::stage::{Actor, Stage, one_thread, read_to_the_end, run_one};

/// How many cycles each thread has in a sample.
const BATCH: u64 = 10_000;

/// The scaling against that of threads that share nothing.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let batch = effort.count(BATCH);
    let mut sides = [ours(batch), floor(batch)];
    let spreads = by_turns(effort.runs(), &mut sides);
    let goal = Goal::RatioAtLeast(0.85);
    vec![Figure::new("B9", "", spreads[0], spreads[1], goal).in_unit(Unit::Scaling)]
}

/// Two owners of one registry, each on a thread of its own.
#[must_use]
pub fn ours(batch: u64) -> Side {
    let stage = Arc::new(Stage::new());
    let actors = ["one", "two"].map(|name| (Arc::clone(&stage), Arc::new(stage.actor(name))));
    scaling(batch, actors)
}

/// The same work with nothing shared: each owner has a registry of its own.
#[must_use]
pub fn floor(batch: u64) -> Side {
    let actors = ["one", "two"].map(|name| {
        let stage = Arc::new(Stage::new());
        let actor = Arc::new(stage.actor(name));
        (stage, actor)
    });
    scaling(batch, actors)
}

/// How many times the throughput of one thread two threads have.
fn scaling(batch: u64, actors: [(Arc<Stage>, Arc<Actor>); 2]) -> Side {
    Side::new(move || {
        let one = time(batch, &actors[..1]);
        let two = time(batch, &actors);
        2.0 * one.as_secs_f64() / two.as_secs_f64()
    })
}

/// From the first thread that begins to the last that is through. Threads look at the clock themselves: another one
/// may be late on a busy machine.
fn time(batch: u64, actors: &[(Arc<Stage>, Arc<Actor>)]) -> Duration {
    let barrier = Barrier::new(actors.len());
    let run = |stage: &Stage, actor: &Actor| {
        let runtime = one_thread();
        barrier.wait();
        let start = Instant::now();
        runtime.block_on(async {
            for _ in 0..batch {
                let id = run_one(&**stage.jobs(), actor).await;
                read_to_the_end(&**stage.jobs(), actor, &id).await;
            }
        });
        (start, Instant::now())
    };
    let times: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = actors
            .iter()
            .map(|(stage, actor)| scope.spawn(|| run(stage, actor)))
            .collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|times| times.expect("a thread")).collect()
    });
    let start = times.iter().map(|(start, _)| *start).min();
    let end = times.iter().map(|(_, end)| *end).max();
    end.expect("a thread") - start.expect("a thread")
}
