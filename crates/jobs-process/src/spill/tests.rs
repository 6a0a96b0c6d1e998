//! Files that are kept, files that cannot be written, disks that hang.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Condvar;

use super::*;

const LIMIT: u64 = 8;
const THRESHOLD: usize = 4;

fn directory(parent: &Path) -> Arc<SpillDirectory> {
    Arc::new(SpillDirectory::new(parent.to_owned()))
}

#[tokio::test]
async fn the_head_is_kept_and_the_files_go_with_the_job() {
    let parent = tempfile::tempdir().expect("a directory");
    let mut spill = Spill::new(directory(parent.path()), LIMIT, THRESHOLD);
    spill.push(Stream::Stdout, b"1234").await;
    assert_eq!(spill.spilled().describe(), "(unavailable)");
    spill.push(Stream::Stderr, b"e").await;
    spill.push(Stream::Stdout, b"5").await;
    // Invariant 4.
    let paths = spill.spilled().paths();
    assert_eq!(fs::read(&paths[0]).expect("stdout"), b"12345");
    spill.push(Stream::Stdout, b"67890").await;
    let spilled = spill.finish().await;
    assert_eq!(fs::read(&paths[0]).expect("stdout"), b"12345678");
    assert_eq!(fs::read(&paths[1]).expect("stderr"), b"e");
    let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
    assert_eq!(
        (mode(&paths[0]), mode(paths[0].parent().expect("a parent"))),
        (0o600, 0o700)
    );
    drop(spilled);
    let gone = || fs::read_dir(parent.path()).expect("the parent").count() == 0;
    // The thread may still hold the directory for a moment.
    within_seconds(gone).await;
}

#[tokio::test]
async fn a_full_disk_stops_the_writing_only() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = directory(parent.path());
    let open = move |stream| {
        let (_, kept) = directory.create(name(stream))?;
        let full = OpenOptions::new().write(true).open("/dev/full")?;
        Ok((full, kept))
    };
    let mut spill = Spill::with_open(Arc::new(open), 100, THRESHOLD);
    spill.push(Stream::Stdout, b"123456").await;
    assert!(matches!(spill.state, State::Off), "{spill:?}");
    spill.push(Stream::Stdout, b"and more").await;
    assert_eq!(spill.finish().await.paths(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_stops_the_writing_only() {
    let mut spill = Spill::new(directory(Path::new("/dev/full")), LIMIT, THRESHOLD);
    spill.push(Stream::Stdout, b"123456").await;
    assert!(matches!(spill.state, State::Off), "{spill:?}");
    assert_eq!(spill.finish().await.describe(), "(unavailable)");
}

/// The clock runs ahead while everybody waits, so the patience costs no time here.
#[tokio::test(start_paused = true)]
async fn a_disk_that_hangs_stops_the_writing_only() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = directory(parent.path());
    let gate = Arc::new((std::sync::Mutex::new(false), Condvar::new()));
    let open = {
        let gate = Arc::clone(&gate);
        move |stream| {
            let (lock, opened) = &*gate;
            let closed = lock.lock().map_err(|_| io::Error::other("poisoned"))?;
            drop(opened.wait_while(closed, |open| !*open));
            directory.create(name(stream))
        }
    };
    let mut spill = Spill::with_open(Arc::new(open), 100, THRESHOLD);
    spill.push(Stream::Stdout, b"123456").await;
    assert!(matches!(spill.state, State::Off), "{spill:?}");
    let spilled = spill.finish().await;
    *gate.0.lock().expect("no panic") = true;
    gate.1.notify_all();
    // When the disk comes back, nothing of the file is left, and nobody is told of it.
    let left = || fs::read_dir(parent.path()).expect("the parent").count();
    within_seconds(|| Arc::strong_count(&gate) == 1).await;
    assert_eq!((spilled.paths(), left()), (vec![], 0));
}

#[expect(
    clippy::disallowed_methods,
    reason = "a thread of its own has to end, and the clock of the runtime stands still"
)]
async fn within_seconds(mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 10, "it did not come");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
