//! From pipes to the log: read, filter, keep, spill, count.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jobs::{CancellationToken, OutputLog, OutputSource, ProducerError, Rendered, Stream};
use parking_lot::Mutex;
use tokio::net::unix::pipe::Receiver;

use crate::spill::{Spill, Spilled};
use crate::text::{Content, Filter};

/// A larger one gains nothing on 64 KiB pipes.
const BUFFER: usize = 64 * 1024;
/// Where it begins: most jobs print little, and large pieces of memory are dear to give back.
const FIRST_BUFFER: usize = 4 * 1024;
/// How often one pipe is read before the other has its turn.
const TURN: usize = 4;
/// How much may still be read from a pipe that is closed by force.
const LAST: usize = 1024 * 1024;

const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

/// The capture of one job's output while it runs.
#[derive(Debug)]
pub(crate) struct Capture {
    pipes: [Option<Receiver>; 2],
    filters: [Filter; 2],
    sink: Sink,
    spill: Spill,
    progress: Progress,
    max_output: u64,
}

/// Where output ends up.
#[derive(Debug)]
struct Sink {
    log: OutputLog,
    total: u64,
    /// Stdout ends in the middle of a line.
    is_mid_line: bool,
}

/// The line that overwrites itself right now. A log that is only added to cannot show it: what a
/// reader has seen cannot be taken back. So it is told beside the output, as the job's detail.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<Option<String>>>);

impl Progress {
    /// What is told of a line at most, in bytes.
    const LONGEST: usize = 200;

    fn set(&self, line: Option<&[u8]>) {
        let line = line.map(|line| {
            let line = String::from_utf8_lossy(&line[..line.len().min(Self::LONGEST)]);
            jobs::text::one_line(line.trim()).into_owned()
        });
        *self.0.lock() = line.filter(|line| !line.is_empty());
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().clone()
    }
}

/// How the capture ended.
#[derive(Debug)]
pub(crate) struct Captured {
    sink: Sink,
    spilled: Spilled,
    /// Every pipe came to its end.
    pub(crate) is_complete: bool,
}

impl Capture {
    pub(crate) fn new(
        stdout: Receiver,
        stderr: Option<Receiver>,
        log: OutputLog,
        spill: Spill,
        progress: Progress,
        max_output: u64,
    ) -> Self {
        Self {
            pipes: [Some(stdout), stderr],
            filters: [Filter::new(), Filter::new()],
            sink: Sink {
                log,
                total: 0,
                is_mid_line: false,
            },
            spill,
            progress,
            max_output,
        }
    }

    /// Reads to the end of all pipes, or until `close`. Cancels `over` when there was more than
    /// the job may write; what comes after that is still taken, so that nobody blocks.
    pub(crate) async fn run(
        mut self,
        close: CancellationToken,
        over: CancellationToken,
    ) -> Captured {
        let mut buffer = Vec::with_capacity(FIRST_BUFFER);
        while self.pipes.iter().any(Option::is_some) {
            let index = tokio::select! {
                () = close.cancelled() => break,
                () = readable(self.pipes[0].as_ref()) => 0,
                () = readable(self.pipes[1].as_ref()) => 1,
            };
            for _ in 0..TURN {
                if self.read(index, &mut buffer).await.is_none() {
                    break;
                }
            }
            self.progress
                .set(self.filters.iter().find_map(Filter::waiting));
            if self.sink.total > self.max_output {
                over.cancel();
            }
        }
        self.progress.set(None);
        self.finish(&mut buffer).await
    }

    /// One read; `None` when there is nothing now or any more.
    async fn read(&mut self, index: usize, buffer: &mut Vec<u8>) -> Option<usize> {
        if buffer.len() == buffer.capacity() && buffer.len() < BUFFER {
            *buffer = Vec::with_capacity(BUFFER);
        }
        buffer.clear();
        match self.pipes[index].as_ref()?.try_read_buf(buffer) {
            Ok(length) if length > 0 => {
                let bytes = &buffer[..];
                let Self {
                    filters,
                    sink,
                    spill,
                    ..
                } = self;
                sink.total += length as u64;
                spill.push(STREAMS[index], bytes).await;
                filters[index].push(bytes, |text| sink.push(STREAMS[index], text));
                Some(length)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Ok(_) | Err(_) => {
                self.pipes[index] = None;
                None
            }
        }
    }

    async fn finish(mut self, buffer: &mut Vec<u8>) -> Captured {
        let is_complete = self.pipes.iter().all(Option::is_none);
        for index in [0, 1] {
            let mut read = 0;
            while read < LAST {
                let Some(length) = self.read(index, buffer).await else {
                    break;
                };
                read += length;
            }
        }
        let Self {
            filters,
            mut sink,
            mut spill,
            ..
        } = self;
        for (stream, mut filter) in STREAMS.into_iter().zip(filters) {
            filter.finish(|text| sink.push(stream, text));
            if filter.content() == Content::Binary {
                spill.materialise().await;
                let path = spill.spilled().describe();
                let line = format!(
                    "[binary output: {} bytes; full output: {path}]\n",
                    filter.seen()
                );
                sink.push(stream, line.as_bytes());
            }
        }
        Captured {
            sink,
            spilled: spill.finish().await,
            is_complete,
        }
    }
}

impl Sink {
    fn push(&mut self, stream: Stream, text: &[u8]) {
        if stream == Stream::Stdout
            && let Some(last) = text.last()
        {
            self.is_mid_line = *last != b'\n';
        }
        self.log.push(stream, text);
    }
}

impl Captured {
    /// Nothing was captured: a job that never had a process.
    pub(crate) fn nothing(log: OutputLog) -> Self {
        let sink = Sink {
            log,
            total: 0,
            is_mid_line: false,
        };
        Self {
            sink,
            spilled: Spilled::default(),
            is_complete: true,
        }
    }

    /// Adds a line of ours to the output.
    pub(crate) fn note(&mut self, line: &str) {
        let start = if self.sink.is_mid_line { "\n" } else { "" };
        self.sink
            .push(Stream::Stdout, format!("{start}{line}\n").as_bytes());
    }

    /// Raw bytes in all.
    pub(crate) fn total(&self) -> u64 {
        self.sink.total
    }

    /// Seals the log; returns the paths of the files, which are sealed already.
    pub(crate) fn seal(self) -> Vec<PathBuf> {
        self.sink.log.close();
        self.spilled.paths()
    }
}

async fn readable(pipe: Option<&Receiver>) {
    match pipe {
        // An error is seen by the read that follows.
        Some(pipe) => drop(pipe.readable().await),
        None => std::future::pending().await,
    }
}

/// A job's output for its readers. The files live as long as this.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) log: jobs::LogReader,
    pub(crate) spilled: Spilled,
}

impl OutputSource for Source {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        let slice = self.log.slice(from, max);
        let loss = (slice.dropped > 0).then(|| {
            format!(
                "[some output was dropped from memory; full output: {}]",
                self.spilled.describe()
            )
        });
        Ok(Rendered {
            text: slice.render(loss.as_deref()),
            range: slice.range,
            dropped: slice.dropped,
        })
    }

    fn kept_bytes(&self) -> usize {
        self.log.kept_bytes()
    }
}
