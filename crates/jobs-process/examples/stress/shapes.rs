//! What survives a cancel: each shape of a tree on each rung of the containment ladder
//! (spec/process.md, The tree, not the leader).

use std::path::Path;
use std::time::{Duration, Instant};

use jobs_process::{Containment, JobCommand, ProcessConfig};

use crate::scan::{MARK, Scan, new_mark};
use crate::{Error, Verdict, beat, runner};

const RUNGS: [Containment; 3] = [
    Containment::Group,
    Containment::Sweep,
    Containment::Supervisor,
];
/// How long a shape may take to stand, and a cancel to end it.
const PATIENCE: Duration = Duration::from_secs(30);

struct Shape {
    name: &'static str,
    /// `$BEAT` is a process whose file grows; `$FILE` is that file.
    script: &'static str,
    /// For how long it runs once its file grows.
    runs: Duration,
    /// The survivors of the table: group, sweep, supervisor.
    table: [usize; 3],
}

const SHAPES: [Shape; 5] = [
    Shape {
        name: "setsid",
        script: "setsid $BEAT & sleep 30",
        runs: Duration::ZERO,
        table: [1, 0, 0],
    },
    Shape {
        name: "double fork, stdio closed",
        script: "(setsid sh -c '$BEAT </dev/null >/dev/null 2>&1 & exit' &); sleep 30",
        runs: Duration::ZERO,
        table: [1, 0, 0],
    },
    Shape {
        name: "setsid fork storm",
        script: "while :; do setsid sh -c 'printf . >>$FILE; exec sleep 30' & done",
        runs: Duration::from_millis(400),
        table: [395, 0, 0],
    },
    Shape {
        name: "timeout 100 …; …",
        script: "timeout 100 $BEAT; echo after",
        runs: Duration::ZERO,
        table: [2, 0, 0],
    },
    Shape {
        name: "env -i, double fork, setsid",
        script: "env -i setsid sh -c \"$BEAT </dev/null >/dev/null 2>&1 & exit\"; sleep 30",
        runs: Duration::ZERO,
        table: [1, 1, 0],
    },
];

pub(crate) async fn run() -> Result<Verdict, Error> {
    let mut all = Verdict::Holds;
    println!(
        "survivors of a cancel (those of the table), the heartbeat after it, time to settle\n"
    );
    print!("{:28}", "shape");
    for rung in RUNGS {
        print!("  {:36}", format!("{rung:?}").to_lowercase());
    }
    println!();
    for shape in &SHAPES {
        print!("{:28}", shape.name);
        for (rung, table) in RUNGS.into_iter().zip(shape.table) {
            let cell = cell(shape, rung).await?;
            let verdict = cell.verdict(table);
            let shown = format!(
                "{:3} ({table:3}) {:7} {:5} ms {verdict}",
                cell.survivors,
                if cell.beats { "beats" } else { "stopped" },
                cell.settled.as_millis(),
            );
            print!("  {shown:36}");
            all = all.and(verdict);
        }
        println!();
    }
    println!("\nshapes: {all}");
    Ok(all)
}

/// One cell again and again; prints only what does not hold, and how its job ended then.
pub(crate) async fn again(name: &str, rung: &str, times: &str) -> Result<Verdict, Error> {
    let shape = SHAPES.iter().position(|shape| shape.name == name);
    let shape = &SHAPES[shape.ok_or("no such shape")?];
    let index = RUNGS
        .iter()
        .position(|known| format!("{known:?}").to_lowercase() == rung)
        .ok_or("no such rung")?;
    let mut all = Verdict::Holds;
    let mut slowest = Duration::ZERO;
    for time in 0..times.parse()? {
        let cell = cell(shape, RUNGS[index]).await?;
        let verdict = cell.verdict(shape.table[index]);
        slowest = slowest.max(cell.settled);
        if verdict == Verdict::Broken {
            println!(
                "{time}: {} survivors, {} children, beats: {}, after {:?}: {}",
                cell.survivors, cell.children, cell.beats, cell.settled, cell.end
            );
        }
        all = all.and(verdict);
    }
    println!("{name}, {rung}, {times} times, {slowest:?} to settle at most: {all}");
    Ok(all)
}

struct Cell {
    survivors: usize,
    /// The file still grew after the job was settled.
    beats: bool,
    /// Children of the host, zombies among them, that were there after the job was settled.
    children: usize,
    settled: Duration,
    /// What the job told of its end.
    end: String,
}

impl Cell {
    /// As good as the table or better; and where nothing survives, nothing beats either.
    fn verdict(&self, table: usize) -> Verdict {
        let is_good = self.survivors <= table && self.children == 0;
        Verdict::of(is_good && (self.survivors > 0 || !self.beats))
    }
}

async fn cell(shape: &Shape, rung: Containment) -> Result<Cell, Error> {
    let mark = new_mark();
    let directory = tempfile::Builder::new().prefix(&mark).tempdir()?;
    let file = directory.path().join("beats");
    let config = ProcessConfig::new().with_grace(Duration::from_millis(500));
    let runner = runner(rung, config)?;
    let this = std::env::current_exe()?;
    let command = JobCommand::shell(shape.script)
        .with_env(
            "BEAT",
            format!("{} beat {}", this.display(), file.display()),
        )
        .with_env("FILE", file.as_os_str())
        .with_env(MARK, &mark);
    let hooks = runner.start(&command)?.into_hooks();
    let beating = wait(|| size(&file) > 1).await;
    if beating {
        tokio::time::sleep(shape.runs).await;
    }
    let start = Instant::now();
    (hooks.cancel)(None)?;
    let ended = tokio::time::timeout(PATIENCE, hooks.done).await;
    let settled = start.elapsed();
    // With its spare supervisor: no child of any kind is left after this.
    drop(runner);
    let scan = Scan::take(&mark)?;
    let before = size(&file);
    tokio::time::sleep(10 * beat::BEAT).await;
    let beats = size(&file) > before;
    // Before any error: nothing stays behind.
    scan.kill();
    let end = ended?.detail.unwrap_or_default();
    if !beating {
        return Err(format!("{}: its file never grew", shape.name).into());
    }
    Ok(Cell {
        survivors: scan.live.len(),
        beats,
        children: scan.children + scan.zombies,
        settled,
        end,
    })
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}

async fn wait(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() && start.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    condition()
}
