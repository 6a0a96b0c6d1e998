//! The scripted model: it does what its lines say, and holds what it sees against them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use jobs::tool::ToolResult;
use serde_json::Value;
use tool_jobs::{Lane, Message};

use super::expect::Mismatch;
use super::report::{About, Event, millis};
use super::script::{Again, Ask, Finds, Heard, Line, MARKER};
use super::stage::{Failed, MARK, Stage};
use super::witness::{self, Process};
use crate::agent::Entry;
use crate::model::{Call, Model, ModelError};

/// A model that plays one session of the script.
pub(crate) struct Scripted {
    session: &'static str,
    stage: Arc<Stage>,
    lines: VecDeque<Line>,
    /// How much of the transcript it has seen.
    seen: usize,
    /// What it was told and no line has expected yet.
    heard: Vec<Heard>,
    asked: Option<Asked>,
    jobs: BTreeMap<String, Started>,
    /// Where the last answer said that reading can go on.
    marker: Option<u64>,
    /// What the pages held so far.
    pages: String,
}

/// A call whose answer is awaited.
struct Asked {
    ask: Ask,
    at: Instant,
    tries: u32,
}

/// A job that it started.
struct Started {
    mark: String,
    pid: Option<i32>,
}

#[async_trait]
impl Model for Scripted {
    async fn step(&mut self, transcript: &[Entry]) -> Result<Vec<Call>, ModelError> {
        let news = transcript.get(self.seen..).unwrap_or_default();
        self.seen = transcript.len();
        let mut again = None;
        for entry in news {
            match entry {
                Entry::Heard(message) => self.hear(message),
                Entry::Called { call, result } => again = self.judge(call, result).await?,
            }
        }
        if let Some(asked) = again {
            return Ok(vec![self.call(asked)]);
        }
        while let Some(line) = self.lines.pop_front() {
            match line {
                Line::Part(title) => self.tell(About::NOTHING, &Event::Part { title }),
                Line::Hears(expected) => {
                    let heard = std::mem::take(&mut self.heard);
                    let outcome = Mismatch::unless_equal(&expected, &heard);
                    self.check(About::NOTHING, hears(&expected), &outcome)?;
                }
                Line::Thinks { job, file } => self.think(job, file).await?,
                Line::Looks { job, says, finds } => self.look(job, says, finds).await?,
                Line::Calls(ask) => {
                    self.nothing_unexpected()?;
                    self.pages.clear();
                    let at = Instant::now();
                    return Ok(vec![self.call(Asked { ask, at, tries: 1 })]);
                }
                Line::Ends => {
                    self.nothing_unexpected()?;
                    self.tell(About::NOTHING, &Event::TurnEnds);
                    return Ok(Vec::new());
                }
            }
        }
        Err(ModelError("it was woken after its last line".into()))
    }
}

impl Scripted {
    /// A model that does what `lines` say.
    pub(crate) fn new(session: &'static str, stage: Arc<Stage>, lines: VecDeque<Line>) -> Self {
        Self {
            session,
            stage,
            lines,
            seen: 0,
            heard: Vec::new(),
            asked: None,
            jobs: BTreeMap::new(),
            marker: None,
            pages: String::new(),
        }
    }

    fn hear(&mut self, message: &Message) {
        let text = message.text();
        self.heard.push(match message {
            Message::User(_) => {
                let session = self.session;
                self.tell(About::NOTHING, &Event::User { session, text });
                Heard::User(text.to_owned())
            }
            Message::Notice(notice) => {
                let id = notice.id.to_string();
                let job = id.rsplit('/').next().unwrap_or_default();
                self.tell(self.about(Some(job)), &Event::Notice { text });
                Heard::Notice(text.to_owned())
            }
        });
    }

    fn call(&mut self, mut asked: Asked) -> Call {
        let mut arguments = asked.ask.arguments.clone();
        if let Some(from) = arguments.get_mut("from").filter(|from| **from == MARKER) {
            *from = self.marker.into();
        }
        let tool = asked.ask.tool;
        let id = arguments.get("job_id").and_then(Value::as_str);
        let event = Event::Call {
            session: self.session,
            tool,
            arguments: &arguments,
        };
        self.tell(self.about(id), &event);
        asked.at = Instant::now();
        self.asked = Some(asked);
        Call {
            name: tool.to_owned(),
            arguments,
        }
    }

    /// Holds an answer against what was expected. Answers what to ask again.
    async fn judge(
        &mut self,
        call: &Call,
        result: &ToolResult,
    ) -> Result<Option<Asked>, ModelError> {
        let Some(mut asked) = self.asked.take() else {
            return Err(ModelError("it was answered what it had not asked".into()));
        };
        let took = asked.at.elapsed();
        let text = result.text();
        let named = call.arguments.get("job_id").and_then(Value::as_str);
        let id = match result.value().and_then(|value| value["jobId"].as_str()) {
            Some(started) => {
                self.started(started).await;
                Some(started)
            }
            None => named,
        };
        let about = self.about(id);
        let event = Event::Answer {
            text: &text,
            is_error: result.is_error(),
            took_ms: millis(took),
        };
        self.tell(about, &event);
        self.marker = marker(&text);

        let outcomes: Vec<_> = asked
            .ask
            .expects
            .iter()
            .map(|expect| (expect.says, expect.test.check(result, took)))
            .collect();
        let hold = outcomes.iter().all(|(_, outcome)| outcome.is_ok());
        if !hold && matches!(asked.ask.again, Again::Until(most) if asked.tries < most) {
            asked.tries += 1;
            return Ok(Some(asked));
        }
        for (says, outcome) in &outcomes {
            self.check(about, says, outcome)?;
        }
        if let Again::Pages(whole) = &asked.ask.again {
            let page = result.value().and_then(|value| value["text"].as_str());
            self.pages.push_str(page.unwrap_or_default());
            if self.marker.is_some() {
                return Ok(Some(asked));
            }
            let outcome = Mismatch::unless_equal(whole, &self.pages);
            self.check(about, "the pages together are the whole output", &outcome)?;
        }
        Ok(None)
    }

    /// Remembers a job, with the process that runs its command: the oldest that bears its mark.
    async fn started(&mut self, id: &str) {
        let mark = self.stage.launcher.latest();
        let processes = witness::marked_once(MARK, &mark, |found| !found.is_empty()).await;
        let pid = processes.first().map(|process| process.pid);
        self.jobs.insert(id.to_owned(), Started { mark, pid });
    }

    async fn think(&self, job: &'static str, file: &str) -> Result<(), ModelError> {
        let failed = |Failed| ModelError(format!("{job} did not end"));
        let lane = self.stage.end(job, file).await.map_err(failed)?;
        let outcome = Mismatch::unless_equal(&Lane::Joined, &lane);
        self.check(
            About::job(job),
            "the agent was busy: no turn was opened",
            &outcome,
        )
    }

    async fn look(&self, job: &str, says: &'static str, finds: Finds) -> Result<(), ModelError> {
        let Some(Started { mark, .. }) = self.jobs.get(job) else {
            return Err(ModelError(format!("it never started {job}")));
        };
        let processes = match finds {
            Finds::All(_) => {
                let complete = |found: &[Process]| finds.missing(found).is_empty();
                witness::marked_once(MARK, mark, complete).await
            }
            Finds::None => witness::marked(MARK, mark).await,
        };
        let about = self.about(Some(job));
        let event = Event::Processes {
            processes: &processes,
        };
        self.tell(about, &event);
        let outcome = match finds {
            Finds::All(_) => Mismatch::unless_equal(&Vec::new(), &finds.missing(&processes)),
            Finds::None => Mismatch::unless_equal(&Vec::new(), &processes),
        };
        self.check(about, says, &outcome)
    }

    fn nothing_unexpected(&self) -> Result<(), ModelError> {
        if self.heard.is_empty() {
            return Ok(());
        }
        let outcome = Mismatch::unless_equal(&Vec::new(), &self.heard);
        self.check(About::NOTHING, "nothing else was heard", &outcome)
    }

    fn about<'a>(&self, id: Option<&'a str>) -> About<'a> {
        let pid = id.and_then(|id| self.jobs.get(id)?.pid);
        About { id, pid }
    }

    fn tell(&self, about: About<'_>, event: &Event<'_>) {
        self.stage.tell(about, event);
    }

    fn check(
        &self,
        about: About<'_>,
        says: &str,
        outcome: &Result<(), Mismatch>,
    ) -> Result<(), ModelError> {
        let checked = self.stage.check(about, says, outcome);
        checked.map_err(|Failed| ModelError(format!("not as it should be: {says}")))
    }
}

fn hears(expected: &[Heard]) -> &'static str {
    match expected {
        [Heard::User(_)] => "the user woke the agent",
        [Heard::Notice(_)] => "the model hears how the job ended",
        _ => "the model hears both in one turn",
    }
}

/// The offset that a text names: `from=<offset>`.
fn marker(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once("from=")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}
