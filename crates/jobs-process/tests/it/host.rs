//! What needs a host process of its own: one that is killed, one with a dirty signal state.
//!
//! Such a test runs itself a second time, as the host.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::support::{Census, SUPERVISOR, supervisor, this_binary, within};
use jobs_process::{Containment, JobCommand, ProcessConfig, ProcessRunner};

const MARK: &str = "JOBS_TEST_MARK";
/// Set in a host.
const ROLE: &str = "JOBS_TEST_HOST";
/// The user `nobody`.
const NOBODY: &str = "65534";

fn is_host() -> bool {
    std::env::var_os(ROLE).is_some()
}

/// A host process that is ended with the test.
struct Host {
    child: Child,
    /// Copies of the binaries, where another user can reach them.
    _files: tempfile::TempDir,
}

#[derive(Debug, Clone, Copy)]
enum User {
    Same,
    Nobody,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Host {
    /// Runs the test `name` as a host, through a shell that first does `setup`.
    fn run(name: &str, setup: &str, user: User, mark: &str) -> Self {
        let files = tempfile::tempdir().expect("a directory");
        let mut binaries = [this_binary(), supervisor()];
        let drop_rights = match user {
            User::Same => "",
            User::Nobody => {
                let open = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(files.path(), open).expect("ours");
                binaries = binaries.map(|binary| copy(&binary, &files));
                "setpriv --reuid=65534 --regid=65534 --clear-groups --"
            }
        };
        let [this, supervisor] = binaries;
        let script = format!("{setup}; exec {drop_rights} \"$0\" --exact --nocapture {name}");
        let child = Command::new("sh")
            .args(["-c", &script])
            .arg(this)
            .current_dir("/")
            .env(ROLE, "1")
            .env(SUPERVISOR, supervisor)
            .env(MARK, mark)
            .env("FOO_TOKEN", "secret")
            .env_remove(crate::load::OTHER_JOBS)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a host");
        Self {
            child,
            _files: files,
        }
    }

    /// The lines that the host prints, up to one that is `end`.
    fn lines_until(&mut self, end: &str) -> Vec<String> {
        let out = BufReader::new(self.child.stdout.take().expect("piped"));
        let lines = out.lines().map(|line| line.expect("text"));
        let mut found = false;
        let lines = lines
            .take_while(|line| {
                found = line == end;
                !found
            })
            .collect();
        assert!(found, "the host said {end}: {lines:?}");
        lines
    }
}

fn copy(binary: &PathBuf, files: &tempfile::TempDir) -> PathBuf {
    let copy = files.path().join(binary.file_name().expect("a file"));
    std::fs::copy(binary, &copy).expect("copied");
    copy
}

fn mark(name: &str) -> String {
    format!("8{:09}{name}", std::process::id())
}

/// Row 20, as the user who runs the tests, and, if that is root, as `nobody` too.
#[test]
fn row_20_nothing_outlives_a_host_that_is_killed() {
    if is_host() {
        return host_with_a_tree();
    }
    crate::support::run(async {
        let name = "host::row_20_nothing_outlives_a_host_that_is_killed";
        let is_root = rustix::process::geteuid().is_root();
        let users = [Some(User::Same), is_root.then_some(User::Nobody)];
        for user in users.into_iter().flatten() {
            let mark = mark("row20");
            let mut host = Host::run(name, "true", user, &mark);
            let said = host.lines_until("ready");
            let uid = format!("uid {NOBODY}");
            assert_eq!(
                said.contains(&uid),
                matches!(user, User::Nobody),
                "{said:?}"
            );
            // Three sleeps, their shell and the host itself, at least.
            assert!(Census::take(&mark).live.len() >= 5);
            let watch = Stopwatch::start();
            host.child.kill().expect("it is ours");
            let gone = || Census::take(&mark).live.is_empty();
            within(Duration::from_secs(10), gone).await;
            watch.assert_within(Duration::from_secs(1));
        }
    });
}

fn host_with_a_tree() {
    crate::support::run(async {
        // The default rung: nothing is said of it.
        let config = ProcessConfig::new().with_supervisor(supervisor());
        let runner = ProcessRunner::new(config).expect("this is Linux");
        assert_eq!(runner.containment(), Containment::Supervisor);
        let mark = std::env::var(MARK).expect("the test sets it");
        let command = "setsid sleep 40 & sleep 41 & sleep 42";
        let _process = runner.start(&JobCommand::shell(command)).expect("started");
        within(Duration::from_secs(10), || {
            Census::take(&mark).live.len() >= 5
        })
        .await;
        println!("\nuid {}\nready", rustix::process::getuid().as_raw());
        std::future::pending::<()>().await;
    });
}

/// A supervisor that waits for its next job has no tree, and ends with its host all the same.
#[test]
fn row_20_a_spare_supervisor_does_not_outlive_its_host_either() {
    if is_host() {
        return host_with_a_spare();
    }
    crate::support::run(async {
        let name = "host::row_20_a_spare_supervisor_does_not_outlive_its_host_either";
        let mut host = Host::run(name, "true", User::Same, &mark("spare"));
        let said = host.lines_until("ready");
        let spare = said.iter().find_map(|line| line.strip_prefix("spare "));
        let spare: i32 = spare.expect("it says").parse().expect("a pid");
        // None once it has ended, whenever whoever inherits it may reap it.
        let parent = || {
            let stat = std::fs::read_to_string(format!("/proc/{spare}/stat")).ok()?;
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            (state != "Z").then_some(parent)
        };
        assert_eq!(parent(), Some(host.child.id()), "it waits");
        let watch = Stopwatch::start();
        host.child.kill().expect("it is ours");
        within(Duration::from_secs(10), || parent().is_none()).await;
        watch.assert_within(Duration::from_secs(1));
    });
}

fn host_with_a_spare() {
    crate::support::run(async {
        let config = ProcessConfig::new().with_supervisor(supervisor());
        let runner = ProcessRunner::new(config).expect("this is Linux");
        let job = runner.start(&JobCommand::shell("echo $PPID"));
        let hooks = job.expect("started").into_hooks();
        let output = hooks.output.expect("a stream job");
        hooks.done.await;
        let output = output.read(0, None).expect("a log can be read");
        println!("\nspare {}\nready", output.text.trim());
        std::future::pending::<()>().await;
    });
}

#[test]
fn a_job_inherits_nothing_that_it_should_not() {
    if is_host() {
        return host_that_looks_at_a_job();
    }
    crate::support::run(async {
        let name = "host::a_job_inherits_nothing_that_it_should_not";
        let setup = "trap '' HUP INT; exec 9</etc/passwd";
        let mut host = Host::run(name, setup, User::Same, &mark("clean"));
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
        let (_, mask) = ignored.rsplit_once('\t').expect("a mask");
        let mask = u64::from_str_radix(mask, 16).expect("a number");
        assert_eq!(mask & 3, 3, "the check must be able to fail: {ignored}");
    });
}

fn host_that_looks_at_a_job() {
    crate::support::run(async {
        println!();
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
