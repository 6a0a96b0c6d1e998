//! The output log: one bounded window on everything a job ever wrote.
//!
//! 1. An offset means the same byte for ever; the window only moves forward.
//! 2. Whatever is kept is valid UTF-8 and is given out unchanged.
//! 3. Memory is at most the budget and two segments, whatever is pushed.
//! 4. What falls out of the window is counted exactly.
//! 5. Text is copied to a reader outside the lock, but for the last segment.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use parking_lot::Mutex;

use super::decode::Decoder;
use super::store::{LogSlice, Store};
use super::{OutputSource, Rendered, Stream};
use crate::error::ProducerError;

/// What a model reads in place of output that the log no longer has.
const LOSS_LINE: &str = "[some output was dropped from memory; full output: (unavailable)]";

/// The producer's half of a log that keeps the last bytes of a job's output.
///
/// Never blocks and never grows beyond its budget: the oldest output makes
/// room, at a line end where one is near. Dropping it closes the log.
///
/// Not for output that must be kept whole: spill that to a file beside it.
///
/// ```
/// use std::num::NonZeroUsize;
/// use jobs::{OutputLog, OutputSource, Stream};
///
/// let log = OutputLog::with_budget(NonZeroUsize::new(1024).unwrap());
/// let reader = log.reader();
/// log.push(Stream::Stdout, b"one\n");
/// let first = reader.read(0, None)?;
/// log.push(Stream::Stderr, b"two\n");
/// assert_eq!(first.text, "one\n");
/// assert_eq!(reader.read(first.range.end, None)?.text, "[stderr]\ntwo\n");
/// # Ok::<(), jobs::ProducerError>(())
/// ```
pub struct OutputLog(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    store: Store,
    stdout: Decoder,
    stderr: Decoder,
    closed: bool,
}

impl OutputLog {
    /// An empty log that keeps at most `budget` bytes. Each change from one
    /// stream to the other is charged as [`RUN_COST`](Self::RUN_COST) bytes.
    #[must_use]
    pub fn with_budget(budget: NonZeroUsize) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            store: Store::new(budget.get()),
            stdout: Decoder::default(),
            stderr: Decoder::default(),
            closed: false,
        })))
    }

    /// What a change from one stream to the other costs of the budget, in
    /// bytes.
    pub const RUN_COST: usize = super::store::RUN_COST;

    /// Appends bytes of `stream`. An unfinished character waits for its rest;
    /// an invalid piece becomes one U+FFFD. After [`close`](Self::close) it
    /// does nothing.
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut inner = self.0.lock();
        let Inner {
            store,
            stdout,
            stderr,
            closed,
        } = &mut *inner;
        if *closed {
            return;
        }
        let decoder = match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        };
        decoder.push(bytes, |text| store.append(stream, text));
    }

    /// Ends the log: unfinished characters become U+FFFD, later pushes do
    /// nothing. Idempotent.
    pub fn close(&self) {
        let mut inner = self.0.lock();
        let Inner {
            store,
            stdout,
            stderr,
            closed,
        } = &mut *inner;
        if !*closed {
            *closed = true;
            stdout.finish(|text| store.append(Stream::Stdout, text));
            stderr.finish(|text| store.append(Stream::Stderr, text));
        }
    }

    /// A reader's half; any number may read at their own offsets.
    #[must_use]
    pub fn reader(&self) -> LogReader {
        LogReader(Arc::clone(&self.0))
    }
}

impl Drop for OutputLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for OutputLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0.lock(), f)
    }
}

/// A reader's half of an [`OutputLog`]. Cloning is a reference count.
#[derive(Clone)]
pub struct LogReader(Arc<Mutex<Inner>>);

impl LogReader {
    /// The output from `from` on, at most `max` bytes of it; see
    /// [`OutputSource::read`] for the edges. An offset inside a character
    /// begins at that character.
    #[must_use]
    pub fn slice(&self, from: u64, max: Option<usize>) -> LogSlice {
        self.0.lock().store.slice(from, max)
    }

    /// The offset after the last byte so far.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.0.lock().store.end()
    }

    /// How many bytes fell out of the window so far: the offset of the first
    /// byte that is kept.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.lock().store.start()
    }
}

impl OutputSource for LogReader {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        let slice = self.slice(from, max);
        let text = slice.render((slice.dropped > 0).then_some(LOSS_LINE));
        Ok(Rendered {
            text,
            range: slice.range,
            dropped: slice.dropped,
        })
    }

    fn kept_bytes(&self) -> usize {
        self.0.lock().store.kept()
    }
}

impl fmt::Debug for LogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0.lock(), f)
    }
}
