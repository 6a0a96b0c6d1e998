//! Clients over HTTP, in raw requests: a connection each, read to its end.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Answer, Fifo, PATIENCE, Process, lines_of};

/// A server over HTTP. Dropping it kills it, and its supervisors end its jobs.
pub(crate) struct Server {
    process: Mutex<Option<Child>>,
    pid: Pid,
    log: Mutex<Receiver<String>>,
    address: String,
}

impl Server {
    /// With these arguments and variables, at any port.
    pub(crate) fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_agent-jobs"))
            .args(["mcp", "--http", "127.0.0.1:0"])
            .args(arguments)
            .env("RUST_LOG", "jobs_mcp=info,warn")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a server");
        let log = lines_of(process.stderr.take().expect("its log"));
        let line = loop {
            let line = log.recv_timeout(PATIENCE).expect("an address");
            if line.contains("serving http://") {
                break line;
            }
        };
        let (_, url) = line.split_once("http://").expect("a URL");
        let address = url.strip_suffix("/mcp").expect("its path").to_owned();
        let pid = Pid::from_child(&process);
        Self {
            process: Mutex::new(Some(process)),
            pid,
            log: Mutex::new(log),
            address,
        }
    }

    /// One request, and all of its response.
    pub(crate) fn send(&self, method: &str, headers: &[(&str, &str)], body: &Value) -> Response {
        self.send_to("/mcp", method, headers, body)
    }

    pub(crate) fn send_to(
        &self,
        path: &str,
        method: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Response {
        let mut stream = self.begin(path, method, headers, body);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a response");
        Response::parse(&bytes)
    }

    /// A request whose response nobody has read.
    fn begin(&self, path: &str, method: &str, headers: &[(&str, &str)], body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let body = body.to_string();
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "Accept: application/json, text/event-stream\r\n";
        head += "Content-Type: application/json\r\nConnection: close\r\n";
        head += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).expect("written");
        stream
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("a live server");
    }

    /// The end of the server, which has to come by itself.
    pub(crate) fn ended(&self) -> ExitStatus {
        let process = self.process.lock().expect("no panic").take();
        let mut process = process.expect("a server");
        Process::open(process.id()).wait_for_end();
        process.wait().expect("a status")
    }

    /// Ends it, and returns all that it logged since it served.
    pub(crate) fn end(&self) -> Vec<String> {
        self.signal(Signal::TERM);
        assert_eq!(self.ended().code(), Some(0));
        self.log.lock().expect("no panic").iter().collect()
    }

    /// What it logged since it was asked last.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().expect("no panic").try_iter().collect()
    }

    pub(crate) fn wait_for_log(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        let log = self.log.lock().expect("no panic");
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if log.recv_timeout(left).expect(text).contains(text) {
                return;
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(Some(process)) = self.process.get_mut() {
            // Fails when it has ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A response: JSON, or the messages of a stream of events.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) messages: Vec<Value>,
}

impl Response {
    fn parse(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        let body = if chunked {
            unchunk(body)
        } else {
            body.to_owned()
        };
        let data = body
            .lines()
            .map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        Self {
            status: status.and_then(|code| code.parse().ok()).expect("a status"),
            headers,
            messages: data
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    fn answer(&self) -> Answer {
        assert_eq!(self.status, 200, "{self:?}");
        let answer = self.messages.iter().find(|message| message["id"] == 1);
        Answer::of(answer.expect("an answer"))
    }
}

/// RFC 9112, section 7.1.
fn unchunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap_or_default();
    }
    whole
}

fn call_of(id: u64, tool: &str, arguments: Value, meta: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// One who calls under protocol 2026-07-28, which has no sessions.
pub(crate) struct User<'a> {
    server: &'a Server,
    headers: Vec<(String, String)>,
}

impl<'a> User<'a> {
    pub(crate) fn of(server: &'a Server, token: &str) -> Self {
        Self::nobody(server).with_header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn nobody(server: &'a Server) -> Self {
        let user = Self {
            server,
            headers: Vec::new(),
        };
        user.with_header("MCP-Protocol-Version", "2026-07-28")
            .with_header("Mcp-Method", "tools/call")
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn request(&self, tool: &str, arguments: Value) -> (Vec<(&str, &str)>, Value) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = self.headers.iter().map(|(name, value)| (&**name, &**value));
        (headers.collect(), call_of(1, tool, arguments, meta))
    }

    pub(crate) fn post_call(&self, tool: &str, arguments: Value) -> Response {
        let (mut headers, body) = self.request(tool, arguments);
        headers.push(("Mcp-Name", tool));
        self.server.send("POST", &headers, &body)
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.post_call(tool, arguments).answer()
    }

    /// A call whose response nobody has read.
    pub(crate) fn abandon(&self, tool: &str, arguments: Value) -> TcpStream {
        let (mut headers, body) = self.request(tool, arguments);
        headers.push(("Mcp-Name", tool));
        self.server.begin("/mcp", "POST", &headers, &body)
    }

    pub(crate) fn start(&self, command: &str) -> String {
        started(&self.call("bash", background(command)))
    }

    pub(crate) fn start_lasting(&self) -> Process {
        lasting(|tool, arguments| self.call(tool, arguments))
    }

    /// The first answer that has a notice in front.
    pub(crate) fn until_told(&self) -> Answer {
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = self.call("bash", json!({ "command": "true" }));
            if answer.blocks.len() > 1 {
                return answer;
            }
            assert!(Instant::now() < end, "no notice");
        }
    }
}

/// A session of an older protocol.
pub(crate) struct Session<'a> {
    server: &'a Server,
    token: Option<String>,
    id: String,
    version: String,
    /// The id of the last call that was begun.
    last: u64,
}

/// A call of a session that may have no answer yet. Dropping it closes its connection.
pub(crate) struct Open {
    id: u64,
    stream: TcpStream,
    answer: Receiver<Value>,
}

impl Open {
    /// The answer, if it comes in this time.
    pub(crate) fn answer_within(&mut self, limit: Duration) -> Option<Value> {
        self.answer.recv_timeout(limit).ok()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Fails when the server has closed it.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl<'a> Session<'a> {
    pub(crate) fn open(server: &'a Server, token: Option<&str>, version: &str) -> Self {
        let mut session = Self {
            server,
            token: token.map(str::to_owned),
            id: String::new(),
            version: version.to_owned(),
            last: 1,
        };
        let opened = session.send(
            "POST",
            &json!({
                "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                    "protocolVersion": version,
                    "capabilities": {},
                    "clientInfo": { "name": "test", "version": "0" },
                },
            }),
        );
        session.id = opened.header("mcp-session-id").expect("an id").to_owned();
        assert_eq!(opened.messages[0]["result"]["protocolVersion"], version);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.send("POST", &initialized).status, 202);
        session
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The same session in the hands of another.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            server: self.server,
            token: Some(token.to_owned()),
            id: self.id.clone(),
            version: self.version.clone(),
            last: self.last,
        }
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        headers.extend(bearer.map(|value| ("Authorization", value)));
        if !self.id.is_empty() {
            headers.push(("Mcp-Session-Id", self.id.clone()));
            headers.push(("MCP-Protocol-Version", self.version.clone()));
        }
        headers
    }

    fn send(&self, method: &str, body: &Value) -> Response {
        let headers = self.headers();
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        self.server.send(method, &headers, body)
    }

    /// A call, under an id of its own, whose answer is waited for elsewhere.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> Open {
        self.last += 1;
        let id = self.last;
        let headers = self.headers();
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let body = call_of(id, tool, arguments, json!({}));
        let stream = self.server.begin("/mcp", "POST", &headers, &body);
        let mut reader = stream.try_clone().expect("a copy");
        let (sender, answer) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was given up in the middle has no last chunk.
            if reader.read_to_end(&mut bytes).is_ok() && bytes.ends_with(b"\r\n0\r\n\r\n") {
                let messages = Response::parse(&bytes).messages;
                let answer = messages.into_iter().find(|message| message["id"] == id);
                // Nobody may be left to read it.
                let _ = answer.map(|answer| sender.send(answer));
            }
        });
        Open { id, stream, answer }
    }

    pub(crate) fn cancel(&self, call: &Open) {
        let params = json!({ "requestId": call.id });
        let method = "notifications/cancelled";
        let cancel = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(self.send("POST", &cancel).status, 202);
    }

    /// A message that asks for nothing.
    pub(crate) fn ping(&self) {
        let ping = json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" });
        assert_eq!(self.send("POST", &ping).status, 200);
    }

    pub(crate) fn post_call(&self, tool: &str, arguments: Value) -> Response {
        self.send("POST", &call_of(1, tool, arguments, json!({})))
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.post_call(tool, arguments).answer()
    }

    pub(crate) fn start(&self, command: &str) -> String {
        started(&self.call("bash", background(command)))
    }

    pub(crate) fn start_lasting(&self) -> Process {
        lasting(|tool, arguments| self.call(tool, arguments))
    }

    pub(crate) fn delete(&self) -> Response {
        self.send("DELETE", &json!({}))
    }
}

fn background(command: &str) -> Value {
    json!({ "command": command, "run_in_background": true })
}

fn started(answer: &Answer) -> String {
    let id = answer.value["jobId"].as_str();
    id.unwrap_or_else(|| panic!("no job: {answer:?}"))
        .to_owned()
}

/// A job that waits; the process of its shell.
fn lasting(call: impl FnOnce(&str, Value) -> Answer) -> Process {
    let fifo = Fifo::new();
    let command = format!("echo $$ > '{}'; exec sleep 1000", fifo.path.display());
    started(&call("bash", background(&command)));
    Process::from_fifo(&fifo)
}
