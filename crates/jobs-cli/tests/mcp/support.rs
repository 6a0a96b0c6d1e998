//! A client that speaks JSON-RPC, a line a message, to a server that it has started.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing here takes so long, unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A client and its server. Dropping it kills the server, whose supervisors then end its jobs.
pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    log: Receiver<String>,
    /// Messages that came while another was waited for.
    aside: VecDeque<Value>,
    last_id: u64,
}

impl Client {
    /// A server with these arguments, and an open session.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        let mut client = Self::raw(arguments);
        let answer = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "0" },
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "agent-jobs");
        client.notify("notifications/initialized", json!({}));
        client
    }

    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// A server to which nothing was said yet.
    pub(crate) fn raw(arguments: &[&str]) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_agent-jobs"))
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("RUST_LOG", "agent_jobs=info,warn")
            .spawn()
            .expect("a server");
        let input = server.stdin.take();
        let log = lines_of(server.stderr.take().expect("its log"));
        let lines = BufReader::new(server.stdout.take().expect("its output")).lines();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let message = serde_json::from_str(&line).expect("nothing but JSON on stdout");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            server,
            input,
            output,
            log,
            aside: VecDeque::new(),
            last_id: 0,
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{message}").expect("a server that reads");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait(&format!("the answer to {id}"), |message| {
            message["id"] == id
        })
    }

    /// The answer to a request, if it comes in this time.
    pub(crate) fn answer_within(&mut self, id: u64, limit: Duration) -> Option<Value> {
        let end = Instant::now() + limit;
        loop {
            self.aside.extend(self.output.try_iter());
            if let Some(at) = self.aside.iter().position(|message| message["id"] == id) {
                return self.aside.remove(at);
            }
            let left = end.saturating_duration_since(Instant::now());
            self.aside.push_back(self.output.recv_timeout(left).ok()?);
        }
    }

    /// The first message that fits.
    pub(crate) fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&fits) {
            return self.aside.remove(at).expect("it is there");
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(message) if fits(&message) => return message,
                Ok(message) => self.aside.push_back(message),
                Err(RecvTimeoutError::Timeout) => panic!("no sign of {what}: {:?}", self.aside),
                Err(RecvTimeoutError::Disconnected) => panic!("the server ended before {what}"),
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// A message that asks for nothing.
    pub(crate) fn ping(&mut self) {
        let answer = self.request("ping", json!({}));
        assert_eq!(answer["result"], json!({}));
    }

    /// Whether a message came with this id.
    pub(crate) fn was_answered(&self, id: u64) -> bool {
        self.aside.iter().any(|message| message["id"] == id)
    }

    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", json!({ "requestId": id }));
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let id = self.begin_call(tool, arguments);
        Answer::of(&self.answer(id))
    }

    /// Starts a background job; its id.
    pub(crate) fn start(&mut self, command: &str) -> String {
        let answer = self.call(
            "bash",
            json!({ "command": command, "run_in_background": true }),
        );
        answer.value["jobId"].as_str().expect("an id").to_owned()
    }

    /// Starts a job that waits, and takes hold of its process. `command` goes before.
    pub(crate) fn start_lasting(&mut self, command: &str) -> (String, Process) {
        let fifo = Fifo::new();
        let id = self.start(&format!(
            "{command}; echo $$ > '{}'; exec sleep 1000",
            fifo.path.display()
        ));
        (id, Process::from_fifo(&fifo))
    }

    /// Waits until a job has completed, and leaves its end and its output untold: the answer is taken
    /// back.
    pub(crate) fn settle(&mut self, id: &str) {
        self.settle_by("job_output", id);
    }

    /// The same with the tool under another name.
    pub(crate) fn settle_by(&mut self, tool: &str, id: &str) {
        let wait = self.begin_call(tool, json!({ "job_id": id, "wait": true }));
        let answer = Answer::of(&self.answer(wait));
        self.cancel(wait);
        assert_eq!(answer.value["job"]["status"], "completed");
    }

    /// The id of the last request.
    pub(crate) fn last_id(&self) -> u64 {
        self.last_id
    }

    /// Whether such a message came that nobody has waited for.
    pub(crate) fn came(&mut self, fits: impl Fn(&Value) -> bool) -> bool {
        self.aside.extend(self.output.try_iter());
        self.aside.iter().any(fits)
    }

    /// Waits for a line of the server's log.
    pub(crate) fn wait_for_log(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.log.recv_timeout(left).expect(text);
            if line.contains(text) {
                return;
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.server), signal).expect("a live server");
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// The end of the server, which has to come by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        Process::open(self.server.id()).wait_for_end();
        self.server.wait().expect("a status")
    }
}

/// The lines of a stream, read by a thread so that the writer never waits.
pub(crate) fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // Nobody may be left to read it.
            let _ = sender.send(line);
        }
    });
    lines
}

impl Drop for Client {
    fn drop(&mut self) {
        // Fails when it has ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An answer to a call of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) blocks: Vec<String>,
    pub(crate) value: Value,
    pub(crate) is_error: bool,
    pub(crate) raw: Value,
}

impl Answer {
    pub(crate) fn of(message: &Value) -> Self {
        let result = &message["result"];
        let blocks = result["content"]
            .as_array()
            .unwrap_or_else(|| panic!("no result: {message}"));
        Self {
            blocks: blocks
                .iter()
                .map(|block| block["text"].as_str().expect("text").to_owned())
                .collect(),
            value: result["structuredContent"].clone(),
            is_error: result["isError"] == true,
            raw: result.clone(),
        }
    }

    /// The tool's own text, where nothing is in front of it.
    pub(crate) fn text(&self) -> &str {
        let [text] = &self.blocks[..] else {
            panic!("expected one block, got {:?}", self.blocks);
        };
        text
    }

    /// The notices in front of the tool's own text.
    pub(crate) fn notices(&self) -> &str {
        let [notices, _] = &self.blocks[..] else {
            panic!("expected notices and a text, got {:?}", self.blocks);
        };
        notices
    }
}

/// A process that is not our child.
pub(crate) struct Process(OwnedFd);

impl Process {
    pub(crate) fn open(pid: u32) -> Self {
        let pid = Pid::from_raw(pid.cast_signed()).expect("a pid");
        Self(pidfd_open(pid, PidfdFlags::empty()).expect("a live process"))
    }

    fn has_ended_within(&self, limit: Duration) -> bool {
        let limit = Timespec::try_from(limit).expect("a short time");
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut fds, Some(&limit)).expect("a poll") == 1
    }

    pub(crate) fn wait_for_end(&self) {
        assert!(self.has_ended_within(PATIENCE), "the process goes on");
    }

    /// The process that writes its number into a pipe with a name.
    pub(crate) fn from_fifo(fifo: &Fifo) -> Self {
        let limit = Timespec::try_from(PATIENCE).expect("a short time");
        let mut fds = [PollFd::new(&fifo.file, PollFlags::IN)];
        assert_eq!(poll(&mut fds, Some(&limit)), Ok(1), "nobody wrote");
        let mut line = String::new();
        BufReader::new(&fifo.file)
            .read_line(&mut line)
            .expect("a line");
        Self::open(line.trim().parse().expect("a number"))
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.has_ended_within(Duration::ZERO)
    }
}

/// A pipe with a name, in a directory of its own.
pub(crate) struct Fifo {
    file: File,
    pub(crate) path: PathBuf,
    _directory: TempDir,
}

impl Fifo {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::empty()).expect("its reader");
        Self {
            file: file.into(),
            path,
            _directory: directory,
        }
    }
}
