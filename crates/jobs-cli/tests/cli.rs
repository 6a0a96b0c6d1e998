//! The command line: golden texts, exit codes, where output goes.

use std::process::{Command, Output};

fn agent_jobs(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-jobs"))
        .args(arguments)
        .output()
        .expect("it starts")
}

/// What goes to stdout of a call that must succeed, and say nothing else.
#[track_caller]
fn said(arguments: &[&str]) -> String {
    let output = agent_jobs(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn help() {
    insta::assert_snapshot!("help", said(&["--help"]));
    insta::assert_snapshot!("help_demo", said(&["demo", "--help"]));
    insta::assert_snapshot!("help_mcp", said(&["mcp", "--help"]));
    insta::assert_snapshot!("help_run", said(&["run", "--help"]));
}

#[test]
fn version() {
    insta::assert_snapshot!("version", said(&["--version"]));
    for command in ["demo", "mcp", "run"] {
        let name = format!("version_{command}");
        insta::assert_snapshot!(name, said(&[command, "--version"]));
    }
}

#[test]
fn a_wrong_use_is_2_and_says_nothing_on_stdout() {
    for arguments in [&[][..], &["dem"], &["demo", "--jsn"], &["demo", "more"]] {
        let output = agent_jobs(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("Usage: agent-jobs"), "{said}");
    }
}
