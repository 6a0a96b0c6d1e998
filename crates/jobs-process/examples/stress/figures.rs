//! What a job costs, against what the system itself costs (spec/benchmarks.md, B10 and B11).

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jobs_process::{Containment, JobCommand, ProcessConfig, ProcessRunner};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::endless::resident_kib;
use crate::{Error, Verdict, runner};

const STARTS: usize = 400;
const BALLAST: usize = 2 << 30;
const PRINTED: u64 = 4 << 30;

pub(crate) fn run() -> Result<Verdict, Error> {
    let starts = starts()?;
    let rate = rate()?;
    Ok(starts.and(rate))
}

/// B10: the floor, the sweep rung and the supervisor in turn, so that a busy moment meets all.
fn starts() -> Result<Verdict, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let sweep = runner(Containment::Sweep, ProcessConfig::new())?;
    let supervisor = runner(Containment::Supervisor, ProcessConfig::new())?;
    let once = || -> Result<[Duration; 3], Error> {
        let start = Instant::now();
        Command::new("/bin/true").stdin(Stdio::null()).status()?;
        let floor = start.elapsed();
        Ok([
            floor,
            runtime.block_on(job(&sweep))?,
            runtime.block_on(job(&supervisor))?,
        ])
    };
    let measure = || -> Result<[Duration; 3], Error> {
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..STARTS {
            for (times, time) in times.iter_mut().zip(once()?) {
                times.push(time);
            }
        }
        Ok(times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        }))
    };
    measure()?;
    let small = measure()?;
    let ballast = vec![1_u8; BALLAST];
    let large = measure()?;
    drop(std::hint::black_box(ballast));
    let mut all = Verdict::Holds;
    for (name, [floor, sweep, supervisor]) in [("", small), (" with 2 GiB resident", large)] {
        let ratio = sweep.as_secs_f64() / floor.as_secs_f64();
        let extra = supervisor.saturating_sub(floor);
        let verdict = Verdict::of(ratio <= 1.15 && extra <= Duration::from_millis(1));
        println!(
            "B10{name}: floor {floor:?}, sweep {sweep:?} ({ratio:.2} ×, at most 1.15 ×), supervisor \
             {supervisor:?} (floor + {extra:?}, at most 1 ms): {verdict}"
        );
        all = all.and(verdict);
    }
    Ok(all)
}

async fn job(runner: &ProcessRunner) -> Result<Duration, Error> {
    let start = Instant::now();
    let hooks = runner.start(&JobCommand::argv(["/bin/true"]))?.into_hooks();
    hooks.done.await;
    Ok(start.elapsed())
}

/// B11: who prints on one processor, who takes it on another.
fn rate() -> Result<Verdict, Error> {
    let print = format!("{} print {PRINTED}", std::env::current_exe()?.display());
    let all = sched_getaffinity(None)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| all.is_set(*cpu))
        .collect();
    let (from, to) = (
        cpus.first().ok_or("no processor")?,
        cpus.last().ok_or("none")?,
    );

    let start = Instant::now();
    let floor = format!("taskset -c {from} {print} | taskset -c {to} cat >/dev/null");
    if !Command::new("sh").args(["-c", &floor]).status()?.success() {
        return Err("the floor did not run".into());
    }
    let floor = start.elapsed();

    let mut one = CpuSet::new();
    one.set(*to);
    sched_setaffinity(None, &one)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let runner = runner(Containment::Supervisor, ProcessConfig::new())?;
    let command = JobCommand::shell(format!("exec taskset -c {from} {print}"));
    let (time, facts, memory) = runtime.block_on(async {
        runner
            .start(&JobCommand::shell("seq 100000"))?
            .into_hooks()
            .done
            .await;
        let before = resident_kib()?;
        let start = Instant::now();
        let outcome = runner.start(&command)?.into_hooks().done.await;
        let facts = outcome.facts.ok_or("no facts")?;
        let memory = resident_kib()?.saturating_sub(before);
        Ok::<_, Error>((start.elapsed(), facts, memory))
    })?;
    sched_setaffinity(None, &all)?;
    let ratio = floor.as_secs_f64() / time.as_secs_f64();
    let is_whole = facts["outputBytes"] == PRINTED;
    let verdict = Verdict::of(ratio >= 0.5 && is_whole);
    println!(
        "B11: 4 GiB through cat {floor:.2?}, as a job {time:.2?} ({ratio:.2} of the rate, at least 0.5), \
         memory +{memory} KiB: {verdict}"
    );
    Ok(verdict)
}
