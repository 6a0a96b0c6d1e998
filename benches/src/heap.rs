//! What is on the heap: B7, and how often the hot paths allocate.
//!
//! The counting allocator belongs to whoever calls: it is slower, so the rows that measure time do not have it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use jobs::{Hooks, JobRegistry, JobSpec, Outcome, OutputLog, Scope};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tool_jobs::{Inbox, JobTools, ToolsConfig};

use crate::effort::Effort;
use crate::figure::{Figure, Goal, Unit};
use crate::population::Population;
use crate::side::Spread;
use crate::stage::{Actor, OUTPUT, Stage, one_thread, read_to_the_end, run_one};

/// What a counting allocator has seen so far.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// How often something was allocated or moved to a larger place.
    pub allocations: u64,
    /// How many bytes are allocated, as they were asked for.
    pub bytes: i64,
}

/// Looks at the counting allocator.
pub type Look = fn() -> Seen;

/// What an allocator says of itself. A place that grew counts as another allocation, and its growth is in `allocated`.
#[must_use]
pub fn seen(allocations: usize, allocated: usize, deallocated: usize) -> Seen {
    Seen {
        allocations: allocations as u64,
        bytes: i64::try_from(allocated).unwrap_or(i64::MAX)
            - i64::try_from(deallocated).unwrap_or(i64::MAX),
    }
}

/// How often a path allocated, and why it may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The path.
    pub path: String,
    /// How often it allocated.
    pub allocations: u64,
    /// How often it may, and what for.
    pub because: Vec<(u64, String)>,
}

/// How many finished jobs B7 has.
const RETAINED: u64 = 100_000;

/// How many live jobs B7 has.
const LIVE: u64 = 1_000;

/// The strings of a finished job here: its label and its output.
const STRINGS: usize = "look for errors".len() + OUTPUT.len();

/// B7: bytes for each retained finished job, and for each live one.
#[must_use]
pub fn measure(effort: Effort, look: Look) -> Vec<Figure> {
    let finished = per_finished(effort.count(RETAINED), effort.count(1_000), look);
    let live = per_live(effort.count(LIVE), look);
    let figure = |part, bytes: f64, most| {
        let spread = Spread::of(vec![bytes]);
        Figure::absolute("B7", part, spread, Goal::AtMost(most)).in_unit(Unit::Bytes)
    };
    vec![
        figure(
            "finished, without its strings",
            finished - to_f64(STRINGS),
            300.0,
        ),
        figure("live, without its ring", live, 2_048.0),
    ]
}

/// Bytes for each of `jobs` finished jobs that `owners` keep, with their strings.
#[must_use]
pub fn per_finished(jobs: u64, owners: u64, look: Look) -> f64 {
    let runtime = one_thread();
    let each = u32::try_from(jobs / owners).expect("a number of jobs");
    // The owners and the runtime have what they keep for themselves before the jobs come.
    let population = runtime.block_on(Population::with_room_for(each + 1, owners, owners));
    let before = look();
    runtime.block_on(population.fill(jobs / owners));
    let after = look();
    let grown = after.bytes - before.bytes;
    let listed = population.stage.jobs().list(population.actors[0].caller());
    let listed = runtime.block_on(listed).expect("a list");
    assert_eq!(listed.len() as u64, jobs / owners + 1);
    to_f64(usize::try_from(grown).expect("the heap has grown")) / to_f64_u64(jobs)
}

/// Bytes for each of `jobs` live jobs with an output log that has nothing in it yet.
#[must_use]
pub fn per_live(jobs: u64, look: Look) -> f64 {
    let runtime = one_thread();
    let stage = Stage::new();
    let budget = NonZeroUsize::new(1024 * 1024).expect("it is not zero");
    // Ten jobs an owner, which is the default limit.
    let actors: Vec<_> = (0..jobs.div_ceil(10))
        .map(|number| stage.actor(format!("owner {number}")))
        .collect();
    let start = |actor: &Actor| {
        let spec = JobSpec::new("work", "look for errors", move |_id| {
            Ok(Hooks::from_log(budget, |stop, log: OutputLog| async move {
                stop.cancelled().await;
                drop(log);
                Outcome::killed()
            }))
        });
        let started = runtime.block_on(stage.jobs().start(spec.with_owner(actor.owner())));
        drop(started.expect("a start"));
    };
    actors.iter().for_each(start);
    let before = look();
    for actor in &actors {
        (0..9).for_each(|_| start(actor));
        runtime.block_on(async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        });
    }
    let grown = look().bytes - before.bytes;
    to_f64(usize::try_from(grown).expect("the heap has grown")) / to_f64(actors.len() * 9)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "bytes of a heap are far below what is exact"
)]
fn to_f64(count: usize) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a number of jobs is far below what is exact"
)]
fn to_f64_u64(count: u64) -> f64 {
    count as f64
}

/// A hot path and what it allocates.
#[derive(Debug)]
pub struct Path {
    /// How it is called in the list.
    pub name: &'static str,
    /// How often it allocates, and what for.
    pub because: &'static [(u64, &'static str)],
    /// Counts it.
    pub count: fn(Look) -> u64,
}

impl Path {
    /// How often it may allocate.
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.because.iter().map(|(times, _)| times).sum()
    }
}

/// The paths that are counted.
pub const PATHS: &[Path] = &[
    Path {
        name: "start",
        because: &[
            (1, "the boxed future of an object-safe async method"),
            (1, "the record"),
            (1, "what only a live job has"),
            (1, "the task of the driver"),
        ],
        count: start,
    },
    Path {
        name: "settle",
        because: &[],
        count: settle,
    },
    Path {
        name: "read of an empty delta",
        because: &[(1, "the boxed future of an object-safe async method")],
        count: empty_read,
    },
    Path {
        name: "list of ten",
        because: &[
            (1, "the boxed future of an object-safe async method"),
            (1, "the rooms to look into"),
            (1, "their jobs, to be put in order"),
            (1, "the answer"),
        ],
        count: list_of_ten,
    },
    Path {
        name: "settle with a notice",
        because: &[
            (3, "the strings of the notice: id, label and text"),
            (5, "the strings that the text and the summary are made of"),
            (1, "the share that the notice holds"),
            (1, "the messages that the turn claims"),
        ],
        count: notice,
    },
];

/// How often each path is counted. The median counts: now and then a table grows.
const TIMES: usize = 65;

fn median(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

fn counted(look: Look, work: impl FnOnce()) -> u64 {
    let before = look().allocations;
    work();
    look().allocations - before
}

/// Hooks that were made before, so that what the producer allocates does not count.
fn ready(finished: oneshot::Receiver<()>) -> JobSpec {
    let hooks = Hooks::new(|_reason| Ok(()), async move {
        finished.await.expect("somebody who finishes");
        Outcome::completed()
    });
    JobSpec::new("work", "look for errors", move |_id| Ok(hooks))
}

/// `start`, up to the id.
fn start(look: Look) -> u64 {
    let (counts, _) = start_and_settle(look);
    median(counts)
}

/// From the end of the work to the ended job, with its driver waiting to be told.
fn settle(look: Look) -> u64 {
    let (_, counts) = start_and_settle(look);
    median(counts)
}

fn start_and_settle(look: Look) -> (Vec<u64>, Vec<u64>) {
    let runtime = one_thread();
    let stage = Stage::new();
    let actor = stage.actor("session");
    let (mut starts, mut settles) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let (finish, finished) = oneshot::channel();
        let spec = ready(finished).with_owner(actor.owner());
        runtime.block_on(async {
            let before = look().allocations;
            let id = stage.jobs().start(spec).await.expect("a start");
            starts.push(look().allocations - before);
            yields().await;
            let before = look().allocations;
            finish.send(()).expect("work that waits");
            yields().await;
            settles.push(look().allocations - before);
            let job = stage.jobs().get(&id, actor.caller()).await;
            assert!(job.expect("own job").is_terminal());
        });
    }
    (starts, settles)
}

/// Lets the driver run. It allocates nothing once it has run before.
async fn yields() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}

/// A read, delivered, of a live job that has written nothing new.
fn empty_read(look: Look) -> u64 {
    let runtime = one_thread();
    let stage = Stage::new();
    let actor = stage.actor("session");
    let budget = NonZeroUsize::new(64 * 1024).expect("it is not zero");
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let spec = JobSpec::new("work", "look for errors", move |_id| {
        Ok(Hooks::from_log(budget, |stop, log| async move {
            *keep.lock() = Some(log);
            stop.cancelled().await;
            Outcome::killed()
        }))
    });
    let id = runtime.block_on(stage.jobs().start(spec.with_owner(actor.owner())));
    let id = id.expect("a start");
    let counts = (0..TIMES).map(|_| {
        counted(look, || {
            runtime.block_on(async {
                let read = stage.jobs().read(&id, actor.caller()).await;
                assert_eq!(read.expect("own job").commit().text, "");
            });
        })
    });
    median(counts.collect())
}

/// A list of ten ended jobs.
fn list_of_ten(look: Look) -> u64 {
    let runtime = one_thread();
    let stage = Stage::new();
    let actor = stage.actor("session");
    runtime.block_on(async {
        for _ in 0..10 {
            let id = run_one(&**stage.jobs(), &actor).await;
            read_to_the_end(&**stage.jobs(), &actor, &id).await;
        }
    });
    let counts = (0..TIMES).map(|_| {
        counted(look, || {
            let listed = runtime.block_on(stage.jobs().list(actor.caller()));
            assert_eq!(listed.expect("a list").len(), 10);
        })
    });
    median(counts.collect())
}

/// From the end of the work to the notice in the hands of the agent.
fn notice(look: Look) -> u64 {
    let runtime = one_thread();
    let stage = Stage::new();
    let actor = stage.actor("session");
    let inbox = Inbox::new();
    let registry = Arc::clone(stage.jobs()) as Arc<dyn JobRegistry>;
    let tools = JobTools::mount(registry, Scope::root(), ToolsConfig::default());
    let tools = tools.expect("the only tools");
    let attachment = runtime.block_on(async { tools.attach(actor.owner(), inbox.clone()) });
    let mut counts = Vec::new();
    for _ in 0..TIMES {
        let (finish, finished) = oneshot::channel();
        let spec = ready(finished).with_owner(actor.owner());
        runtime.block_on(async {
            drop(stage.jobs().start(spec).await.expect("a start"));
            let mut turn = inbox.begin_turn();
            yields().await;
            let before = look().allocations;
            finish.send(()).expect("work that waits");
            let mut messages = Vec::new();
            while messages.is_empty() {
                tokio::task::yield_now().await;
                messages = turn.claim();
            }
            counts.push(look().allocations - before);
            assert_eq!(messages.len(), 1);
            assert!(turn.close().is_ok());
        });
    }
    drop(attachment);
    median(counts)
}
