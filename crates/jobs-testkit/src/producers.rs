//! What every producer owes a registry, as cases over its [`Hooks`].
//!
//! 1. No case needs a registry: it calls the starter and the hooks itself.
//! 2. Producers may use what the system offers, so the cases run in real time,
//!    and wait for values within a limit.

use std::thread;
use std::time::Duration;

use jobs::contain::Contained;
use jobs::{Hooks, JobSpec, Outcome, OutputSource, TerminalStatus};
use tokio::runtime::Builder;
use tokio::time::timeout;

/// How long anything may take that must happen.
const LIMIT: Duration = Duration::from_secs(30);

/// How long work is looked at that must go on.
const LOOK: Duration = Duration::from_millis(50);

/// Lines that end in a newline, with characters of one to four bytes.
const TEXT: &str = "one\ntwo é\nthree 漢\nfour 😀\n";

/// What the work of a job is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Write this text, and end by itself, well.
    Writes(&'static str),
    /// End by itself, as failed.
    Fails,
    /// Go on until it is cancelled, and obey then.
    Lasts,
}

/// Makes jobs of one producer. A function from [`Work`] to a spec is one.
pub trait Producer: Send + Sync + 'static {
    /// A job that does this; called inside a tokio runtime.
    fn spec(&self, work: Work) -> JobSpec;
}

impl<F: Fn(Work) -> JobSpec + Send + Sync + 'static> Producer for F {
    fn spec(&self, work: Work) -> JobSpec {
        self(work)
    }
}

/// A case that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{case}`: {text}")]
#[non_exhaustive]
pub struct Failure {
    /// The case.
    pub case: &'static str,
    /// What it saw.
    pub text: String,
}

/// Runs the case of this name.
///
/// # Errors
///
/// What the case saw, when it does not hold.
///
/// # Panics
///
/// If there is no such case.
pub fn run(name: &str, producer: &dyn Producer, limit: Duration) -> Result<(), Failure> {
    let found = CASES.iter().find(|(case, _)| *case == name);
    let (case, body) = found.unwrap_or_else(|| panic!("{name} is no case"));
    let failure = |text: String| Failure { case, text };
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| failure(error.to_string()))?;
    runtime.block_on(async {
        let held = Contained::new(body(Bench { producer, limit })).await;
        held.map_err(|panicked| failure(panicked.to_string()))
    })
}

/// For [`producers!`](crate::producers!): runs the case of this name.
///
/// # Panics
///
/// When it does not hold.
pub fn check(name: &str, producer: &impl Producer) {
    if let Err(failure) = run(name, producer, LIMIT) {
        panic!("{failure}");
    }
}

/// Where a case gets its jobs from.
struct Bench<'a> {
    producer: &'a dyn Producer,
    limit: Duration,
}

impl Bench<'_> {
    fn start(&self, work: Work) -> Hooks {
        let spec = self.producer.spec(work);
        let id = format!("{}-1", spec.kind).parse();
        (spec.starter)(&id.expect("a valid kind")).expect("it starts")
    }

    async fn end(&self, hooks: &mut Hooks) -> Outcome {
        let ended = timeout(self.limit, hooks.done.as_mut()).await;
        ended.expect("the work does not end")
    }
}

/// Everything that the job wrote, wherever that is.
fn output(hooks: &Hooks, outcome: &Outcome) -> String {
    match &hooks.output {
        Some(source) => whole(&**source),
        None => outcome.output.as_deref().unwrap_or_default().to_owned(),
    }
}

fn whole(source: &dyn OutputSource) -> String {
    source.read(0, None).expect("a readable source").text
}

async fn work_that_ends_well_is_completed(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Writes(TEXT));
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(outcome.status, TerminalStatus::Completed);
}

async fn work_that_fails_is_failed(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Fails);
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(outcome.status, TerminalStatus::Failed);
}

async fn all_output_is_readable_once_done_resolved(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Writes(TEXT));
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(output(&hooks, &outcome), TEXT);
}

async fn a_read_uses_nothing_up(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Writes(TEXT));
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(output(&hooks, &outcome), output(&hooks, &outcome));
    let Some(source) = &hooks.output else { return };
    let mut pieces = String::new();
    let mut at = 0;
    let end = source.read(0, None).expect("a readable source").range.end;
    while at < end {
        let piece = source.read(at, Some(5)).expect("a readable source");
        assert!(piece.range.end > at, "a read does not move on");
        pieces.push_str(&piece.text);
        at = piece.range.end;
    }
    assert_eq!(pieces, whole(&**source));
    let rest = source.read(end, None).expect("a readable source");
    assert_eq!(rest.text, "");
}

async fn work_lasts_until_it_is_cancelled(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Lasts);
    let early = timeout(LOOK, hooks.done.as_mut()).await;
    assert!(early.is_err(), "it ended before the cancel");
    (hooks.cancel)(Some("enough")).expect("an accepted cancel");
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(outcome.status, TerminalStatus::Killed);
}

async fn a_cancel_right_after_the_start_is_not_lost(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Lasts);
    (hooks.cancel)(None).expect("an accepted cancel");
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(outcome.status, TerminalStatus::Killed);
}

async fn cancels_come_more_than_once_and_from_any_thread(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Lasts);
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| (hooks.cancel)(Some("enough")).expect("an accepted cancel"));
        }
    });
    let outcome = bench.end(&mut hooks).await;
    assert_eq!(outcome.status, TerminalStatus::Killed);
    // Whatever it answers now, it is a call like any other.
    let _late = (hooks.cancel)(None);
}

async fn a_cancel_after_the_end_changes_nothing(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Writes(TEXT));
    let outcome = bench.end(&mut hooks).await;
    let _late = (hooks.cancel)(Some("late"));
    assert_eq!(output(&hooks, &outcome), TEXT);
}

async fn a_detail_may_be_asked_for_at_any_time(bench: Bench<'_>) {
    let mut hooks = bench.start(Work::Lasts);
    let ask = |hooks: &Hooks| hooks.detail.as_ref().and_then(|detail| detail());
    let _at_first = ask(&hooks);
    (hooks.cancel)(None).expect("an accepted cancel");
    let _stopping = ask(&hooks);
    let outcome = bench.end(&mut hooks).await;
    let _ended = ask(&hooks);
    assert_eq!(outcome.status, TerminalStatus::Killed);
}

type Running<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

macro_rules! cases {
    ([$dollar:tt] $($name:ident)*) => {
        type Body = for<'a> fn(Bench<'a>) -> Running<'a>;

        const CASES: &[(&str, Body)] = &[$((stringify!($name), |bench| Box::pin($name(bench)))),*];

        /// The names of the cases.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Makes one test of each case, for a [`Producer`](crate::producers::Producer).
        ///
        /// ```
        /// use jobs::{Hooks, JobSpec, Outcome};
        /// use jobs_testkit::producers::Work;
        ///
        /// fn from_futures(work: Work) -> JobSpec {
        ///     JobSpec::new("task", "a job", move |_id| {
        ///         Ok(Hooks::from_future(move |stop| async move {
        ///             match work {
        ///                 Work::Writes(text) => Outcome::completed().with_output(text),
        ///                 Work::Fails => Outcome::failed(),
        ///                 Work::Lasts => {
        ///                     stop.cancelled().await;
        ///                     Outcome::killed()
        ///                 }
        ///             }
        ///         }))
        ///     })
        /// }
        ///
        /// jobs_testkit::producers!(from_futures);
        /// # fn main() {}
        /// ```
        #[macro_export]
        macro_rules! producers {
            ($dollar producer:expr) => {
                $(#[test]
                fn $name() {
                    $dollar crate::producers::check(stringify!($name), &$dollar producer);
                })*
            };
        }
    };
}

cases! {
    [$]
    work_that_ends_well_is_completed
    work_that_fails_is_failed
    all_output_is_readable_once_done_resolved
    a_read_uses_nothing_up
    work_lasts_until_it_is_cancelled
    a_cancel_right_after_the_start_is_not_lost
    cancels_come_more_than_once_and_from_any_thread
    a_cancel_after_the_end_changes_nothing
    a_detail_may_be_asked_for_at_any_time
}
