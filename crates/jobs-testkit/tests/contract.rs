//! The trait, the table in the documentation and the list of cases agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jobs_testkit::conformance::CASES;

type Table = BTreeMap<String, BTreeSet<String>>;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The clauses that the trait numbers: `/// - **C-31** ...`.
fn clauses_of_the_trait() -> BTreeSet<String> {
    let mut clauses = BTreeSet::new();
    for line in read("../jobs/src/registry.rs").lines() {
        if let Some(rest) = line.trim().strip_prefix("/// - **")
            && let Some((clause, _)) = rest.split_once("**")
        {
            assert!(
                clauses.insert(clause.to_owned()),
                "{clause} is numbered twice"
            );
        }
    }
    clauses
}

/// The rows of the documentation: `| C-31 | promise | `case`, `case` |`.
fn rows_of_the_documentation() -> Table {
    let mut rows = Table::new();
    for line in read("../../docs/contract.md").lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if let ["", clause, promise, cases, ""] = cells[..]
            && clause.starts_with("C-")
        {
            assert!(promise.ends_with('.'), "{clause} promises something");
            let listed: Vec<_> = cases
                .split(", ")
                .map(|case| case.trim_matches('`').to_owned())
                .collect();
            let count = listed.len();
            let cases: BTreeSet<_> = listed.into_iter().collect();
            assert_eq!(cases.len(), count, "{clause} lists a case twice");
            assert!(
                rows.insert(clause.to_owned(), cases).is_none(),
                "{clause} has two rows"
            );
        }
    }
    rows
}

fn cases_by_clause() -> Table {
    let mut table = Table::new();
    for case in CASES {
        let cases = table.entry(case.clause.to_owned()).or_default();
        assert!(
            cases.insert(case.name.to_owned()),
            "{case:?} is listed twice"
        );
    }
    table
}

#[test]
fn every_clause_has_a_case_and_every_case_a_clause() {
    let with_cases: BTreeSet<_> = cases_by_clause().into_keys().collect();
    assert_eq!(clauses_of_the_trait(), with_cases);
}

#[test]
fn the_documentation_lists_exactly_the_cases() {
    assert_eq!(rows_of_the_documentation(), cases_by_clause());
}

#[test]
fn names_of_cases_are_unique() {
    let names: BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
}
