//! What another process finds of a host: live processes that carry its mark, zombies, descriptors.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Verdict};

/// The variable that holds the mark in the environment of jobs.
pub(crate) const MARK: &str = "JOBS_STRESS_MARK";

/// What was found.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Processes with the mark in their environment or arguments.
    pub(crate) live: Vec<i32>,
    /// Ended children of the host that nobody has waited for.
    pub(crate) zombies: usize,
    /// Live children of the host besides the scanner: supervisors and leaders.
    pub(crate) children: usize,
    /// Open descriptors of the host.
    pub(crate) descriptors: usize,
}

/// A mark that nobody else has.
pub(crate) fn new_mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mark-{:08}-{next:08}", std::process::id())
}

impl Scan {
    /// Runs a scanner over this host.
    pub(crate) fn take(mark: &str) -> Result<Self, Error> {
        let mut scanner = Command::new(std::env::current_exe()?)
            .args(["scan", &std::process::id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        // Not in its arguments, where it would find it.
        if let Some(mut stdin) = scanner.stdin.take() {
            stdin.write_all(mark.as_bytes())?;
        }
        let output = scanner.wait_with_output()?;
        let text = String::from_utf8(output.stdout)?;
        let mut numbers = text.split_ascii_whitespace().map(str::parse::<i32>);
        let mut next = || -> Result<usize, Error> {
            Ok(numbers
                .next()
                .ok_or("the scanner said nothing")??
                .try_into()?)
        };
        let (zombies, children, descriptors) = (next()?, next()?, next()?);
        Ok(Self {
            live: numbers.collect::<Result<_, _>>()?,
            zombies,
            children,
            descriptors,
        })
    }

    /// Ends what was found. It carries our mark, so it was started here.
    pub(crate) fn kill(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        for pid in self.live.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // It may be gone by now.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The scanner: reads the mark, looks once, prints what it found.
pub(crate) fn serve(host: &str) -> Result<Verdict, Error> {
    let mut mark = String::new();
    std::io::stdin().read_to_string(&mut mark)?;
    let me = std::process::id().to_string();
    let (mut live, mut zombies, mut children) = (Vec::new(), 0, 0);
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.parse::<i32>().is_err() || name == me {
            continue;
        }
        let stat = fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
        let mut fields = stat
            .rsplit_once(") ")
            .map_or("", |(_, rest)| rest)
            .split(' ');
        let (state, parent) = (fields.next(), fields.next());
        if parent == Some(host) {
            if state == Some("Z") {
                zombies += 1;
            } else {
                children += 1;
            }
        }
        let holds = |file: &str| {
            let bytes = fs::read(format!("/proc/{name}/{file}")).unwrap_or_default();
            memchr::memmem::find(&bytes, mark.as_bytes()).is_some()
        };
        if holds("environ") || holds("cmdline") {
            live.push(name);
        }
    }
    let descriptors = fs::read_dir(format!("/proc/{host}/fd"))?.count();
    println!("{zombies} {children} {descriptors} {}", live.join(" "));
    Ok(Verdict::Holds)
}
