//! A host that has no descriptor left: it cannot read the process table.

use std::fs::File;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::support::{Bench, run};
use jobs_process::Containment;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// All descriptors that this process may have are taken until this is dropped.
struct Starved {
    before: Rlimit,
    _taken: Vec<File>,
}

impl Starved {
    fn now() -> Self {
        let before = getrlimit(Resource::Nofile);
        let few = Rlimit {
            current: Some(256),
            ..before
        };
        setrlimit(Resource::Nofile, few).expect("fewer than before");
        let taken = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        Self {
            before,
            _taken: taken,
        }
    }
}

impl Drop for Starved {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.before).expect("as before");
    }
}

#[test]
fn what_a_command_leaves_is_not_overlooked() {
    run(async {
        let bench = Bench::with(Containment::Sweep, |config| {
            config.with_grace(Duration::from_secs(2))
        });
        let go = bench.spill.path().join("go");
        let script = "setsid sleep 60 & echo up; until [ -d \"$GO\" ]; do sleep 0.01; done";
        let command = bench.command(script).with_env("GO", &go);
        let mut job = bench.start(command).expect("started");
        job.shows("up").await;
        let starved = Starved::now();
        std::fs::create_dir(&go).expect("it takes no descriptor");
        let early = tokio::time::timeout(Duration::from_secs(1), job.done());
        assert!(
            early.await.is_err(),
            "it ended, and nobody saw that nothing was left"
        );
        drop(starved);
        let (end, outcome) = job.ends().await;
        assert!(end.starts_with("completed, exit code: 0"), "{end}");
        assert_eq!(outcome.facts.expect("facts")["leftProcesses"], 1);
        bench.assert_gone();
    });
}

#[test]
fn a_command_is_ended_all_the_same() {
    run(async {
        let bench = Bench::new(Containment::Sweep);
        let mut job = bench.sh("setsid sleep 60 & echo up; sleep 60; sleep 60");
        job.shows("up").await;
        let starved = Starved::now();
        let watch = Stopwatch::start();
        job.cancel();
        tokio::time::timeout(Duration::from_secs(2), job.done())
            .await
            .expect_err("the other session is left");
        drop(starved);
        let (end, _) = job.ends().await;
        watch.assert_within(Duration::from_secs(5));
        assert_eq!(end, "killed, signal: SIGTERM");
        bench.assert_gone();
    });
}
