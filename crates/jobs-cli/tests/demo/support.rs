//! How a demo is run, with which bash, and what carries its cookie.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A run of the demo to be.
pub(crate) struct Demo {
    command: Command,
}

impl Demo {
    pub(crate) fn new() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-jobs"));
        command.arg("demo");
        Self { command }
    }

    pub(crate) fn json(mut self) -> Self {
        self.command.arg("--json");
        self
    }

    /// Puts this bash first on `PATH`.
    pub(crate) fn with_bash(self, bash: &Bash) -> Self {
        let mut path = OsString::from(bash.directory.path());
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        self.with_path(Path::new(&path))
    }

    pub(crate) fn with_path(mut self, path: &Path) -> Self {
        self.command.env("PATH", path);
        self
    }

    pub(crate) fn command(self) -> Command {
        self.command
    }

    /// What it prints, once it has ended well.
    #[track_caller]
    pub(crate) fn succeeds(self) -> String {
        let output = self.run();
        let text = String::from_utf8(output.stdout).expect("text");
        let logged = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{logged}\n{text}");
        assert_eq!(logged, "");
        text
    }

    pub(crate) fn run(mut self) -> Output {
        self.command.output().expect("it starts")
    }
}

/// A directory with a `bash` of our own.
pub(crate) struct Bash {
    directory: TempDir,
}

impl Bash {
    /// It writes down the mark of its process and its command, and is the real one then.
    pub(crate) fn logging() -> Self {
        let real = real_bash();
        Self::new(|log| {
            format!(
                "printf '%s\\n%s\\0' \"$AGENT_JOBS_RUN\" \"$2\" >>'{}'\nexec '{}' \"$@\"\n",
                log.display(),
                real.display()
            )
        })
    }

    /// It runs nothing.
    pub(crate) fn lying() -> Self {
        Self::new(|_| "echo a lie\n".to_owned())
    }

    fn new(script: impl FnOnce(&Path) -> String) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let bash = directory.path().join("bash");
        let script = script(&directory.path().join("log"));
        fs::write(&bash, format!("#!/bin/sh\n{script}")).expect("it can be written");
        fs::set_permissions(&bash, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Self { directory }
    }

    /// Marks and commands, in the order of their start.
    pub(crate) fn log(&self) -> Vec<(String, String)> {
        let log = fs::read_to_string(self.directory.path().join("log")).expect("it was called");
        log.split_terminator('\0')
            .map(|entry| {
                let (mark, command) = entry.split_once('\n').expect("two parts");
                (mark.to_owned(), command.to_owned())
            })
            .collect()
    }
}

fn real_bash() -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    std::env::split_paths(&path)
        .map(|directory| directory.join("bash"))
        .find(|candidate| candidate.is_file())
        .expect("a bash on PATH")
}

/// The processes with this in their environment.
pub(crate) fn carriers(cookie: &str) -> Vec<String> {
    assert!(cookie.len() > 32, "{cookie} could be anybody's");
    let processes = fs::read_dir("/proc").expect("a process table").flatten();
    processes
        .map(|process| process.path().display().to_string())
        .filter(|process| {
            let environment = fs::read(format!("{process}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(cookie)
        })
        .collect()
}

/// Waits for what another process does; fails when it does not come.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it does not come: {what}"
        );
        std::thread::yield_now();
    }
}
