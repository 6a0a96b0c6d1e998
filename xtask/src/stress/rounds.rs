//! The tests of the process producer, in rounds: none may fail once, and none may be left out.

use super::PACKAGE;
use super::busy::Busy;
use crate::workspace::{Workspace, shown};
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Message;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Rows may be in any of these; a run without them has not run the rows.
const ROWS: usize = 20;

/// How often, and beside what.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Rounds over all rows
    #[arg(long, default_value_t = 50)]
    rounds: usize,
    /// Other jobs that live beside the tests, shared among the hosts
    #[arg(long, default_value_t = 64)]
    jobs: usize,
    /// Hosts at the same time, each with its share of the tests and of the other jobs
    #[arg(long, default_value = "4")]
    hosts: NonZeroUsize,
    /// Leave the processors alone
    #[arg(long)]
    quiet: bool,
    /// Run only tests whose names contain this
    filter: Option<String>,
}

/// Runs the rounds, and prints rows × rounds.
///
/// # Errors
///
/// If a test fails in any round, is ignored, or is not there.
pub(super) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let (binary, directory) = build(workspace)?;
    let busy = (!args.quiet).then(Busy::start);
    let tests = list(&binary, &directory, args)?;
    let host = Host {
        binary: &binary,
        directory: &directory,
        args,
    };
    println!(
        "{} rounds of {} tests in {} hosts beside {} busy loops and {} live jobs",
        args.rounds,
        tests.len(),
        args.hosts,
        busy.as_ref().map_or(0, Busy::count),
        args.jobs
    );
    let mut table = Table::default();
    for round in 0..args.rounds {
        let start = Instant::now();
        let verdicts = one_round(&host, &tests)?;
        let failed = verdicts.values().filter(|v| **v != Verdict::Ok).count();
        println!(
            "round {}: {} rows, {failed} failed, {:.1} s",
            round + 1,
            verdicts.len(),
            start.elapsed().as_secs_f64()
        );
        table.add(round, verdicts);
    }
    println!("\n{table}", table = table.print(args.rounds));
    table.judge(args)
}

/// Builds the tests; returns the binary and the directory that it runs in.
fn build(workspace: &Workspace) -> Result<(PathBuf, PathBuf)> {
    let mut build = workspace.cargo();
    build.args(["test", "--no-run", "--package", PACKAGE, "--test", "it"]);
    build.arg("--message-format=json-render-diagnostics");
    eprintln!("$ {}", shown(&build));
    let output = build
        .stderr(Stdio::inherit())
        .output()
        .context("failed to start cargo")?;
    ensure!(output.status.success(), "the tests do not build");
    for message in Message::parse_stream(output.stdout.as_slice()) {
        if let Message::CompilerArtifact(artifact) = message?
            && let Some(executable) = artifact.executable
            && artifact.target.name == "it"
        {
            let manifest = artifact.manifest_path.as_std_path();
            let directory = manifest.parent().unwrap_or(manifest).to_owned();
            return Ok((executable.into(), directory));
        }
    }
    anyhow::bail!("cargo built no test binary of {PACKAGE}")
}

/// The names of the tests that are asked for.
fn list(binary: &Path, directory: &Path, args: &Args) -> Result<Vec<String>> {
    let output = Command::new(binary)
        .args(["--list", "--format", "terse"])
        .args(&args.filter)
        .current_dir(directory)
        .output()
        .context("failed to list the tests")?;
    ensure!(output.status.success(), "the tests cannot be listed");
    let text = String::from_utf8(output.stdout).context("a test has a strange name")?;
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(ToOwned::to_owned).collect())
}

/// Runs all tests once, in several hosts at the same time: each counts its own children, so they do
/// not disturb each other, and what mostly waits does not wait in a row.
fn one_round(host: &Host<'_>, tests: &[String]) -> Result<BTreeMap<String, Verdict>> {
    let shares = (0..host.args.hosts.get()).map(|index| {
        let names = tests.iter().skip(index).step_by(host.args.hosts.get());
        names.collect::<Vec<_>>()
    });
    let shares: Vec<_> = shares.filter(|names| !names.is_empty()).collect();
    std::thread::scope(|scope| {
        let hosts: Vec<_> = shares
            .iter()
            .map(|names| scope.spawn(|| host.run(names)))
            .collect();
        let mut verdicts = BTreeMap::new();
        for host in hosts {
            let ended = host
                .join()
                .map_err(|_| anyhow::anyhow!("a host panicked"))?;
            verdicts.extend(ended?);
        }
        Ok(verdicts)
    })
}

/// How a process is run that holds a share of the tests.
struct Host<'a> {
    binary: &'a Path,
    directory: &'a Path,
    args: &'a Args,
}

impl Host<'_> {
    fn run(&self, names: &[&String]) -> Result<BTreeMap<String, Verdict>> {
        let mut tests = Command::new(self.binary);
        tests
            .args(["--test-threads", "1", "--color", "never", "--exact"])
            .args(names)
            .current_dir(self.directory)
            .env(
                "JOBS_TEST_OTHER_JOBS",
                self.args.jobs.div_ceil(self.args.hosts.get()).to_string(),
            )
            .stdout(Stdio::piped());
        let mut child = tests.spawn().context("failed to start the tests")?;
        let mut verdicts = BTreeMap::new();
        let mut rest = String::new();
        if let Some(stdout) = child.stdout.take() {
            let mut lines = BufReader::new(stdout);
            let mut line = String::new();
            // Up to the summary; what follows are the texts of failed tests.
            while lines.read_line(&mut line)? > 0 {
                match verdict(&line) {
                    Some((name, verdict)) => drop(verdicts.insert(name, verdict)),
                    None => rest.push_str(&line),
                }
                line.clear();
            }
        }
        let status = child.wait().context("failed to wait for the tests")?;
        if !status.success() {
            println!("{rest}");
            ensure!(
                verdicts.values().any(|verdict| *verdict != Verdict::Ok),
                "the tests ended with {status}"
            );
        }
        Ok(verdicts)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Failed,
    Ignored,
}

/// Reads `test NAME ... VERDICT`.
fn verdict(line: &str) -> Option<(String, Verdict)> {
    let (name, verdict) = line.strip_prefix("test ")?.trim_end().split_once(" ... ")?;
    let verdict = match verdict {
        "ok" => Verdict::Ok,
        _ if verdict.starts_with("ignored") => Verdict::Ignored,
        _ => Verdict::Failed,
    };
    Some((name.to_owned(), verdict))
}

/// For each row, what became of it in each round.
#[derive(Default)]
struct Table(BTreeMap<String, Vec<Option<Verdict>>>);

impl Table {
    fn add(&mut self, round: usize, verdicts: BTreeMap<String, Verdict>) {
        for (name, verdict) in verdicts {
            let row = self.0.entry(name).or_default();
            row.resize(round, None);
            row.push(Some(verdict));
        }
    }

    fn print(&self, rounds: usize) -> String {
        let width = self.0.keys().map(String::len).max().unwrap_or(0);
        let mut text = String::new();
        for (name, row) in &self.0 {
            let cells: String = (0..rounds)
                .map(|round| match row.get(round).copied().flatten() {
                    Some(Verdict::Ok) => '.',
                    Some(Verdict::Failed) => 'F',
                    Some(Verdict::Ignored) => 'i',
                    None => '-',
                })
                .collect();
            let passed = cells.matches('.').count();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:width$}  {cells}  {passed}/{rounds}");
        }
        text
    }

    fn judge(&self, args: &Args) -> Result<()> {
        let numbers = (1..=ROWS).filter(|number| {
            let row = format!("row_{number:02}_");
            self.0.keys().any(|name| name.contains(&row))
        });
        ensure!(
            args.filter.is_some() || numbers.count() == ROWS,
            "not all {ROWS} rows are among the tests"
        );
        ensure!(!self.0.is_empty() && args.rounds > 0, "nothing has run");
        let is_good = |row: &Vec<Option<Verdict>>| {
            row.len() == args.rounds && row.iter().all(|cell| *cell == Some(Verdict::Ok))
        };
        let bad = self.0.values().filter(|row| !is_good(row)).count();
        ensure!(bad == 0, "{bad} rows did not pass every round");
        println!("{} rows passed {} rounds", self.0.len(), args.rounds);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(rounds: usize) -> Args {
        Args {
            rounds,
            jobs: 0,
            hosts: NonZeroUsize::MIN,
            quiet: true,
            filter: None,
        }
    }

    fn all(verdict: Verdict) -> BTreeMap<String, Verdict> {
        let name = |number| format!("acceptance::row_{number:02}_x::sweep");
        (1..=ROWS).map(|number| (name(number), verdict)).collect()
    }

    #[test]
    fn a_line_of_the_harness_is_read() {
        let ok = Some(("a::b".to_owned(), Verdict::Ok));
        assert_eq!(verdict("test a::b ... ok\n"), ok);
        let failed = Some(("a::b".to_owned(), Verdict::Failed));
        assert_eq!(verdict("test a::b ... FAILED\n"), failed);
        let ignored = Some(("a::b".to_owned(), Verdict::Ignored));
        assert_eq!(verdict("test a::b ... ignored, why\n"), ignored);
        assert_eq!(verdict("test result: ok. 1 passed\n"), None);
    }

    #[test]
    fn one_failure_in_one_round_is_enough() {
        for (second, text) in [
            (Verdict::Ok, None),
            (Verdict::Failed, Some("1 rows did not pass")),
            (Verdict::Ignored, Some("1 rows did not pass")),
        ] {
            let mut table = Table::default();
            table.add(0, all(Verdict::Ok));
            let mut round = all(Verdict::Ok);
            round.insert("acceptance::row_03_x::sweep".to_owned(), second);
            table.add(1, round);
            let judged = table.judge(&args(2)).map_err(|error| error.to_string());
            match text {
                None => assert_eq!(judged, Ok(())),
                Some(text) => assert!(judged.expect_err("noticed").starts_with(text)),
            }
        }
    }

    #[test]
    fn a_row_that_is_missing_is_noticed() {
        let mut table = Table::default();
        let mut round = all(Verdict::Ok);
        round.remove("acceptance::row_20_x::sweep");
        table.add(0, round);
        let error = table.judge(&args(1)).expect_err("noticed").to_string();
        assert!(error.starts_with("not all 20 rows"), "{error}");

        // In one round only.
        let mut table = Table::default();
        table.add(0, all(Verdict::Ok));
        let mut round = all(Verdict::Ok);
        round.remove("acceptance::row_20_x::sweep");
        table.add(1, round);
        assert!(table.judge(&args(2)).is_err());
    }
}
