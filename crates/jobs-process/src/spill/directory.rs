//! The directory of this process for temporary files.
//!
//! It is locked as long as the process lives, so that a later one knows which directories nobody
//! uses any more.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

#[cfg(test)]
mod tests {
    use super::*;

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
