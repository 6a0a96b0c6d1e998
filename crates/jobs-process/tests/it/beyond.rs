//! What the acceptance rows do not hold: limits, streams, trees that end in other ways.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::support::{Bench, config, run, until};
use jobs::Origin;
use jobs_process::{Containment, JobCommand, OnLeaderExit, ProcessRunner, Streams};

const BOTH: [Containment; 2] = [Containment::Supervisor, Containment::Sweep];

#[test]
fn a_time_limit_ends_a_job() {
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            let command = bench
                .command("sleep 60")
                .with_max_runtime(Duration::from_millis(200));
            let (end, outcome) = bench.start(command).expect("started").ends().await;
            assert_eq!(end, "killed, limit: max runtime 200ms");
            assert_eq!(outcome.origin, Origin::Limit);
            bench.assert_gone();
        }
    });
}

#[test]
fn the_last_burst_arrives_whole() {
    run(async {
        let bench = Bench::with(Containment::Supervisor, |config| {
            config
                .with_output_memory((4 << 20).try_into().expect("not zero"))
                .with_spill_limit(0)
        });
        let mut job = bench.sh("head -c 1000000 /dev/zero | tr '\\0' x; kill -9 $$");
        assert_eq!(job.ends().await.0, "killed, signal: SIGKILL");
        assert_eq!(job.read().len(), 1_000_000);
        bench.assert_gone();
    });
}

#[test]
fn merged_streams_keep_their_order() {
    run(async {
        let bench = Bench::with(Containment::Supervisor, |config| config.with_spill_limit(0));
        let script = "for i in $(seq 2000); do echo o$i; echo e$i >&2; done";
        let command = bench.command(script).with_streams(Streams::Merged);
        let mut job = bench.start(command).expect("started");
        job.done().await;
        let wanted: String = (1..=2000).map(|i| format!("o{i}\ne{i}\n")).collect();
        assert_eq!(job.read(), wanted);
        bench.assert_gone();
    });
}

#[test]
fn input_is_given_and_ends() {
    run(async {
        let bench = Bench::new(Containment::Supervisor);
        let text = "x".repeat(200_000);
        let mut job = bench
            .start(bench.command("wc -c").with_stdin(text))
            .expect("started");
        job.done().await;
        assert_eq!(job.read().trim(), "200000");
        let mut job = bench.sh("wc -c");
        job.done().await;
        assert_eq!(job.read().trim(), "0");
        let unread = bench.command("exit 0").with_stdin(vec![b'x'; 1 << 20]);
        assert_eq!(
            bench.start(unread).expect("started").ends().await.0,
            "completed, exit code: 0"
        );
        until(|| bench.census().descriptors <= bench.before).await;
    });
}

#[test]
fn a_long_command_goes_through_a_script() {
    run(async {
        let bench = Bench::new(Containment::Supervisor);
        let long = format!("echo begin; : {}; echo end", "x".repeat(200_000));
        let mut job = bench.sh(&long);
        assert_eq!(job.ends().await.0, "completed, exit code: 0");
        assert_eq!(job.read(), "begin\nend\n");
        let own = std::fs::read_dir(bench.spill.path())
            .expect("it is there")
            .next();
        let own = own.expect("a directory").expect("readable").path();
        let names: Vec<_> = std::fs::read_dir(own)
            .expect("readable")
            .flatten()
            .collect();
        assert_eq!(names.len(), 1, "the lock only: {names:?}");
    });
}

#[test]
fn a_server_may_outlive_its_command_and_end_by_itself() {
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            let command = bench
                .command("{ sleep 1; echo served; } & exit 5")
                .with_on_leader_exit(OnLeaderExit::Wait);
            let mut job = bench.start(command).expect("started");
            assert_eq!(job.ends().await.0, "completed, exit code: 5");
            assert_eq!(job.read(), "served\n");
            bench.assert_gone();
        }
    });
}

#[test]
fn a_cancel_after_the_command_ended_changes_nothing() {
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            let mut job = bench.sh("sleep 30 & exit 3");
            until(|| job.detail().is_some()).await;
            let watch = Stopwatch::start();
            job.cancel();
            assert_eq!(job.ends().await.0, "completed, exit code: 3");
            watch.assert_within(Duration::from_millis(300));
            bench.assert_gone();
        }
    });
}

#[test]
fn a_supervisor_that_is_killed_takes_its_tree_along() {
    run(async {
        let bench = Bench::new(Containment::Supervisor);
        let mut job = bench.sh("setsid sleep 30 & kill -9 $PPID; sleep 30");
        let (end, _) = job.ends().await;
        assert_eq!(end, "failed, the supervisor of the command was killed");
        bench.assert_gone();
    });
}

#[test]
fn a_daemon_that_keeps_its_environment_is_found_on_both_rungs() {
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            // No pipe, no session and no parent of the job: what is left is the cookie.
            let daemon = "(setsid sleep 60 </dev/null >/dev/null 2>&1 &); echo up; exec sleep 60";
            let mut job = bench.sh(daemon);
            job.shows("up").await;
            until(|| bench.census().live.len() == 2).await;
            job.cancel();
            assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
            bench.assert_gone();
        }
    });
}

#[test]
fn the_lowest_rung_ends_a_group() {
    run(async {
        let bench = Bench::new(Containment::Group);
        let mut job = bench.sh("sleep 30 & echo hi; sleep 30");
        job.shows("hi").await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        bench.assert_gone();
        let mut job = bench.sh("sleep 30 & exit 3");
        assert_eq!(job.ends().await.0, "completed, exit code: 3");
        bench.assert_gone();
    });
}

#[test]
fn a_process_that_is_dropped_is_stopped() {
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            let process = bench
                .runner
                .start(&bench.command("setsid sleep 60 & sleep 60"))
                .expect("started");
            until(|| bench.census().live.len() == 3).await;
            drop(process);
            until(|| bench.census().live.is_empty()).await;
        }
    });
}

#[test]
fn a_runtime_that_ends_takes_its_jobs_along() {
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            let command = bench.command("setsid sleep 60 & sleep 60");
            let runner = bench.runner.clone();
            let (started, ready) = tokio::sync::oneshot::channel();
            let host = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(async move {
                    let process = runner.start(&command).expect("started");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    started.send(()).expect("it is awaited");
                    process
                })
            });
            ready.await.expect("started");
            drop(host.join().expect("no panic"));
            until(|| bench.census().live.is_empty()).await;
        }
    });
}

#[test]
fn without_a_runtime_nothing_is_started() {
    let _serial = crate::support::serial();
    let runner = ProcessRunner::new(config(Containment::Sweep)).expect("this is Linux");
    let error = runner
        .start(&JobCommand::shell("true"))
        .expect_err("refused");
    assert!(error.to_string().starts_with("no runtime"), "{error}");
}

#[test]
fn a_cancel_right_after_the_start_is_heard() {
    let _serial = crate::support::serial();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            let process = bench.runner.start(&bench.command("sleep 60"));
            let hooks = process.expect("started").into_hooks();
            // No yield in between: nothing has looked at the supervisor's socket yet.
            (hooks.cancel)(None).expect("accepted");
            let outcome = hooks.done.await;
            assert_eq!(outcome.detail.as_deref(), Some("signal: SIGTERM"));
        }
    });
}
