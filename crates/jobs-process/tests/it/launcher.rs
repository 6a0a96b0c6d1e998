//! Launchers that stand between a command and its process.

use std::path::Path;
use std::sync::Arc;

use crate::support::{Bench, run, until};
use jobs_process::{Bwrap, Containment, JobCommand, Launch, Launcher, Network, Veto};

#[derive(Debug)]
struct Wrapper;

impl Launcher for Wrapper {
    fn launch(&self, mut launch: Launch) -> Result<Launch, Veto> {
        if launch.argv.iter().any(|argument| argument == "forbidden") {
            return Err(Veto("not here".to_owned()));
        }
        launch
            .env
            .retain(|name, _| name == "PATH" || name == "JOBS_TEST_MARK");
        launch
            .argv
            .splice(0..0, ["env".into(), "WRAPPED=yes".into()]);
        launch.cwd = "/".into();
        Ok(launch)
    }
}

#[test]
fn a_launcher_stands_between_command_and_process() {
    run(async {
        // On the rung that needs the cookie, which the wrapper has thrown away.
        let bench = Bench::with(Containment::Sweep, |config| {
            config.with_launcher(Arc::new(Wrapper))
        });
        let mut job = bench.sh("pwd; echo $WRAPPED; setsid sleep 60 & sleep 60");
        job.shows("yes").await;
        until(|| bench.census().live.len() >= 3).await;
        job.cancel();
        assert_eq!(job.ends().await.0, "killed, signal: SIGTERM");
        assert_eq!(job.read(), "/\nyes\n");
        bench.assert_gone();
        let refused = bench
            .start(JobCommand::argv(["echo", "forbidden"]))
            .err()
            .expect("refused");
        assert_eq!(refused.to_string(), "refused by the launcher: not here");
    });
}

type Change = fn(&mut Launch) -> Result<(), Veto>;

#[derive(Debug)]
struct Changing(Change);

impl Launcher for Changing {
    fn launch(&self, mut launch: Launch) -> Result<Launch, Veto> {
        self.0(&mut launch)?;
        Ok(launch)
    }
}

#[test]
fn what_a_launcher_returns_is_checked() {
    let nul = "expected text without NUL bytes, got one at byte 1; remove it";
    let cases: [(Change, String); 4] = [
        (
            |launch| Ok(launch.env.set("A=B", "")?),
            "refused by the launcher: invalid variable name \"A=B\": \
             expected a non-empty name without '='"
                .to_owned(),
        ),
        (
            |launch| {
                launch.argv[0] = "a\0b".into();
                Ok(())
            },
            format!("invalid argument 0: {nul}"),
        ),
        (
            |launch| {
                launch.cwd = "a\0b".into();
                Ok(())
            },
            format!("invalid working directory: {nul}"),
        ),
        (
            |launch| {
                launch.cwd = "src".into();
                Ok(())
            },
            "invalid working directory src: expected an accessible directory, \
             got a relative path from the launcher"
                .to_owned(),
        ),
    ];
    run(async {
        for (change, expected) in cases {
            let bench = Bench::with(Containment::Sweep, |config| {
                config.with_launcher(Arc::new(Changing(change)))
            });
            let refused = bench.start(JobCommand::argv(["no-such-program"]));
            let refused = refused.err().expect("nothing is started");
            assert_eq!(refused.to_string(), expected);
        }
    });
}

#[test]
fn bubblewrap_holds_a_command_and_ends_with_it() {
    if !is_in_path("bwrap") {
        // Absence shows as what it is: a program that cannot be started.
        run(async {
            let bench = bwrap(Containment::Supervisor);
            let command = bench.command("true").with_cwd(bench.spill.path());
            let (end, _) = bench.start(command).expect("an outcome").ends().await;
            assert!(end.starts_with("failed, spawn failed: bwrap"), "{end}");
        });
        return;
    }
    run(async {
        for rung in [Containment::Supervisor, Containment::Sweep] {
            let bench = bwrap(rung);
            let directory = tempfile::tempdir_in("/var/tmp").expect("a directory");
            let command = "echo x >inside && echo wrote; \
                echo x 2>/dev/null >/etc/inside || echo refused; \
                ls /tmp | wc -l; \
                cat /proc/net/dev | grep -c :; \
                setsid sleep 60 & sleep 60";
            let command = bench.command(command).with_cwd(directory.path());
            let mut job = bench.start(command).expect("started");
            // One device: the loopback.
            job.shows("wrote\nrefused\n0\n1\n").await;
            until(|| bench.census().live.len() >= 4).await;
            job.cancel();
            let (end, _) = job.ends().await;
            assert!(end.starts_with("killed, "), "{end}");
            assert!(directory.path().join("inside").exists());
            bench.assert_gone();
        }
    });
}

fn bwrap(rung: Containment) -> Bench {
    Bench::with(rung, |config| {
        config.with_launcher(Arc::new(Bwrap::new(Network::Isolated)))
    })
}

fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| Path::new(&directory).join(program).exists())
}
