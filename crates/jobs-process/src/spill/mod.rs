//! Output on disk: what does not fit into memory can be read in a file as long as the job is kept.
//!
//! 1. Files are 0600 and exclusive, in a 0700 directory of this process.
//! 2. An error ends the writing, never the job.

mod directory;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use jobs::Stream;
use parking_lot::Mutex;

pub(crate) use directory::{SpillDirectory, TemporaryFile};

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
}

/// The writer's half. Small output stays in memory until it is clear that it is not all.
#[derive(Debug)]
pub(crate) struct Spill {
    directory: Arc<SpillDirectory>,
    limit: u64,
    /// How many raw bytes of each stream wait in memory before the files are made.
    threshold: usize,
    streams: [Raw; 2],
    spilled: Spilled,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Held,
    Writing,
    Off,
}

#[derive(Debug, Default)]
struct Raw {
    held: Vec<u8>,
    file: Option<File>,
    written: u64,
}

impl Spill {
    pub(crate) fn new(directory: Arc<SpillDirectory>, limit: u64, threshold: usize) -> Self {
        let state = if limit == 0 { State::Off } else { State::Held };
        let streams = [Raw::default(), Raw::default()];
        Self {
            directory,
            limit,
            threshold,
            streams,
            spilled: Spilled::default(),
            state,
        }
    }

    pub(crate) fn spilled(&self) -> Spilled {
        self.spilled.clone()
    }

    /// Takes raw bytes of a stream.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let index = slot(stream);
        match self.state {
            State::Off => {}
            State::Held => {
                self.streams[index].held.extend_from_slice(bytes);
                if self.streams[index].held.len() > self.threshold {
                    self.materialise();
                }
            }
            State::Writing => {
                let written = self.write(index, bytes);
                self.settle(written);
            }
        }
    }

    /// Makes the files now, if there is anything to put into them.
    pub(crate) fn materialise(&mut self) {
        if self.state != State::Held {
            return;
        }
        self.state = State::Writing;
        for index in [0, 1] {
            let held = std::mem::take(&mut self.streams[index].held);
            let written = self.write(index, &held);
            self.settle(written);
        }
    }

    fn write(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let raw = &mut self.streams[index];
        let room = usize::try_from(self.limit - raw.written).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return Ok(());
        }
        if raw.file.is_none() {
            let (file, kept) = self.directory.create(["stdout", "stderr"][index])?;
            self.spilled.0.lock().push(kept);
            raw.file = Some(file);
        }
        if let Some(file) = &mut raw.file {
            file.write_all(bytes)?;
        }
        raw.written += bytes.len() as u64;
        Ok(())
    }

    /// Invariant 2. A file with a hole in it is worse than none.
    fn settle(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            tracing::warn!(%error, "output is not spilled any more; the job goes on");
            self.state = State::Off;
            self.streams = [Raw::default(), Raw::default()];
            self.spilled.0.lock().clear();
        }
    }
}

fn slot(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::*;

    fn spill(parent: &Path, limit: u64) -> Spill {
        Spill::new(Arc::new(SpillDirectory::new(parent.to_owned())), limit, 4)
    }

    #[test]
    fn the_head_is_kept_and_the_files_go_with_the_job() {
        let parent = tempfile::tempdir().expect("a directory");
        let mut spill = spill(parent.path(), 8);
        spill.push(Stream::Stdout, b"1234");
        assert_eq!(spill.spilled().describe(), "(unavailable)");
        spill.push(Stream::Stderr, b"e");
        spill.push(Stream::Stdout, b"567890");
        let paths = spill.spilled().paths();
        assert_eq!(fs::read(&paths[0]).expect("stdout"), b"12345678");
        assert_eq!(fs::read(&paths[1]).expect("stderr"), b"e");
        let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
        assert_eq!(
            (mode(&paths[0]), mode(paths[0].parent().expect("a parent"))),
            (0o600, 0o700)
        );
        drop(spill);
        assert_eq!(fs::read_dir(parent.path()).expect("the parent").count(), 0);
    }

    #[test]
    fn a_full_disk_stops_the_writing_only() {
        let parent = tempfile::tempdir().expect("a directory");
        let mut spill = spill(parent.path(), 100);
        spill.push(Stream::Stdout, b"123456");
        spill.streams[0].file = Some(
            OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .expect("it is there"),
        );
        spill.push(Stream::Stdout, b"more");
        spill.push(Stream::Stdout, b"and more");
        assert_eq!((spill.state, spill.spilled.paths()), (State::Off, vec![]));
    }
}
