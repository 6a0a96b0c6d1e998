//! The window of an output log: text in segments, and which stream wrote what.
//!
//! 1. `sealed` and `tail` are contiguous and cover at least `start..end()`.
//! 2. Every segment begins and ends at a character boundary, and so does
//!    `start`.
//! 3. `runs` is never empty once something was appended, begins at or before
//!    `start`, and neighbours differ in their stream.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::Stream;
use crate::text::{head, tail};

/// What a change of stream costs of the budget, in bytes.
pub(super) const RUN_COST: usize = size_of::<Run>();

/// The largest segment, in bytes: what a reader may have to copy under the
/// lock.
const MAX_SEGMENT: usize = 8 * 1024;

/// How far the window may move beyond what it must to reach a line end.
const LINE_SLACK: usize = 1024;

pub(super) struct Store {
    sealed: VecDeque<Arc<Segment>>,
    tail: Segment,
    /// The memory of a segment that fell out, for the next one.
    spare: Option<String>,
    runs: VecDeque<Run>,
    start: u64,
    /// No line ends in `start..lineless`, so nobody looks there again.
    lineless: u64,
    budget: usize,
    segment: usize,
}

struct Segment {
    start: u64,
    text: String,
}

#[derive(Clone, Copy)]
struct Run {
    start: u64,
    stream: Stream,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + self.text.len() as u64
    }

    /// The part of `range` that lies in this segment. The bounds are clamped,
    /// so they are boundaries if those of `range` are.
    fn part(&self, range: &Range<u64>) -> &str {
        let from = range.start.clamp(self.start, self.end()) - self.start;
        let to = range.end.clamp(self.start, self.end()) - self.start;
        &self.text[to_usize(from)..to_usize(to)]
    }
}

impl Store {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            sealed: VecDeque::new(),
            tail: Segment {
                start: 0,
                text: String::new(),
            },
            spare: None,
            runs: VecDeque::new(),
            start: 0,
            lineless: 0,
            budget,
            segment: (budget / 8).clamp(64, MAX_SEGMENT),
        }
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn end(&self) -> u64 {
        self.tail.end()
    }

    pub(super) fn kept(&self) -> usize {
        to_usize(self.end() - self.start)
    }

    /// Appends text and lets the oldest make room.
    pub(super) fn append(&mut self, stream: Stream, mut text: &str) {
        if self.runs.back().is_none_or(|run| run.stream != stream) {
            self.runs.push_back(Run {
                start: self.end(),
                stream,
            });
        }
        if text.len() > self.budget {
            let skip = ceil_boundary(text, text.len() - self.budget);
            self.restart_at(self.end() + skip as u64);
            text = &text[skip..];
        }
        while !text.is_empty() {
            let room = self.segment.saturating_sub(self.tail.text.len());
            let fits = floor_boundary(text, room);
            if fits == 0 {
                self.seal();
            } else {
                self.tail.text.push_str(&text[..fits]);
                text = &text[fits..];
                self.evict();
            }
        }
    }

    /// Everything before `offset` is gone, and nothing is kept yet.
    fn restart_at(&mut self, offset: u64) {
        self.sealed.clear();
        self.tail.text.clear();
        self.tail.start = offset;
        self.move_start(offset);
    }

    fn seal(&mut self) {
        let next = Segment {
            start: self.tail.end(),
            text: self
                .spare
                .take()
                .unwrap_or_else(|| String::with_capacity(self.segment)),
        };
        self.sealed
            .push_back(Arc::new(std::mem::replace(&mut self.tail, next)));
    }

    fn evict(&mut self) {
        let cost = self.kept() + (self.runs.len() - 1) * RUN_COST;
        let Some(excess) = cost.checked_sub(self.budget).filter(|excess| *excess > 0) else {
            return;
        };
        let least = self.start + excess.min(self.kept()) as u64;
        self.pop_before(least);
        let segment = self.sealed.front().map_or(&self.tail, AsRef::as_ref);
        let text = &segment.text;
        let mut at = ceil_boundary(text, to_usize(least - segment.start));
        let slack = text.len().min(at + LINE_SLACK.min(self.budget / 8));
        if at > 0 && text.as_bytes()[at - 1] != b'\n' {
            let looked = to_usize(self.lineless.saturating_sub(segment.start));
            let from = looked.clamp(at, slack);
            match memchr::memchr(b'\n', &text.as_bytes()[from..slack]) {
                Some(newline) => at = from + newline + 1,
                None => self.lineless = self.lineless.max(segment.start + slack as u64),
            }
        }
        let start = segment.start + at as u64;
        self.move_start(start);
        self.pop_before(start);
    }

    /// Forgets the segments that end at `offset` or before.
    fn pop_before(&mut self, offset: u64) {
        while self
            .sealed
            .front()
            .is_some_and(|segment| segment.end() <= offset)
        {
            if let Some(mut segment) = self.sealed.pop_front().and_then(Arc::into_inner) {
                segment.text.clear();
                self.spare = Some(segment.text);
            }
        }
    }

    fn move_start(&mut self, start: u64) {
        self.start = start;
        while self.runs.get(1).is_some_and(|run| run.start <= start) {
            self.runs.pop_front();
        }
    }

    /// The segment that holds the byte at `offset`; the tail for the end.
    fn segment_at(&self, offset: u64) -> &Segment {
        let index = self
            .sealed
            .partition_point(|segment| segment.end() <= offset);
        self.sealed.get(index).map_or(&self.tail, AsRef::as_ref)
    }

    pub(super) fn slice(&self, from: u64, max: Option<usize>) -> LogSlice {
        let dropped = self.start.saturating_sub(from);
        let begin = self.floor(from.clamp(self.start, self.end()));
        let mut end = self.end();
        if let Some(max) = max {
            end = self.floor(end.min(begin.saturating_add(max as u64)));
            if end == begin && begin < self.end() {
                end += self.char_len(begin);
            }
        }
        let range = begin..end;
        let first = self
            .sealed
            .partition_point(|segment| segment.end() <= begin);
        let sealed = self
            .sealed
            .range(first..)
            .take_while(|segment| segment.start < end);
        let first_run = self
            .runs
            .partition_point(|run| run.start <= begin)
            .saturating_sub(1);
        let runs = self
            .runs
            .range(first_run..)
            .take_while(|run| run.start < end);
        LogSlice {
            dropped,
            sealed: sealed.cloned().collect(),
            tail: Segment {
                start: self.tail.start.max(begin),
                text: self.tail.part(&range).to_owned(),
            },
            runs: runs.copied().collect(),
            range,
        }
    }

    fn floor(&self, offset: u64) -> u64 {
        let segment = self.segment_at(offset);
        segment.start + floor_boundary(&segment.text, to_usize(offset - segment.start)) as u64
    }

    fn char_len(&self, offset: u64) -> u64 {
        let segment = self.segment_at(offset);
        let rest = &segment.text[to_usize(offset - segment.start)..];
        rest.chars()
            .next()
            .map_or(0, |character| character.len_utf8() as u64)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("start", &self.start)
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}

/// A piece of a log, held without its lock.
#[non_exhaustive]
pub struct LogSlice {
    /// The absolute byte offsets of the piece.
    pub range: Range<u64>,
    /// How many bytes between the requested offset and the piece are gone.
    pub dropped: u64,
    sealed: Vec<Arc<Segment>>,
    tail: Segment,
    runs: Vec<Run>,
}

impl LogSlice {
    /// The text in order of arrival, with the stream that wrote it.
    pub fn pieces(&self) -> impl Iterator<Item = (Stream, &str)> {
        let ends = self
            .runs
            .iter()
            .skip(1)
            .map(|run| run.start)
            .chain([self.range.end]);
        self.runs.iter().zip(ends).flat_map(move |(run, end)| {
            let range = run.start.max(self.range.start)..end;
            let segments = self.sealed.iter().map(AsRef::as_ref).chain([&self.tail]);
            segments
                .skip_while({
                    let start = range.start;
                    move |segment| segment.end() <= start
                })
                .take_while({
                    let end = range.end;
                    move |segment| segment.start < end
                })
                .map(move |segment| (run.stream, segment.part(&range)))
                .filter(|(_, text)| !text.is_empty())
        })
    }

    /// The text as a model reads it: what stdout wrote, then a line
    /// `[stderr]` and what stderr wrote, if it wrote anything, then the line
    /// `loss`, if there is one (spec: process, *What the model gets*).
    #[must_use]
    pub fn render(&self, loss: Option<&str>) -> String {
        let bytes = to_usize(self.range.end - self.range.start);
        let mut text = String::with_capacity(bytes + loss.map_or(0, |loss| loss.len() + 2));
        let mut stderr = String::new();
        for (stream, piece) in self.pieces() {
            match stream {
                Stream::Stdout => text.push_str(piece),
                Stream::Stderr => stderr.push_str(piece),
            }
        }
        if !stderr.is_empty() {
            end_line(&mut text);
            text.push_str("[stderr]\n");
            text.push_str(&stderr);
        }
        if let Some(loss) = loss {
            end_line(&mut text);
            text.push_str(loss);
            text.push('\n');
        }
        text
    }
}

impl fmt::Debug for LogSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogSlice")
            .field("range", &self.range)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The largest boundary of `text` that is at most `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    head(text, index).len()
}

/// The smallest boundary of `text` that is at least `index`.
fn ceil_boundary(text: &str, index: usize) -> usize {
    text.len() - tail(text, text.len().saturating_sub(index)).len()
}

/// Lengths of kept text, which fit the address space.
fn to_usize(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
