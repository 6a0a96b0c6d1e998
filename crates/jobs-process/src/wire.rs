//! What host and supervisor say to each other.
//!
//! Both sides send fixed messages of eight bytes over a socket pair: a kind and a number. The end of
//! the stream is a message too: to the supervisor it says that the host is gone, to the host that
//! the supervisor is.
//!
//! Four descriptors come with a task: 0, 1 and 2 of the command, and a memory file that says what to
//! run (program, arguments, environment, directory) as strings that end in NUL, because none of
//! them can hold one. From a task to `Empty` a supervisor has a tree; then it waits for the next
//! task. What the host says of a tree may arrive when that is empty already, and means nothing then.

use std::ffi::{CStr, CString};
use std::io;

use crate::env::Environment;

/// The name under which a supervisor runs (argument 0).
pub(crate) const NAME: &CStr = c"jobs-supervisor";
/// The variable that tells [`crate::init`] that this process is a supervisor.
pub(crate) const MARKER: &str = "JOBS_PROCESS_SUPERVISOR";
/// Its value: the version of this protocol.
pub(crate) const VERSION: &str = "2";

/// The size of a message in bytes.
pub(crate) const MESSAGE: usize = 8;

/// A message in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// Host: run this; the descriptors come with it.
    Task,
    /// Host: ask the tree to end (TERM, then CONT).
    Terminate,
    /// Host: stop-then-kill the tree until nothing is left.
    Kill,
    /// Supervisor: the leader runs under this pid.
    Started(i32),
    /// Supervisor: the leader could not be started; the error number.
    NotStarted(i32),
    /// Supervisor: the leader exited with this code.
    Exited(i32),
    /// Supervisor: this signal ended the leader.
    Signalled(i32),
    /// Supervisor: the leader is gone and so many processes are left.
    Left(i32),
    /// Supervisor: `Terminate` is done; so many processes were there.
    Terminated(i32),
    /// Supervisor: the tree is empty. Always its last message about a task.
    Empty,
}

impl Message {
    pub(crate) fn encode(self) -> [u8; MESSAGE] {
        let (kind, number) = match self {
            Self::Terminate => (1_i32, 0),
            Self::Kill => (2, 0),
            Self::Started(pid) => (3, pid),
            Self::NotStarted(error) => (4, error),
            Self::Exited(code) => (5, code),
            Self::Signalled(signal) => (6, signal),
            Self::Left(count) => (7, count),
            Self::Terminated(count) => (8, count),
            Self::Empty => (9, 0),
            Self::Task => (10, 0),
        };
        let mut bytes = [0; MESSAGE];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: [u8; MESSAGE]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let number = i32::from_le_bytes([e, f, g, h]);
        Some(match i32::from_le_bytes([a, b, c, d]) {
            1 => Self::Terminate,
            2 => Self::Kill,
            3 => Self::Started(number),
            4 => Self::NotStarted(number),
            5 => Self::Exited(number),
            6 => Self::Signalled(number),
            7 => Self::Left(number),
            8 => Self::Terminated(number),
            9 => Self::Empty,
            10 => Self::Task,
            _ => return None,
        })
    }
}

/// A program that is ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// The program file.
    pub(crate) program: CString,
    /// Its working directory.
    pub(crate) cwd: CString,
    /// Its arguments, argument 0 included.
    pub(crate) argv: Vec<CString>,
    /// Its environment.
    pub(crate) env: Environment,
}

impl Task {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = format!("{}\0", self.argv.len()).into_bytes();
        let strings = [&self.program, &self.cwd]
            .into_iter()
            .chain(&self.argv)
            .map(CString::as_c_str)
            .chain(self.env.strings());
        for string in strings {
            bytes.extend_from_slice(string.to_bytes_with_nul());
        }
        bytes
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> io::Result<Self> {
        let mut next = || -> Option<CString> {
            let string = CStr::from_bytes_until_nul(bytes).ok()?;
            bytes = bytes.get(string.to_bytes_with_nul().len()..)?;
            Some(string.to_owned())
        };
        let mut read = || {
            let count: usize = next()?.to_str().ok()?.parse().ok()?;
            let program = next()?;
            let cwd = next()?;
            let mut rest: Vec<CString> = std::iter::from_fn(&mut next).collect();
            if rest.len() < count {
                return None;
            }
            let env = Environment::from_strings(rest.split_off(count))?;
            Some(Self {
                program,
                cwd,
                argv: rest,
                env,
            })
        };
        read().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the task is incomplete"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_survives_the_way() {
        let task = Task {
            program: c"/bin/echo".into(),
            cwd: c"/tmp".into(),
            argv: vec![c"echo".into(), c"".into(), c"\xff".into()],
            env: Environment::from_strings([c"A=1".into(), c"B=".into()]).expect("names"),
        };
        assert_eq!(Task::decode(&task.encode()).expect("whole"), task);
        assert!(Task::decode(b"9\0/bin/echo\0/tmp\0echo\0").is_err());
    }

    #[test]
    fn every_message_survives_the_way() {
        for message in [
            Message::Task,
            Message::Terminate,
            Message::Kill,
            Message::Started(7),
            Message::NotStarted(2),
            Message::Exited(255),
            Message::Signalled(15),
            Message::Left(3),
            Message::Terminated(-1),
            Message::Empty,
        ] {
            assert_eq!(Message::decode(message.encode()), Some(message));
        }
        assert_eq!(Message::decode([0; MESSAGE]), None);
    }
}
