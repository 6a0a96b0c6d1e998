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
/// What a job may cost in memory while it prints.
const MEMORY_KIB: u64 = 4 * 1024;

/// How figures are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// A line for people.
    Text,
    /// A line of JSON: row, case, ours, floor and spread (lower and upper quartile of ours) in
    /// seconds, n, ratio, goal, holds.
    Json,
}

/// One measured row.
struct Figure {
    row: &'static str,
    case: String,
    ours: Sample,
    floor: Duration,
    goal: &'static str,
    verdict: Verdict,
}

/// What was measured `n` times.
#[derive(Debug, Clone, Copy)]
struct Sample {
    median: Duration,
    quartiles: [Duration; 2],
    n: usize,
}

impl Sample {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let n = times.len();
        Self {
            median: times[n / 2],
            quartiles: [times[n / 4], times[n * 3 / 4]],
            n,
        }
    }
}

impl Figure {
    fn ratio(&self) -> f64 {
        self.ours.median.as_secs_f64() / self.floor.as_secs_f64()
    }

    fn print(&self, form: Form) {
        let Self {
            row,
            case,
            ours,
            floor,
            goal,
            verdict,
        } = self;
        let [low, high] = ours.quartiles;
        match form {
            Form::Text => println!(
                "{row} {case}: {:.3?} (quartiles {low:.3?}, {high:.3?}; n {}), floor {floor:.3?}: \
                 {:.2} ×; goal {goal}: {verdict}",
                ours.median,
                ours.n,
                self.ratio(),
            ),
            Form::Json => println!(
                "{}",
                serde_json::json!({
                    "row": row,
                    "case": case,
                    "ours": ours.median.as_secs_f64(),
                    "floor": floor.as_secs_f64(),
                    "spread": [low.as_secs_f64(), high.as_secs_f64()],
                    "n": ours.n,
                    "ratio": self.ratio(),
                    "goal": goal,
                    "holds": *verdict == Verdict::Holds,
                })
            ),
        }
    }
}

pub(crate) fn run(options: &[&str]) -> Result<Verdict, Error> {
    let mut form = Form::Text;
    let mut rows = Vec::new();
    for option in options {
        match *option {
            "--json" => form = Form::Json,
            row @ ("B10" | "B11") => rows.push(row),
            _ => return Err("expected --json, B10 or B11".into()),
        }
    }
    let mut all = Verdict::Holds;
    for (row, measure) in [
        ("B10", starts as fn() -> Result<Vec<Figure>, Error>),
        ("B11", rate),
    ] {
        if rows.is_empty() || rows.contains(&row) {
            for figure in measure()? {
                figure.print(form);
                all = all.and(figure.verdict);
            }
        }
    }
    Ok(all)
}

/// B10: the floor, the sweep rung and the supervisor in turn, so that a busy moment meets all.
fn starts() -> Result<Vec<Figure>, Error> {
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
    let measure = || -> Result<[Sample; 3], Error> {
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..STARTS {
            for (times, time) in times.iter_mut().zip(once()?) {
                times.push(time);
            }
        }
        Ok(times.map(Sample::of))
    };
    measure()?;
    let small = measure()?;
    let ballast = vec![1_u8; BALLAST];
    let large = measure()?;
    drop(std::hint::black_box(ballast));

    let mut figures = Vec::new();
    for (suffix, [floor, sweep, supervisor]) in [("", small), (", 2 GiB resident", large)] {
        let floor = floor.median;
        let ratio = sweep.median.as_secs_f64() / floor.as_secs_f64();
        let extra = supervisor.median.saturating_sub(floor);
        figures.push(Figure {
            row: "B10",
            case: format!("sweep{suffix}"),
            ours: sweep,
            floor,
            goal: "at most 1.15 × the floor",
            verdict: Verdict::of(ratio <= 1.15),
        });
        figures.push(Figure {
            row: "B10",
            case: format!("supervisor{suffix}"),
            ours: supervisor,
            floor,
            goal: "at most the floor and 1 ms",
            verdict: Verdict::of(extra <= Duration::from_millis(1)),
        });
    }
    for (case, small, large) in [
        ("sweep, 2 GiB against none", small[1], large[1]),
        ("supervisor, 2 GiB against none", small[2], large[2]),
    ] {
        let ratio = large.median.as_secs_f64() / small.median.as_secs_f64();
        figures.push(Figure {
            row: "B10",
            case: case.to_owned(),
            ours: large,
            floor: small.median,
            goal: "at most 1.1 × that without",
            verdict: Verdict::of(ratio <= 1.1),
        });
    }
    Ok(figures)
}

async fn job(runner: &ProcessRunner) -> Result<Duration, Error> {
    let start = Instant::now();
    let hooks = runner.start(&JobCommand::argv(["/bin/true"]))?.into_hooks();
    hooks.done.await;
    Ok(start.elapsed())
}

/// B11: who prints on one processor, who takes it on another.
fn rate() -> Result<Vec<Figure>, Error> {
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
    let ratio = time.as_secs_f64() / floor.as_secs_f64();
    let is_whole = facts["outputBytes"] == PRINTED;
    Ok(vec![Figure {
        row: "B11",
        case: format!("4 GiB of lines, memory +{memory} KiB"),
        ours: Sample::of(vec![time]),
        floor,
        goal: "at most twice the time, at most 4 MiB of memory",
        verdict: Verdict::of(ratio <= 2.0 && is_whole && memory <= MEMORY_KIB),
    }])
}
