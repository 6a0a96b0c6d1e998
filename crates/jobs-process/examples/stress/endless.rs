//! Output without end: memory and disk stay flat.

use std::path::Path;
use std::time::{Duration, Instant};

use jobs_process::{Containment, JobCommand, ProcessConfig};

use crate::scan::{MARK, Scan, new_mark};
use crate::{Error, Verdict, runner};

const JOBS: u64 = 2;
const LENGTH: Duration = Duration::from_secs(60);
/// What a job may cost in memory.
const MEMORY_KIB: u64 = 4 * 1024;
/// What a stream may cost on disk; the default of the package.
const DISK: u64 = 64 << 20;

pub(crate) async fn run() -> Result<Verdict, Error> {
    let directory = tempfile::tempdir()?;
    let config = ProcessConfig::new()
        .with_spill_directory(directory.path())
        .with_max_output(u64::MAX.try_into()?);
    let runner = runner(Containment::Supervisor, config)?;
    let mark = new_mark();
    let command = |script: &str| JobCommand::shell(script).with_env(MARK, &mark);
    // What a first job costs once is not what a job costs.
    runner
        .start(&command("seq 100000"))?
        .into_hooks()
        .done
        .await;
    let before = resident_kib()?;
    let start = Instant::now();
    let mut jobs = Vec::new();
    for _ in 0..JOBS {
        jobs.push(runner.start(&command("yes"))?.into_hooks());
    }
    let (mut memory, mut disk) = (0, 0);
    while start.elapsed() < LENGTH {
        tokio::time::sleep(Duration::from_millis(100)).await;
        memory = memory.max(resident_kib()?);
        disk = disk.max(size(directory.path())?);
    }
    let mut printed = 0;
    for job in &jobs {
        (job.cancel)(None)?;
    }
    for job in jobs {
        let facts = job.done.await.facts.ok_or("no facts")?;
        printed += facts["outputBytes"].as_u64().ok_or("no number")?;
    }
    let left = Scan::take(&mark)?.live.len();
    let grown = memory.saturating_sub(before);
    let verdict =
        Verdict::of(grown < JOBS * MEMORY_KIB && disk <= JOBS * DISK && left == 0 && printed > 0);
    println!(
        "{JOBS} jobs for {} s: {:.1} GiB printed, {:.0} MiB/s; memory +{grown} KiB at most (from \
         {before} KiB), disk {} MiB at most, {left} left: {verdict}",
        LENGTH.as_secs(),
        printed as f64 / f64::from(1 << 30),
        printed as f64 / f64::from(1 << 20) / start.elapsed().as_secs_f64(),
        disk >> 20,
    );
    Ok(verdict)
}

/// The memory of this process.
pub(crate) fn resident_kib() -> Result<u64, Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let number = line.and_then(|line| line.split_ascii_whitespace().nth(1));
    Ok(number.ok_or("no VmRSS")?.parse()?)
}

/// All files below `directory`, in bytes.
fn size(directory: &Path) -> Result<u64, Error> {
    let mut sum = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        // It may be gone by now.
        let Ok(found) = path.metadata() else { continue };
        sum += if found.is_dir() {
            size(&path)?
        } else {
            found.len()
        };
    }
    Ok(sum)
}
