//! `agent-jobs run`: output, exit codes, signals.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-jobs"));
    command.arg("run").args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("an end")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn it_ends_as_its_command_does() {
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 128 + 9)] {
        let ended = run(&["--", "sh", "-c", script]);
        assert_eq!(ended.status.code(), Some(code), "{script}");
        assert_eq!(text(&ended.stderr), "", "{script}");
    }
    let ended = run(&["--summary", "--", "/nowhere/at/all"]);
    assert_eq!(ended.status.code(), Some(3));
    assert!(
        text(&ended.stderr).contains("[status: failed, spawn failed: "),
        "{ended:?}"
    );
}

#[test]
fn output_is_passed_on_whole() {
    let ended = run(&["--", "sh", "-c", "echo out; echo err >&2; seq 200000"]);
    let lines: Vec<&str> = text(&ended.stdout).lines().collect();
    assert_eq!(lines.len(), 200_002);
    assert_eq!(lines[..3], ["out", "err", "1"]);
    assert_eq!(lines[200_001], "200000");
}

#[test]
fn a_summary_goes_to_stderr() {
    let ended = run(&["--summary", "--", "sh", "-c", "echo out; exit 3"]);
    assert_eq!(text(&ended.stdout), "out\n");
    let lines: Vec<&str> = text(&ended.stderr).lines().collect();
    assert_eq!(lines[0], "[status: completed, exit code: 3]");
    let facts: serde_json::Value = serde_json::from_str(lines[1]).expect("JSON");
    assert_eq!(facts["containment"], "supervisor");
    assert_eq!(facts["exitCode"], 3);
}

#[test]
fn bounds_hold() {
    let ended = run(&[
        "--summary",
        "--max-runtime-ms",
        "200",
        "--",
        "sleep",
        "1000",
    ]);
    assert_eq!(ended.status.code(), Some(128 + 15));
    assert!(
        text(&ended.stderr).contains("limit: max runtime 200ms"),
        "{ended:?}"
    );
    let ended = run(&["--grace-ms", "0", "--", "true"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        text(&ended.stderr).contains("graceMs: expected whole milliseconds from 1 to"),
        "{ended:?}"
    );
    assert_eq!(run(&[]).status.code(), Some(2));
}

#[test]
fn a_signal_ends_the_tree() {
    let script = "trap 'echo stopped; exit 0' TERM; (setsid sleep 1000 &); echo up; \
        while :; do sleep 0.05; done";
    let mut child = command(&["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a run");
    let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "up");
    kill_process(Pid::from_child(&child), Signal::INT).expect("alive");
    assert_eq!(child.wait().expect("an end").code(), Some(128 + 2));
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert!(rest.iter().any(|line| line == "stopped"), "{rest:?}");
}

#[test]
fn the_directory_and_the_environment_are_as_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("a path");
    let mut command = command(&[
        "--cwd",
        path.to_str().expect("text"),
        "--allow-env",
        "A_TOKEN",
        "--",
    ]);
    let ended = command
        .args(["sh", "-c", "pwd; echo $A_TOKEN$B_TOKEN"])
        .env("A_TOKEN", "a")
        .env("B_TOKEN", "b")
        .output()
        .expect("an end");
    assert_eq!(text(&ended.stdout), format!("{}\na\n", path.display()));
}
