//! Supervisors that are kept: for whom, how many, and when they end.

use std::time::Duration;

use crate::support::{Bench, Census, Job, config, run, warm, within};
use jobs_process::{Containment, JobCommand, ProcessRunner};
use rustix::process::{Pid, Signal, kill_process};

/// The supervisor that a job of `bench` has.
async fn supervisor(bench: &Bench) -> i32 {
    let mut job = bench.sh("echo $PPID");
    assert_eq!(job.ends().await.0, "completed, exit code: 0");
    job.read().trim().parse().expect("a pid")
}

fn signal(pid: i32, signal: Signal) {
    // It is a child of this process that nobody has reaped.
    kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("it is ours");
}

#[test]
fn one_supervisor_looks_after_one_job_after_another() {
    run(async {
        let bench = Bench::new(Containment::Supervisor);
        let first = supervisor(&bench).await;
        // A tree that has to be killed leaves it as good as new.
        let mut job =
            bench.sh("trap '' TERM; setsid sleep 60 & echo up; while :; do sleep 1; done");
        job.shows("up").await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGKILL");
        assert_eq!(supervisor(&bench).await, first);
        // One that could not be started, too.
        let mut job = bench
            .start(JobCommand::argv(["/bin/true"]).with_cwd("/proc/self/task"))
            .expect("started");
        job.done().await;
        assert_eq!(supervisor(&bench).await, first);
        bench.assert_gone();
    });
}

#[test]
fn without_spares_each_job_has_a_supervisor_of_its_own() {
    run(async {
        let bench = Bench::with(Containment::Supervisor, |config| {
            config.with_spare_supervisors(0)
        });
        let children = bench.census().children;
        assert_ne!(supervisor(&bench).await, supervisor(&bench).await);
        assert_eq!(bench.census().children, children);
        bench.assert_gone();
    });
}

#[test]
fn no_more_are_kept_than_the_setting_says() {
    run(async {
        let bench = Bench::with(Containment::Supervisor, |config| {
            config.with_spare_supervisors(1)
        });
        let before = bench.census();
        let mut jobs: Vec<Job> = (0..5).map(|_| bench.sh("sleep 60")).collect();
        within(Duration::from_secs(30), || bench.census().live.len() == 5).await;
        // One was there already.
        assert_eq!(bench.census().children.len(), before.children.len() + 4);
        for job in &mut jobs {
            job.cancel();
            assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        }
        assert_eq!(bench.census().children.len(), before.children.len());
        bench.assert_gone();
    });
}

#[test]
fn a_spare_that_was_killed_or_stopped_is_replaced() {
    run(async {
        let bench = Bench::new(Containment::Supervisor);
        for how in [Signal::KILL, Signal::STOP] {
            let spare = supervisor(&bench).await;
            signal(spare, how);
            let state = if how == Signal::KILL { "Z" } else { "T" };
            within(Duration::from_secs(30), || {
                let stat = std::fs::read_to_string(format!("/proc/{spare}/stat"));
                let stat = stat.expect("it is not reaped");
                stat.rsplit_once(") ").expect("a name").1.starts_with(state)
            })
            .await;
            assert_ne!(supervisor(&bench).await, spare);
            assert!(!is_there(spare), "it was ended and reaped");
        }
        bench.assert_gone();
    });
}

#[test]
fn spares_end_with_their_runner() {
    run(async {
        let before = Census::take("-");
        let runner = ProcessRunner::new(config(Containment::Supervisor)).expect("this is Linux");
        warm(&runner);
        assert_eq!(Census::take("-").children.len(), before.children.len() + 1);
        drop(runner);
        let after = Census::take("-");
        assert_eq!(after.children, before.children);
        assert_eq!(after.zombies, Vec::<i32>::new());
        assert!(after.descriptors <= before.descriptors);
    });
}

/// A job that outlives its runner takes its supervisor along.
#[test]
fn a_supervisor_whose_runner_is_gone_ends_with_its_job() {
    run(async {
        let before = Census::take("-");
        let runner = ProcessRunner::new(config(Containment::Supervisor)).expect("this is Linux");
        let process = runner
            .start(&JobCommand::shell("sleep 0.2"))
            .expect("started");
        drop(runner);
        process.into_hooks().done.await;
        let after = Census::take("-");
        assert_eq!(after.children, before.children);
        assert_eq!(after.zombies, Vec::<i32>::new());
    });
}

fn is_there(pid: i32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}
