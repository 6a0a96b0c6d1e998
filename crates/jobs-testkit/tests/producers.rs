//! The suite of producers holds for the two that the contract brings along,
//! and notices those that do not do as they should.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jobs::{
    CancellationToken, Hooks, JobSpec, Outcome, OutputLog, OutputSource, ProducerError, Rendered,
    Stream, TerminalStatus,
};
use jobs_testkit::producers::{NAMES, Work, run};

const BUDGET: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

fn spec(hooks: impl FnOnce() -> Hooks + Send + 'static) -> JobSpec {
    JobSpec::new("task", "a job", move |_id| Ok(hooks()))
}

async fn work(work: Work, stop: CancellationToken, write: impl FnOnce(&str)) -> Outcome {
    match work {
        Work::Writes(text) => {
            write(text);
            Outcome::completed()
        }
        Work::Fails => Outcome::failed(),
        Work::Lasts => {
            stop.cancelled().await;
            Outcome::killed()
        }
    }
}

fn from_future(what: Work) -> JobSpec {
    spec(move || {
        Hooks::from_future(move |stop| async move {
            let mut output = String::new();
            let outcome = work(what, stop, |text| output.push_str(text)).await;
            outcome.with_output(output)
        })
    })
}

fn from_log(what: Work) -> JobSpec {
    spec(move || {
        Hooks::from_log(BUDGET, move |stop, log| async move {
            work(what, stop, |text| log.push(Stream::Stdout, text.as_bytes())).await
        })
    })
}

mod futures {
    jobs_testkit::producers!(super::from_future);
}

mod logs {
    jobs_testkit::producers!(super::from_log);
}

/// Forgets a cancel that came before its work began.
fn loses_early_cancels(what: Work) -> JobSpec {
    spec(move || {
        let stop = CancellationToken::new();
        let begun = Arc::new(AtomicBool::new(false));
        let (stops, begins) = (stop.clone(), Arc::clone(&begun));
        let cancel = move |_reason: Option<&str>| {
            if begun.load(Ordering::SeqCst) {
                stops.cancel();
            }
            Ok(())
        };
        Hooks::new(cancel, async move {
            begins.store(true, Ordering::SeqCst);
            work(what, stop, |_| ()).await
        })
        .with_output(full())
    })
}

/// A log that says what it should.
fn full() -> Arc<dyn OutputSource> {
    let log = OutputLog::with_budget(BUDGET);
    log.push(Stream::Stdout, "one\ntwo é\nthree 漢\nfour 😀\n".as_bytes());
    Arc::new(log.reader())
}

/// Takes one cancel only.
fn refuses_second_cancels(what: Work) -> JobSpec {
    spec(move || {
        let mut hooks = hooks_of(from_log(what));
        let first = AtomicBool::new(true);
        let cancel = hooks.cancel;
        hooks.cancel = Arc::new(move |reason| {
            if !first.swap(false, Ordering::SeqCst) {
                return Err(ProducerError::new("cancelled already"));
            }
            cancel(reason)
        });
        hooks
    })
}

fn hooks_of(spec: JobSpec) -> Hooks {
    let id = "task-1".parse().expect("an id");
    (spec.starter)(&id).expect("it starts")
}

/// Says that everything went well.
fn hides_failures(what: Work) -> JobSpec {
    match what {
        Work::Fails => from_log(Work::Writes("")),
        what => from_log(what),
    }
}

/// Says that everything went wrong.
fn hides_successes(what: Work) -> JobSpec {
    spec(move || {
        let mut hooks = hooks_of(from_log(what));
        let done = hooks.done;
        hooks.done = Box::pin(async move {
            let mut outcome = done.await;
            if outcome.status == TerminalStatus::Completed {
                outcome = Outcome::failed();
            }
            outcome
        });
        hooks
    })
}

/// Ends by itself whatever it should do.
fn ends_early(what: Work) -> JobSpec {
    match what {
        Work::Lasts => from_log(Work::Writes("")),
        what => from_log(what),
    }
}

/// Says nothing of what it wrote.
fn loses_output(what: Work) -> JobSpec {
    match what {
        Work::Writes(_) => from_log(Work::Writes("")),
        what => from_log(what),
    }
}

/// A source that gives what it has once.
struct Once(Arc<dyn OutputSource>, AtomicBool);

impl OutputSource for Once {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        let mut rendered = self.0.read(from, max)?;
        if self.1.swap(true, Ordering::SeqCst) {
            rendered.text.clear();
        }
        Ok(rendered)
    }

    fn kept_bytes(&self) -> usize {
        self.0.kept_bytes()
    }
}

fn uses_output_up(what: Work) -> JobSpec {
    spec(move || {
        let hooks = hooks_of(from_log(what));
        let source = hooks.output.clone().expect("a log");
        hooks.with_output(Arc::new(Once(source, AtomicBool::new(false))))
    })
}

/// Panics when it is asked how it is.
fn panics_in_its_detail(what: Work) -> JobSpec {
    spec(move || hooks_of(from_log(what)).with_detail(|| panic!("no detail")))
}

/// Panics when it is cancelled after its end.
fn panics_in_late_cancels(what: Work) -> JobSpec {
    spec(move || {
        let mut hooks = hooks_of(from_log(what));
        let ended = Arc::new(AtomicBool::new(false));
        let (ends, cancel, done) = (Arc::clone(&ended), hooks.cancel, hooks.done);
        hooks.cancel = Arc::new(move |reason| {
            assert!(!ended.load(Ordering::SeqCst), "cancelled after its end");
            cancel(reason)
        });
        hooks.done = Box::pin(async move {
            let outcome = done.await;
            ends.store(true, Ordering::SeqCst);
            outcome
        });
        hooks
    })
}

type Broken = (fn(Work) -> JobSpec, &'static [&'static str]);

#[test]
fn each_broken_producer_is_noticed_by_exactly_its_cases() {
    let broken: [Broken; 9] = [
        (
            loses_early_cancels,
            &[
                "a_cancel_right_after_the_start_is_not_lost",
                "cancels_come_more_than_once_and_from_any_thread",
                "a_detail_may_be_asked_for_at_any_time",
            ],
        ),
        (
            refuses_second_cancels,
            &["cancels_come_more_than_once_and_from_any_thread"],
        ),
        (hides_failures, &["work_that_fails_is_failed"]),
        (hides_successes, &["work_that_ends_well_is_completed"]),
        (
            ends_early,
            &[
                "work_lasts_until_it_is_cancelled",
                "a_cancel_right_after_the_start_is_not_lost",
                "cancels_come_more_than_once_and_from_any_thread",
                "a_detail_may_be_asked_for_at_any_time",
            ],
        ),
        (
            loses_output,
            &[
                "all_output_is_readable_once_done_resolved",
                "a_cancel_after_the_end_changes_nothing",
            ],
        ),
        (uses_output_up, &["a_read_uses_nothing_up"]),
        (
            panics_in_its_detail,
            &["a_detail_may_be_asked_for_at_any_time"],
        ),
        (
            panics_in_late_cancels,
            &[
                "cancels_come_more_than_once_and_from_any_thread",
                "a_cancel_after_the_end_changes_nothing",
            ],
        ),
    ];
    let limit = Duration::from_millis(500);
    let mut noticed = Vec::new();
    for (number, (producer, cases)) in broken.into_iter().enumerate() {
        let failed = NAMES
            .iter()
            .filter(|name| run(name, &producer, limit).is_err());
        let failed: Vec<_> = failed.copied().collect();
        assert_eq!(failed, cases, "the broken producer {number}");
        noticed.extend(failed);
    }
    for name in NAMES {
        assert!(noticed.contains(name), "{name} never fails");
    }
}
