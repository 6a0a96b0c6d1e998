//! The tree of a job: every process that its command started, watched and ended as one.
//!
//! The containment ladder, best first: a supervisor process, a sweep of the process table by
//! session, parent and cookie, the process group (spec/process.md, The tree).

mod group;
pub(crate) mod reap;
pub(crate) mod scan;
mod spare;
mod supervised;
mod sweep;
mod swept;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::platform::{Child, Exit, Image, Pinned, forbid_core, spawn};
use crate::wire::Task;

pub(crate) use spare::Supervisors;

/// How the processes of a job are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// The process group of the command. Misses whatever makes a group of its own.
    Group,
    /// The session of the command, the descendants of its processes, and every process that
    /// carries the job's cookie in its environment. Misses a daemon that clears its environment.
    Sweep,
    /// A supervisor process that every orphan of the job falls to. Misses nothing, and ends the
    /// job when the host is killed.
    Supervisor,
}

/// What happens to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The command could not be started; the error number. [`Event::Empty`] follows.
    NotStarted(i32),
    /// The first process ended.
    LeaderEnded(Exit),
    /// The first process is gone, and so many others are left.
    Left(usize),
    /// [`Tree::terminate`] took effect on so many processes.
    Terminated(usize),
    /// The supervisor was killed: how the leader ended will not be known. The tree goes on as a
    /// swept one.
    SupervisorLost,
    /// Nothing is left. The last event.
    Empty,
}

/// A tree that is followed to its end.
pub(crate) trait Watch: Send + 'static {
    fn containment(&self) -> Containment;

    /// Waits for the next event. Not to be called after [`Event::Empty`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    fn event(&mut self) -> impl Future<Output = io::Result<Event>> + Send;

    /// Asks every process to end. [`Event::Terminated`] says that it was done; no other event but
    /// [`Event::LeaderEnded`] comes in between. Does not block.
    fn terminate(&mut self);

    /// From here on every process is killed, until nothing is left. Does not block.
    fn kill(&mut self);

    /// The pids that are left.
    fn survivors(&self) -> impl Future<Output = io::Result<Vec<i32>>> + Send;
}

/// A started tree.
#[derive(Debug)]
pub(crate) enum Tree {
    Supervised(supervised::Supervised),
    Swept(swept::Swept),
    Group(group::Group),
}

/// What a tree needs besides the task.
#[derive(Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) task: &'a Task,
    /// The value of the cookie variable.
    pub(crate) cookie: &'a str,
    /// Descriptors 0, 1 and 2 of the command.
    pub(crate) stdio: [BorrowedFd<'a>; 3],
}

impl Tree {
    /// Starts the command of `origin` on exactly the given rung.
    ///
    /// # Errors
    ///
    /// The program or its supervisor could not be started.
    pub(crate) fn start(
        rung: Containment,
        supervisors: Option<&Arc<Supervisors>>,
        origin: &Origin<'_>,
    ) -> io::Result<Self> {
        match (rung, supervisors) {
            (Containment::Supervisor, Some(supervisors)) => {
                supervised::Supervised::start(supervisors, origin).map(Self::Supervised)
            }
            (Containment::Supervisor, None) => Err(io::ErrorKind::Unsupported.into()),
            (Containment::Sweep, _) => swept::Swept::start(origin).map(Self::Swept),
            (Containment::Group, _) => group::Group::start(origin).map(Self::Group),
        }
    }
}

impl Watch for Tree {
    fn containment(&self) -> Containment {
        match self {
            Self::Supervised(_) => Containment::Supervisor,
            Self::Swept(_) => Containment::Sweep,
            Self::Group(_) => Containment::Group,
        }
    }

    async fn event(&mut self) -> io::Result<Event> {
        match self {
            Self::Supervised(tree) => tree.event().await,
            Self::Swept(tree) => tree.event().await,
            Self::Group(tree) => tree.event().await,
        }
    }

    fn terminate(&mut self) {
        match self {
            Self::Supervised(tree) => tree.terminate(),
            Self::Swept(tree) => tree.terminate(),
            Self::Group(tree) => tree.terminate(),
        }
    }

    fn kill(&mut self) {
        match self {
            Self::Supervised(tree) => tree.kill(),
            Self::Swept(tree) => tree.kill(),
            Self::Group(tree) => tree.kill(),
        }
    }

    async fn survivors(&self) -> io::Result<Vec<i32>> {
        match self {
            Self::Supervised(tree) => tree.survivors().await,
            Self::Swept(tree) => tree.survivors().await,
            Self::Group(tree) => Ok(tree.survivors()),
        }
    }
}

/// Runs `look` where blocking is allowed: a process table may be long.
async fn blocking<T: Send + 'static>(
    look: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(look)
        .await
        .map_err(io::Error::other)?
}

fn pids(processes: &[scan::Proc]) -> Vec<i32> {
    processes.iter().map(|process| process.pid).collect()
}

/// Starts the command itself as a child of this process.
fn start_leader(origin: &Origin<'_>) -> io::Result<Child> {
    let stdio = origin.stdio.map(|fd| fd);
    let pid = spawn(&Image {
        program: &origin.task.program,
        argv: &origin.task.argv,
        env: &origin.task.env,
        cwd: Some(&origin.task.cwd),
        fds: &[stdio[0].as_fd(), stdio[1].as_fd(), stdio[2].as_fd()],
    })?;
    forbid_core(pid);
    Child::new(Pinned::new(pid)?)
}
