//! Over HTTP: whose jobs are whose, who is refused, and that nothing secret is shown.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::Answer;
use crate::web::{Response, Server, Session, User};

const ANN: &str = "anns-token-0123456789";
const BOB: &str = "bobs-token-0123456789";

fn with_tokens() -> Server {
    let tokens = format!("ann {ANN}\nbob {BOB}\n");
    Server::with(&[], &[("AGENT_JOBS_HTTP_TOKENS", &tokens)])
}

fn single_user() -> Server {
    Server::with(&["--http-access", "single-user"], &[])
}

/// What another client may not do to `id`; `call` is that client.
#[track_caller]
fn is_fenced(id: &str, mut call: impl FnMut(&str, Value) -> Answer) {
    let list = call("job_list", json!({}));
    assert_eq!(list.text(), "(no background jobs)");
    for (tool, arguments) in [
        ("job_output", json!({ "job_id": id })),
        ("job_output", json!({ "job_id": id, "from": 0 })),
        ("job_output", json!({ "job_id": id, "wait": true })),
        ("job_kill", json!({ "job_id": id })),
    ] {
        let answer = call(tool, arguments);
        assert!(answer.is_error, "{tool}: {answer:?}");
        assert!(!answer.text().contains("secret"), "{answer:?}");
    }
}

#[test]
fn without_sessions_a_token_names_the_owner() {
    let server = with_tokens();
    let (ann, bob) = (User::of(&server, ANN), User::of(&server, BOB));
    let id = ann.start("echo secret; sleep 1000");
    is_fenced(&id, |tool, arguments| bob.call(tool, arguments));
    let list = User::of(&server, ANN).call("job_list", json!({}));
    assert_eq!(list.value["jobs"][0]["status"], "running", "one owner each");
    assert_eq!(list.value["jobs"][0]["id"], id);
}

#[test]
fn a_session_names_the_owner_in_the_older_protocols() {
    let server = with_tokens();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let ann = Session::open(&server, Some(ANN), version);
        let again = Session::open(&server, Some(ANN), version);
        let bob = Session::open(&server, Some(BOB), version);
        let id = ann.start("echo secret; sleep 1000");
        is_fenced(&id, |tool, arguments| again.call(tool, arguments));
        is_fenced(&id, |tool, arguments| bob.call(tool, arguments));
        // Nor by a user's requests outside sessions.
        let user = User::of(&server, ANN);
        is_fenced(&id, |tool, arguments| user.call(tool, arguments));
        let list = ann.call("job_list", json!({}));
        assert_eq!(list.value["jobs"][0]["status"], "running", "{version}");
    }
}

#[test]
fn a_session_is_of_no_use_to_another_user() {
    let server = with_tokens();
    let ann = Session::open(&server, Some(ANN), "2025-06-18");
    ann.start("sleep 1000");
    let stolen = ann.with_token(BOB);
    assert_eq!(stolen.post_call("job_list", json!({})).status, 404);
    assert_eq!(stolen.delete().status, 404);
    let both = User::of(&server, BOB).with_header("Mcp-Session-Id", ann.id());
    assert_eq!(both.post_call("job_list", json!({})).status, 404);
    let list = ann.call("job_list", json!({}));
    assert_eq!(list.value["jobs"][0]["status"], "running");
}

#[test]
fn who_has_no_token_is_refused() {
    let server = with_tokens();
    for headers in [
        vec![],
        vec![(
            "Authorization",
            "Bearer nobodys-token-0123456789".to_owned(),
        )],
        vec![("Authorization", format!("Basic {ANN}"))],
        vec![("Authorization", format!("Bearer {ANN}x"))],
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let refused = server.send("POST", &headers, &initialize("2025-06-18"));
        assert_eq!(refused.status, 401);
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(server.log(), [] as [&str; 0], "it logged nothing");
}

fn initialize(version: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    } })
}

#[test]
fn nobody_is_served_without_tokens_but_a_single_user_of_this_machine() {
    let ended = |arguments: &[&str], tokens: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-jobs"));
        command.arg("mcp").args(arguments);
        command.envs(tokens.map(|tokens| ("AGENT_JOBS_HTTP_TOKENS", tokens)));
        let output = command.output().expect("an end");
        let text = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), text)
    };
    for (arguments, tokens, expected) in [
        (
            &["--http", "127.0.0.1:0"][..],
            None,
            "refused to serve without tokens",
        ),
        (
            &["--http", "0.0.0.0:0", "--http-access", "single-user"],
            None,
            "expected tokens, or a loopback address and a single user",
        ),
        (
            &["--http", "127.0.0.1:0"],
            Some("ann short-token"),
            "at least 16 bytes",
        ),
        (
            &["--http", "127.0.0.1:0", "--http-token-file", "/nowhere"],
            Some("ann 0123456789abcdef"),
            "tokens come from two places",
        ),
        (
            &["--http", "127.0.0.1:0", "--http-access", "single-user"],
            Some("ann 0123456789abcdef"),
            "tokens that nobody would be asked for",
        ),
        (
            &["--http", "127.0.0.1:0", "--http-access", "all"],
            None,
            "unknown variant",
        ),
    ] {
        let (code, text) = ended(arguments, tokens);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("short-token"), "{text}");
    }
    let with_file = |path: &str| ended(&["--http", "127.0.0.1:0", "--http-token-file", path], None);
    let (code, text) = with_file("/nowhere");
    assert_eq!(code, Some(3), "{text}");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "ann short-token").expect("written");
    let path = file.path().to_str().expect("text");
    let warning = "expected mode 600";
    let (_, text) = with_file(path);
    assert!(!text.contains(warning), "{text}");
    std::fs::set_permissions(path, Permissions::from_mode(0o644)).expect("permissions");
    let (code, text) = with_file(path);
    assert!(code == Some(2) && text.contains(warning), "{text}");
    assert!(!text.contains("short-token"), "{text}");
}

#[test]
fn a_single_user_has_one_owner_and_each_session_one() {
    let server = single_user();
    let user = User::nobody(&server);
    let id = user.start("echo secret; sleep 1000");
    let list = User::nobody(&server).call("job_list", json!({}));
    assert_eq!(list.value["jobs"][0]["id"], id);
    let one = Session::open(&server, None, "2025-06-18");
    let two = Session::open(&server, None, "2025-06-18");
    is_fenced(&id, |tool, arguments| one.call(tool, arguments));
    let id = one.start("echo secret; sleep 1000");
    is_fenced(&id, |tool, arguments| two.call(tool, arguments));
}

#[test]
fn tokens_come_from_a_file_and_no_job_sees_those_of_the_variable() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "# who\nann {ANN}").expect("written");
    let path = file.path().to_str().expect("text");
    let server = Server::with(&["--http-token-file", path], &[]);
    let answer = User::of(&server, ANN).call("bash", json!({ "command": "echo one" }));
    assert_eq!(answer.text(), "one\n");
    assert_eq!(server.log(), [] as [&str; 0], "the file is its owner's");
    let server = with_tokens();
    let answer = User::of(&server, ANN).call("bash", json!({ "command": "env" }));
    assert!(!answer.text().contains(ANN), "{answer:?}");
}

#[test]
fn tokens_are_never_logged() {
    let tokens = format!("ann {ANN}\nbob {BOB}\n");
    let variables = [("AGENT_JOBS_HTTP_TOKENS", &*tokens), ("RUST_LOG", "trace")];
    let server = Server::with(&[], &variables);
    let user = User::of(&server, ANN);
    assert_eq!(
        user.call("bash", json!({ "command": "echo one" })).text(),
        "one\n"
    );
    let session = Session::open(&server, Some(BOB), "2025-06-18");
    session.call("job_list", json!({}));
    let log = server.end();
    assert!(log.len() > 10, "it logs: {log:?}");
    for secret in [ANN, BOB] {
        let shown = log.iter().find(|line| line.contains(secret));
        assert_eq!(shown, None);
    }
}

#[test]
fn pages_of_other_sites_are_refused() {
    let server = single_user();
    let from = |name: &str, value: &str| {
        let headers = [(name, value)];
        server
            .send("POST", &headers, &initialize("2025-06-18"))
            .status
    };
    assert_eq!(from("Host", "evil.example"), 403, "a rebound name");
    assert_eq!(from("Host", "localhost:1"), 200);
    assert_eq!(from("Origin", "https://evil.example"), 403);
    assert_eq!(from("Origin", "null"), 403);
    assert_eq!(from("X", "y"), 200, "no page");
    let arguments = [
        "--http-access",
        "single-user",
        "--http-allow-host",
        "jobs.example",
        "--http-allow-origin",
        "https://good.example:443",
    ];
    let server = Server::with(&arguments, &[]);
    let from = |host: &str, origin: &str| {
        let headers = [("Host", host), ("Origin", origin)];
        server
            .send("POST", &headers, &initialize("2025-06-18"))
            .status
    };
    assert_eq!(from("jobs.example", "https://good.example"), 200);
    assert_eq!(from("jobs.example", "https://evil.example"), 403);
    assert_eq!(from("localhost", "https://good.example"), 403);
}

#[test]
fn an_end_is_told_in_front_of_the_users_next_answer() {
    let server = with_tokens();
    let ann = User::of(&server, ANN);
    let id = ann.start("echo out");
    let answer = ann.until_told();
    let notice = format!("background job {id} (bash: echo out) finished");
    assert!(answer.notices().starts_with(&notice), "{answer:?}");
    assert_eq!(
        ann.call("job_list", json!({})).blocks.len(),
        1,
        "told before"
    );
}

#[test]
fn a_wait_whose_client_is_gone_is_not_delivered() {
    let server = with_tokens();
    let ann = User::of(&server, ANN);
    let directory = tempfile::tempdir().expect("a directory");
    let gate = directory.path().join("gate");
    let closed = format!("while ! test -e '{}'; do sleep 0.02; done", gate.display());
    let id = ann.start(&format!("{closed}; echo out"));
    let gone = ann.abandon("job_output", json!({ "job_id": id, "wait": true }));
    drop(gone);
    std::fs::write(&gate, "").expect("a gate");
    let read = ann.call("job_output", json!({ "job_id": id, "wait": true }));
    assert_eq!(read.text(), "out\n[status: completed, exit code: 0]");
}

#[test]
fn a_session_ends_with_its_jobs_when_its_client_says_so() {
    let server = with_tokens();
    let session = Session::open(&server, Some(ANN), "2025-06-18");
    let process = session.start_lasting();
    assert!(process.is_alive());
    assert_eq!(session.delete().status, 202);
    process.wait_for_end();
    assert_eq!(session.post_call("job_list", json!({})).status, 404);
}

#[test]
fn a_job_outlives_the_connections_of_its_session() {
    let server = with_tokens();
    let session = Session::open(&server, Some(ANN), "2025-06-18");
    let process = session.start_lasting();
    // Each request was a connection of its own, and all are closed.
    assert!(process.is_alive());
    let list = session.call("job_list", json!({}));
    assert_eq!(list.value["jobs"][0]["status"], "running");
}

#[test]
fn an_owner_that_is_idle_ends_unless_it_has_a_live_job() {
    let tokens = format!("ann {ANN}");
    let variables = [("AGENT_JOBS_HTTP_TOKENS", &*tokens)];
    let server = Server::with(&["--http-idle-limit-ms", "400"], &variables);
    let busy = Session::open(&server, Some(ANN), "2025-06-18");
    let process = busy.start_lasting();
    let idle = Session::open(&server, Some(ANN), "2025-06-18");
    idle.call("job_list", json!({}));
    server.wait_for_log("an idle session ends");
    assert_eq!(idle.post_call("job_list", json!({})).status, 404);
    assert!(process.is_alive());
    assert_eq!(busy.post_call("job_list", json!({})).status, 200);
}

#[test]
fn clients_that_vanish_do_not_fill_the_server_with_sessions() {
    let arguments = [
        "--http-access",
        "single-user",
        "--http-max-sessions-per-user",
        "10",
    ];
    let server = Server::with(&arguments, &[]);
    let busy = Session::open(&server, None, "2025-06-18");
    let process = busy.start_lasting();
    let first = Session::open(&server, None, "2025-06-18");
    for _ in 0..20 {
        let opened = server.send("POST", &[], &initialize("2025-06-18"));
        assert_eq!(opened.status, 200);
    }
    assert_eq!(first.post_call("job_list", json!({})).status, 404);
    assert_eq!(busy.post_call("job_list", json!({})).status, 200);
    assert!(process.is_alive());
}

#[test]
fn the_sessions_of_a_user_leave_those_of_others_alone() {
    let tokens = format!("ann {ANN}\nbob {BOB}\n");
    let variables = [("AGENT_JOBS_HTTP_TOKENS", &*tokens)];
    let server = Server::with(&["--http-max-sessions-per-user", "2"], &variables);
    let ann = Session::open(&server, Some(ANN), "2025-06-18");
    let bobs = [(); 3].map(|()| Session::open(&server, Some(BOB), "2025-06-18"));
    let found = bobs
        .each_ref()
        .map(|bob| bob.post_call("job_list", json!({})).status);
    assert_eq!(found, [404, 200, 200]);
    assert_eq!(ann.post_call("job_list", json!({})).status, 200);
    let [_, second, third] = bobs;
    let _processes = [second.start_lasting(), third.start_lasting()];
    let bearer = format!("Bearer {BOB}");
    let headers = [("Authorization", &*bearer)];
    let full = server.send("POST", &headers, &initialize("2025-06-18"));
    assert_eq!(full.status, 500, "all have live jobs: {full:?}");
    Session::open(&server, Some(ANN), "2025-06-18");
}

#[test]
fn signals_end_all_owners_under_the_grace() {
    let server = with_tokens();
    let mut session = Session::open(&server, Some(ANN), "2025-06-18");
    let of_session = session.start_lasting();
    let bob = User::of(&server, BOB);
    let of_user = bob.start_lasting();
    let wait = json!({ "job_id": "bash-1", "wait": true });
    let _session_waits = session.begin("job_output", wait.clone());
    session.ping();
    let _user_waits = bob.abandon("job_output", wait);
    bob.call("job_list", json!({}));
    let asked = Instant::now();
    server.signal(Signal::TERM);
    assert_eq!(server.ended().code(), Some(0));
    let took = asked.elapsed();
    assert!(!of_session.is_alive());
    assert!(!of_user.is_alive());
    println!("with two owners, each with a live job and an open wait: ended in {took:?}");
    // That of a process that was asked to end, by default.
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn other_paths_and_methods_are_refused() {
    let server = single_user();
    let at = |path: &str| server.send_to(path, "POST", &[], &json!({})).status;
    assert_eq!(at("/"), 404);
    assert_eq!(at("/mcp/"), 404);
    let status = |response: Response| response.status;
    assert_eq!(status(server.send("PUT", &[], &json!({}))), 405);
    let headers = [("Mcp-Session-Id", "unknown")];
    assert_eq!(status(server.send("GET", &headers, &json!({}))), 404);
}
