//! The host's half of the top rung: a tree behind a supervisor process.

use std::io::{self, Seek, Write};
use std::mem;
use std::os::fd::AsFd;
use std::sync::{Arc, Weak};

use tokio::net::UnixStream;

use super::spare::{Rights, Supervisor, Supervisors};
use super::sweep::Sweep;
use super::{Event, Origin, blocking, pids, scan};
use crate::platform::{Child, Exit, memory_file, send_task};
use crate::wire::{MESSAGE, Message};

/// A tree behind a supervisor.
#[derive(Debug)]
pub(crate) struct Supervised {
    state: State,
    cookie: String,
    leader: Option<i32>,
    /// Where the supervisor goes when its tree is empty.
    home: Weak<Supervisors>,
}

#[derive(Debug)]
enum State {
    /// The supervisor answers.
    Talking(Line),
    /// Nothing is left but the supervisor, and it is about to end.
    Ending(Child),
    /// It was killed. What it watched is hunted without it.
    Lost { supervisor: Child, sweep: Sweep },
    /// Nothing is left.
    Over,
}

/// A supervisor and what it says.
#[derive(Debug)]
struct Line {
    supervisor: Child,
    control: UnixStream,
    rights: Rights,
    /// The part of a message that has arrived.
    partial: Vec<u8>,
}

impl Supervised {
    pub(crate) fn start(supervisors: &Arc<Supervisors>, origin: &Origin<'_>) -> io::Result<Self> {
        let mut task = memory_file()?;
        task.write_all(&origin.task.encode())?;
        task.rewind()?;
        let [stdin, stdout, stderr] = origin.stdio;
        let task = [stdin, stdout, stderr, task.as_fd()];
        let line = loop {
            let spare = supervisors.spare();
            let is_new = spare.is_none();
            let line = Line::new(spare.map_or_else(|| supervisors.start(), Ok)?)?;
            // The last step: once it has the task, nothing can fail any more.
            match send_task(&line.control, task) {
                Ok(()) => break line,
                Err(error) if is_new => return Err(error),
                Err(_) => {}
            }
        };
        Ok(Self {
            state: State::Talking(line),
            cookie: origin.cookie.to_owned(),
            leader: None,
            home: Arc::downgrade(supervisors),
        })
    }

    pub(crate) async fn event(&mut self) -> io::Result<Event> {
        loop {
            match &mut self.state {
                State::Talking(line) => match line.receive().await? {
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
                    Some(Message::Empty) => self.send_home(),
                    Some(Message::Terminate | Message::Kill | Message::Task) | None => {
                        self.lose();
                        return Ok(Event::SupervisorLost);
                    }
                },
                State::Ending(supervisor) => {
                    supervisor.ended().await?;
                    supervisor.reap()?;
                    self.state = State::Over;
                }
                State::Lost { sweep, .. } => {
                    // One that could not look is called again.
                    if let Ok(Event::Empty) = sweep.event().await
                        && let State::Lost { supervisor, .. } =
                            mem::replace(&mut self.state, State::Over)
                    {
                        self.state = State::Ending(supervisor);
                    }
                }
                State::Over => return Ok(Event::Empty),
            }
        }
    }

    /// The tree is empty: the supervisor is kept for the next job, or ends because nobody holds its
    /// socket any more.
    fn send_home(&mut self) {
        let State::Talking(line) = mem::replace(&mut self.state, State::Over) else {
            return;
        };
        let home = self.home.upgrade().filter(|home| home.has_room());
        match (home, line.control.into_std()) {
            (Some(home), Ok(control)) => home.keep(Supervisor {
                child: line.supervisor.into_pinned(),
                control,
                rights: line.rights,
            }),
            _ => self.state = State::Ending(line.supervisor),
        }
    }

    fn lose(&mut self) {
        let State::Talking(line) = mem::replace(&mut self.state, State::Over) else {
            return;
        };
        let mut sweep = Sweep::new(self.leader, line.supervisor.pid(), &self.cookie);
        sweep.hunt();
        self.state = State::Lost {
            supervisor: line.supervisor,
            sweep,
        };
    }

    pub(crate) fn terminate(&mut self) {
        self.send(Message::Terminate);
    }

    pub(crate) fn kill(&mut self) {
        self.send(Message::Kill);
    }

    pub(crate) async fn survivors(&self) -> io::Result<Vec<i32>> {
        match &self.state {
            State::Talking(line) => {
                let supervisor = line.supervisor.pid();
                let found = blocking(move || scan::descendants(supervisor)).await;
                found.map(|found| pids(&found))
            }
            State::Ending(_) | State::Over => Ok(Vec::new()),
            State::Lost { sweep, .. } => sweep.survivors().await,
        }
    }

    /// A supervisor that cannot be written to is gone; `event` notices.
    fn send(&self, message: Message) {
        if let State::Talking(line) = &self.state {
            // Two messages of eight bytes a job always fit into an empty socket. Tokio's own write
            // would refuse until its reactor has looked at the socket, and the message would be
            // lost.
            let _ = rustix::io::write(&line.control, &message.encode());
        }
    }
}

impl Line {
    fn new(supervisor: Supervisor) -> io::Result<Self> {
        let Supervisor {
            child,
            control,
            rights,
        } = supervisor;
        Ok(Self {
            supervisor: Child::new(child)?,
            control: UnixStream::from_std(control)?,
            rights,
            partial: Vec::with_capacity(MESSAGE),
        })
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
        if let State::Lost { sweep, .. } = &self.state {
            // Nobody is left who could look again.
            let _ = sweep.kill_now();
        }
    }
}

fn number(count: i32) -> usize {
    usize::try_from(count).unwrap_or(0)
}
