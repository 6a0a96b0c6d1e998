//! `cargo xtask ci`: every check, one step after the other.

use crate::workspace::{Workspace, execute};
use crate::{bench, clients, conformance, deny, model, soak, tidy};
use anyhow::{Result, bail};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// What to leave out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave out `cargo test`, where it has run already
    #[arg(long)]
    skip_tests: bool,
}

type Run = fn(&Workspace) -> Result<()>;

/// Runs the steps up to the first that fails, and prints a table.
///
/// # Errors
///
/// If a step fails.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let mut steps: Vec<(&str, Run)> = vec![("format", format), ("clippy", clippy)];
    if !args.skip_tests {
        steps.push(("tests", tests));
    }
    steps.extend([
        ("docs", docs as Run),
        ("tidy", tidy::run),
        ("deny", |workspace| {
            deny::run(workspace, &deny::Args::default())
        }),
        ("model", models),
        ("clients", |workspace| {
            clients::run(workspace, &clients::Args::default())
        }),
        ("matrix", matrix),
        ("soak", short_soak),
    ]);
    if workspace.has(bench::PACKAGE) {
        steps.push(("bench", benches));
        steps.push(("counts", instructions));
    }
    let report = Report::of(&steps, |run| run(workspace));
    println!("\n{}", report.table());
    match report.failure {
        None => Ok(()),
        Some((step, error)) => bail!("step {step} failed: {error:#}"),
    }
}

fn format(workspace: &Workspace) -> Result<()> {
    execute(workspace.cargo().args(["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let mut clippy = workspace.cargo();
    clippy.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    execute(&mut clippy)
}

fn tests(workspace: &Workspace) -> Result<()> {
    execute(workspace.cargo().args(["test", "--workspace"]))
}

fn docs(workspace: &Workspace) -> Result<()> {
    let mut doc = workspace.cargo();
    doc.args(["doc", "--workspace", "--no-deps"]);
    execute(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn models(workspace: &Workspace) -> Result<()> {
    let args = model::Args {
        schedules: 2000,
        broken: false,
        filter: None,
    };
    model::run(workspace, &args)
}

fn matrix(workspace: &Workspace) -> Result<()> {
    conformance::run(workspace, &conformance::Args { matrix: true })
}

fn short_soak(workspace: &Workspace) -> Result<()> {
    let args = soak::Args {
        minutes: 1.0 / 6.0,
        owners: 200,
        threads: 2,
        rest: 20,
        fault: None,
    };
    soak::run(workspace, &args)
}

fn benches(workspace: &Workspace) -> Result<()> {
    let args = bench::Args {
        smoke: true,
        ..bench::Args::default()
    };
    bench::run(workspace, &args)
}

fn instructions(workspace: &Workspace) -> Result<()> {
    let args = bench::Args {
        instructions: true,
        ..bench::Args::default()
    };
    bench::run(workspace, &args)
}

/// What became of the steps.
struct Report {
    rows: Vec<(&'static str, State)>,
    failure: Option<(&'static str, anyhow::Error)>,
}

enum State {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

impl Report {
    /// Runs steps until one fails.
    fn of<T>(steps: &[(&'static str, T)], run: impl Fn(&T) -> Result<()>) -> Self {
        let mut rows = Vec::new();
        let mut failure = None;
        for (name, step) in steps {
            if failure.is_some() {
                rows.push((*name, State::NotRun));
                continue;
            }
            println!("\n== {name}");
            let start = Instant::now();
            let outcome = run(step);
            let took = start.elapsed();
            println!("== {name}: {:.1} s", took.as_secs_f64());
            rows.push((
                *name,
                match outcome {
                    Ok(()) => State::Passed(took),
                    Err(_) => State::Failed(took),
                },
            ));
            failure = outcome.err().map(|error| (*name, error));
        }
        Self { rows, failure }
    }

    fn table(&self) -> String {
        let mut table = format!("{:<8} {:<8} {:>8}\n", "step", "result", "seconds");
        for (name, state) in &self.rows {
            let (result, took) = match state {
                State::Passed(took) => ("passed", Some(took)),
                State::Failed(took) => ("FAILED", Some(took)),
                State::NotRun => ("not run", None),
            };
            let took = took.map_or("-".to_owned(), |took| format!("{:.1}", took.as_secs_f64()));
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{name:<8} {result:<8} {took:>8}");
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::Report;
    use anyhow::bail;
    use std::cell::RefCell;

    #[test]
    fn the_first_failure_ends_the_run_and_the_table_has_every_step() {
        let ran = RefCell::new(Vec::new());
        let report = Report::of(&[("one", 1), ("two", 2), ("three", 3)], |step| {
            ran.borrow_mut().push(*step);
            if *step == 2 {
                bail!("no")
            }
            Ok(())
        });
        assert_eq!(ran.into_inner(), [1, 2]);
        let table = report.table();
        let results: Vec<_> = table
            .lines()
            .skip(1)
            .map(|row| row.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(results, ["one passed", "two FAILED", "three not"]);
        let (step, error) = report.failure.expect("a failure");
        assert_eq!((step, error.to_string().as_str()), ("two", "no"));
    }

    #[test]
    fn nothing_fails() {
        let report = Report::of(&[("one", 1)], |_| Ok(()));
        assert!(report.failure.is_none());
    }
}
