//! The acceptance rows of spec/process.md, each on both rungs that they distinguish.
//!
//! "Gone" is judged by a separate process that scans the process table.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::clock::Stopwatch;
use crate::support::{Bench, GRACE, until};
use jobs::Origin;
use jobs_process::{Containment, JobCommand, OnLeaderExit, ProcessConfig};

const MS: Duration = Duration::from_millis(1);

/// Runs a row on each rung.
macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident($rung:ident) $body:block)*) => {$(
        $(#[$doc])*
        mod $name {
            use super::*;

            async fn row($rung: Containment) $body

            #[test]
            fn supervisor() {
                crate::support::run(row(Containment::Supervisor));
            }

            #[test]
            fn sweep() {
                crate::support::run(row(Containment::Sweep));
            }
        }
    )*};
}

rows! {
    row_01_output_and_end(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("echo hi");
        let (end, outcome) = job.ends().await;
        assert_eq!(end, "completed, exit code: 0");
        assert_eq!((job.read().as_str(), job.read().as_str()), ("hi\n", ""));
        let facts = outcome.facts.expect("facts");
        let name = if rung == Containment::Supervisor { "supervisor" } else { "sweep" };
        assert_eq!(facts["containment"], name);
        assert_eq!((&facts["exitCode"], &facts["outputComplete"]), (&0.into(), &true.into()));
        bench.assert_gone();
    }

    row_02_both_streams_and_a_code(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("echo out; echo err >&2; exit 3");
        assert_eq!(job.ends().await.0, "completed, exit code: 3");
        assert_eq!(job.read(), "out\n[stderr]\nerr\n");
        bench.assert_gone();
    }

    row_03_a_line_without_end_before_stderr(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("printf out; echo err >&2");
        assert_eq!(job.ends().await.0, "completed, exit code: 0");
        assert_eq!(job.read(), "out\n[stderr]\nerr\n");
        bench.assert_gone();
    }

    row_04_reads_give_what_is_new(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("echo a; sleep 1; echo b");
        job.shows("a\n").await;
        assert_eq!(job.read(), "a\n");
        assert_eq!(job.ends().await.0, "completed, exit code: 0");
        assert_eq!((job.read().as_str(), job.read().as_str()), ("b\n", ""));
        bench.assert_gone();
    }

    row_05_cancel_twice(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("sleep 60");
        until(|| !bench.census().live.is_empty()).await;
        let watch = Stopwatch::start();
        job.cancel();
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        watch.assert_within(100 * MS);
        assert_eq!(job.read(), "");
        bench.assert_gone();
    }

    row_06_a_command_that_ignores_the_request(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("trap '' TERM; echo armed; while :; do sleep 1; done");
        job.shows("armed").await;
        let watch = Stopwatch::start();
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGKILL");
        assert!(watch.elapsed() >= GRACE, "{:?}", watch.elapsed());
        watch.assert_within(GRACE + 300 * MS);
        assert_eq!(job.read(), "armed\n");
        bench.assert_gone();
    }

    row_07_a_handler_that_exits(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("trap 'echo bye; exit 0' TERM; sleep 30 & wait");
        // The second process is the sleep, started after the handler was set.
        until(|| bench.census().live.len() == 2).await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, killed before exit");
        assert_eq!(job.read(), "bye\n");
        bench.assert_gone();
    }

    row_08_a_signal_that_nobody_here_sent(rung) {
        let bench = Bench::new(rung);
        let directory = tempfile::tempdir().expect("a directory");
        let command = bench.command("kill -SEGV $$").with_cwd(directory.path());
        let mut job = bench.start(command).expect("started");
        let (end, outcome) = job.ends().await;
        assert_eq!((end.as_str(), outcome.origin), ("killed, signal: SIGSEGV", Origin::Signal));
        assert_eq!(job.read(), "");
        let files = std::fs::read_dir(directory.path()).expect("it is there").count();
        assert_eq!(files, 0, "a core file");
        bench.assert_gone();
    }

    row_09_processes_that_are_left(rung) {
        let bench = Bench::new(rung);
        let watch = Stopwatch::start();
        let mut job = bench.sh("sleep 30 & echo hi; exit 3");
        let (end, outcome) = job.ends().await;
        assert_eq!(end, "completed, exit code: 3");
        assert!(watch.elapsed() > GRACE - 200 * MS, "{:?}", watch.elapsed());
        watch.assert_within(GRACE + 200 * MS);
        assert_eq!(job.read(), "hi\n[1 process(es) left by the command were stopped]\n");
        assert_eq!(outcome.facts.expect("facts")["leftProcesses"], 1);
        bench.assert_gone();
    }

    row_10_processes_that_may_stay(rung) {
        let bench = Bench::new(rung);
        let command = bench
            .command("sleep 30 & echo hi; exit 3")
            .with_on_leader_exit(OnLeaderExit::Wait);
        let mut job = bench.start(command).expect("started");
        let detail = "leader exited: exit code 3; 1 process still running";
        until(|| job.detail().as_deref() == Some(detail)).await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, exit code: 3");
        assert_eq!(job.read(), "hi\n");
        bench.assert_gone();
    }

    row_11_a_command_in_a_group_of_its_own(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("timeout 100 sleep 30; echo after");
        until(|| bench.census().live.len() == 3).await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        bench.assert_gone();
    }

    row_12_a_command_in_a_session_of_its_own(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("setsid sleep 30 & echo hi; wait");
        until(|| bench.census().live.len() == 2).await;
        job.shows("hi").await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        assert_eq!(job.read(), "hi\n");
        bench.assert_gone();
    }

    row_13_a_daemon_without_traces(rung) {
        let bench = Bench::new(rung);
        let daemon = format!("env -i setsid sh -c 'sleep 30.{} & exit' & wait; echo hi", bench.mark);
        let watch = Stopwatch::start();
        let mut job = bench.sh(&daemon);
        assert_eq!(job.ends().await.0, "completed, exit code: 0");
        let output = job.read();
        if rung == Containment::Supervisor {
            assert_eq!(output, "hi\n[1 process(es) left by the command were stopped]\n");
            bench.assert_gone();
        } else {
            assert!(watch.elapsed() > 2 * GRACE - 100 * MS, "{:?}", watch.elapsed());
            watch.assert_within(2 * GRACE + 300 * MS);
            assert!(output.starts_with("hi\n[output closed: "), "{output}");
            // Nor is it hit by anything after the settlement.
            job.cancel();
            assert_eq!(bench.census().live.len(), 1, "out of reach of a sweep");
        }
    }

    row_14_a_storm_of_sessions(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("while :; do setsid sleep 30 & done");
        tokio::time::sleep(400 * MS).await;
        let watch = Stopwatch::start();
        job.cancel();
        let (end, _) = job.ends().await;
        assert!(end.starts_with("killed, "), "{end}");
        watch.assert_within(3000 * MS);
        bench.assert_gone();
    }

    row_15_a_stopped_command(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.sh("kill -STOP $$; echo no");
        until(|| is_stopped(&bench)).await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        assert_eq!(job.read(), "");
        bench.assert_gone();
    }

    row_16_closed_pipes_end_nothing(rung) {
        let bench = Bench::new(rung);
        let start = Instant::now();
        let mut job = bench.sh("exec >&- 2>&-; sleep 1; exit 4");
        assert_eq!(job.ends().await.0, "completed, exit code: 4");
        assert!(start.elapsed() >= 1000 * MS);
        assert_eq!(job.read(), "");
        bench.assert_gone();
    }

    row_17_what_memory_drops_is_in_a_file(rung) {
        let small = |config: ProcessConfig| {
            config.with_output_memory(64_000.try_into().expect("not zero"))
        };
        let bench = Bench::with(rung, small);
        let mut job = bench.sh("head -c 1000000 /dev/zero | tr '\\0' x");
        let (end, outcome) = job.ends().await;
        assert_eq!(end, "completed, exit code: 0");
        let facts = outcome.facts.expect("facts");
        let path = PathBuf::from(facts["spill"][0].as_str().expect("a path"));
        let loss = format!(
            "[some output was dropped from memory; full output: {}]\n",
            path.display()
        );
        assert_eq!(job.read(), "x".repeat(64_000) + "\n" + &loss);
        let spilled = std::fs::read(&path).expect("the file");
        assert!(spilled.len() == 1_000_000 && spilled.iter().all(|byte| *byte == b'x'));
        let mode = |path: &std::path::Path| path.metadata().expect("it is there").mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a parent"))), (0o600, 0o700));
        drop(job);
        assert!(!path.exists(), "gone with the job");
    }

    row_18_characters_survive_every_cut(rung) {
        let large = |config: ProcessConfig| {
            // No file, so that the lock of its directory is not counted as a leak.
            config.with_output_memory(1_000_000.try_into().expect("not zero")).with_spill_limit(0)
        };
        let bench = Bench::with(rung, large);
        let mut job = bench.sh("for i in $(seq 2000); do printf 'é漢😀é漢😀é漢😀é漢😀é漢😀é漢😀é漢😀é漢😀é漢😀é漢😀'; done");
        let mut joined = String::new();
        loop {
            let ended = tokio::time::timeout(7 * MS, job.ends()).await;
            joined += &job.read();
            if let Ok((end, _)) = ended {
                assert_eq!(end, "completed, exit code: 0");
                break;
            }
        }
        assert_eq!(joined, "é漢😀".repeat(20_000));
        bench.assert_gone();
    }

    row_19_what_cannot_be_started(rung) {
        let bench = Bench::new(rung);
        let mut job = bench.start(JobCommand::argv(["no-such-program"])).expect("an outcome");
        let text = "spawn failed: no-such-program: no such program in PATH";
        assert_eq!(job.ends().await.0, format!("failed, {text}"));
        assert_eq!(job.read(), format!("{text}\n"));
        let file = bench.spill.path().join("no program");
        std::fs::write(&file, "text\n").expect("written");
        let mut job = bench.start(JobCommand::argv([&file])).expect("an outcome");
        assert!(job.ends().await.0.contains("not executable"));
        std::fs::remove_file(&file).expect("removed");

        for (command, text) in [
            (JobCommand::shell("true").with_cwd("/no/such"), "/no/such: expected an accessible"),
            (JobCommand::shell("true").with_cwd("/etc/passwd"), "no directory"),
            (JobCommand::argv(["a\0b"]), "NUL"),
            (JobCommand::argv(["true"]).with_env("A", "\0"), "NUL"),
            (JobCommand::argv(["true"]).with_env("A=B", "c"), "variable name"),
            (JobCommand::argv(Vec::<String>::new()), "empty command"),
        ] {
            let error = bench.start(command).err().expect("refused").to_string();
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
        bench.assert_gone();
    }
}

fn is_stopped(bench: &Bench) -> bool {
    bench.census().live.iter().any(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}
