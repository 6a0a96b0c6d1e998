//! Runs what measures, and reads its lines of JSON.

use super::PACKAGE;
use crate::workspace::{Workspace, shown};
use anyhow::{Context as _, Result, ensure};
use jobs_bench::figure::{Figure, Goal, Unit};
use jobs_bench::heap::Counted;
use jobs_bench::side::Spread;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::process::{Command, Stdio};
use std::str::FromStr;

/// How often each side is sampled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs(u16);

impl Default for Runs {
    fn default() -> Self {
        Self(15)
    }
}

impl FromStr for Runs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(runs) if runs >= 5 => Ok(Self(runs)),
            _ => Err(format!("expected a whole number from 5, got {text}")),
        }
    }
}

impl std::fmt::Display for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A binary of the benchmarks, built for release.
pub(super) fn binary(workspace: &Workspace, name: &str) -> Command {
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--release", "--package", PACKAGE]);
    command.args(["--bin", name, "--"]);
    command
}

/// Runs a command and hands out what it printed.
pub(super) fn output(command: &mut Command) -> Result<String> {
    printed(command, &[0])
}

/// What a command prints that may end with one of these codes.
fn printed(command: &mut Command, codes: &[i32]) -> Result<String> {
    eprintln!("$ {}", shown(command));
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("failed to start {}", shown(command)))?;
    let status = output.status;
    let expected = status.code().is_some_and(|code| codes.contains(&code));
    ensure!(expected, "{} ended with {status}", shown(command));
    String::from_utf8(output.stdout).context("expected text")
}

/// Runs a command that prints lines of JSON.
pub(super) fn lines<T: DeserializeOwned>(command: &mut Command) -> Result<Vec<T>> {
    parsed(&output(command)?)
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("cannot read {line}")))
        .collect()
}

/// A line of the heap's binary.
#[derive(Deserialize)]
#[serde(untagged)]
enum HeapLine {
    Figure(Figure),
    Counted(Counted),
}

/// Every row, in the order of their numbers.
pub(super) fn all(workspace: &Workspace, runs: Runs) -> Result<Vec<Figure>> {
    let mut figures: Vec<Figure> = lines(&mut rows(workspace, runs))?;
    figures.extend(heap(workspace)?.0);
    figures.extend(["B10", "B11"].into_iter().flat_map(|row| {
        processes(workspace, &[row]).unwrap_or_else(|error| {
            eprintln!("{row} could not be measured: {error:#}");
            vec![missing(row)]
        })
    }));
    let number = |figure: &Figure| figure.row.trim_start_matches('B').parse::<u32>().ok();
    figures.sort_by_key(number);
    Ok(figures)
}

/// One row.
pub(super) fn row(workspace: &Workspace, runs: Runs, row: &str) -> Result<Vec<Figure>> {
    match row {
        "B7" => Ok(heap(workspace)?.0),
        "B10" | "B11" => processes(workspace, &[row]),
        _ => lines(rows(workspace, runs).args(["--row", row])),
    }
}

/// What the hot paths allocate.
pub(super) fn allocations(workspace: &Workspace) -> Result<Vec<Counted>> {
    Ok(heap(workspace)?.1)
}

fn rows(workspace: &Workspace, runs: Runs) -> Command {
    let mut command = binary(workspace, PACKAGE);
    command.args(["rows", "--runs", &runs.to_string()]);
    command
}

fn heap(workspace: &Workspace) -> Result<(Vec<Figure>, Vec<Counted>)> {
    let (mut figures, mut counted) = (Vec::new(), Vec::new());
    for line in lines(&mut binary(workspace, "heap"))? {
        match line {
            HeapLine::Figure(figure) => figures.push(figure),
            HeapLine::Counted(count) => counted.push(count),
        }
    }
    Ok((figures, counted))
}

/// A line of the example `stress`; times in seconds.
#[derive(Deserialize)]
struct ProcessLine {
    row: String,
    case: String,
    ours: f64,
    floor: f64,
    spread: [f64; 2],
    goal: String,
    holds: bool,
}

/// B10 and B11, which the process producer measures by whole processes. It judges its goals itself, and ends with 1
/// where one does not hold.
fn processes(workspace: &Workspace, rows: &[&str]) -> Result<Vec<Figure>> {
    let mut command = crate::stress::example(workspace)?;
    command.arg("figures").args(rows).arg("--json");
    let measured: Vec<ProcessLine> = parsed(&printed(&mut command, &[0, 1])?)?;
    Ok(measured.into_iter().map(ProcessLine::into_figure).collect())
}

/// A row that could not be measured, which is not met.
fn missing(row: &str) -> Figure {
    let goal = Goal::Judged {
        text: "not measured".to_owned(),
        met: false,
    };
    Figure::absolute(row, "", Spread::of(vec![f64::NAN]), goal)
}

impl ProcessLine {
    fn into_figure(self) -> Figure {
        let nanoseconds = |seconds: f64| seconds * 1e9;
        let [low, high] = self.spread.map(nanoseconds);
        let ours = Spread {
            median: nanoseconds(self.ours),
            low,
            high,
        };
        let floor = Spread::of(vec![nanoseconds(self.floor)]);
        let goal = Goal::Judged {
            text: self.goal,
            met: self.holds,
        };
        Figure::new(&self.row, &self.case, ours, floor, goal).in_unit(Unit::Nanoseconds)
    }
}
