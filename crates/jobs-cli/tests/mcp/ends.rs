//! How the server ends, and that nothing of the jobs is left then.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Client, Fifo, Process};

#[test]
fn at_the_end_of_the_input_jobs_are_ended_and_the_server_is() {
    let mut client = Client::new();
    let (_, shell) = client.start_lasting("(setsid sleep 1000 &)");
    client.close_input();
    assert_eq!(client.ended().code(), Some(0));
    assert!(!shell.is_alive(), "gone before the server");
}

#[test]
fn a_wait_does_not_hold_up_the_end_of_the_input() {
    let mut client = Client::new();
    let (id, shell) = client.start_lasting("true");
    client.begin_call("job_output", json!({ "job_id": id, "wait": true }));
    client.ping();
    client.close_input();
    assert_eq!(client.ended().code(), Some(0));
    assert!(!shell.is_alive());
}

/// `--grace-ms` is that of a process that was asked to end.
const GRACE: Duration = Duration::from_secs(3);

/// `--teardown-grace-ms` is that of a job that ends with its owner.
const TEARDOWN: Duration = Duration::from_secs(30);

#[test]
fn signals_end_it_in_order_and_under_the_grace() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut client = Client::new();
        let (id, shell) = client.start_lasting("true");
        client.begin_call("job_output", json!({ "job_id": id, "wait": true }));
        client.ping();
        let asked = Instant::now();
        client.signal(signal);
        assert_eq!(client.ended().code(), Some(0), "{signal:?}");
        let took = asked.elapsed();
        assert!(!shell.is_alive(), "{signal:?}");
        println!("{signal:?} with a live job and an open wait: ended in {took:?}");
        assert!(took < GRACE, "{signal:?}: {took:?}");
    }
}

#[test]
fn a_job_that_resists_is_killed_after_the_grace() {
    let mut client = Client::with(&["--grace-ms", "500"]);
    let (_, shell) = client.start_lasting("trap '' TERM");
    let asked = Instant::now();
    client.signal(Signal::TERM);
    assert_eq!(client.ended().code(), Some(0));
    let took = asked.elapsed();
    assert!(!shell.is_alive());
    println!("with a job that resists for its grace of 500 ms: ended in {took:?}");
    assert!(took >= Duration::from_millis(500), "no grace: {took:?}");
    assert!(took < TEARDOWN, "{took:?}");
}

#[test]
fn a_second_signal_hurries() {
    let arguments = ["--grace-ms", "600000", "--teardown-grace-ms", "600000"];
    let mut client = Client::with(&arguments);
    let (_, shell) = client.start_lasting("trap '' TERM");
    client.signal(Signal::TERM);
    client.wait_for_log("a signal: the work ends");
    assert!(shell.is_alive(), "it resists");
    client.signal(Signal::TERM);
    assert_eq!(client.ended().code(), Some(128 + 15));
    shell.wait_for_end();
}

#[test]
fn after_a_kill_of_the_server_nothing_is_left() {
    let mut client = Client::new();
    let fifo = Fifo::new();
    let daemon = format!(
        "trap '' TERM; (setsid sh -c 'echo $$ > {}; exec sleep 1000' &)",
        fifo.path.display()
    );
    let (_, shell) = client.start_lasting(&daemon);
    let daemon = Process::from_fifo(&fifo);
    client.signal(Signal::KILL);
    assert_eq!(client.ended().signal(), Some(9));
    shell.wait_for_end();
    daemon.wait_for_end();
}

#[test]
fn an_end_before_the_beginning_is_fine() {
    let mut client = Client::raw(&[]);
    client.close_input();
    assert_eq!(client.ended().code(), Some(0));
}
