//! What needs a host process of its own: one that is killed, one with a dirty signal state.
//!
//! The ignored tests are those hosts; the others run them as child processes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Census, config, this_binary, within};
use jobs_process::{Containment, JobCommand, ProcessRunner};

const MARK: &str = "JOBS_TEST_MARK";

/// A host process that is ended with the test.
struct Host(Child);

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Host {
    /// Runs the ignored test `name`, through a shell that first does `setup`.
    fn run(name: &str, setup: &str, mark: &str) -> Self {
        let script = format!("{setup}; exec \"$0\" --ignored --exact --nocapture {name}");
        let host = Command::new("sh")
            .args(["-c", &script])
            .arg(this_binary())
            .env(MARK, mark)
            .env("FOO_TOKEN", "secret")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a host");
        Self(host)
    }

    /// The lines that the host prints, up to one that is `end`.
    fn lines_until(&mut self, end: &str) -> Vec<String> {
        let out = BufReader::new(self.0.stdout.take().expect("piped"));
        let lines = out.lines().map(|line| line.expect("text"));
        lines.take_while(|line| line != end).collect()
    }
}

fn mark(name: &str) -> String {
    format!("8{:09}{name}", std::process::id())
}

#[test]
fn row_20_nothing_outlives_a_host_that_is_killed() {
    crate::support::run(async {
        let mark = mark("row20");
        let mut host = Host::run("host::host_with_a_tree", "true", &mark);
        host.lines_until("ready");
        // Three sleeps, their shell and the host itself, at least.
        assert!(Census::take(&mark).live.len() >= 5);
        host.0.kill().expect("it is ours");
        within(Duration::from_secs(1), || {
            Census::take(&mark).live.is_empty()
        })
        .await;
    });
}

#[test]
#[ignore = "the host of row 20"]
fn host_with_a_tree() {
    crate::support::run(async {
        let runner = ProcessRunner::new(config(Containment::Supervisor)).expect("this is Linux");
        let mark = std::env::var(MARK).expect("the test sets it");
        let command = "setsid sleep 40 & sleep 41 & sleep 42";
        let _process = runner.start(&JobCommand::shell(command)).expect("started");
        within(Duration::from_secs(10), || {
            Census::take(&mark).live.len() >= 5
        })
        .await;
        println!("ready");
        std::future::pending::<()>().await;
    });
}

#[test]
fn a_job_inherits_nothing_that_it_should_not() {
    crate::support::run(async {
        let setup = "trap '' HUP INT; exec 9</etc/passwd";
        let mut host = Host::run("host::host_that_looks_at_a_job", setup, &mark("clean"));
        let lines = host.lines_until("end");
        for wanted in [
            "SigIgn:\t0000000000000000",
            "SigBlk:\t0000000000000000",
            "fds=0,1,2,3",
            "tty=refused",
            "token=",
        ] {
            let count = lines.iter().filter(|line| *line == wanted).count();
            assert_eq!(count, 3, "{wanted} on every rung: {lines:?}");
        }
        let ignored = lines
            .iter()
            .find(|line| line.starts_with("host SigIgn"))
            .expect("it says");
        assert!(
            ignored.ends_with('3'),
            "the check must be able to fail: {ignored}"
        );
    });
}

#[test]
#[ignore = "the host of a_job_inherits_nothing_that_it_should_not"]
fn host_that_looks_at_a_job() {
    crate::support::run(async {
        let status = std::fs::read_to_string("/proc/self/status").expect("readable");
        for line in status.lines().filter(|line| line.starts_with("SigIgn")) {
            println!("host {line}");
        }
        for rung in [
            Containment::Supervisor,
            Containment::Sweep,
            Containment::Group,
        ] {
            let bench = crate::support::Bench::new(rung);
            for command in [
                JobCommand::argv(["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]),
                // The listing has a descriptor of its own, the lowest that is free.
                JobCommand::argv(["ls", "/proc/self/fd"]).with_env("LC_ALL", "C"),
                JobCommand::shell("{ read x </dev/tty; } 2>/dev/null || echo tty=refused"),
                JobCommand::shell("echo token=$FOO_TOKEN"),
            ] {
                let mut job = bench.start(command).expect("started");
                job.done().await;
                println!(
                    "{}",
                    job.read().trim_end().replace("0\n1\n2\n", "fds=0,1,2,")
                );
            }
        }
        println!("end");
    });
}
