//! Running a folder of scenarios and telling what deviates.

use std::fmt::{self, Display};
use std::path::Path;

use serde_json::Value;

use crate::differences::{self, Entry, Field, Ours};
use crate::load::{self, Scenario};
use crate::project::{Ending, Events};
use crate::record::{Kind, Record};
use crate::situation::Side;
use crate::world;

/// What became of a folder.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// One line a deviation.
    pub(crate) deviations: Vec<String>,
    pub(crate) scenarios: usize,
    pub(crate) compared: usize,
    pub(crate) listed: usize,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.deviations {
            writeln!(f, "{line}")?;
        }
        writeln!(
            f,
            "{} scenarios, {} ops compared, {} listed, {} deviations",
            self.scenarios,
            self.compared,
            self.listed,
            self.deviations.len()
        )
    }
}

/// Where the listed differences are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Differences<'a> {
    /// In `differences.json` of the folder, if it has one. Every entry must be
    /// of one of its scenarios.
    InFolder,
    /// In a file for any number of folders.
    In(&'a Path),
}

/// Runs every scenario of `folder` against the listed differences.
pub(crate) fn folder(folder: &Path, differences: Differences<'_>) -> Result<Report, String> {
    let scenarios = load::folder(folder)?;
    let own = folder.join("differences.json");
    let entries = match differences {
        Differences::InFolder if !own.exists() => Vec::new(),
        Differences::InFolder => differences::list(&own)?,
        Differences::In(file) => differences::list(file)?,
    };
    let mut report = Report {
        scenarios: scenarios.len(),
        ..Report::default()
    };
    for scenario in &scenarios {
        let entries: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.scenario == scenario.name)
            .collect();
        compare(scenario, &entries, &mut report);
    }
    if let Differences::InFolder = differences {
        for entry in &entries {
            if !scenarios
                .iter()
                .any(|scenario| scenario.name == entry.scenario)
            {
                report.deviations.push(format!(
                    "{} op {}: expected a scenario of the listed difference, got none",
                    entry.scenario, entry.op
                ));
            }
        }
    }
    Ok(report)
}

fn compare(scenario: &Scenario, entries: &[&Entry], report: &mut Report) {
    let records = world::run(scenario);
    if scenario.ops.len() != scenario.expected.len() {
        report.deviations.push(format!(
            "{} op {}: expected {} recorded operations, got {}",
            scenario.name,
            scenario.expected.len().min(scenario.ops.len()),
            scenario.ops.len(),
            scenario.expected.len()
        ));
    }
    for (op, (expected, ours)) in scenario.expected.iter().zip(&records).enumerate() {
        let mut judge = Judge {
            scenario: &scenario.name,
            op,
            report,
        };
        let entries: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.op == op)
            .copied()
            .collect();
        judge.operation(expected, ours, &entries);
    }
    for entry in entries {
        if entry.op >= scenario.expected.len() {
            report.deviations.push(format!(
                "{} op {}: expected an operation of the listed difference, got none",
                scenario.name, entry.op
            ));
        }
    }
}

/// Compares one operation.
struct Judge<'a> {
    scenario: &'a str,
    op: usize,
    report: &'a mut Report,
}

impl Judge<'_> {
    fn deviates(&mut self, expected: &dyn Display, got: &dyn Display) {
        self.report.deviations.push(format!(
            "{} op {}: expected {expected} got {got}",
            self.scenario, self.op
        ));
    }

    fn operation(&mut self, expected: &Value, ours: &Record, entries: &[&Entry]) {
        self.report.listed += entries.len();
        if matches!(ours.kind, Kind::NotOurs | Kind::Unknown) {
            if entries.is_empty() {
                self.deviates(&"an operation that is run or listed", &short(&ours.ending));
            }
            return;
        }
        self.report.compared += 1;
        let (of_ending, of_events): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| entry.is_of_ending());
        self.ending(&Ending::of(expected, Side::Reference), ours, &of_ending);
        let recorded = expected.get("events").unwrap_or(&Value::Null);
        self.events(Events::of(recorded).as_ref(), ours, &of_events);
    }

    fn ending(&mut self, expected: &Ending, ours: &Record, entries: &[&Entry]) {
        let agrees = expected.admits(&ours.ending);
        if entries.is_empty() && !agrees {
            self.deviates(&short(expected), &short(&ours.ending));
        }
        for entry in entries {
            if agrees && ours.kind != Kind::Inexpressible {
                self.stale(entry, &short(&ours.ending));
            } else if !entry.admits_ending(&ours.ending) {
                self.deviates(&asserted(entry), &short(&ours.ending));
            }
        }
    }

    fn events(&mut self, expected: Option<&Events>, ours: &Record, entries: &[&Entry]) {
        let events = Events::of(&Value::Array(ours.events.clone())).unwrap_or_default();
        // Where none are expected, only their number was recorded.
        let differing = expected.filter(|expected| **expected != events);
        let agrees = differing.is_none();
        if let (Some(expected), true) = (differing, entries.is_empty()) {
            self.deviates(&short(expected), &short(&events));
        }
        for entry in entries {
            if agrees && ours.kind != Kind::Inexpressible {
                self.stale(entry, &"the recorded events");
            } else if !entry.admits_events(&events, expected) {
                self.deviates(&asserted(entry), &short(&events));
            }
        }
    }

    fn stale(&mut self, entry: &Entry, got: &dyn Display) {
        let field = match entry.field {
            Field::Events => "events",
            Field::Result => "result",
            Field::Throws => "throws",
        };
        let expected = format!("the listed difference in {field} (it deviates no longer)");
        self.deviates(&expected, got);
    }
}

fn asserted(entry: &Entry) -> String {
    match &entry.ours {
        Ours::Skip => "anything".to_owned(),
        Ours::Value(value) => format!("the listed {}", short(value)),
    }
}

/// One line of at most 600 characters.
fn short(value: &dyn Display) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
