//! Finding the processes of a job in the process table, without a supervisor.
//!
//! A process belongs to the job when its session is the leader's, when its parent belongs to it,
//! or when its environment holds the job's cookie; once found it belongs to it for good.
//!
//! To read an environment takes a lock of the process that has it, which a busy one may hold for
//! long. So only those are read that can have the cookie: none is older than the job.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::scan::{self, Proc};
use super::{Event, blocking, pids, reap};
use crate::env::COOKIE;

/// For how long the kernel cannot have handed out every pid once.
const YOUNG: Duration = Duration::from_secs(1);
/// How long a sweep rests between two looks: short at first, for what ends at once.
const REST: [Duration; 4] = [
    Duration::from_millis(2),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
];

/// The search for the processes of one job.
#[derive(Debug)]
pub(crate) struct Sweep {
    members: Arc<Mutex<Members>>,
    born: Instant,
    hunting: bool,
    looks: usize,
    told: Option<usize>,
}

#[derive(Debug)]
struct Members {
    /// The session of the job. Its leader is pinned, so that the number is not used again.
    session: Option<i32>,
    /// A pinned process that is not younger than any of the job.
    eldest: i32,
    /// When that started, once it was looked up.
    since: Option<u64>,
    cookie: Vec<u8>,
    known: HashSet<(i32, u64)>,
    /// Processes without the cookie. A process that has it got it at its birth, so one look at its
    /// environment is enough.
    foreign: HashSet<(i32, u64)>,
}

impl Sweep {
    /// `eldest` is a child of this process that nobody reaps meanwhile, and not younger than any
    /// process of the job: its leader, or what started that.
    pub(crate) fn new(session: Option<i32>, eldest: i32, cookie: &str) -> Self {
        let cookie = format!("{COOKIE}={cookie}").into_bytes();
        let (known, foreign) = (HashSet::new(), HashSet::new());
        let members = Members {
            session,
            eldest,
            since: None,
            cookie,
            known,
            foreign,
        };
        Self {
            members: Arc::new(Mutex::new(members)),
            born: Instant::now(),
            hunting: false,
            looks: 0,
            told: None,
        }
    }

    /// From here on `event` kills what it finds.
    pub(crate) fn hunt(&mut self) {
        self.hunting = true;
        self.looks = 0;
    }

    pub(crate) fn is_hunting(&self) -> bool {
        self.hunting
    }

    /// Asks what is there now to end, where blocking is allowed; the task says how many that were,
    /// or why it could not look.
    pub(crate) fn terminate(&mut self) -> JoinHandle<io::Result<usize>> {
        self.looks = 0;
        let members = Arc::clone(&self.members);
        tokio::task::spawn_blocking(move || {
            let mut found = members.lock().find()?;
            reap::terminate(&mut found);
            Ok(found.len())
        })
    }

    /// Kills what is there now; for a tree that is dropped. Blocks for as long as that takes, a
    /// look that is under way included: whoever drops it has no later moment.
    ///
    /// # Errors
    ///
    /// It could not look; what it had seen before is killed.
    pub(crate) fn kill_now(&self) -> io::Result<()> {
        let mut members = self.members.lock();
        reap::stop_then_kill(|| members.find()).map(drop)
    }

    pub(crate) async fn survivors(&self) -> io::Result<Vec<i32>> {
        let members = Arc::clone(&self.members);
        let found = blocking(move || members.lock().find()).await;
        found.map(|found| pids(&found))
    }

    /// Waits until the number of processes has changed ([`Event::Left`]) or none is left
    /// ([`Event::Empty`]).
    ///
    /// # Errors
    ///
    /// It could not look. To be called again: the next look comes after a rest.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn event(&mut self) -> io::Result<Event> {
        loop {
            if self.looks == 0 && self.is_young_and_alone() {
                return Ok(Event::Empty);
            }
            if self.looks > 0 {
                tokio::time::sleep(REST[(self.looks - 1).min(REST.len() - 1)]).await;
            }
            let left = self.look().await;
            self.looks += 1;
            let left = left?;
            if left == 0 {
                return Ok(Event::Empty);
            }
            if self.told != Some(left) {
                self.told = Some(left);
                return Ok(Event::Left(left));
            }
        }
    }

    /// Most commands end soon and leave nothing. All that such a one could have left has a younger
    /// pid than its leader, so there is no need for the whole table.
    fn is_young_and_alone(&self) -> bool {
        if self.hunting || self.born.elapsed() > YOUNG {
            return false;
        }
        let mut members = self.members.lock();
        let since = members.session.and_then(scan::since);
        since.is_some_and(|table| {
            let found = members.find_among(&table);
            found.is_ok_and(|found| found.is_empty())
        })
    }

    /// The table may be long, so it is read where blocking is allowed.
    async fn look(&self) -> io::Result<usize> {
        let members = Arc::clone(&self.members);
        let hunting = self.hunting;
        blocking(move || {
            let mut members = members.lock();
            if hunting {
                reap::stop_then_kill(|| members.find())?;
            }
            members.find().map(|found| found.len())
        })
        .await
    }
}

impl Members {
    fn find(&mut self) -> io::Result<Vec<Proc>> {
        let eldest = self.eldest;
        if self.since.is_none() {
            self.since = scan::read(eldest)?.map(|eldest| eldest.start);
        }
        let table = scan::table()?;
        // Or it would grow with every process that the machine runs.
        if self.foreign.len() > 2 * table.len() {
            let here: HashSet<_> = table.iter().map(Proc::identity).collect();
            self.foreign.retain(|identity| here.contains(identity));
        }
        self.find_among(&table)
    }

    fn find_among(&mut self, table: &[Proc]) -> io::Result<Vec<Proc>> {
        let mut found: HashMap<i32, Proc> = HashMap::new();
        // Children may come before their parents: look until a pass finds nothing new.
        loop {
            let before = found.len();
            for process in table {
                if !found.contains_key(&process.pid) && self.is_member(process, &found)? {
                    found.insert(process.pid, *process);
                }
            }
            if found.len() == before {
                break;
            }
        }
        self.known = found.values().map(Proc::identity).collect();
        Ok(found.into_values().filter(Proc::is_live).collect())
    }

    fn is_member(&mut self, process: &Proc, found: &HashMap<i32, Proc>) -> io::Result<bool> {
        let is_related = self.known.contains(&process.identity())
            || self.session == Some(process.sid)
            || found.contains_key(&process.ppid);
        Ok(is_related || self.has_cookie(process)?)
    }

    fn has_cookie(&mut self, process: &Proc) -> io::Result<bool> {
        let is_candidate = process.is_live()
            && !process.is_kernel_thread()
            && process.start >= self.since.unwrap_or(0)
            && process.pid != own_pid();
        if !is_candidate || self.foreign.contains(&process.identity()) {
            return Ok(false);
        }
        let environment = match std::fs::read(format!("/proc/{}/environ", process.pid)) {
            Ok(environment) => environment,
            Err(error) if scan::is_for_want(&error) => return Err(error),
            Err(_anothers) => b"?".to_vec(),
        };
        // Empty: just between two programs, to be looked at again.
        let has = environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == self.cookie);
        if !has && !environment.is_empty() {
            self.foreign.insert(process.identity());
        }
        Ok(has)
    }
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_job_is_not_searched_for_its_cookie() {
        let start = |with: &str| {
            let mut command = std::process::Command::new("sleep");
            command.arg("60").env(COOKIE, with);
            command.spawn().expect("a child")
        };
        let (mut old, mut other) = (start("c"), start("other"));
        let read = |child: &std::process::Child| {
            let pid = child.id().cast_signed();
            let begun = Instant::now();
            // Its environment is there once the program is.
            while std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| text.is_empty()) {
                assert!(begun.elapsed() < Duration::from_secs(30), "no program");
            }
            scan::read(pid).expect("readable").expect("it lives")
        };
        let (process, eldest) = (read(&old), read(&other));
        let find = |process: Proc, since| {
            let sweep = Sweep::new(None, eldest.pid, "c");
            let mut members = sweep.members.lock();
            members.since = Some(since);
            let found = members.find_among(&[process, eldest]).expect("readable");
            (found, members.foreign.contains(&process.identity()))
        };
        // As in a container whose session began outside of it.
        let mut contained = process;
        contained.sid = 0;
        let as_old = find(process, process.start);
        let as_old_in_session_0 = find(contained, process.start);
        let older = find(process, process.start + 1);
        for child in [&mut old, &mut other] {
            child.kill().expect("it is ours");
            child.wait().expect("it is ours");
        }
        assert_eq!(as_old, (vec![process], false));
        assert_eq!(as_old_in_session_0, (vec![contained], false));
        assert_eq!(older, (vec![], false), "not even looked at");
    }
}
