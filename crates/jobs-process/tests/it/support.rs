//! A bench for process jobs: starts them, follows them, and lets a separate process count what is
//! left of them.

use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jobs::{Hooks, Outcome, OutputSource, ProducerError};
use jobs_process::{Containment, JobCommand, ProcessConfig, ProcessRunner};

pub(crate) const GRACE: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(60);

/// Descriptors and children are counted for the whole process: one test at a time, its runtime
/// included.
static SERIAL: Mutex<()> = Mutex::new(());

/// No other test runs while this is held.
pub(crate) fn serial() -> MutexGuard<'static, ()> {
    SERIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test on a runtime of its own, while no other test runs.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let _serial = serial();
    crate::load::assert_running();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(test);
    crate::load::assert_running();
}

pub(crate) struct Bench {
    pub(crate) runner: ProcessRunner,
    /// A number that is in the environment of every process of this bench.
    pub(crate) mark: String,
    pub(crate) before: usize,
    pub(crate) spill: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(rung: Containment) -> Self {
        Self::with(rung, |config| config)
    }

    pub(crate) fn with(
        rung: Containment,
        change: impl FnOnce(ProcessConfig) -> ProcessConfig,
    ) -> Self {
        let spill = tempfile::tempdir().expect("a directory");
        let config = change(config(rung).with_spill_directory(spill.path()));
        let runner = ProcessRunner::new(config).expect("this is Linux");
        assert_eq!(runner.containment(), rung);
        warm(&runner);
        let mark = format!("9{:015}", u64::from(std::process::id()) << 20 | count());
        let before = Census::take(&mark).descriptors;
        Self {
            runner,
            mark,
            before,
            spill,
        }
    }

    pub(crate) fn command(&self, command: &str) -> JobCommand {
        JobCommand::shell(command).with_env("JOBS_TEST_MARK", &self.mark)
    }

    pub(crate) fn sh(&self, command: &str) -> Job {
        self.start(self.command(command))
            .expect("it can be started")
    }

    pub(crate) fn start(&self, command: JobCommand) -> Result<Job, ProducerError> {
        let id = "bash-1".parse().expect("an id");
        let spec = self.runner.spec(command);
        Ok(Job::new((spec.starter)(&id)?))
    }

    /// P: no live process and no zombie, at once; no descriptor more than before, once a look at the
    /// process table that a thread had begun is over: it holds descriptors of its own.
    #[track_caller]
    pub(crate) fn assert_gone(&self) {
        let mut census = Census::take(&self.mark);
        assert_eq!(census.live, Vec::<i32>::new(), "live processes");
        assert_eq!(census.zombies, Vec::<i32>::new(), "zombies of ours");
        let start = Instant::now();
        while census.descriptors > self.before && start.elapsed() < Duration::from_secs(5) {
            census = Census::take(&self.mark);
        }
        assert!(
            census.descriptors <= self.before,
            "{} descriptors, {} before",
            census.descriptors,
            self.before
        );
    }

    pub(crate) fn census(&self) -> Census {
        Census::take(&self.mark)
    }
}

impl Drop for Bench {
    /// A failed test leaves nothing behind: what carries the mark was started here.
    fn drop(&mut self) {
        for pid in Census::take(&self.mark).live {
            let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Runs a first job, on a runtime of its own: the supervisor that is kept after it belongs to the
/// runner, and is counted before the jobs of a test.
pub(crate) fn warm(runner: &ProcessRunner) {
    let first = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            // A launcher may refuse it: then nothing is started and nothing is kept.
            if let Ok(process) = runner.start(&JobCommand::argv(["true"])) {
                process.into_hooks().done.await;
            }
        });
    };
    std::thread::scope(|scope| scope.spawn(first).join().expect("no panic"));
}

pub(crate) fn config(rung: Containment) -> ProcessConfig {
    ProcessConfig::new()
        .with_grace(GRACE)
        .with_containment(rung)
        .with_supervisor(supervisor())
        // As many as one job after another leaves, so that descriptors can be counted.
        .with_spare_supervisors(1)
}

/// Names another file for the supervisor's binary, for a host that cannot reach it where it is.
pub(crate) const SUPERVISOR: &str = "JOBS_TEST_SUPERVISOR";

pub(crate) fn supervisor() -> PathBuf {
    std::env::var_os(SUPERVISOR).map_or_else(
        || env!("CARGO_BIN_EXE_jobs-supervisor").into(),
        PathBuf::from,
    )
}

fn count() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// What a separate process finds in the process table.
#[derive(Debug)]
pub(crate) struct Census {
    /// Processes with the mark in their environment or arguments.
    pub(crate) live: Vec<i32>,
    /// Ended children of this process that nobody has waited for.
    pub(crate) zombies: Vec<i32>,
    /// Live children of this process, the scanner apart.
    pub(crate) children: Vec<i32>,
    /// Open descriptors of this process.
    pub(crate) descriptors: usize,
}

impl Census {
    pub(crate) fn take(mark: &str) -> Self {
        const SCRIPT: &str = r#"
            read -r mark
            cd /proc
            cat [0-9]*/stat 2>/dev/null; echo =
            ls "$1/fd"; echo =
            printf %s "$mark" | grep -lzFf - [0-9]*/environ [0-9]*/cmdline 2>/dev/null
            true"#;
        let me = std::process::id().to_string();
        let mut scanner = Command::new("sh")
            .args(["-c", SCRIPT, "sh", &me])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a scanner");
        // Not in the scanner's arguments, where it would find it; and it begins to count only when
        // this process has closed the scanner's ends of the pipes.
        scanner
            .stdin
            .take()
            .expect("piped")
            .write_all(format!("{mark}\n").as_bytes())
            .expect("it reads");
        let scanner_pid = scanner.id().cast_signed();
        let output = scanner.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut parts = text.split("=\n");
        let (table, descriptors, marked) = (
            parts.next().expect("a table"),
            parts.next().expect("descriptors"),
            parts.next().expect("marked"),
        );
        let ours = table.lines().filter_map(|line| {
            let pid: i32 = line.split(' ').next()?.parse().ok()?;
            let rest = line.rsplit_once(')')?.1;
            let mut fields = rest.split_ascii_whitespace();
            let (state, parent) = (fields.next()?, fields.next()?);
            (parent == me && pid != scanner_pid).then_some((pid, state == "Z"))
        });
        let (zombies, children): (Vec<_>, Vec<_>) = ours.partition(|(_, is_zombie)| *is_zombie);
        let pids = |ours: Vec<(i32, bool)>| ours.into_iter().map(|(pid, _)| pid).collect();
        let mut live: Vec<i32> = marked
            .lines()
            .filter_map(|path| path.split('/').next()?.parse().ok())
            .collect();
        live.dedup();
        Self {
            live,
            zombies: pids(zombies),
            children: pids(children),
            descriptors: descriptors.lines().count(),
        }
    }
}

/// A running job, as a registry would hold it.
pub(crate) struct Job {
    cancel: jobs::CancelHook,
    done: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    source: Arc<dyn OutputSource>,
    detail: jobs::DetailHook,
    cursor: u64,
}

impl Job {
    fn new(hooks: Hooks) -> Self {
        Self {
            cancel: hooks.cancel,
            done: hooks.done,
            source: hooks.output.expect("a stream job"),
            detail: hooks.detail.expect("a detail"),
            cursor: 0,
        }
    }

    pub(crate) fn cancel(&self) {
        (self.cancel)(None).expect("it can be asked");
    }

    pub(crate) fn detail(&self) -> Option<String> {
        (self.detail)()
    }

    /// What is new.
    pub(crate) fn read(&mut self) -> String {
        let read = self
            .source
            .read(self.cursor, None)
            .expect("a log can be read");
        self.cursor = read.range.end;
        read.text
    }

    /// Waits until all output together holds `text`.
    pub(crate) async fn shows(&self, text: &str) {
        let source = Arc::clone(&self.source);
        until(|| {
            source
                .read(0, None)
                .is_ok_and(|read| read.text.contains(text))
        })
        .await;
    }

    pub(crate) async fn done(&mut self) -> Outcome {
        tokio::time::timeout(PATIENCE, &mut self.done)
            .await
            .expect("the job ends")
    }

    /// The end, as `status, detail`.
    pub(crate) async fn ends(&mut self) -> (String, Outcome) {
        let outcome = self.done().await;
        let detail = outcome.detail.clone().unwrap_or_default();
        (
            format!("{:?}, {detail}", outcome.status).to_lowercase_first(),
            outcome,
        )
    }
}

trait LowercaseFirst {
    fn to_lowercase_first(&self) -> String;
}

impl LowercaseFirst for String {
    fn to_lowercase_first(&self) -> String {
        let (first, rest) = self.split_at(1);
        first.to_lowercase() + rest
    }
}

/// Polls a condition outside this process; fails when it does not come.
pub(crate) async fn until(condition: impl FnMut() -> bool) {
    within(PATIENCE, condition).await;
}

pub(crate) async fn within(limit: Duration, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < limit,
            "the condition did not come within {limit:?}"
        );
        // A look at the whole process table takes a while of a processor.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// This test binary, to run one of its tests as another process.
pub(crate) fn this_binary() -> PathBuf {
    std::env::current_exe().expect("it runs")
}
