//! Runs one case: a runtime, a watchdog, and the shutdown of what it opened.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use jobs::contain::Contained;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::stage::World;
use super::{CASES, Case, Clock};
use crate::harness::Harness;

/// How long a case may take on the wall: a deadlock of its thread fails.
const WATCHDOG: Duration = Duration::from_secs(120);

/// How long a case may take on its own clock. The paused clock gets there at
/// once when nothing else can happen.
const LIMIT: Duration = Duration::from_secs(100);
const PAUSED_LIMIT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A case that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{clause} `{case}`: {text}")]
#[non_exhaustive]
pub struct Failure {
    /// The clause that is broken.
    pub clause: &'static str,
    /// The case that shows it.
    pub case: &'static str,
    /// What the case saw.
    pub text: String,
}

impl Case {
    /// Runs the case against fresh registries of `harness`.
    ///
    /// It takes a thread of its own, which stays behind if the case deadlocks.
    ///
    /// # Errors
    ///
    /// What the case saw, when the clause does not hold.
    pub fn run(&self, harness: Arc<dyn Harness>) -> Result<(), Failure> {
        let case = *self;
        let (sender, receiver) = channel();
        let spawned = thread::Builder::new()
            .name(case.name.to_owned())
            .spawn(move || {
                // Nobody listens after the watchdog bit.
                let _late = sender.send(case.run_here(harness));
            });
        let text = match spawned {
            Err(error) => format!("no thread to run on: {error}"),
            Ok(_running) => match receiver.recv_timeout(WATCHDOG) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(text)) => text,
                Err(RecvTimeoutError::Timeout) => "its thread hangs: a deadlock".to_owned(),
                Err(RecvTimeoutError::Disconnected) => "its thread died".to_owned(),
            },
        };
        Err(Failure {
            clause: self.clause,
            case: self.name,
            text,
        })
    }

    fn run_here(self, harness: Arc<dyn Harness>) -> Result<(), String> {
        let (runtime, limit) = self.clock.runtime().map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let world = World::new(harness);
            let opened = world.opened();
            let body = Contained::new((self.body)(world));
            let held = match timeout(limit, body).await {
                Ok(ended) => ended.map_err(|panicked| panicked.to_string()),
                Err(_) => Err("it waits for something that never comes".to_owned()),
            };
            for jobs in opened.live() {
                if timeout(limit, jobs.shutdown()).await.is_err() {
                    return held.and(Err("the shutdown after it never ends".to_owned()));
                }
            }
            held
        })
    }
}

impl Clock {
    fn runtime(self) -> std::io::Result<(Runtime, Duration)> {
        Ok(match self {
            Self::Paused => (
                Builder::new_current_thread()
                    .enable_all()
                    .start_paused(true)
                    .build()?,
                PAUSED_LIMIT,
            ),
            Self::Threads => (
                Builder::new_multi_thread()
                    .worker_threads(4)
                    .enable_all()
                    .build()?,
                LIMIT,
            ),
        })
    }
}

/// For [`conformance!`](crate::conformance!): runs the case of this name.
///
/// # Panics
///
/// When the clause does not hold, or holds although it is a known gap.
pub fn check(name: &str, harness: impl Harness, known_gaps: &[&str]) {
    let case = CASES
        .iter()
        .find(|case| case.name == name)
        .expect("a test is made of a case");
    match (case.run(Arc::new(harness)), known_gaps.contains(&name)) {
        (Ok(()), false) | (Err(_), true) => {}
        (Err(failure), false) => panic!("{failure}"),
        (Ok(()), true) => panic!("{case:?} holds: it is no known gap any more"),
    }
}
