//! Where the demo plays: a directory, a mark on every process, and what was delivered.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use jobs_process::{Launch, Launcher, Veto};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::timeout;
use tool_jobs::{Deliver, DeliverError, Inbox, Lane, Notice, WakeBudget};
use uuid::Uuid;

use super::expect::Mismatch;
use super::report::{About, Event, Report};
use super::witness;

/// The variable that marks every process of a run: `<cookie>/<number of the command>`.
pub(crate) const MARK: &str = "AGENT_JOBS_RUN";

/// How long whatever is waited for may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// What surrounds the agents of one run.
pub(crate) struct Stage {
    pub(crate) report: Arc<Report>,
    pub(crate) launcher: Arc<Marking>,
    pub(crate) deliveries: Deliveries,
    directory: TempDir,
}

impl Stage {
    /// An empty stage.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub(crate) fn new(report: Arc<Report>) -> io::Result<Self> {
        let directory = TempDir::with_prefix("agent-jobs-demo-")?;
        Ok(Self {
            launcher: Arc::new(Marking {
                directory: directory.path().to_owned(),
                cookie: Uuid::new_v4().simple().to_string(),
                launched: AtomicU32::new(0),
            }),
            deliveries: Deliveries::new(Arc::clone(&report)),
            report,
            directory,
        })
    }

    /// Where the commands run; removed with the stage.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn tell(&self, about: About<'_>, event: &Event<'_>) {
        self.report.tell(about, event);
    }

    /// Tells whether something is as it should be.
    ///
    /// # Errors
    ///
    /// It is not.
    pub(crate) fn check(
        &self,
        about: About<'_>,
        says: &str,
        outcome: &Result<(), Mismatch>,
    ) -> Result<(), Failed> {
        if self.report.check(about, says, outcome) {
            Ok(())
        } else {
            Err(Failed)
        }
    }

    /// Tells which processes of the run are there, and returns how many.
    pub(crate) async fn processes(&self) -> usize {
        let processes = witness::marked(MARK, self.launcher.cookie()).await;
        let event = Event::Processes {
            processes: &processes,
        };
        self.tell(About::NOTHING, &event);
        processes.len()
    }

    /// Lets a job end, by making the file that it waits for, and answers how that was delivered.
    ///
    /// # Errors
    ///
    /// It was not.
    pub(crate) async fn end(&self, job: &str, file: &str) -> Result<Lane, Failed> {
        let text = format!("makes the file {file}, which {job} waits for");
        self.tell(About::job(job), &Event::Outside { text: &text });
        let made = fs::write(self.directory().join(file), "");
        let made = made.map_err(|error| Mismatch::new("a file", error));
        if made.is_err() {
            self.check(About::job(job), "the file can be made", &made)?;
        }
        let delivered = timeout(LIMIT, self.deliveries.of(job)).await;
        if let Ok(Some(lane)) = delivered {
            return Ok(lane);
        }
        let outcome = Err(Mismatch::new(
            "a notice",
            format_args!("none within {LIMIT:?}"),
        ));
        self.check(About::job(job), "the end of the job is told", &outcome)?;
        Err(Failed)
    }
}

/// A check has failed, and is in the report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed;

/// Marks the processes of each command, and runs it on the stage.
#[derive(Debug)]
pub(crate) struct Marking {
    directory: PathBuf,
    cookie: String,
    launched: AtomicU32,
}

impl Marking {
    /// What the marks of all commands begin with.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// The mark of the latest command.
    pub(crate) fn latest(&self) -> String {
        // As many digits always: no mark begins with another.
        format!(
            "{}/{:04}",
            self.cookie,
            self.launched.load(Ordering::Relaxed)
        )
    }
}

impl Launcher for Marking {
    fn launch(&self, mut launch: Launch) -> Result<Launch, Veto> {
        self.launched.fetch_add(1, Ordering::Relaxed);
        launch.env.set(MARK, self.latest())?;
        launch.cwd.clone_from(&self.directory);
        Ok(launch)
    }
}

/// What was delivered to inboxes, and how. Clones share it.
#[derive(Clone)]
pub(crate) struct Deliveries {
    report: Arc<Report>,
    told: Arc<watch::Sender<Vec<(String, Lane)>>>,
}

impl Deliveries {
    fn new(report: Arc<Report>) -> Self {
        Self {
            report,
            told: Arc::new(watch::Sender::new(Vec::new())),
        }
    }

    /// Waits until the end of the job was delivered, and answers how.
    pub(crate) async fn of(&self, job: &str) -> Option<Lane> {
        let find = |told: &Vec<(String, Lane)>| {
            let (_, lane) = told.iter().find(|(id, _)| id == job)?;
            Some(*lane)
        };
        let mut told = self.told.subscribe();
        let told = told.wait_for(|told| find(told).is_some()).await.ok()?;
        find(&told)
    }

    /// The jobs whose end was delivered, in this order.
    pub(crate) fn jobs(&self) -> Vec<String> {
        self.told
            .borrow()
            .iter()
            .map(|(job, _)| job.clone())
            .collect()
    }
}

/// An inbox whose deliveries are seen.
pub(crate) struct Watched {
    pub(crate) inbox: Inbox,
    pub(crate) deliveries: Deliveries,
}

impl Deliver for Watched {
    fn deliver(&self, notice: Notice, wake: Option<&WakeBudget>) -> Result<Lane, DeliverError> {
        // A notice id ends in the id of its job.
        let id = notice.id.to_string();
        let job = id.rsplit('/').next().unwrap_or_default().to_owned();
        let lane = self.inbox.deliver(notice, wake)?;
        let text = match lane {
            Lane::Joined => "joined",
            Lane::Woke => "woke",
        };
        let Deliveries { report, told } = &self.deliveries;
        report.tell(About::job(&job), &Event::Delivered { lane: text });
        told.send_modify(|told| told.push((job, lane)));
        Ok(lane)
    }
}
