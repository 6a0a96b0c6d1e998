//! The lowest rung: the process group of the command. For systems whose `/proc` is not readable.

use std::io;

use super::{Event, Origin, start_leader};
use crate::platform::{Child, Exit, Signal, send_group};

/// A tree that is only known as a process group, so what is left in it cannot be counted.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Child,
    ended: Option<Exit>,
    /// It was found to have ended just before the others were asked to; not told yet.
    ended_first: Option<Exit>,
    terminated: bool,
    is_over: bool,
}

impl Group {
    pub(crate) fn start(origin: &Origin<'_>) -> io::Result<Self> {
        Ok(Self {
            leader: start_leader(origin)?,
            ended: None,
            ended_first: None,
            terminated: false,
            is_over: false,
        })
    }

    pub(crate) async fn event(&mut self) -> io::Result<Event> {
        if let Some(exit) = self.ended_first.take() {
            self.ended = Some(exit);
            return Ok(Event::LeaderEnded(exit));
        }
        if std::mem::take(&mut self.terminated) {
            return Ok(Event::Terminated(0));
        }
        if self.ended.is_none() {
            let exit = self.leader.ended().await?;
            self.ended = Some(exit);
            return Ok(Event::LeaderEnded(exit));
        }
        // The leader is a zombie, and alone keeps the group alive: nobody can tell whether others
        // are in it. So the whole group goes before the leader's pid is given back.
        send_group(self.leader.pid(), Signal::KILL);
        self.is_over = true;
        self.leader.reap()?;
        Ok(Event::Empty)
    }

    pub(crate) fn terminate(&mut self) {
        if self.ended.is_none() {
            self.ended_first = self.leader.peek();
        }
        send_group(self.leader.pid(), Signal::TERM);
        send_group(self.leader.pid(), Signal::CONT);
        self.terminated = true;
    }

    pub(crate) fn kill(&mut self) {
        send_group(self.leader.pid(), Signal::KILL);
    }

    pub(crate) fn survivors(&self) -> Vec<i32> {
        if self.ended.is_none() {
            vec![self.leader.pid()]
        } else {
            Vec::new()
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            send_group(self.leader.pid(), Signal::KILL);
            let _ = self.leader.reap();
        }
    }
}
