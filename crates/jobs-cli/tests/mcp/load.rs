//! Many waits, and clients that do not read.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::{Value, json};

use crate::support::{Answer, Client, Fifo, Process};

const WAITS: usize = 1_000;

#[test]
fn a_thousand_waits_do_not_hold_up_a_list() {
    let mut client = Client::new();
    let (id, shell) = client.start_lasting("true");
    let wait = json!({ "job_id": id, "wait": true });
    let waits: Vec<u64> = (0..WAITS)
        .map(|_| client.begin_call("job_output", wait.clone()))
        .collect();
    client.ping();
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let start = Instant::now();
        let list = client.call("job_list", json!({}));
        slowest = slowest.max(start.elapsed());
        assert_eq!(list.value["jobs"][0]["status"], "running");
    }
    println!("slowest of 20 lists beside {WAITS} waits: {slowest:?}");
    // A tenth of it on an idle machine; this one may be busy, and nothing here is optimised.
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
    assert!(waits.iter().all(|wait| !client.was_answered(*wait)));
    client.call("job_kill", json!({ "job_id": id }));
    for wait in waits {
        let answer = Answer::of(&client.answer(wait));
        assert_eq!(answer.value["job"]["status"], "killed");
    }
    shell.wait_for_end();
}

/// A client that reads when it is told to.
struct Mute {
    server: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: usize,
}

impl Mute {
    fn new() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_agent-jobs"))
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let input = server.stdin.take().expect("its input");
        let output = BufReader::new(server.stdout.take().expect("its output"));
        Self {
            server: Running(server),
            input,
            output,
            last_id: 0,
        }
    }

    /// The line of a call without a handshake, and its id.
    fn line(&mut self, tool: &str, arguments: &Value) -> (usize, String) {
        self.last_id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let id = self.last_id;
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        (id, format!("{call}\n"))
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let (id, line) = self.line(tool, arguments);
        self.input.write_all(line.as_bytes()).expect("written");
        self.read_until(id)
    }

    fn read_until(&mut self, id: usize) -> Answer {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("a line");
            let message: Value = serde_json::from_str(&line).expect("a message");
            if message["id"] == id {
                return Answer::of(&message);
            }
        }
    }

    fn resident_kib(&self) -> usize {
        let path = format!("/proc/{}/status", self.server.0.id());
        let status = std::fs::read_to_string(path).expect("a status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|kib| kib.parse().ok()).expect("a number")
    }

    /// Writes until the server has read nothing for a second, or `most` calls were taken. What is
    /// left of the last line.
    fn flood(&mut self, tool: &str, arguments: &Value, most: usize) -> Vec<u8> {
        let flags = fcntl_getfl(&self.input).expect("flags");
        fcntl_setfl(&self.input, flags | OFlags::NONBLOCK).expect("set");
        let second = Timespec::try_from(Duration::from_secs(1)).expect("a second");
        let mut rest = Vec::new();
        let end = self.last_id + most;
        while self.last_id < end {
            if rest.is_empty() {
                rest = self.line(tool, arguments).1.into_bytes();
            }
            let mut fds = [PollFd::new(&self.input, PollFlags::OUT)];
            if poll(&mut fds, Some(&second)).expect("a poll") == 0 {
                break;
            }
            match self.input.write(&rest) {
                Ok(written) => drop(rest.drain(..written)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        fcntl_setfl(&self.input, flags).expect("set");
        rest
    }
}

/// A server. Dropping it ends it.
struct Running(Child);

impl Running {
    /// Its end, which has to come by itself.
    fn ended(mut self) -> ExitStatus {
        Process::open(self.0.id()).wait_for_end();
        self.0.wait().expect("a status")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_client_that_does_not_read_is_not_read_from_and_costs_no_memory() {
    const MOST: usize = 10_000;
    let mut client = Mute::new();
    let command = "head -c 100000 /dev/zero | tr '\\0' x";
    let job = json!({ "command": command, "run_in_background": true });
    client.call("bash", &job);
    client.call("job_output", &json!({ "job_id": "bash-1", "wait": true }));
    let page = json!({ "job_id": "bash-1", "from": 0 });
    client.call("job_output", &page);
    let before = client.resident_kib();
    let rest = client.flood("job_output", &page, MOST);
    let grown = client.resident_kib().saturating_sub(before);
    let calls = client.last_id;
    println!("{calls} calls with answers of 64 KiB were written; grown by {grown} KiB");
    assert!(calls < MOST, "it reads on");
    // Some 64 answers, each as text and as structure, and what the allocator keeps.
    assert!(grown < 64 * 1_024, "grown by {grown} KiB");
    let mut input = client
        .input
        .as_fd()
        .try_clone_to_owned()
        .map(File::from)
        .expect("a copy");
    let writer = std::thread::spawn(move || input.write_all(&rest));
    assert!(!client.read_until(calls).is_error);
    writer
        .join()
        .expect("a writer")
        .expect("the rest is written");
}

#[test]
fn a_client_that_vanishes_with_open_waits_ends_the_server() {
    let mut client = Mute::new();
    let fifo = Fifo::new();
    let command = format!("echo $$ > '{}'; exec sleep 1000", fifo.path.display());
    client.call(
        "bash",
        &json!({ "command": command, "run_in_background": true }),
    );
    let shell = Process::from_fifo(&fifo);
    for _ in 0..100 {
        let (_, line) = client.line("job_output", &json!({ "job_id": "bash-1", "wait": true }));
        client.input.write_all(line.as_bytes()).expect("written");
    }
    let Mute {
        server,
        input,
        output,
        ..
    } = client;
    drop((input, output));
    assert_eq!(server.ended().code(), Some(0));
    assert!(!shell.is_alive());
}
