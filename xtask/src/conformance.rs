//! `cargo xtask conformance`: the contract against the in-memory registry, and the sabotage matrix.
//!
//! A row of the matrix is a registry that breaks one clause, with the cases that noticed. The test that makes
//! it fails unless they are exactly the declared ones; here they are printed and counted, and every clause of
//! `docs/contract.md` must have a row.

use crate::workspace::{Workspace, execute, shown};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::process::Stdio;

/// What to show.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Break each clause, and print which cases notice
    #[arg(long)]
    pub(crate) matrix: bool,
}

/// Runs the cases, or the matrix.
///
/// # Errors
///
/// If a case fails; for the matrix, if a broken clause is not caught by exactly its cases, or one is not broken.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.matrix {
        return matrix(workspace);
    }
    let mut test = workspace.cargo();
    test.args(["test", "--package", "jobs-local", "--test", "conformance"]);
    execute(&mut test)
}

fn matrix(workspace: &Workspace) -> Result<()> {
    let contract = workspace.root().join("docs/contract.md");
    let contract = std::fs::read_to_string(contract).context("failed to read docs/contract.md")?;
    let mut test = workspace.cargo();
    test.args(["test", "--package", "jobs-testkit", "--test", "matrix"]);
    test.args(["--", "--nocapture"]);
    eprintln!("$ {}", shown(&test));
    let output = test
        .stderr(Stdio::inherit())
        .output()
        .context("failed to start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<_> = text.lines().filter_map(Row::parse).collect();
    println!("{:<6} {:<36} cases that noticed", "clause", "fault");
    rows.iter().for_each(Row::print);
    if !output.status.success() {
        print!("{text}");
    }
    ensure!(output.status.success(), "the matrix is not as declared");
    println!("{}", Matrix::of(&rows, &clauses(&contract))?);
    Ok(())
}

/// The clauses of the table in `docs/contract.md`.
fn clauses(contract: &str) -> BTreeSet<&str> {
    contract
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter_map(|row| row.split_once(" |"))
        .map(|(clause, _)| clause)
        .filter(|clause| clause.starts_with("C-"))
        .collect()
}

/// A fault, and who noticed it.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    clause: String,
    fault: String,
    cases: Vec<String>,
}

impl Row {
    /// Reads `C-31 Fault: {"case", "case"}`; the test harness may have begun the line.
    fn parse(line: &str) -> Option<Self> {
        let (head, cases) = line.split_once(": {")?;
        let cases = cases.strip_suffix('}')?;
        let mut words = head.split_whitespace().rev();
        let (fault, clause) = (words.next()?, words.next()?);
        clause.strip_prefix("C-")?;
        let cases = cases
            .split(", ")
            .map(|case| case.trim_matches('"').to_owned())
            .filter(|case| !case.is_empty());
        Some(Self {
            clause: clause.to_owned(),
            fault: fault.to_owned(),
            cases: cases.collect(),
        })
    }

    fn print(&self) {
        let mut cases = self.cases.iter();
        let first = cases.next().map_or("(none)", String::as_str);
        println!("{:<6} {:<36} {first}", self.clause, self.fault);
        for case in cases {
            println!("{:<43} {case}", "");
        }
    }
}

/// What a whole matrix shows.
#[derive(Debug, PartialEq, Eq)]
struct Matrix {
    clauses: usize,
    faults: usize,
    cases: usize,
}

impl Matrix {
    fn of(rows: &[Row], clauses: &BTreeSet<&str>) -> Result<Self> {
        let unnoticed = rows.iter().find(|row| row.cases.is_empty());
        ensure!(unnoticed.is_none(), "not noticed: {unnoticed:?}");
        let broken: BTreeSet<_> = rows.iter().map(|row| row.clause.as_str()).collect();
        ensure!(!clauses.is_empty(), "docs/contract.md has no clause");
        ensure!(
            broken == *clauses,
            "clauses and rows differ: {:?}",
            broken.symmetric_difference(clauses)
        );
        let cases: BTreeSet<_> = rows.iter().flat_map(|row| &row.cases).collect();
        Ok(Self {
            clauses: clauses.len(),
            faults: rows.len(),
            cases: cases.len(),
        })
    }
}

impl std::fmt::Display for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            clauses,
            faults,
            cases,
        } = self;
        write!(
            f,
            "matrix: {clauses} clauses, {faults} faults, {cases} cases; each fault caught by exactly its cases"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_row() {
        let row = Row::parse("test matrix ... C-31 Skips: {\"one\", \"two\"}").expect("a row");
        assert_eq!((row.clause.as_str(), row.fault.as_str()), ("C-31", "Skips"));
        assert_eq!(row.cases, ["one", "two"]);
        assert_eq!(Row::parse("test matrix ... ok"), None);
        assert_eq!(Row::parse("note: {x}"), None);
    }

    #[test]
    fn every_clause_needs_a_row_and_every_row_a_case() {
        let clauses = clauses(
            "| clause | promise | cases |\n|---|---|---|\n| C-1 | a | `b` |\n| C-2 | c | `d` |\n",
        );
        assert_eq!(clauses, BTreeSet::from(["C-1", "C-2"]));
        let row = |line| Row::parse(line).expect("a row");
        let (one, two) = (row("C-1 A: {\"b\"}"), row("C-2 B: {\"b\", \"d\"}"));
        let unnoticed = row("C-2 C: {}");
        assert!(Matrix::of(&[], &clauses).is_err());
        assert!(Matrix::of(std::slice::from_ref(&one), &clauses).is_err());
        let matrix = Matrix::of(&[one, two], &clauses).expect("a matrix");
        assert_eq!((matrix.clauses, matrix.faults, matrix.cases), (2, 2, 2));
        assert!(Matrix::of(&[row("C-1 A: {\"b\"}"), unnoticed], &clauses).is_err());
    }
}
