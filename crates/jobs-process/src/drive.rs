//! The life of one job: when to ask, when to use force, when it is over.
//!
//! 1. It is over when the tree is empty, every pipe is at its end or closed by clock, and the log
//!    is sealed; never before, and at the latest at the hard bound.
//! 2. Every wait but that for the command itself has a deadline. Silence ends nothing.
//! 3. The first reason to stop counts. One that comes after the command ended by itself changes
//!    nothing about how it ended.
//! 4. No signal is sent once nothing is left, and none after it is over: but one that was given up
//!    at the hard bound goes on being killed, because its processes are still its own.

use std::sync::Arc;
use std::time::Duration;

use jobs::CancellationToken;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::capture::{Captured, Progress};
use crate::config::OnLeaderExit;
use crate::ending::{Ending, How, Reason};
use crate::platform::{Exit, signal_name};
use crate::tree::{Event, Watch};

/// How long force may take before the job is given up (with the grace: the hard bound).
const FORCE: Duration = Duration::from_secs(10);

/// How long a look at what is left may take then.
const LOOK: Duration = Duration::from_secs(1);
const BLIND: &str = "could not stop the command, nor see in time what is left of it";

/// What governs a job's life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) grace: Duration,
    pub(crate) max_runtime: Option<Duration>,
    pub(crate) max_output: u64,
    pub(crate) on_leader_exit: OnLeaderExit,
}

/// What a live job says of itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    /// Who is left of it.
    left: Arc<Mutex<Option<String>>>,
    progress: Progress,
}

impl Live {
    pub(crate) fn detail(&self) -> Option<String> {
        let left = self.left.lock().clone();
        left.or_else(|| self.progress.get())
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }
}

/// The handles of the capture task.
#[derive(Debug)]
pub(crate) struct CaptureTask {
    pub(crate) task: JoinHandle<Captured>,
    /// Ends the capture although a pipe is open.
    pub(crate) close: CancellationToken,
    /// The job wrote more than it may.
    pub(crate) over: CancellationToken,
}

/// One job in its life.
#[derive(Debug)]
pub(crate) struct Drive<T> {
    /// The program, for errors.
    name: String,
    tree: T,
    rules: Rules,
    live: Live,
    phase: Phase,
    deadline: Option<Instant>,
    is_empty: bool,
    leader: Option<Exit>,
    /// The command had ended when the tree acted on a request to end, if it ever did.
    ended_first: bool,
    /// The tree has acted on a request to end.
    was_asked: bool,
    reason: Reason,
    left: usize,
    stopped: usize,
    failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The command runs.
    Running,
    /// The command has ended, others may run on.
    Staying,
    /// The command has ended, others have a grace to end.
    Lingering,
    /// All were asked to end.
    Terminating,
    /// All are being killed.
    Killing,
}

impl<T: Watch> Drive<T> {
    pub(crate) fn new(name: String, tree: T, rules: Rules, live: Live) -> Self {
        Self {
            name,
            tree,
            rules,
            live,
            phase: Phase::Running,
            deadline: None,
            is_empty: false,
            leader: None,
            ended_first: false,
            was_asked: false,
            reason: Reason::Itself,
            left: 0,
            stopped: 0,
            failure: None,
        }
    }

    /// Follows the job to its end. `stop` asks for one.
    pub(crate) async fn run(mut self, stop: CancellationToken, capture: CaptureTask) -> Ending {
        let CaptureTask {
            mut task,
            close,
            over,
        } = capture;
        let limit = self.rules.max_runtime.map(|limit| Instant::now() + limit);
        let (mut stopped, mut exceeded, mut expired) = (false, false, false);
        let mut captured = None;
        let mut unstoppable = Vec::new();
        while !self.is_empty || captured.is_none() {
            tokio::select! {
                event = self.tree.event(), if !self.is_empty => match event {
                    Ok(event) => self.on_event(event),
                    Err(error) => self.on_failure(format!("lost track of the command: {error}")),
                },
                end = &mut task, if captured.is_none() => captured = Some(end),
                () = stop.cancelled(), if !stopped => {
                    stopped = true;
                    self.on_stop(Reason::Asked);
                }
                () = over.cancelled(), if !exceeded => {
                    exceeded = true;
                    self.on_stop(Reason::MaxOutput(self.rules.max_output));
                }
                () = until(limit), if !expired => {
                    expired = true;
                    self.on_stop(Reason::MaxRuntime(self.rules.max_runtime.unwrap_or_default()));
                }
                () = until(self.deadline) => match self.on_deadline() {
                    Next::GoOn => {}
                    Next::Close => close.cancel(),
                    Next::GiveUp => {
                        // Whatever keeps it from ending may keep it from being looked at, too.
                        match timeout(LOOK, self.tree.survivors()).await {
                            Ok(Ok(pids)) => unstoppable = pids,
                            Ok(Err(_)) | Err(_) => self.failure = Some(BLIND.to_owned()),
                        }
                        close.cancel();
                        break;
                    }
                },
            }
        }
        let end = match captured {
            Some(end) => end,
            None => task.await,
        };
        self.end(end, &unstoppable)
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::NotStarted(error) => {
                let error = std::io::Error::from_raw_os_error(error);
                self.failure = Some(format!("spawn failed: {}: {error}", self.name));
            }
            Event::LeaderEnded(exit) => {
                self.leader = Some(exit);
                self.ended_first = !self.was_asked;
                match (self.phase, self.rules.on_leader_exit) {
                    (Phase::Running, OnLeaderExit::Stop) => self.enter(Phase::Lingering),
                    (Phase::Running, OnLeaderExit::Wait) => self.enter(Phase::Staying),
                    // Invariant 3: it had ended before anything was asked of it.
                    (Phase::Terminating, _) if !self.was_asked => self.reason = Reason::Itself,
                    _ => {}
                }
            }
            Event::Left(count) => self.left = count,
            Event::Terminated(count) => {
                self.was_asked = true;
                self.stopped = count;
            }
            Event::SupervisorLost => {
                self.failure = Some("the supervisor of the command was killed".to_owned());
                self.enter(Phase::Killing);
            }
            Event::Empty => self.on_empty(),
        }
        self.tell();
    }

    fn on_empty(&mut self) {
        self.is_empty = true;
        self.left = 0;
        // From here on the only thing left is a pipe that an outsider may hold: by clock.
        if self.deadline.is_none() || self.phase == Phase::Killing {
            self.deadline = Some(Instant::now() + self.rules.grace);
        }
        if matches!(self.phase, Phase::Running | Phase::Staying) {
            self.phase = Phase::Lingering;
        }
    }

    fn on_failure(&mut self, text: String) {
        tracing::warn!(%text, "a job is given up");
        self.failure = Some(text);
        self.on_empty();
    }

    fn on_stop(&mut self, reason: Reason) {
        match self.phase {
            Phase::Running | Phase::Staying => {
                self.reason = reason;
                self.terminate();
            }
            // Invariant 3.
            Phase::Lingering => self.terminate(),
            Phase::Terminating | Phase::Killing => {}
        }
    }

    fn terminate(&mut self) {
        if !self.is_empty {
            self.tree.terminate();
        }
        self.enter(Phase::Terminating);
    }

    fn on_deadline(&mut self) -> Next {
        match self.phase {
            Phase::Lingering => self.terminate(),
            Phase::Terminating if !self.is_empty => {
                self.tree.kill();
                self.enter(Phase::Killing);
            }
            Phase::Running | Phase::Staying | Phase::Terminating | Phase::Killing => {
                self.deadline = None;
                return if self.is_empty {
                    Next::Close
                } else {
                    Next::GiveUp
                };
            }
        }
        Next::GoOn
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        let wait = match phase {
            Phase::Running | Phase::Staying => None,
            Phase::Lingering | Phase::Terminating => Some(self.rules.grace),
            Phase::Killing => Some(FORCE),
        };
        self.deadline = wait.map(|wait| Instant::now() + wait);
    }

    fn tell(&self) {
        let Some(exit) = self.leader.filter(|_| self.left > 0) else {
            return;
        };
        let end = match exit {
            Exit::Code(code) => format!("exit code {code}"),
            Exit::Signal(signal) => format!("signal {}", signal_name(signal)),
        };
        let processes = if self.left == 1 {
            "process"
        } else {
            "processes"
        };
        let detail = format!(
            "leader exited: {end}; {} {processes} still running",
            self.left
        );
        *self.live.left.lock() = Some(detail);
    }

    fn end(
        self,
        captured: Result<Captured, tokio::task::JoinError>,
        unstoppable: &[i32],
    ) -> Ending {
        let left = match self.reason {
            Reason::Itself => self.stopped,
            Reason::Asked | Reason::MaxRuntime(_) | Reason::MaxOutput(_) => 0,
        };
        let how = if unstoppable.is_empty() {
            match (self.failure, self.leader) {
                (Some(failure), _) => How::Failed(failure),
                (None, Some(exit)) => How::Ended {
                    exit,
                    is_first: self.ended_first,
                },
                (None, None) => How::Failed("the command ended and nobody knows how".to_owned()),
            }
        } else {
            let pids: Vec<String> = unstoppable.iter().map(ToString::to_string).collect();
            How::Failed(format!("could not stop pids {}", pids.join(", ")))
        };
        let containment = self.tree.containment();
        if !self.is_empty {
            tokio::spawn(see_off(self.tree));
        }
        Ending::new(how, self.reason, containment, left, captured.ok())
    }
}

enum Next {
    GoOn,
    /// Close the pipes by force.
    Close,
    GiveUp,
}

/// Goes on killing what could not be stopped in time, and reaps it in the end.
async fn see_off(mut tree: impl Watch) {
    while !matches!(tree.event().await, Ok(Event::Empty) | Err(_)) {}
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
