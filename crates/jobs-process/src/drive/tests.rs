//! The clocks of a job, with a tree that does as it is told.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use jobs::{OutputLog, TerminalStatus};
use proptest::prelude::*;
use tokio::sync::mpsc;

use super::*;
use crate::tree::Containment;

const GRACE: Duration = Duration::from_secs(3);

type Asked = Arc<Mutex<Vec<(&'static str, Duration)>>>;

struct Puppet {
    events: mpsc::UnboundedReceiver<Event>,
    asked: Asked,
    born: Instant,
    is_empty: bool,
    /// What is left cannot be looked at.
    blind: CancellationToken,
}

impl Puppet {
    fn ask(&self, what: &'static str) {
        // Invariant 4, in every test here.
        assert!(!self.is_empty, "{what} after nothing was left");
        self.asked.lock().push((what, self.born.elapsed()));
    }
}

impl Watch for Puppet {
    fn containment(&self) -> Containment {
        Containment::Group
    }

    async fn event(&mut self) -> io::Result<Event> {
        match self.events.recv().await {
            Some(event) => {
                self.is_empty |= event == Event::Empty;
                Ok(event)
            }
            None => std::future::pending().await,
        }
    }

    fn terminate(&mut self) {
        self.ask("terminate");
    }

    fn kill(&mut self) {
        self.ask("kill");
    }

    async fn survivors(&self) -> io::Result<Vec<i32>> {
        if self.blind.is_cancelled() {
            std::future::pending::<()>().await;
        }
        Ok(vec![7, 9])
    }
}

struct Stage {
    events: mpsc::UnboundedSender<Event>,
    asked: Asked,
    stop: CancellationToken,
    blind: CancellationToken,
    /// The pipes come to their end.
    eof: CancellationToken,
    job: JoinHandle<Ending>,
    start: Instant,
}

impl Stage {
    fn new(on_leader_exit: OnLeaderExit, max_runtime: Option<Duration>) -> Self {
        let (events, receiver) = mpsc::unbounded_channel();
        let (asked, start) = (Asked::default(), Instant::now());
        let puppet = Puppet {
            events: receiver,
            asked: Arc::clone(&asked),
            born: start,
            is_empty: false,
            blind: CancellationToken::new(),
        };
        let blind = puppet.blind.clone();
        let (stop, eof) = (CancellationToken::new(), CancellationToken::new());
        let (close, over) = (CancellationToken::new(), CancellationToken::new());
        let capture = {
            let (eof, close) = (eof.clone(), close.clone());
            async move {
                let is_complete = tokio::select! {
                    () = eof.cancelled() => true,
                    () = close.cancelled() => false,
                };
                let log = OutputLog::with_budget(NonZeroUsize::MIN);
                let mut captured = Captured::nothing(log);
                captured.is_complete = is_complete;
                captured
            }
        };
        let capture = CaptureTask {
            task: tokio::spawn(capture),
            close,
            over,
        };
        let rules = Rules {
            grace: GRACE,
            max_runtime,
            max_output: 1,
            on_leader_exit,
        };
        let drive = Drive::new("puppet".into(), puppet, rules, Live::default());
        let job = tokio::spawn(drive.run(stop.clone(), capture));
        Self {
            blind,
            events,
            asked,
            stop,
            eof,
            job,
            start,
        }
    }

    fn send(&self, event: Event) {
        self.events.send(event).expect("the job listens");
    }

    /// Lets the job take in what it was sent.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// How and when it ended, in whole seconds.
    async fn end(self) -> (TerminalStatus, String, bool, u64, Vec<(&'static str, u64)>) {
        let ending = self.job.await.expect("no panic");
        let outcome = ending.outcome();
        let asked = self
            .asked
            .lock()
            .iter()
            .map(|(what, when)| (*what, when.as_secs()))
            .collect();
        (
            outcome.status,
            outcome.detail.expect("a detail"),
            ending.facts.output_complete,
            self.start.elapsed().as_secs(),
            asked,
        )
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_stopped_hangs_nobody() {
    let stage = Stage::new(OnLeaderExit::Stop, None);
    stage.stop.cancel();
    stage.settle().await;
    stage.send(Event::Terminated(2));
    let asked = vec![("terminate", 0), ("kill", 3)];
    let end = (
        TerminalStatus::Failed,
        "could not stop pids 7, 9".to_owned(),
        false,
        13,
        asked,
    );
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_cannot_even_be_looked_at_does_not_hold_its_job() {
    let stage = Stage::new(OnLeaderExit::Stop, None);
    stage.blind.cancel();
    stage.stop.cancel();
    let asked = vec![("terminate", 0), ("kill", 3)];
    let end = (TerminalStatus::Failed, BLIND.to_owned(), false, 14, asked);
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn an_outsider_with_a_pipe_holds_a_job_for_two_graces() {
    let stage = Stage::new(OnLeaderExit::Stop, None);
    stage.send(Event::LeaderEnded(Exit::Code(0)));
    stage.send(Event::Empty);
    let end = (
        TerminalStatus::Completed,
        "exit code: 0".to_owned(),
        false,
        6,
        vec![],
    );
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn an_outsider_with_a_pipe_holds_a_waiting_job_no_longer() {
    let stage = Stage::new(OnLeaderExit::Wait, None);
    stage.send(Event::LeaderEnded(Exit::Code(0)));
    stage.send(Event::Left(1));
    tokio::time::sleep(Duration::from_secs(100)).await;
    stage.send(Event::Empty);
    let end = (
        TerminalStatus::Completed,
        "exit code: 0".to_owned(),
        false,
        106,
        vec![],
    );
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_pipes_ends_nothing() {
    let stage = Stage::new(OnLeaderExit::Stop, None);
    stage.eof.cancel();
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    stage.send(Event::LeaderEnded(Exit::Signal(11)));
    stage.send(Event::Empty);
    let end = (
        TerminalStatus::Killed,
        "signal: SIGSEGV".to_owned(),
        true,
        1_000,
        vec![],
    );
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_crosses_the_end_of_the_command_kills_nothing() {
    let stage = Stage::new(OnLeaderExit::Stop, None);
    stage.stop.cancel();
    stage.settle().await;
    // The supervisor saw the command end before it heard of the request.
    stage.send(Event::LeaderEnded(Exit::Code(4)));
    stage.send(Event::Terminated(0));
    stage.send(Event::Empty);
    stage.eof.cancel();
    let asked = vec![("terminate", 0)];
    let end = (
        TerminalStatus::Completed,
        "exit code: 4".to_owned(),
        true,
        0,
        asked,
    );
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn the_first_reason_to_stop_counts() {
    let stage = Stage::new(OnLeaderExit::Stop, Some(Duration::from_secs(60)));
    tokio::time::sleep(Duration::from_secs(61)).await;
    stage.stop.cancel();
    stage.settle().await;
    stage.send(Event::Terminated(1));
    stage.send(Event::LeaderEnded(Exit::Signal(15)));
    stage.send(Event::Empty);
    stage.eof.cancel();
    let asked = vec![("terminate", 60)];
    let end = (
        TerminalStatus::Killed,
        "limit: max runtime 60s".to_owned(),
        true,
        61,
        asked,
    );
    assert_eq!(stage.end().await, end);
}

#[tokio::test(start_paused = true)]
async fn no_signal_is_sent_when_nothing_is_left() {
    let stage = Stage::new(OnLeaderExit::Stop, Some(Duration::from_secs(1)));
    stage.send(Event::LeaderEnded(Exit::Code(0)));
    stage.send(Event::Empty);
    stage.settle().await;
    // An outsider holds a pipe; somebody asks, and the clocks of runtime and grace run out.
    stage.stop.cancel();
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage.eof.cancel();
    let end = (
        TerminalStatus::Completed,
        "exit code: 0".to_owned(),
        true,
        2,
        vec![],
    );
    assert_eq!(stage.end().await, end);
}

/// What may happen to a job, in any order.
#[derive(Debug, Clone, Copy)]
enum Op {
    Stop,
    Pass(u64),
    Leader,
    Left,
    Terminated,
    Empty,
    Eof,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::Stop),
        (0_u64..5_000).prop_map(Op::Pass),
        Just(Op::Leader),
        Just(Op::Left),
        Just(Op::Terminated),
        Just(Op::Empty),
        Just(Op::Eof),
    ]
}

proptest! {
    /// Invariants 2 and 4: the puppet panics when it is asked for anything after it was empty, and
    /// the job ends by its clocks, whatever came before.
    #[test]
    fn whatever_happens_it_ends_and_hurts_nobody(
        ops in prop::collection::vec(op(), 0..12),
        waits in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let on_leader_exit = if waits { OnLeaderExit::Wait } else { OnLeaderExit::Stop };
            let stage = Stage::new(on_leader_exit, Some(Duration::from_secs(7)));
            for op in ops {
                // The job may have ended: then nobody takes the event.
                let event = match op {
                    Op::Stop => { stage.stop.cancel(); None }
                    Op::Eof => { stage.eof.cancel(); None }
                    Op::Pass(ms) => { tokio::time::sleep(Duration::from_millis(ms)).await; None }
                    Op::Leader => Some(Event::LeaderEnded(Exit::Code(1))),
                    Op::Left => Some(Event::Left(2)),
                    Op::Terminated => Some(Event::Terminated(2)),
                    Op::Empty => Some(Event::Empty),
                };
                if let Some(event) = event {
                    let _ = stage.events.send(event);
                }
                stage.settle().await;
            }
            stage.stop.cancel();
            let bound = 2 * GRACE + FORCE + Duration::from_secs(1);
            timeout(bound, stage.job).await.expect("it ends").expect("no panic");
        });
    }
}
