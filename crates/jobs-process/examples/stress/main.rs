//! A host of real jobs, to see what they leave and what they cost: `cargo xtask stress` runs it.
//!
//! It is its own supervisor binary, as hosts are by default. Whoever counts is another process:
//! this program again, in the role of a scanner. It ends with 0 only if every row holds.

mod beat;
mod endless;
mod figures;
mod many;
mod print;
mod scan;
mod shapes;

use std::process::ExitCode;

use jobs_process::{Containment, ProcessConfig, ProcessRunner};

type Error = Box<dyn std::error::Error>;

/// What became of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Broken,
}

impl Verdict {
    fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Broken }
    }

    fn and(self, other: Self) -> Self {
        Self::of(self == Self::Holds && other == Self::Holds)
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Broken => "BROKEN",
        })
    }
}

fn main() -> ExitCode {
    jobs_process::init();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let verdict = match args.as_slice() {
        ["scan", host] => scan::serve(host),
        ["beat", file] => beat::run(file.as_ref()),
        ["print", bytes] => print::run(bytes),
        ["shapes"] => on_runtime(shapes::run()),
        ["shapes", shape, rung, times] => on_runtime(shapes::again(shape, rung, times)),
        ["many"] => on_runtime(many::run()),
        ["endless"] => on_runtime(endless::run()),
        ["figures", options @ ..] => figures::run(options),
        _ => Err("expected shapes, many, endless or figures".into()),
    };
    match verdict {
        Ok(Verdict::Holds) => ExitCode::SUCCESS,
        Ok(Verdict::Broken) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("stress: {error}");
            ExitCode::from(2)
        }
    }
}

fn on_runtime(work: impl Future<Output = Result<Verdict, Error>>) -> Result<Verdict, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}

/// A runner on exactly this rung.
fn runner(rung: Containment, config: ProcessConfig) -> Result<ProcessRunner, Error> {
    let runner = ProcessRunner::new(config.with_containment(rung))?;
    if runner.containment() != rung {
        return Err(format!("expected {rung:?}, got {:?}", runner.containment()).into());
    }
    Ok(runner)
}
