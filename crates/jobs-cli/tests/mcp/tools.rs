//! What the tools are called, take and answer.

use std::time::Instant;

use serde_json::json;

use crate::support::{Answer, Client, PATIENCE};

#[test]
fn tools_are_listed_with_schemas_and_annotations() {
    let mut client = Client::new();
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools").clone();
    let listed: Vec<_> = tools
        .iter()
        .map(|tool| {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
            let hints = &tool["annotations"];
            assert_eq!(
                hints["readOnlyHint"],
                hints["destructiveHint"] != true,
                "{tool}"
            );
            (
                tool["name"].as_str().expect("a name"),
                hints["readOnlyHint"] == true,
            )
        })
        .collect();
    let expected = [
        ("bash", false),
        ("job_output", true),
        ("job_list", true),
        ("job_kill", false),
    ];
    assert_eq!(listed, expected);
    let jobs = &tools[2]["outputSchema"]["properties"]["jobs"];
    assert_eq!(jobs["type"], "array");
}

#[test]
fn a_job_is_started_read_listed_and_killed() {
    let mut client = Client::new();
    let (id, shell) = client.start_lasting("true");
    assert_eq!(id, "bash-1");
    let again = client.call("job_output", json!({ "job_id": id }));
    assert_eq!(again.text(), "(no new output)\n[status: running]");
    assert_eq!(again.value["text"], "");
    assert_eq!(again.value["job"]["status"], "running");
    let list = client.call("job_list", json!({}));
    assert!(
        list.text().starts_with("bash-1 [bash] running — "),
        "{}",
        list.text()
    );
    assert_eq!(list.value["jobs"][0]["id"], "bash-1");
    assert!(shell.is_alive());
    let killed = client.call("job_kill", json!({ "job_id": id, "reason": "enough" }));
    assert_eq!(killed.text(), "requested cancellation of job bash-1");
    assert_eq!(killed.value["outcome"], "cancellation-requested");
    shell.wait_for_end();
    let end = client.call("job_output", json!({ "job_id": id, "wait": true }));
    assert_eq!(end.value["job"]["status"], "killed");
    assert_eq!(end.value["job"]["cause"], "model");
}

#[test]
fn reads_go_on_where_the_last_one_ended() {
    let mut client = Client::new();
    let directory = tempfile::tempdir().expect("a directory");
    let gate = directory.path().join("gate");
    let wait = format!("while ! test -e '{}'; do sleep 0.02; done", gate.display());
    let id = client.start(&format!("echo one; {wait}; echo two"));
    let mut seen = String::new();
    let end = Instant::now() + PATIENCE;
    while !seen.contains("one") {
        assert!(Instant::now() < end, "no output: {seen}");
        // Nothing tells of output: a short wait for the end, which does not come, paces the reads.
        let wait = json!({ "job_id": id, "wait": true, "timeout_ms": 20 });
        let read = client.call("job_output", wait);
        seen += read.value["text"].as_str().expect("text");
    }
    assert_eq!(seen, "one\n");
    std::fs::write(&gate, "").expect("a gate");
    let end = client.call("job_output", json!({ "job_id": id, "wait": true }));
    assert_eq!(end.text(), "two\n[status: completed, exit code: 0]");
    assert_eq!(end.value["text"], "two\n");
    assert_eq!(end.value["range"], json!({ "from": 4, "to": 8 }));
}

#[test]
fn a_wait_that_is_not_served_leaves_the_job_alone() {
    let mut client = Client::new();
    let (id, shell) = client.start_lasting("true");
    let wait = json!({ "job_id": id, "wait": true, "timeout_ms": 50 });
    let answer = client.call("job_output", wait);
    assert_eq!(answer.text(), "(no new output)\n[status: running]");
    assert!(!answer.is_error);
    assert!(shell.is_alive());
}

#[test]
fn a_command_in_the_foreground_answers_with_its_output() {
    let mut client = Client::new();
    let answer = client.call("bash", json!({ "command": "echo out; exit 3" }));
    assert_eq!(answer.text(), "out\n[exit code: 3]");
    assert_eq!(answer.value["kind"], "foreground");
    assert_eq!(answer.value["facts"]["exitCode"], 3);
    assert_eq!(answer.value["facts"]["containment"], "supervisor");
    let long = json!({ "command": "sleep 1000", "timeout_ms": 100 });
    let answer = client.call("bash", long);
    assert_eq!(answer.value["kind"], "promoted");
    assert_eq!(answer.value["jobId"], "bash-1");
}

#[test]
fn bad_arguments_are_answers_and_unknown_tools_are_errors() {
    let mut client = Client::new();
    for (tool, arguments, expected) in [
        ("job_output", json!({}), "job_id"),
        ("job_output", json!({ "job_id": 1 }), "job_id"),
        (
            "job_output",
            json!({ "job_id": "bash-9" }),
            "unknown job bash-9",
        ),
        ("job_kill", json!({ "job_id": "" }), "job_id"),
        (
            "bash",
            json!({ "command": 1, "timeout_ms": "x" }),
            "timeout_ms",
        ),
    ] {
        let answer = client.call(tool, arguments);
        assert!(answer.is_error);
        assert!(answer.text().starts_with("Error: "), "{}", answer.text());
        assert!(answer.text().contains(expected), "{}", answer.text());
        assert!(answer.value.is_null());
    }
    let answer = client.request("tools/call", json!({ "name": "nothing" }));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "unknown tool \"nothing\"");
}

#[test]
fn much_output_is_bounded_and_what_was_cut_can_be_read() {
    let mut client = Client::new();
    let id = client.start("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo the end");
    let end = client.call("job_output", json!({ "job_id": id, "wait": true }));
    let text = end.text();
    assert!(text.len() <= 32_768, "{} bytes", text.len());
    assert!(
        text.ends_with("[status: completed, exit code: 0]"),
        "{}",
        &text[text.len() - 100..]
    );
    let marker = text.find("from=").expect("a marker") + "from=".len();
    let from: u64 = text[marker..]
        .split(' ')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    let page = client.call("job_output", json!({ "job_id": id, "from": from }));
    assert!(page.text().len() <= 32_768);
    assert!(
        page.value["text"]
            .as_str()
            .expect("text")
            .starts_with("xxx")
    );
    assert_eq!(page.value["range"]["from"], from);
}

#[test]
fn names_have_a_prefix_where_one_is_wanted() {
    let mut client = Client::with(&["--tool-prefix", "jobs_"]);
    let answer = client.request("tools/list", json!({}));
    assert_eq!(answer["result"]["tools"][0]["name"], "jobs_bash");
    let list = client.call("jobs_job_list", json!({}));
    assert_eq!(list.text(), "(no background jobs)");
    assert_eq!(list.value, json!({ "jobs": [] }));
    let arguments = json!({ "command": "true", "run_in_background": true });
    let started = client.call("jobs_bash", arguments);
    let id = started.value["jobId"].as_str().expect("an id");
    client.settle_by("jobs_job_output", id);
    let told = client.call("jobs_job_list", json!({}));
    let end = "Read its output with jobs_job_output.";
    assert!(told.notices().ends_with(end), "{told:?}");
    let answer = client.request("tools/call", json!({ "name": "job_list" }));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn progress_is_told_to_those_who_asked() {
    let mut client = Client::with(&["--progress-interval-ms", "50"]);
    let (id, _shell) = client.start_lasting("true");
    let arguments = json!({ "job_id": id, "wait": true, "timeout_ms": 400 });
    let wait = client.begin(
        "tools/call",
        json!({ "name": "job_output", "arguments": arguments, "_meta": { "progressToken": "p" } }),
    );
    let is_progress = |message: &serde_json::Value| message["method"] == "notifications/progress";
    let first = client.wait("progress", is_progress);
    assert_eq!(first["params"]["progressToken"], "p");
    let second = client.wait("more progress", is_progress);
    let amount =
        |message: &serde_json::Value| message["params"]["progress"].as_f64().expect("a number");
    assert!(amount(&second) > amount(&first));
    assert!(!Answer::of(&client.answer(wait)).is_error);

    let mut quiet = Client::with(&["--progress-interval-ms", "50"]);
    let (id, _shell) = quiet.start_lasting("true");
    quiet.call(
        "job_output",
        json!({ "job_id": id, "wait": true, "timeout_ms": 400 }),
    );
    assert!(!quiet.came(is_progress));
}

#[test]
fn a_session_without_a_handshake_works() {
    let mut client = Client::raw(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = |command: &str| json!({ "name": "bash", "arguments": { "command": command }, "_meta": meta });
    let answer = client.request("tools/call", call("echo one"));
    assert_eq!(Answer::of(&answer).text(), "one\n");
    let list = client.request("tools/list", json!({ "_meta": meta }));
    assert_eq!(list["result"]["tools"].as_array().expect("tools").len(), 4);
}
