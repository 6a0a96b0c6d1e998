//! B12: from a completion that is settled on another thread to its notice in the hands of a woken agent.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use jobs::{Hooks, JobRegistry, JobSpec, Outcome, Scope};
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tool_jobs::{Attachment, Inbox, JobTools, ToolsConfig};

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::side::{Side, Spread};
use crate::stage::{Actor, OUTPUT, Stage, one_thread};

/// How many notices a run has.
const BATCH: u64 = 2_000;

/// The median and the 99th percentile, each of the runs' own.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let batch = effort.count(BATCH);
    let (mut ours, mut floor) = (Notices::new(), Hops::new());
    let mut runs = Vec::new();
    for _ in 0..=effort.runs() {
        runs.push([ours.latencies(batch), floor.latencies(batch)].map(Percentiles::of));
    }
    runs.remove(0);
    let spread = |side: usize, of: fn(&Percentiles) -> f64| {
        Spread::of(runs.iter().map(|run| of(&run[side])).collect())
    };
    let figure = |part, of, most| {
        let goal = Goal::RatioAtMost(most);
        Figure::new("B12", part, spread(0, of), spread(1, of), goal)
    };
    vec![
        figure("p50", |run: &Percentiles| run.p50, 3.0),
        figure("p99", |run: &Percentiles| run.p99, 5.0),
    ]
}

/// The median of a run, for people to look at.
#[must_use]
pub fn ours(batch: u64) -> Side {
    let mut notices = Notices::new();
    Side::new(move || Percentiles::of(notices.latencies(batch)).p50)
}

/// The median of a run of the floor.
#[must_use]
pub fn floor(batch: u64) -> Side {
    let mut hops = Hops::new();
    Side::new(move || Percentiles::of(hops.latencies(batch)).p50)
}

struct Percentiles {
    p50: f64,
    p99: f64,
}

impl Percentiles {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a latency is far below what is exact"
    )]
    fn of(latencies: Vec<u128>) -> Self {
        let mut latencies = latencies;
        latencies.sort_unstable();
        let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100] as f64;
        Self {
            p50: at(50),
            p99: at(99),
        }
    }
}

/// Another thread, which does something each time it is told to.
struct Elsewhere<T> {
    orders: Option<mpsc::UnboundedSender<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Elsewhere<T> {
    fn new(mut work: impl FnMut(T) + Send + 'static) -> Self {
        let (orders, mut received) = mpsc::unbounded_channel();
        let thread = thread::spawn(move || {
            one_thread().block_on(async {
                while let Some(order) = received.recv().await {
                    work(order);
                }
            });
        });
        Self {
            orders: Some(orders),
            thread: Some(thread),
        }
    }

    fn order(&self, order: T) {
        let orders = self.orders.as_ref().expect("orders while it lives");
        assert!(orders.send(order).is_ok(), "the other thread has ended");
    }
}

impl<T> Drop for Elsewhere<T> {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || thread::panicking());
        }
    }
}

/// The moment at which the last work was over.
type Over = Arc<Mutex<Option<Instant>>>;

/// Jobs whose drivers run on another thread, and the inbox of an agent on this one.
struct Notices {
    runtime: Runtime,
    inbox: Inbox,
    over: Over,
    elsewhere: Elsewhere<JobSpec>,
    actor: Actor,
    _attachment: Attachment,
    _tools: JobTools,
    _stage: Stage,
}

impl Notices {
    fn new() -> Self {
        let runtime = one_thread();
        let stage = Stage::new();
        let actor = stage.actor("session");
        let inbox = Inbox::new();
        let config = ToolsConfig::builder().max_consecutive_wakes(NonZeroU32::MAX);
        let registry = Arc::clone(stage.jobs()) as Arc<dyn JobRegistry>;
        let tools = JobTools::mount(registry, Scope::root(), config.build().expect("valid"));
        let tools = tools.expect("the only tools");
        let attachment = runtime.block_on(async { tools.attach(actor.owner(), inbox.clone()) });
        let jobs = Arc::clone(stage.jobs());
        Self {
            runtime,
            inbox,
            over: Over::default(),
            elsewhere: Elsewhere::new(move |spec| {
                let jobs = Arc::clone(&jobs);
                drop(tokio::spawn(async move {
                    jobs.start(spec).await.expect("a start");
                }));
            }),
            actor,
            _attachment: attachment,
            _tools: tools,
            _stage: stage,
        }
    }

    /// Has a job run elsewhere and waits for its notice, again and again.
    fn latencies(&mut self, count: u64) -> Vec<u128> {
        let mut latencies = Vec::new();
        for _ in 0..count {
            let over = Arc::clone(&self.over);
            let spec = JobSpec::new("work", "look for errors", move |_id| {
                Ok(Hooks::new(|_reason| Ok(()), async move {
                    *over.lock() = Some(Instant::now());
                    Outcome::completed().with_output(OUTPUT)
                }))
            });
            self.elsewhere.order(spec.with_owner(self.actor.owner()));
            let messages = self.runtime.block_on(async {
                self.inbox.woken().await;
                let mut turn = self.inbox.begin_turn();
                let messages = turn.claim();
                assert!(turn.close().is_ok());
                messages
            });
            let now = Instant::now();
            assert_eq!(messages.len(), 1);
            assert!(messages[0].text().contains("work-"));
            let over = self.over.lock().take().expect("work that ran");
            latencies.push((now - over).as_nanos());
        }
        latencies
    }
}

/// The least for it: the other thread sends to a task here, and that one to the agent.
struct Hops {
    runtime: Runtime,
    elsewhere: Elsewhere<()>,
    agent: mpsc::UnboundedReceiver<(Instant, String)>,
}

impl Hops {
    fn new() -> Self {
        let runtime = one_thread();
        let (over, mut is_over) = mpsc::unbounded_channel();
        let (deliver, agent) = mpsc::unbounded_channel();
        drop(runtime.spawn(async move {
            while let Some(over) = is_over.recv().await {
                if deliver.send((over, format!("work-{OUTPUT}"))).is_err() {
                    return;
                }
            }
        }));
        Self {
            runtime,
            elsewhere: Elsewhere::new(move |()| {
                let over = over.clone();
                drop(tokio::spawn(async move {
                    assert!(over.send(Instant::now()).is_ok());
                }));
            }),
            agent,
        }
    }

    fn latencies(&mut self, count: u64) -> Vec<u128> {
        let mut latencies = Vec::new();
        for _ in 0..count {
            self.elsewhere.order(());
            let (over, text) = self
                .runtime
                .block_on(self.agent.recv())
                .expect("a task that delivers");
            let now = Instant::now();
            assert!(text.contains("work-"));
            latencies.push((now - over).as_nanos());
        }
        latencies
    }
}
