//! What the demo tells its reader: events, as they happen, in one of two forms.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use super::expect::Mismatch;
use super::human;
use super::witness::Process;

/// Something that happened.
#[derive(Debug, Serialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Event<'a> {
    /// The demo begins.
    Run {
        /// A variable that is in the environment of every process that a command starts.
        cookie: &'a str,
        shell: &'a Path,
        directory: &'a Path,
        containment: String,
    },
    /// A part of it begins.
    Part { title: &'a str },
    /// A user speaks to the agent of a session.
    User { session: &'a str, text: &'a str },
    /// The model claimed a notice.
    Notice { text: &'a str },
    /// The model calls a tool.
    Call {
        session: &'a str,
        tool: &'a str,
        arguments: &'a Value,
    },
    /// What the model sees of the answer.
    Answer {
        text: &'a str,
        is_error: bool,
        took_ms: u64,
    },
    /// The model asks for nothing more.
    TurnEnds,
    /// A notice was delivered: it joined the agent's inbox, or woke the agent.
    Delivered { lane: &'a str },
    /// Something outside of the agent happens.
    Outside { text: &'a str },
    /// What the process table shows.
    Processes { processes: &'a [Process] },
    /// Whether something is as it should be.
    Check {
        holds: bool,
        says: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        mismatch: Option<&'a Mismatch>,
    },
    /// The demo is over.
    Verdict { checks: u32, failed: u32 },
}

/// What an event is about.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct About<'a> {
    /// The id of a job.
    pub(crate) id: Option<&'a str>,
    /// The process that runs its command.
    pub(crate) pid: Option<i32>,
}

impl<'a> About<'a> {
    /// About no job in particular.
    pub(crate) const NOTHING: Self = Self {
        id: None,
        pid: None,
    };

    /// About a job whose process is not at hand.
    pub(crate) fn job(id: &'a str) -> Self {
        Self {
            id: Some(id),
            pid: None,
        }
    }
}

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Human,
    /// An object a line.
    JsonLines,
}

/// Writes events, and counts the checks among them.
pub(crate) struct Report(Mutex<Inner>);

struct Inner {
    began: Instant,
    form: Form,
    out: Box<dyn Write + Send>,
    /// The first failure to write; nothing is written after it.
    broken: Option<io::Error>,
    checks: u32,
    failed: u32,
}

#[derive(Serialize)]
struct Line<'a> {
    ms: u64,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Report {
    /// A report whose time begins now.
    pub(crate) fn new(form: Form, out: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Inner {
            began: Instant::now(),
            form,
            out: Box::new(out),
            broken: None,
            checks: 0,
            failed: 0,
        }))
    }

    pub(crate) fn tell(&self, about: About<'_>, event: &Event<'_>) {
        let mut inner = self.0.lock();
        if inner.broken.is_none()
            && let Err(error) = inner.write(about, event)
        {
            inner.broken = Some(error);
        }
    }

    /// Tells whether something is as it should be, and returns it.
    pub(crate) fn check(
        &self,
        about: About<'_>,
        says: &str,
        outcome: &Result<(), Mismatch>,
    ) -> bool {
        let holds = outcome.is_ok();
        let mut inner = self.0.lock();
        inner.checks += 1;
        inner.failed += u32::from(!holds);
        drop(inner);
        let mismatch = outcome.as_ref().err();
        let event = Event::Check {
            holds,
            says,
            mismatch,
        };
        self.tell(about, &event);
        holds
    }

    /// How many checks failed so far.
    pub(crate) fn failed(&self) -> u32 {
        self.0.lock().failed
    }

    /// Tells the verdict, and returns how many checks failed.
    pub(crate) fn verdict(&self) -> u32 {
        let inner = self.0.lock();
        let (checks, failed) = (inner.checks, inner.failed);
        drop(inner);
        self.tell(About::NOTHING, &Event::Verdict { checks, failed });
        failed
    }

    /// # Errors
    ///
    /// Something could not be written.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let mut inner = self.0.lock();
        match inner.broken.take() {
            Some(error) => Err(error),
            None => inner.out.flush(),
        }
    }
}

impl Inner {
    fn write(&mut self, about: About<'_>, event: &Event<'_>) -> io::Result<()> {
        let ms = millis(self.began.elapsed());
        match self.form {
            Form::Human => human::write(&mut self.out, ms, about, event)?,
            Form::JsonLines => {
                serde_json::to_writer(&mut self.out, &Line { ms, about, event })?;
                self.out.write_all(b"\n")?;
            }
        }
        self.out.flush()
    }
}

/// A duration in whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
