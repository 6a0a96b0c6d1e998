//! Output on disk: what does not fit into memory can be read in a file as long as the job is kept.
//!
//! 1. Files are 0600 and exclusive, in a 0700 directory of this process.
//! 2. An error ends the writing, never the job. A disk that does not answer in time is an error.
//! 3. The disk is touched by a thread of the job's own, never by a thread of the runtime.
//! 4. What a reader can miss in memory is in a file by then: the file of a stream is there before
//!    anything of the stream is cut.

mod directory;
mod writer;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jobs::Stream;
use parking_lot::Mutex;

pub(crate) use directory::{SpillDirectory, TemporaryFile};
use writer::Writer;

/// The spilled output of one job, for whoever reads it: the files live as long as this.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spilled(Arc<Mutex<Vec<TemporaryFile>>>);

impl Spilled {
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.0
            .lock()
            .iter()
            .map(|file| file.path().to_owned())
            .collect()
    }

    /// `P[, P2]`, or `(unavailable)`.
    pub(crate) fn describe(&self) -> String {
        let paths: Vec<String> = self
            .0
            .lock()
            .iter()
            .map(|file| file.path().display().to_string())
            .collect();
        if paths.is_empty() {
            "(unavailable)".to_owned()
        } else {
            paths.join(", ")
        }
    }

    fn clear(&self) {
        let files = std::mem::take(&mut *self.0.lock());
        drop(files);
    }
}

/// Opens the file of a stream.
type Open = dyn Fn(Stream) -> io::Result<(File, TemporaryFile)> + Send + Sync;

/// The half of the capture. Small output stays in memory until it is clear that it is not all.
pub(crate) struct Spill {
    open: Arc<Open>,
    /// How many raw bytes of each stream wait in memory before the files are made.
    threshold: usize,
    /// How many bytes of each stream may still be taken.
    room: [u64; 2],
    spilled: Spilled,
    state: State,
}

#[derive(Debug)]
enum State {
    Held([Vec<u8>; 2]),
    Writing(Writer),
    Off,
}

impl Spill {
    pub(crate) fn new(directory: Arc<SpillDirectory>, limit: u64, threshold: usize) -> Self {
        let open = move |stream| directory.create(name(stream));
        Self::with_open(Arc::new(open), limit, threshold)
    }

    fn with_open(open: Arc<Open>, limit: u64, threshold: usize) -> Self {
        Self {
            open,
            threshold,
            room: [limit; 2],
            spilled: Spilled::default(),
            state: if limit == 0 {
                State::Off
            } else {
                State::Held([Vec::new(), Vec::new()])
            },
        }
    }

    pub(crate) fn spilled(&self) -> Spilled {
        self.spilled.clone()
    }

    /// Takes raw bytes of a stream. Waits for a slow disk, for a bounded time.
    pub(crate) async fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match &mut self.state {
            State::Off => {}
            State::Held(held) => {
                let held = &mut held[slot(stream)];
                held.extend_from_slice(bytes);
                if held.len() > self.threshold {
                    self.materialise().await;
                }
            }
            State::Writing(_) => self.write(stream, bytes).await,
        }
    }

    /// Makes the files now, if there is anything to put into them.
    pub(crate) async fn materialise(&mut self) {
        let State::Held(held) = &mut self.state else {
            return;
        };
        let [stdout, stderr] = std::mem::take(held);
        match Writer::start(Arc::clone(&self.open), self.spilled.clone()) {
            Ok(writer) => self.state = State::Writing(writer),
            Err(error) => return self.give_up(&error),
        }
        self.write(Stream::Stdout, &stdout).await;
        self.write(Stream::Stderr, &stderr).await;
    }

    /// Waits until everything is in the files, for a bounded time.
    pub(crate) async fn finish(mut self) -> Spilled {
        if let State::Writing(writer) = std::mem::replace(&mut self.state, State::Off)
            && let Err(error) = writer.finish().await
        {
            self.give_up(&error);
        }
        self.spilled
    }

    async fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let room = &mut self.room[slot(stream)];
        let taken = bytes
            .len()
            .min(usize::try_from(*room).unwrap_or(usize::MAX));
        let State::Writing(writer) = &mut self.state else {
            return;
        };
        if taken == 0 {
            return;
        }
        *room -= taken as u64;
        if let Err(error) = writer.write(stream, &bytes[..taken]).await {
            self.give_up(&error);
        }
    }

    /// Invariant 2. A file with a hole in it is worse than none.
    fn give_up(&mut self, error: &io::Error) {
        tracing::warn!(%error, "output is not spilled any more; the job goes on");
        self.state = State::Off;
        self.spilled.clear();
    }
}

impl std::fmt::Debug for Spill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spill")
            .field("room", &self.room)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

fn slot(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

#[cfg(test)]
mod tests;
