//! Which ends are told, when, and how often (spec/compositions.md, Completion without push).

use serde_json::json;

use crate::support::{Answer, Client, Fifo, Process};

const NOTICE: &str = "background job bash-1 (bash: ";

/// A job that ended, and whose end nobody has told. Its answers were all delivered.
fn ended(client: &mut Client) -> String {
    let id = client.start("echo out");
    client.settle(&id);
    id
}

#[test]
fn an_end_is_told_once_in_front_of_the_next_answer() {
    let mut client = Client::new();
    ended(&mut client);
    let answer = client.call("bash", json!({ "command": "echo other" }));
    assert!(answer.notices().starts_with(NOTICE), "{answer:?}");
    assert_eq!(answer.blocks[1], "other\n");
    let ids = &answer.raw["content"][0]["_meta"]["agent-jobs/notices"];
    assert!(
        ids[0].as_str().expect("an id").ends_with("/bash-1"),
        "{ids}"
    );
    let next = client.call("job_list", json!({}));
    assert_eq!(next.blocks.len(), 1, "told before: {next:?}");
}

#[test]
fn an_answer_that_reports_an_end_does_not_announce_it() {
    let mut client = Client::new();
    let id = ended(&mut client);
    let read = client.call("job_output", json!({ "job_id": id }));
    assert_eq!(read.text(), "out\n[status: completed, exit code: 0]");
    client.ping();
    assert_eq!(client.call("job_list", json!({})).blocks.len(), 1);
}

#[test]
fn errors_carry_notices_too() {
    let mut client = Client::new();
    ended(&mut client);
    let answer = client.call("job_output", json!({}));
    assert!(answer.is_error);
    assert!(answer.notices().starts_with(NOTICE));
}

#[test]
fn a_cancelled_wait_ends_at_once_and_loses_nothing() {
    let mut client = Client::new();
    let directory = tempfile::tempdir().expect("a directory");
    let gate = directory.path().join("gate");
    let closed = format!("while ! test -e '{}'; do sleep 0.02; done", gate.display());
    let id = client.start(&format!("{closed}; echo out"));
    let waiting = client.begin_call("job_output", json!({ "job_id": id, "wait": true }));
    client.ping();
    client.cancel(waiting);
    client.ping();
    std::fs::write(&gate, "").expect("a gate");
    client.settle(&id);
    assert!(!client.was_answered(waiting), "nobody wants that answer");
    let read = client.call("job_output", json!({ "job_id": id }));
    assert_eq!(read.text(), "out\n[status: completed, exit code: 0]");
}

#[test]
fn a_cancellation_that_crosses_its_answer_gives_the_end_and_the_output_back() {
    let mut client = Client::new();
    let id = ended(&mut client);
    let read = client.begin_call("job_output", json!({ "job_id": id }));
    let first = Answer::of(&client.answer(read));
    assert_eq!(first.text(), "out\n[status: completed, exit code: 0]");
    client.cancel(read);
    let again = client.call("job_output", json!({ "job_id": id }));
    assert_eq!(again.text(), first.text(), "read again");
    let crossing = client.last_id();
    client.cancel(crossing);
    let told = client.call("job_list", json!({}));
    assert!(told.notices().starts_with(NOTICE), "{told:?}");
}

#[test]
fn the_notice_of_a_cancelled_answer_comes_again_under_its_id() {
    let mut client = Client::new();
    ended(&mut client);
    let id = |answer: &Answer| answer.raw["content"][0]["_meta"]["agent-jobs/notices"].clone();
    let first = client.call("job_list", json!({}));
    let last = client.last_id();
    client.cancel(last);
    let second = client.call("job_list", json!({}));
    assert_eq!(id(&first), id(&second));
    assert_eq!(first.notices(), second.notices());
}

#[test]
fn a_cancellation_after_the_next_message_changes_nothing() {
    let mut client = Client::new();
    let id = ended(&mut client);
    let read = client.begin_call("job_output", json!({ "job_id": id }));
    client.answer(read);
    client.ping();
    client.cancel(read);
    let again = client.call("job_output", json!({ "job_id": id }));
    assert_eq!(again.blocks.len(), 1);
    assert_eq!(again.value["text"], "", "read before: {again:?}");
}

#[test]
fn a_cancelled_command_in_the_foreground_is_ended() {
    let mut client = Client::new();
    let fifo = Fifo::new();
    let command = format!("echo $$ > '{}'; exec sleep 1000", fifo.path.display());
    let running = client.begin_call("bash", json!({ "command": command }));
    let process = Process::from_fifo(&fifo);
    client.cancel(running);
    process.wait_for_end();
    client.ping();
    assert!(!client.was_answered(running));
}
