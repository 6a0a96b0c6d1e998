//! Output on disk: what does not fit into memory can be read in a file as long as the job is kept.
//!
//! 1. Files are 0600 and exclusive, in a 0700 directory of this process.
//! 2. The directory is locked as long as the process lives, so that a later one knows which
//!    directories nobody uses any more.
//! 3. An error ends the writing, never the job.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jobs::Stream;
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::prepare::random_name;

const PREFIX: &str = "jobs-process-";
const LOCK: &str = "lock";

/// The directory of this process, made when the first file is.
#[derive(Debug)]
pub(crate) struct SpillDirectory {
    parent: PathBuf,
    made: Mutex<Option<Arc<Locked>>>,
    next: AtomicU64,
}

#[derive(Debug)]
struct Locked {
    path: PathBuf,
    _lock: File,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next process.
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl SpillDirectory {
    /// Sweeps what dead processes left in `parent`, and will make a directory there.
    pub(crate) fn new(parent: PathBuf) -> Self {
        sweep(&parent);
        Self {
            parent,
            made: Mutex::new(None),
            next: AtomicU64::new(1),
        }
    }

    /// Creates a file whose name ends in `suffix`.
    pub(crate) fn create(&self, suffix: &str) -> io::Result<(File, TemporaryFile)> {
        let directory = self.directory()?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = directory.path.join(format!("{number}.{suffix}"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok((
            file,
            TemporaryFile {
                path,
                _directory: directory,
            },
        ))
    }

    fn directory(&self) -> io::Result<Arc<Locked>> {
        let mut made = self.made.lock();
        if let Some(directory) = &*made {
            return Ok(Arc::clone(directory));
        }
        // Locked under another name first: what is visible under the prefix is locked or dead.
        let name = format!("{}-{}", std::process::id(), random_name());
        let hidden = self.parent.join(format!(".{PREFIX}{name}"));
        let path = self.parent.join(format!("{PREFIX}{name}"));
        DirBuilder::new().mode(0o700).create(&hidden)?;
        let prepare = || {
            let lock = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(hidden.join(LOCK))?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            fs::rename(&hidden, &path)?;
            Ok::<_, io::Error>(lock)
        };
        let lock = prepare().inspect_err(|_| {
            let _ = fs::remove_dir_all(&hidden);
        })?;
        let directory = Arc::new(Locked { path, _lock: lock });
        *made = Some(Arc::clone(&directory));
        Ok(directory)
    }
}

/// Removes the directories of our user whose lock nobody holds.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_dead(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_dead(directory: &Path) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    let is_ours = directory
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == ours);
    if !is_ours {
        return false;
    }
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let lock = OpenOptions::new()
        .write(true)
        .custom_flags(no_follow)
        .open(directory.join(LOCK));
    lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    path: PathBuf,
    _directory: Arc<Locked>,
}

impl TemporaryFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

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

    /// Invariant 3. A file with a hole in it is worse than none.
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

    #[test]
    fn only_what_a_dead_process_left_is_swept() {
        let parent = tempfile::tempdir().expect("a directory");
        let living = SpillDirectory::new(parent.path().to_owned());
        let (_file, kept) = living.create("stdout").expect("created");
        let dead = parent.path().join(format!("{PREFIX}1-dead"));
        fs::create_dir(&dead).expect("made");
        fs::write(dead.join(LOCK), "").expect("written");
        let foreign = parent.path().join("other");
        fs::create_dir(&foreign).expect("made");
        SpillDirectory::new(parent.path().to_owned());
        assert!(!dead.exists() && kept.path().exists() && foreign.exists());
    }
}
