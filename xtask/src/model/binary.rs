//! Runs a file of model checks, and reads what it has checked.

use super::Args;
use crate::workspace::shown;
use anyhow::{Context as _, Result, bail, ensure};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A test file that is built.
pub(super) struct Binary {
    pub(super) package: String,
    pub(super) directory: PathBuf,
    pub(super) executable: PathBuf,
}

impl Binary {
    /// Runs it and shows what it prints.
    pub(super) fn run(&self, args: &Args) -> Result<Outcome> {
        let mut test = Command::new(&self.executable);
        test.current_dir(&self.directory);
        test.env("JOBS_MODEL_SCHEDULES", args.schedules.to_string());
        test.arg("--nocapture").args(&args.filter);
        if args.broken {
            test.arg("--exact");
        }
        eprintln!("$ {} ({})", shown(&test), self.package);
        let mut child = test
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start it")?;
        let mut checks = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line.context("failed to read what it prints")?;
                println!("{line}");
                checks.extend(Check::parse(&line));
            }
        }
        let status = child.wait().context("failed to wait for it")?;
        // The test harness ends with 101 if a test fails; anything else is no verdict.
        let success = match status.code() {
            Some(0) => true,
            Some(101) => false,
            _ => bail!("the model checks of {} ended with {status}", self.package),
        };
        Ok(Outcome { success, checks })
    }
}

pub(super) struct Outcome {
    pub(super) success: bool,
    pub(super) checks: Vec<Check>,
}

impl Outcome {
    /// A test file has to pass, and to have checked something.
    pub(super) fn judge(&self, package: &str, filtered: bool) -> Result<()> {
        ensure!(self.success, "a model check of {package} failed");
        ensure!(
            !self.checks.is_empty() || filtered,
            "{package} has run no model check: expected `check NAME: N schedules passed`"
        );
        let idle = self.checks.iter().find(|check| check.schedules == 0);
        if let Some(Check { name, .. }) = idle {
            bail!("the check {name} of {package} has tried no schedule");
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) schedules: u64,
}

impl Check {
    /// Reads `check NAME: N schedules passed`; the test harness may have begun the line.
    fn parse(line: &str) -> Option<Self> {
        let (_, line) = line.split_once("check ")?;
        let (name, rest) = line.split_once(": ")?;
        let count = rest.strip_suffix(" schedules passed")?;
        Some(Self {
            name: name.to_owned(),
            schedules: count.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_check() {
        let check = |name: &str, schedules| {
            let name = name.to_owned();
            Some(Check { name, schedules })
        };
        assert_eq!(
            Check::parse("check settle: 2000 schedules passed"),
            check("settle", 2000)
        );
        assert_eq!(
            Check::parse("test a::b ... check first wins: 1 schedules passed"),
            check("first wins", 1)
        );
        assert_eq!(Check::parse("check settle: many schedules passed"), None);
        assert_eq!(Check::parse("check settle: 2000 schedules tried"), None);
    }

    #[test]
    fn an_outcome_without_a_schedule_is_none() {
        let outcome = |success, counts: &[u64]| Outcome {
            success,
            checks: counts
                .iter()
                .map(|schedules| Check {
                    name: "settle".to_owned(),
                    schedules: *schedules,
                })
                .collect(),
        };
        assert!(outcome(true, &[5]).judge("p", false).is_ok());
        assert!(outcome(false, &[5]).judge("p", false).is_err());
        assert!(outcome(true, &[]).judge("p", false).is_err());
        assert!(outcome(true, &[]).judge("p", true).is_ok());
        assert!(outcome(true, &[5, 0]).judge("p", false).is_err());
    }
}
