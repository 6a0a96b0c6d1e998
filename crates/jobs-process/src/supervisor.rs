//! The supervisor: one small process a job, between the host and the command. When a tree is empty
//! it can look after the next one.
//!
//! 1. It is a child subreaper, so every descendant that loses its parent becomes its child. "No
//!    children" therefore proves that the whole tree is gone (prctl(2), `PR_SET_CHILD_SUBREAPER`).
//! 2. It says that the tree is empty only then, and takes no other task and does not end before.
//! 3. It holds a socket to the host. When that ends, the host is gone, the tree is killed, and it
//!    ends.
//! 4. It has one thread and blocks every signal, so nothing happens between two steps of its loop.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, WaitOptions, getrlimit, setrlimit};

use crate::platform::{Image, SignalQueue, adopt, become_subreaper, receive_task, spawn};
use crate::tree::{reap, scan};
use crate::wire::{MARKER, MESSAGE, Message, NAME, Task, VERSION};

static CALLED: AtomicBool = AtomicBool::new(false);

/// Makes the host's own binary usable as the supervisor of its jobs.
///
/// Call it first thing in `main`, before any thread or runtime is started. In an ordinary process
/// it returns at once. In a process that was started as a supervisor it never returns: it looks
/// after one job after another, and exits with the host. Without this call (and without
/// [`ProcessConfig::with_supervisor`](crate::ProcessConfig::with_supervisor)) jobs run without a
/// supervisor, one rung down the containment ladder.
///
/// # Examples
///
/// ```
/// // The first line of main:
/// jobs_process::init();
/// // … and then the runtime, the registry, the tools.
/// ```
pub fn init() {
    CALLED.store(true, Ordering::Relaxed);
    let is_named = std::env::args_os()
        .next()
        .is_some_and(|name| name.as_encoded_bytes() == NAME.to_bytes());
    if !is_named || std::env::var_os(MARKER).is_none_or(|version| version != VERSION) {
        return;
    }
    // Nobody can read a message of a supervisor that could not even take its socket; the host sees
    // the end of the stream and says what that means.
    std::process::exit(if supervise().is_ok() { 0 } else { 70 });
}

/// [`init`] was called in this process.
pub(crate) fn is_available() -> bool {
    CALLED.load(Ordering::Relaxed)
}

fn supervise() -> io::Result<()> {
    let mut control = Control { socket: adopt()? };
    let mut ready = prepare();
    while let Some(task) = receive_task(&control.socket)? {
        let started = match &mut ready {
            Ok(signals) => start(task).map(|leader| (leader, signals)),
            Err(error) => Err(io::Error::from_raw_os_error(number(error))),
        };
        match started {
            Ok((leader, signals)) => {
                control.send(Message::Started(leader));
                Supervisor {
                    leader: Some(leader),
                    told: 0,
                    duty: Duty::Watch,
                    control: &mut control,
                    signals,
                }
                .run()?;
            }
            Err(error) => control.send(Message::NotStarted(number(&error))),
        }
        control.send(Message::Empty);
    }
    Ok(())
}

fn number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

/// Makes this process one that can hold a tree.
fn prepare() -> io::Result<SignalQueue> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(Errno::BUSY.into());
    }
    let signals = SignalQueue::open()?;
    become_subreaper()?;
    // No core files from jobs; the hard limit stays, so that a command can ask for one.
    let core = getrlimit(Resource::Core);
    setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            ..core
        },
    )?;
    Ok(signals)
}

/// Starts the command of `task`. Its descriptors are the job's alone after that, or the end of its
/// output would never come.
fn start([stdin, stdout, stderr, task]: [OwnedFd; 4]) -> io::Result<i32> {
    let mut bytes = Vec::new();
    File::from(task).read_to_end(&mut bytes)?;
    let task = Task::decode(&bytes)?;
    let leader = spawn(&Image {
        program: &task.program,
        argv: &task.argv,
        env: &task.env,
        cwd: Some(&task.cwd),
        fds: &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd()],
    })?;
    Ok(leader.as_raw_nonzero().get())
}

/// What the supervisor does besides watching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duty {
    Watch,
    /// Kill until nothing is left. Counts the rounds, to become slower when somebody resists.
    Kill {
        rounds: u8,
    },
}

struct Supervisor<'a> {
    leader: Option<i32>,
    /// The last count that was sent.
    told: usize,
    duty: Duty,
    control: &'a mut Control,
    signals: &'a mut SignalQueue,
}

impl Supervisor<'_> {
    /// Returns when nothing is left.
    fn run(mut self) -> io::Result<()> {
        loop {
            if self.reap()? == Tree::Empty {
                return Ok(());
            }
            if let Duty::Kill { rounds } = &mut self.duty {
                *rounds = rounds.saturating_add(1);
                // A failure to read the table is tried again in the next round.
                let _ = reap::stop_then_kill(members);
            } else if self.leader.is_none() {
                self.tell_left();
            }
            self.wait()?;
        }
    }

    /// Invariant 1: every descendant without a parent ends here.
    fn reap(&mut self) -> io::Result<Tree> {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid.as_raw_nonzero().get()) == self.leader => {
                    self.leader = None;
                    self.control
                        .send(match (status.exit_status(), status.terminating_signal()) {
                            (Some(code), _) => Message::Exited(code),
                            (None, signal) => Message::Signalled(signal.unwrap_or(0)),
                        });
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(Tree::Alive),
                Err(Errno::CHILD) => return Ok(Tree::Empty),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn tell_left(&mut self) {
        let Ok(left) = members().map(|members| members.len()) else {
            return;
        };
        if left != self.told && self.control.has_room() {
            self.told = left;
            self.control.send(Message::Left(count(left)));
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        // The end of a grandchild raises no signal here, so what is left is looked at by clock.
        let timeout = match (self.duty, self.leader) {
            (Duty::Kill { rounds: 0..32 }, _) => Some(10),
            (Duty::Kill { .. }, _) | (Duty::Watch, None) => Some(1_000),
            (Duty::Watch, Some(_)) => None,
        };
        let timeout = timeout.map(|ms| Timespec {
            tv_sec: ms / 1_000,
            tv_nsec: ms % 1_000 * 1_000_000,
        });
        let signals = PollFd::new(&*self.signals, PollFlags::IN);
        let control = PollFd::new(&self.control.socket, PollFlags::IN);
        let mut fds = [signals, control];
        // After the end of the stream it is readable for ever, and there is nothing more to hear.
        let heed = if self.duty == Duty::Watch { 2 } else { 1 };
        match poll(&mut fds[..heed], timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let heard = heed == 2 && !fds[1].revents().is_empty();
        self.signals.drain();
        // The leader may have ended before this was asked for: that is told first.
        if heard && self.reap()? == Tree::Alive {
            self.obey();
        }
        Ok(())
    }

    fn obey(&mut self) {
        match self.control.receive() {
            Some(Message::Terminate) => {
                let mut members = members().unwrap_or_default();
                reap::terminate(&mut members);
                self.control.send(Message::Terminated(count(members.len())));
            }
            Some(_) | None => self.duty = Duty::Kill { rounds: 0 },
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Tree {
    Alive,
    Empty,
}

struct Control {
    socket: UnixStream,
}

impl Control {
    /// Sends; a host that is gone is noticed by [`Control::receive`].
    fn send(&mut self, message: Message) {
        let _ = self.socket.write_all(&message.encode());
    }

    /// `None`: the host is gone, or says what no host says.
    fn receive(&mut self) -> Option<Message> {
        let mut bytes = [0; MESSAGE];
        self.socket.read_exact(&mut bytes).ok()?;
        Message::decode(bytes)
    }

    /// A message that may be left out does not block on a host that is stopped.
    fn has_room(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

fn members() -> io::Result<Vec<scan::Proc>> {
    scan::descendants(rustix::process::getpid().as_raw_nonzero().get())
}

fn count(members: usize) -> i32 {
    i32::try_from(members).unwrap_or(i32::MAX)
}
