//! The process table as `/proc` shows it, and who descends from whom.
//!
//! A process that could not be read, for want of a descriptor, is an error and not a process less:
//! nobody may take a tree for empty because it was not seen.
//!
//! Source of the fields: `proc_pid_stat(5)`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use rustix::io::Errno;

/// One process, as it was when it was read. Pid and start time together identify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Proc {
    pub(crate) pid: i32,
    pub(crate) ppid: i32,
    pub(crate) sid: i32,
    /// Clock ticks between boot and its start.
    pub(crate) start: u64,
    state: u8,
    flags: u32,
}

impl Proc {
    /// It runs, sleeps or is stopped: neither a zombie nor dead.
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }

    /// A thread of the kernel's own, which has no environment. Session 0 is no sign of one: a
    /// process whose session began outside of its pid namespace is in session 0 too.
    pub(crate) fn is_kernel_thread(&self) -> bool {
        // `PF_KTHREAD` of the kernel's `include/linux/sched.h`.
        self.flags & 0x0020_0000 != 0
    }

    pub(crate) fn identity(&self) -> (i32, u64) {
        (self.pid, self.start)
    }
}

/// Reads one process; `None` if there is none that can be seen.
pub(crate) fn read(pid: i32) -> io::Result<Option<Proc>> {
    let mut buffer = [0_u8; 1024];
    let read = File::open(format!("/proc/{pid}/stat")).and_then(|mut stat| stat.read(&mut buffer));
    match read {
        Ok(length) => Ok(parse(pid, &buffer[..length])),
        Err(error) if is_for_want(&error) => Err(error),
        Err(_gone_or_hidden) => Ok(None),
    }
}

/// Whether an error says nothing of what was looked at: descriptors or memory are used up
/// (`open(2)`).
pub(crate) fn is_for_want(error: &io::Error) -> bool {
    let wants = [Errno::MFILE, Errno::NFILE, Errno::NOMEM].map(|errno| Some(errno.raw_os_error()));
    wants.contains(&error.raw_os_error())
}

/// Reads every process that is visible here.
pub(crate) fn table() -> io::Result<Vec<Proc>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let pid = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(pid) = pid {
            all.extend(read(pid)?);
        }
    }
    Ok(all)
}

/// The processes that got their pids after `first` did, if those are few: the kernel hands pids out
/// in ascending order and says which was the last (`proc_loadavg(5)`).
///
/// `None` when they are many, or the numbers have started again from below, or one cannot be read.
pub(crate) fn since(first: i32) -> Option<Vec<Proc>> {
    const FEW: i32 = 64;
    let mut found = Vec::new();
    let mut read_to = first;
    loop {
        let last = last_pid()?;
        if !(read_to - first..=FEW).contains(&(last - first)) {
            return None;
        }
        // One that ended before it was read may have started another one just before that.
        if last == read_to {
            return Some(found);
        }
        for pid in read_to + 1..=last {
            found.extend(read(pid).ok()?);
        }
        read_to = last;
    }
}

fn last_pid() -> Option<i32> {
    // Kept open: it is read at the end of every short job.
    static LOAD: OnceLock<File> = OnceLock::new();
    let load = match LOAD.get() {
        Some(load) => load,
        None => {
            let opened = File::open("/proc/loadavg").ok()?;
            LOAD.get_or_init(|| opened)
        }
    };
    let mut buffer = [0_u8; 128];
    let length = load.read_at(&mut buffer, 0).ok()?;
    let load = std::str::from_utf8(&buffer[..length]).ok()?;
    load.split_ascii_whitespace().last()?.parse().ok()
}

/// The live descendants of `root`, which is not among them.
pub(crate) fn descendants(root: i32) -> io::Result<Vec<Proc>> {
    let table = table()?;
    let mut children: HashMap<i32, Vec<&Proc>> = HashMap::new();
    for process in &table {
        children.entry(process.ppid).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        // Taken out, so that a table that was read while it moved cannot hold a cycle.
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.pid);
            if child.is_live() {
                found.push(*child);
            }
        }
    }
    Ok(found)
}

fn parse(pid: i32, stat: &[u8]) -> Option<Proc> {
    // The name is in parentheses and may hold anything, parentheses and spaces too.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let ppid = fields.next()?.parse().ok()?;
    let sid = fields.nth(1)?.parse().ok()?;
    // Fields 9 and 22; the session was field 6.
    let flags = fields.nth(2)?.parse().ok()?;
    let start = fields.nth(12)?.parse().ok()?;
    Some(Proc {
        pid,
        ppid,
        sid,
        start,
        state,
        flags,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let stat = b"42 (a) b (c)) S 7 42 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9001 0 0";
        let read = parse(42, stat).expect("a whole line");
        assert_eq!(
            read,
            Proc {
                pid: 42,
                ppid: 7,
                sid: 41,
                start: 9001,
                state: b'S',
                flags: 4_194_560,
            }
        );
    }

    #[test]
    fn a_thread_of_the_kernel_is_told_by_its_flags() {
        let stat = b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0";
        assert!(parse(2, stat).expect("a whole line").is_kernel_thread());
        let me = i32::try_from(std::process::id()).expect("a pid");
        let me = read(me).expect("readable").expect("it lives");
        assert!(!me.is_kernel_thread());
    }

    #[test]
    fn a_child_is_among_those_since_the_pid_before_it() {
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = child.expect("a child");
        let pid = child.id().cast_signed();
        // Other tests start processes too, but not that many at once.
        let since = since(pid - 1).expect("few");
        let found = since.iter().any(|process| process.pid == pid);
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        assert!(found);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let me = i32::try_from(std::process::id()).expect("a pid");
        let table = table().expect("/proc is mounted");
        assert!(
            table
                .iter()
                .any(|process| process.pid == me && process.is_live())
        );
    }
}
