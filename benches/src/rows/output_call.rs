//! B4: a call of `job_output`, delivered: 64 KiB are pushed, read, cut to 16 KiB, and the value is built.

use std::num::NonZeroUsize;
use std::sync::Arc;

use jobs::{Hooks, JobRegistry, JobSpec, OutputLog, Stream};
use parking_lot::Mutex;
use serde_json::json;
use tool_jobs::{JobTools, ToolsConfig};

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::population::Population;
use crate::side::{Side, by_turns, timed};
use crate::stage::one_thread;

/// How many calls a sample has.
const BATCH: u64 = 100;

/// What is pushed before each call.
const PUSHED: usize = 64 * 1024;

/// The limit of the job.
const LIMIT: usize = 16 * 1024;

/// What the log of the job keeps.
const WINDOW: NonZeroUsize = NonZeroUsize::new(1024 * 1024).expect("it is not zero");

/// Alone and among the jobs of others.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let batch = effort.count(BATCH);
    let mut sides = vec![floor(batch), ours(batch, effort.count(1_000), 10)];
    sides.push(ours(batch, effort.count(100_000), effort.count(1_000)));
    let spreads = by_turns(effort.many_runs(), &mut sides);
    let goal = || Goal::RatioAtMost(4.0);
    vec![
        Figure::new("B4", "", spreads[1], spreads[0], goal()),
        Figure::new("B4", "100k foreign jobs", spreads[2], spreads[0], goal()),
    ]
}

/// What a build prints: lines of text.
fn lines() -> Vec<u8> {
    let line = b"   Compiling a-crate-of-some-length v1.2.3 (and where it lies)\n";
    line.iter().copied().cycle().take(PUSHED).collect()
}

/// A push and a delivered call, beside `jobs` ended jobs of `others`.
#[must_use]
pub fn ours(batch: u64, jobs: u64, others: u64) -> Side {
    let runtime = one_thread();
    let population = runtime.block_on(Population::of(jobs, others));
    let registry = Arc::clone(population.stage.jobs()) as Arc<dyn JobRegistry>;
    let tools = JobTools::mount(registry, jobs::Scope::root(), ToolsConfig::default());
    let tools = tools.expect("the only tools");
    let actor = population.stage.actor("own");
    let log = Arc::new(Mutex::new(None::<OutputLog>));
    let writer = Arc::clone(&log);
    let spec = JobSpec::new("bash", "cargo build", move |_id| {
        Ok(Hooks::from_log(WINDOW, |stop, log| async move {
            *writer.lock() = Some(log);
            stop.cancelled().await;
            jobs::Outcome::killed()
        }))
    });
    let spec = spec
        .with_owner(actor.owner())
        .with_output_limit(LIMIT as u64);
    let id = runtime.block_on(async {
        let id = population.stage.jobs().start(spec).await.expect("a start");
        while log.lock().is_none() {
            tokio::task::yield_now().await;
        }
        id.to_string()
    });
    let log = log.lock().take().expect("a log");
    let lines = lines();
    Side::new(move || {
        let _others = &population;
        timed(batch, || {
            runtime.block_on(async {
                for _ in 0..batch {
                    log.push(Stream::Stdout, &lines);
                    let arguments = json!({ "job_id": id });
                    let caller = actor.caller().clone();
                    let result = tools.call("job_output", arguments, caller).await.deliver();
                    let text = result.content().first();
                    assert!(
                        matches!(text, Some(jobs::tool::Content::Text(text)) if text.len() == LIMIT)
                    );
                    let value = result.value().and_then(|value| value["text"].as_str());
                    assert_eq!(value.map(str::len), Some(PUSHED));
                }
            });
        })
    })
}

/// The least for it: the bytes are copied once, and it is checked that they are text.
#[must_use]
pub fn floor(batch: u64) -> Side {
    let lines = lines();
    Side::of(batch, move || {
        let text = String::from_utf8(std::hint::black_box(&lines).clone());
        assert_eq!(text.as_ref().map(String::len), Ok(PUSHED));
        text
    })
}
