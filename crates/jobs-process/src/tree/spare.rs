//! The supervisors of one runner: those that have nothing to do right now wait for the next job.
//!
//! To start one costs more than most commands do. So one whose tree is empty, which the kernel has
//! proved to it, is kept.
//!
//! 1. So many are kept at most, and only by a runner that lives: they end with it.
//! 2. Each ends with its host, whatever ends that: its socket does.
//! 3. One that was stopped or killed, or was started with other rights than the host has now, is
//!    not used again.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Gid, getegid, geteuid, getgid, getgroups, getuid};

use crate::env::Environment;
use crate::platform::{Image, Pinned, spawn};
use crate::wire::{MARKER, NAME, VERSION};

/// How long a spare one may take to die. It holds nothing, so this is for a system out of breath.
const PATIENCE: Duration = Duration::from_millis(100);

/// Starts supervisors and keeps spare ones.
#[derive(Debug)]
pub(crate) struct Supervisors {
    program: CString,
    env: Environment,
    spares: usize,
    idle: Mutex<Vec<Supervisor>>,
}

/// A supervisor process and the socket to it, of no runtime.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) child: Pinned,
    /// Does not block.
    pub(crate) control: UnixStream,
    pub(crate) rights: Rights,
}

/// With which users and groups a process was started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    ids: [u32; 4],
    /// The supplementary groups; none if there are too many to be told.
    groups: Option<Vec<Gid>>,
}

impl Supervisors {
    /// `program` calls [`crate::init`] first thing in its `main`.
    ///
    /// # Errors
    ///
    /// The path holds a NUL.
    pub(crate) fn new(program: PathBuf, spares: usize) -> io::Result<Self> {
        let mut env = Environment::new();
        env.set(MARKER, VERSION).map_err(io::Error::other)?;
        // The host may need it to load its libraries; nothing else is of use to a supervisor.
        if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
            env.set("LD_LIBRARY_PATH", path).map_err(io::Error::other)?;
        }
        Ok(Self {
            program: CString::new(program.into_os_string().into_vec())?,
            env,
            spares,
            idle: Mutex::default(),
        })
    }

    /// The host itself. The link works when the file was replaced meanwhile, too.
    pub(crate) fn of_this_binary(spares: usize) -> io::Result<Self> {
        Self::new(Path::new("/proc/self/exe").to_owned(), spares)
    }

    /// A spare one that can be used.
    pub(crate) fn spare(&self) -> Option<Supervisor> {
        loop {
            let spare = self.idle.lock().pop()?;
            if spare.is_fit() {
                return Some(spare);
            }
            spare.end();
        }
    }

    /// One more can be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.idle.lock().len() < self.spares
    }

    /// Keeps a supervisor whose tree is empty. Ends it if others came first.
    pub(crate) fn keep(&self, supervisor: Supervisor) {
        let mut idle = self.idle.lock();
        if idle.len() < self.spares {
            idle.push(supervisor);
        } else {
            drop(idle);
            supervisor.end();
        }
    }

    /// A new one.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub(crate) fn start(&self) -> io::Result<Supervisor> {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let null = null.as_fd();
        let (control, theirs) = UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let pid = spawn(&Image {
            program: &self.program,
            argv: &[NAME.to_owned()],
            env: &self.env,
            cwd: Some(c"/"),
            fds: &[null, null, null, theirs.as_fd()],
        })?;
        Ok(Supervisor {
            child: Pinned::new(pid)?,
            control,
            rights: Rights::now(),
        })
    }
}

impl Drop for Supervisors {
    /// Waits for their end, so that the host has no children left of a runner that is gone.
    fn drop(&mut self) {
        for spare in self.idle.get_mut().drain(..) {
            spare.end();
        }
    }
}

impl Supervisor {
    fn is_fit(&self) -> bool {
        self.child.is_running() && self.rights == Rights::now()
    }

    /// Ends one that has no tree.
    fn end(self) {
        self.child.kill(PATIENCE);
    }
}

impl Rights {
    fn now() -> Self {
        Self {
            ids: [
                getuid().as_raw(),
                geteuid().as_raw(),
                getgid().as_raw(),
                getegid().as_raw(),
            ],
            groups: getgroups().ok(),
        }
    }
}
