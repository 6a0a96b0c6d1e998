//! Starting a program with `posix_spawn`: a new session, a clean signal state, chosen descriptors.
//!
//! `posix_spawn(3)` of glibc 2.34 or later uses `CLONE_VFORK`, so the cost does not grow with the
//! memory of the host (spec/process.md, Spawn).

#![expect(
    unsafe_code,
    reason = "posix_spawn has no safe binding with SETSID, chdir and closefrom; the safe API is below"
)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;

use crate::platform::Image;

/// Starts `image` in a new session, with no signal blocked or ignored.
///
/// # Errors
///
/// The error of `posix_spawn` or of the program's `execve`, `chdir`, `dup2` in the child.
pub(crate) fn spawn(image: &Image<'_>) -> io::Result<Pid> {
    let count = c_int::try_from(image.fds.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // A source below `count` could be overwritten by an earlier dup2: such ones are moved above.
    let moved = image
        .fds
        .iter()
        .map(|fd| {
            let is_low = fd.as_raw_fd() < count;
            is_low.then(|| rustix::io::fcntl_dupfd_cloexec(fd, count))
        })
        .map(Option::transpose)
        .collect::<Result<Vec<Option<OwnedFd>>, _>>()?;

    let mut actions = Actions::new()?;
    for ((target, given), moved) in (0..count).zip(image.fds).zip(&moved) {
        let source = moved.as_ref().map_or(given.as_raw_fd(), AsRawFd::as_raw_fd);
        actions.dup2(source, target)?;
    }
    actions.close_from(count)?;
    if let Some(cwd) = image.cwd {
        actions.chdir(cwd)?;
    }
    let attributes = Attributes::clean_session()?;
    let argv = pointers(image.argv.iter().map(CString::as_c_str));
    let env = pointers(image.env.strings());

    let mut pid: libc::pid_t = 0;
    // SAFETY: all pointers are to live, initialised values; argv and env end in a null pointer, and
    // their strings outlive the call.
    let error = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            image.program.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            argv.as_ptr(),
            env.as_ptr(),
        )
    };
    check(error)?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("posix_spawn returned pid 0"))
}

fn pointers<'a>(strings: impl Iterator<Item = &'a CStr>) -> Vec<*mut c_char> {
    strings
        .map(|s| s.as_ptr().cast_mut())
        .chain([ptr::null_mut()])
        .collect()
}

fn check(error: c_int) -> io::Result<()> {
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(error))
    }
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new() -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the call initialises the value that it is given.
        check(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
        // SAFETY: it succeeded.
        Ok(Self(unsafe { raw.assume_init() }))
    }

    fn dup2(&mut self, source: c_int, target: c_int) -> io::Result<()> {
        // SAFETY: the value was initialised by `new`.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, source, target) })
    }

    fn close_from(&mut self, first: c_int) -> io::Result<()> {
        // SAFETY: the value was initialised by `new`.
        check(unsafe { libc::posix_spawn_file_actions_addclosefrom_np(&raw mut self.0, first) })
    }

    fn chdir(&mut self, cwd: &CStr) -> io::Result<()> {
        // SAFETY: the value was initialised by `new`; the string is copied.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, cwd.as_ptr()) })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: the value was initialised by `new` and is not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn clean_session() -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the call initialises the value that it is given.
        check(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
        // SAFETY: it succeeded.
        let mut this = Self(unsafe { raw.assume_init() });

        // sigfillset(3) leaves out the two signals that glibc uses itself, and glibc would then
        // start the program with those ignored.
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: a sigset_t is a bit set, for which every pattern is valid; the attribute value
        // was initialised above.
        unsafe {
            ptr::write_bytes(all.as_mut_ptr(), 0xff, 1);
            ptr::write_bytes(none.as_mut_ptr(), 0, 1);
            check(libc::posix_spawnattr_setsigmask(
                &raw mut this.0,
                none.as_ptr(),
            ))?;
            check(libc::posix_spawnattr_setsigdefault(
                &raw mut this.0,
                all.as_ptr(),
            ))?;
        }
        let flags = c_int::from(libc::POSIX_SPAWN_SETSID)
            | libc::POSIX_SPAWN_SETSIGMASK as c_int
            | libc::POSIX_SPAWN_SETSIGDEF as c_int;
        let flags = libc::c_short::try_from(flags).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the value was initialised above.
        check(unsafe { libc::posix_spawnattr_setflags(&raw mut this.0, flags) })?;
        Ok(this)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: the value was initialised by `clean_session` and is not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}
