//! Who is really there: the process table, read from `/proc` (proc(5)).
//!
//! It shares no code with the producer whose work it judges. A process is of a command when its
//! environment holds the command's mark.

use std::fs;
use std::time::{Duration, Instant};

use serde::Serialize;

/// How often the table is read while processes are awaited.
const INTERVAL: Duration = Duration::from_millis(5);
/// How long processes are awaited.
const PATIENCE: Duration = Duration::from_secs(5);

/// A process that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// Its arguments, joined by spaces.
    pub(crate) command: String,
    /// When it started, in ticks since the system did.
    #[serde(skip)]
    started: u64,
}

/// The live processes whose variable `name` begins with `value`, the oldest first.
pub(crate) async fn marked(name: &'static str, value: &str) -> Vec<Process> {
    let value = value.to_owned();
    aside(move || scan(name, &value)).await
}

/// Reads the table beside the runtime: the agents and their jobs go on meanwhile.
async fn aside<T: Default + Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> T {
    let read = tokio::task::spawn_blocking(read);
    // It is not cancelled before it began, as long as the runtime lives.
    read.await.unwrap_or_default()
}

fn scan(name: &str, value: &str) -> Vec<Process> {
    let mark = format!("{name}={value}");
    let mut found: Vec<Process> = pids()
        .filter(|pid| {
            // What is gone, or of another user, cannot be read and is not ours.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable.starts_with(mark.as_bytes()))
        })
        .filter_map(process)
        .collect();
    found.sort_by_key(|process| (process.started, process.pid));
    found
}

/// The same, once they are as they should be, or after 5 s.
pub(crate) async fn marked_once(
    name: &'static str,
    value: &str,
    mut complete: impl FnMut(&[Process]) -> bool,
) -> Vec<Process> {
    let began = Instant::now();
    loop {
        let found = marked(name, value).await;
        if complete(&found) || began.elapsed() > PATIENCE {
            return found;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The children of this process, zombies included.
pub(crate) async fn children() -> Vec<i32> {
    let me = std::process::id().to_string();
    let is_mine = move |pid: &i32| stat(*pid).is_some_and(|fields| fields.get(1) == Some(&me));
    aside(move || pids().filter(is_mine).collect()).await
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn process(pid: i32) -> Option<Process> {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let arguments: Vec<_> = arguments
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    Some(Process {
        pid,
        command: arguments.join(" ").trim_end().to_owned(),
        started: stat(pid)?.get(19)?.parse().ok()?,
    })
}

/// The fields of the process's status after its name: state, parent, …
fn stat(pid: i32) -> Option<Vec<String>> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[tokio::test]
    async fn a_marked_child_is_seen_until_it_is_gone() {
        let value = uuid::Uuid::new_v4().simple().to_string();
        // It lives until its input ends.
        let mut child = Command::new("cat")
            .env("WITNESS_MARK", format!("{value}/1"))
            .stdin(Stdio::piped())
            .spawn()
            .expect("a child");
        let pid = child.id().cast_signed();
        // A child that was just started has no environment to read yet.
        let is_there = |found: &[Process]| !found.is_empty();
        let found = marked_once("WITNESS_MARK", &value, is_there).await;
        let other = marked("WITNESS_MARK", &format!("{value}/2")).await;
        let children = children().await;
        drop(child.stdin.take());
        child.wait().expect("it ends");

        let found: Vec<_> = found
            .iter()
            .map(|it| (it.pid, it.command.as_str()))
            .collect();
        assert_eq!(found, [(pid, "cat")]);
        assert_eq!(other, []);
        assert!(children.contains(&pid));
        assert_eq!(marked("WITNESS_MARK", &value).await, []);
        assert!(!super::children().await.contains(&pid));
    }
}
