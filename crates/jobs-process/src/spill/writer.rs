//! The thread that writes the files of one job.
//!
//! A disk can hang for longer than anybody waits. So this is a thread of its own and no blocking
//! task of the runtime, whose shutdown would wait for it; it is never joined, and what it holds is
//! freed when the disk lets go of it.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jobs::Stream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::{Open, Spilled, slot};

/// How many pieces wait for the disk; a piece is at most one read of a pipe.
const QUEUE: usize = 8;
/// How long a disk may take for one piece before it counts as broken.
const PATIENCE: Duration = Duration::from_secs(5);

/// The capture's end of the thread.
#[derive(Debug)]
pub(super) struct Writer {
    pieces: mpsc::Sender<Piece>,
    ended: oneshot::Receiver<io::Result<()>>,
    is_open: [bool; 2],
}

#[derive(Debug)]
struct Piece {
    stream: Stream,
    bytes: Vec<u8>,
    /// Told when the piece is in the file, for the first one of a stream.
    written: Option<oneshot::Sender<()>>,
}

impl Writer {
    /// # Errors
    ///
    /// No thread could be started.
    pub(super) fn start(open: Arc<Open>, spilled: Spilled) -> io::Result<Self> {
        let (pieces, queue) = mpsc::channel(QUEUE);
        let (end, ended) = oneshot::channel();
        thread::Builder::new()
            .name("jobs-spill".to_owned())
            .spawn(move || {
                // Whoever asked has given up meanwhile: then nobody wants to know.
                let _ = end.send(run(&*open, &spilled, queue));
            })?;
        Ok(Self {
            pieces,
            ended,
            is_open: [false; 2],
        })
    }

    /// Hands `bytes` to the thread. Waits for room in the queue, and for the first ones of a stream
    /// until they are in its file.
    ///
    /// # Errors
    ///
    /// The thread has ended, with what it ended with; or the disk takes too long.
    pub(super) async fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.is_open[slot(stream)], true);
        let (written, is_written) = oneshot::channel();
        let piece = Piece {
            stream,
            bytes: bytes.to_vec(),
            written: is_first.then_some(written),
        };
        let write = async {
            let sent = self.pieces.send(piece).await.is_ok();
            if sent && (!is_first || is_written.await.is_ok()) {
                return Ok(());
            }
            // The thread has ended or is about to.
            match (&mut self.ended).await {
                Ok(Err(error)) => Err(error),
                Ok(Ok(())) | Err(_) => Err(panicked()),
            }
        };
        timeout(PATIENCE, write).await?
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    ///
    /// As for [`Writer::write`].
    pub(super) async fn finish(self) -> io::Result<()> {
        let Self { pieces, ended, .. } = self;
        drop(pieces);
        let ended = timeout(PATIENCE, ended).await?;
        ended.unwrap_or_else(|_| Err(panicked()))
    }
}

fn panicked() -> io::Error {
    io::Error::other("the thread that writes ended by itself")
}

fn run(open: &Open, spilled: &Spilled, mut queue: mpsc::Receiver<Piece>) -> io::Result<()> {
    let mut files: [Option<File>; 2] = [None, None];
    while let Some(piece) = queue.blocking_recv() {
        let file = match &mut files[slot(piece.stream)] {
            Some(file) => file,
            none => {
                let (file, kept) = open(piece.stream)?;
                let mut spilled = spilled.0.lock();
                // The capture gave up while the disk hung: then the file goes at once. Looked at
                // under the lock, because whoever gives up closes the queue first and then clears.
                if queue.is_closed() {
                    return Ok(());
                }
                spilled.push(kept);
                none.insert(file)
            }
        };
        file.write_all(&piece.bytes)?;
        if let Some(written) = piece.written {
            let _ = written.send(());
        }
    }
    Ok(())
}
