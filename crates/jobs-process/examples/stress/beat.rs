//! A process that shows that it lives: its file grows.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Error, Verdict};

/// How often the file grows.
pub(crate) const BEAT: Duration = Duration::from_millis(20);
/// Nobody beats for longer, whoever forgot about it.
const LIFE: Duration = Duration::from_secs(60);

#[expect(clippy::disallowed_methods, reason = "a heartbeat is by clock")]
pub(crate) fn run(file: &Path) -> Result<Verdict, Error> {
    let start = Instant::now();
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    while start.elapsed() < LIFE {
        file.write_all(b".")?;
        std::thread::sleep(BEAT);
    }
    Ok(Verdict::Holds)
}
