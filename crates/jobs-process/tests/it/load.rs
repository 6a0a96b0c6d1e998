//! Other jobs that run beside a test: `JOBS_TEST_OTHER_JOBS` says how many.

use std::sync::OnceLock;
use std::time::Duration;

use jobs::OutputSource;
use jobs_process::{Containment, JobCommand, ProcessRunner};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// How many other jobs there shall be.
pub(crate) const OTHER_JOBS: &str = "JOBS_TEST_OTHER_JOBS";

struct Others {
    /// Each ends with its job, which must not happen.
    jobs: Vec<JoinHandle<()>>,
    _runtime: Runtime,
}

/// Sees to it that the other jobs run; they are started once and end with this process.
///
/// # Panics
///
/// One of them does not run, or not any more.
pub(crate) fn assert_running() {
    static OTHERS: OnceLock<Others> = OnceLock::new();
    let Ok(count) = std::env::var(OTHER_JOBS) else {
        return;
    };
    let count = count.parse().expect("a number of jobs");
    let others = OTHERS.get_or_init(|| start(count));
    let ended = others.jobs.iter().filter(|job| job.is_finished()).count();
    assert_eq!(ended, 0, "other jobs ended");
}

fn start(count: usize) -> Others {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let config = crate::support::config(Containment::Supervisor).with_spill_limit(0);
    let runner = ProcessRunner::new(config).expect("this is Linux");
    let jobs = runtime.block_on(async {
        let mut jobs = Vec::new();
        for _ in 0..count {
            let command = JobCommand::shell("while :; do echo tick; sleep 1; done");
            let hooks = runner.start(&command).expect("started").into_hooks();
            let output = hooks.output.clone().expect("a stream job");
            jobs.push(tokio::spawn(async move {
                hooks.done.await;
            }));
            ticks(&*output).await;
        }
        jobs
    });
    Others {
        jobs,
        _runtime: runtime,
    }
}

async fn ticks(output: &dyn OutputSource) {
    let has_ticked = || output.read(0, None).is_ok_and(|read| !read.text.is_empty());
    crate::support::within(Duration::from_secs(30), has_ticked).await;
}
