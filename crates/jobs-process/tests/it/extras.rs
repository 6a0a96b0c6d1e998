//! Scale: endless output, many jobs, a large host, disks that fail.

use std::time::{Duration, Instant};

use crate::clock::own_time;
use crate::support::{Bench, run, until};
use jobs::Origin;
use jobs_process::{Containment, JobCommand};

const BOTH: [Containment; 2] = [Containment::Supervisor, Containment::Sweep];
/// What a job may cost in memory, whatever it prints.
const FLAT_KIB: u64 = 4 * 1024;

#[test]
fn endless_output_ends_at_its_limit_or_when_asked_and_memory_stays_flat() {
    run(async {
        let limit = 64 << 20;
        let spill_limit = 1 << 20;
        let bench = Bench::with(Containment::Supervisor, |config| {
            config
                .with_max_output(limit.try_into().expect("not zero"))
                .with_spill_limit(spill_limit)
        });
        // What a first job costs once is not the job's.
        bench.sh("seq 100000").done().await;
        let before = resident_kib();
        let mut job = bench.sh("yes");
        let (end, outcome) = job.ends().await;
        assert_eq!(end, format!("killed, limit: max output {limit} bytes"));
        assert_eq!(outcome.origin, Origin::Limit);
        assert!(job.read().len() < 130_000);
        assert_flat(before);
        let facts = outcome.facts.expect("facts");
        let file = std::path::Path::new(facts["spill"][0].as_str().expect("a path"));
        assert_eq!(file.metadata().expect("it is there").len(), spill_limit);
        drop(job);

        // Whatever a fast machine writes in that time is below the default limit.
        let bench = Bench::new(Containment::Supervisor);
        let mut job = bench.sh("yes");
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(2) {
            assert_flat(before);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        assert!(job.read().starts_with("y\ny\n"));
        assert_flat(before);
        assert_eq!(bench.census().live, Vec::<i32>::new());
    });
}

#[track_caller]
fn assert_flat(before: u64) {
    let now = resident_kib();
    assert!(now < before + FLAT_KIB, "{now} KiB after {before} KiB");
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let number = line.and_then(|line| line.split_ascii_whitespace().nth(1));
    number.expect("a line").parse().expect("a number")
}

#[test]
fn a_progress_bar_becomes_one_line_and_binary_data_a_note() {
    run(async {
        let bench = Bench::with(Containment::Supervisor, |config| config.with_spill_limit(0));
        let script =
            "awk 'BEGIN { for (i = 0; i < 400000; i++) printf \"\\rframe %d\", i; print \"\" }'";
        let mut job = bench.sh(script);
        job.done().await;
        assert_eq!(job.read(), "frame 399999\n");
        bench.assert_gone();

        let mut job = bench.sh("head -c 5000 /dev/zero");
        job.done().await;
        assert_eq!(
            job.read(),
            "[binary output: 5000 bytes; full output: (unavailable)]\n"
        );
        bench.assert_gone();
    });
}

#[test]
fn a_running_bar_shows_in_the_detail() {
    run(async {
        let bench = Bench::new(Containment::Supervisor);
        let gate = bench.spill.path().join("gate");
        let script = format!(
            "printf 'start\n\r 10%%\r 42%%\r'; until [ -e '{}' ]; do sleep 0.05; done; echo done",
            gate.display()
        );
        let mut job = bench.sh(&script);
        until(|| job.detail().as_deref() == Some("42%")).await;
        // What was read stays as it is: the bar comes when it stands still.
        assert_eq!(job.read(), "start\n");
        std::fs::write(&gate, "").expect("written");
        assert_eq!(job.ends().await.0, "completed, exit code: 0");
        assert_eq!((job.read().as_str(), job.detail()), ("done\n", None));
        std::fs::remove_file(&gate).expect("removed");
        bench.assert_gone();
    });
}

#[test]
fn output_without_a_file_is_still_output() {
    run(async {
        let bench = Bench::with(Containment::Supervisor, |config| {
            config.with_spill_directory("/dev/full")
        });
        let mut job = bench.sh("seq 100000");
        assert_eq!(job.ends().await.0, "completed, exit code: 0");
        let text = job.read();
        let loss = "[some output was dropped from memory; full output: (unavailable)]\n";
        assert!(text.ends_with(&format!("\n99999\n100000\n{loss}")));
        bench.assert_gone();
    });
}

#[test]
fn many_short_jobs_leave_nothing() {
    const ROUNDS: usize = 4;
    const AT_ONCE: usize = 64;
    run(async {
        for rung in BOTH {
            let bench = Bench::new(rung);
            for _ in 0..ROUNDS {
                let mut jobs: Vec<_> = (0..AT_ONCE)
                    .map(|_| {
                        bench
                            .start(JobCommand::argv(["/bin/true"]))
                            .expect("started")
                    })
                    .collect();
                for job in &mut jobs {
                    assert_eq!(job.ends().await.0, "completed, exit code: 0");
                }
            }
            bench.assert_gone();
        }
    });
}

/// Starting by fork would copy the page tables: 75 ms each time, in this thread. So what the thread
/// computes is measured, and not how long it waits for a processor, or its child for one.
#[test]
fn a_large_host_starts_jobs_as_fast() {
    const TRIES: usize = 10;
    run(async {
        let ballast = vec![1_u8; 2 << 30];
        for rung in BOTH {
            let bench = Bench::new(rung);
            let mut times = Vec::new();
            for _ in 0..TRIES {
                let start = own_time();
                let mut job = bench
                    .start(JobCommand::argv(["/bin/true"]))
                    .expect("started");
                times.push(own_time() - start);
                assert_eq!(job.ends().await.0, "completed, exit code: 0");
            }
            times.sort_unstable();
            assert!(times[TRIES / 2] < Duration::from_millis(5), "{times:?}");
        }
        assert_eq!(ballast[ballast.len() / 2], 1);
    });
}
