//! Ends that are not good: each has its code, says why, and leaves nothing.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Bash, Demo, carriers, until};
use crate::{parse, run};

#[test]
fn without_bash_it_names_it() {
    let empty = tempfile::tempdir().expect("a directory");
    let output = Demo::new().with_path(empty.path()).run();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("bash was not found on PATH"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

#[test]
fn a_shell_that_lies_is_found_out() {
    let bash = Bash::lying();
    let output = Demo::new().json().with_bash(&bash).run();
    assert_eq!(output.status.code(), Some(1));
    let lines = parse(&String::from_utf8_lossy(&output.stdout));
    let failed: Vec<_> = lines.iter().filter(|line| line["holds"] == false).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(lines.last().expect("a verdict")["failed"], 1);
    assert_eq!(carriers(&run(&lines).0), Vec::<String>::new());
}

#[test]
fn a_transcript_that_cannot_be_written_is_no_success() {
    let full = File::options()
        .write(true)
        .open("/dev/full")
        .expect("a full device");
    let output = Demo::new()
        .command()
        .stdout(full)
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot write the transcript"), "{said}");
}

#[test]
fn an_interrupt_leaves_nothing() {
    let mut child = Demo::new()
        .json()
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut read = Vec::new();
    // The tree of the second job is alive then.
    loop {
        let line = lines.next().expect("it goes on").expect("a line");
        let line: Value = serde_json::from_str(&line).expect("an object");
        let is_alive = line["event"] == "processes" && line["id"] == "bash-2";
        read.push(line);
        if is_alive {
            break;
        }
    }
    let (cookie, directory) = run(&read);
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a pid");
    kill_process(pid, Signal::INT).expect("it is our child");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
    until("no process is left", || carriers(&cookie).is_empty());
    assert!(!std::path::Path::new(&directory).exists());
}
