//! The host's half of the top rung: a tree behind a supervisor process.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::MemfdFlags;
use tokio::net::UnixStream;

use super::sweep::Sweep;
use super::{Event, Origin, blocking, pids, scan};
use crate::platform::{Child, Exit, Image, spawn};
use crate::wire::{MARKER, MESSAGE, Message, NAME, VERSION};

/// The binary that becomes a supervisor.
#[derive(Debug, Clone)]
pub(crate) struct Supervisor {
    program: CString,
    env: Vec<CString>,
}

impl Supervisor {
    /// `program` calls [`crate::init`] first thing in its `main`.
    ///
    /// # Errors
    ///
    /// The path holds a NUL.
    pub(crate) fn new(program: PathBuf) -> io::Result<Self> {
        let mut env = vec![CString::new(format!("{MARKER}={VERSION}"))?];
        // The host may need it to load its libraries; nothing else is of use to a supervisor.
        if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
            let mut variable = OsString::from("LD_LIBRARY_PATH=");
            variable.push(path);
            env.push(CString::new(variable.into_vec())?);
        }
        Ok(Self {
            program: CString::new(program.into_os_string().into_vec())?,
            env,
        })
    }

    /// The host itself. The link works when the file was replaced meanwhile, too.
    pub(crate) fn this_binary() -> io::Result<Self> {
        Self::new(Path::new("/proc/self/exe").to_owned())
    }
}

/// A tree behind a supervisor.
#[derive(Debug)]
pub(crate) struct Supervised {
    supervisor: Child,
    control: UnixStream,
    /// The part of a message that has arrived.
    partial: Vec<u8>,
    state: State,
    cookie: String,
    leader: Option<i32>,
}

#[derive(Debug)]
enum State {
    /// The supervisor answers.
    Talking,
    /// It has said its last message: it is about to end.
    Ending,
    /// It was killed. What it watched is hunted without it.
    Lost(Sweep),
}

impl Supervised {
    pub(crate) fn start(supervisor: &Supervisor, origin: &Origin<'_>) -> io::Result<Self> {
        let mut task = File::from(rustix::fs::memfd_create("jobs-task", MemfdFlags::CLOEXEC)?);
        task.write_all(&origin.task.encode())?;
        task.rewind()?;
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let control = UnixStream::from_std(ours)?;
        let [stdin, stdout, stderr] = origin.stdio;
        let pid = spawn(&Image {
            program: &supervisor.program,
            argv: &[NAME.to_owned()],
            env: &supervisor.env,
            cwd: Some(c"/"),
            fds: &[stdin, stdout, stderr, theirs.as_fd(), task.as_fd()],
        })?;
        Ok(Self {
            supervisor: Child::pin(pid)?,
            control,
            partial: Vec::with_capacity(MESSAGE),
            state: State::Talking,
            cookie: origin.cookie.to_owned(),
            leader: None,
        })
    }

    pub(crate) async fn event(&mut self) -> io::Result<Event> {
        loop {
            match &mut self.state {
                State::Talking => match self.receive().await? {
                    Some(Message::Started(pid)) => self.leader = Some(pid),
                    Some(Message::NotStarted(error)) => return Ok(Event::NotStarted(error)),
                    Some(Message::Exited(code)) => return Ok(Event::LeaderEnded(Exit::Code(code))),
                    Some(Message::Signalled(signal)) => {
                        return Ok(Event::LeaderEnded(Exit::Signal(signal)));
                    }
                    Some(Message::Left(count)) => return Ok(Event::Left(number(count))),
                    Some(Message::Terminated(count)) => {
                        return Ok(Event::Terminated(number(count)));
                    }
                    Some(Message::Empty) => self.state = State::Ending,
                    Some(Message::Terminate | Message::Kill) | None => {
                        let mut sweep = Sweep::new(self.leader, &self.cookie);
                        sweep.hunt();
                        self.state = State::Lost(sweep);
                        return Ok(Event::SupervisorLost);
                    }
                },
                State::Ending => {
                    self.supervisor.ended().await?;
                    self.supervisor.reap()?;
                    return Ok(Event::Empty);
                }
                State::Lost(sweep) => {
                    if let Event::Empty = sweep.event().await? {
                        self.state = State::Ending;
                    }
                }
            }
        }
    }

    pub(crate) fn terminate(&mut self) {
        self.send(Message::Terminate);
    }

    pub(crate) fn kill(&mut self) {
        self.send(Message::Kill);
    }

    pub(crate) async fn survivors(&self) -> Vec<i32> {
        match &self.state {
            State::Talking => {
                let supervisor = self.supervisor.pid();
                let found = blocking(move || scan::descendants(supervisor)).await;
                pids(&found.unwrap_or_default())
            }
            State::Ending => Vec::new(),
            State::Lost(sweep) => sweep.survivors().await,
        }
    }

    /// A supervisor that cannot be written to is gone; `event` notices.
    fn send(&self, message: Message) {
        // Two messages of eight bytes a job always fit into an empty socket. Tokio's own write would
        // refuse until its reactor has looked at the socket, and the message would be lost.
        let _ = rustix::io::write(&self.control, &message.encode());
    }

    async fn receive(&mut self) -> io::Result<Option<Message>> {
        loop {
            let mut buffer = [0; MESSAGE];
            let missing = MESSAGE - self.partial.len();
            match self.control.try_read(&mut buffer[..missing]) {
                Ok(0) => return Ok(None),
                Ok(n) => self.partial.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.control.readable().await?;
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
            if let Ok(bytes) = <[u8; MESSAGE]>::try_from(self.partial.as_slice()) {
                self.partial.clear();
                return Ok(Message::decode(bytes));
            }
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // With a supervisor, the end of the socket is enough: it kills what is left.
        if let State::Lost(sweep) = &self.state {
            sweep.kill_now();
        }
    }
}

fn number(count: i32) -> usize {
    usize::try_from(count).unwrap_or(0)
}
