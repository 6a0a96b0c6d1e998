//! The middle rung: the command is a child of the host, its tree is swept from the process table.

use std::io;

use tokio::task::JoinHandle;

use super::sweep::Sweep;
use super::{Event, Origin, start_leader};
use crate::platform::{Child, Exit, Signal, send_group};

/// A tree whose leader is our own child.
#[derive(Debug)]
pub(crate) struct Swept {
    /// Pinned until the tree is empty, so that its pid, which is the session's too, is nobody
    /// else's.
    leader: Child,
    ended: Option<Exit>,
    sweep: Sweep,
    /// It was found to have ended just before the others were asked to; not told yet.
    ended_first: Option<Exit>,
    /// The others are being asked to end. Kept here, so that a dropped future does not lose it, and
    /// awaited before anything else, so that nothing is asked after the tree was found empty.
    asking: Option<JoinHandle<io::Result<usize>>>,
    is_over: bool,
}

impl Swept {
    pub(crate) fn start(origin: &Origin<'_>) -> io::Result<Self> {
        let leader = start_leader(origin)?;
        let sweep = Sweep::new(Some(leader.pid()), leader.pid(), origin.cookie);
        Ok(Self {
            leader,
            ended: None,
            sweep,
            ended_first: None,
            asking: None,
            is_over: false,
        })
    }

    pub(crate) async fn event(&mut self) -> io::Result<Event> {
        if let Some(exit) = self.ended_first.take() {
            self.ended = Some(exit);
            return Ok(Event::LeaderEnded(exit));
        }
        if let Some(asking) = &mut self.asking {
            let count = asking.await.map_err(io::Error::other);
            self.asking = None;
            return Ok(Event::Terminated(count?.unwrap_or_else(|error| {
                self.on_blindness(&error);
                self.send_group(Signal::TERM);
                self.send_group(Signal::CONT);
                0
            })));
        }
        if self.ended.is_none() {
            let exit = self.leader_ended().await?;
            self.ended = Some(exit);
            return Ok(Event::LeaderEnded(exit));
        }
        let event = loop {
            match self.sweep.event().await {
                Ok(event) => break event,
                Err(error) => self.on_blindness(&error),
            }
        };
        if event == Event::Empty {
            self.is_over = true;
            self.leader.reap()?;
        }
        Ok(event)
    }

    async fn leader_ended(&mut self) -> io::Result<Exit> {
        if !self.sweep.is_hunting() {
            return self.leader.ended().await;
        }
        loop {
            let looked = tokio::select! {
                biased;
                exit = self.leader.ended() => return exit,
                looked = self.sweep.event() => looked,
            };
            if let Err(error) = looked {
                self.on_blindness(&error);
            }
        }
    }

    fn on_blindness(&self, error: &io::Error) {
        tracing::debug!(%error, "the process table cannot be read");
        if self.sweep.is_hunting() {
            self.send_group(Signal::KILL);
        }
    }

    /// A host without a free descriptor cannot look. The group of the leader, which is pinned, is
    /// reached without one; the others are found once it can look again.
    fn send_group(&self, signal: Signal) {
        send_group(self.leader.pid(), signal);
    }

    pub(crate) fn terminate(&mut self) {
        if self.ended.is_none() {
            self.ended_first = self.leader.peek();
        }
        self.hold_leader();
        self.asking = Some(self.sweep.terminate());
    }

    pub(crate) fn kill(&mut self) {
        self.hold_leader();
        self.sweep.hunt();
    }

    /// Stops the leader before the others are looked for. One that starts sessions without end would
    /// keep ahead of the looks, and each session takes a share of the processor from them. It goes
    /// on, or ends, with the others.
    fn hold_leader(&self) {
        if self.ended.is_none() {
            self.leader.send(Signal::STOP);
        }
    }

    pub(crate) async fn survivors(&self) -> io::Result<Vec<i32>> {
        self.sweep.survivors().await
    }
}

impl Drop for Swept {
    /// A tree that nobody watches any more (a runtime that shuts down) is not left behind.
    fn drop(&mut self) {
        if !self.is_over {
            if self.sweep.kill_now().is_err() {
                self.send_group(Signal::KILL);
            }
            let _ = self.leader.reap();
        }
    }
}
