//! Each clause of the contract has a text, a case that exists, and its place on the trait.
//!
//! On the trait a clause is written `**C-1**`; in `docs/contract.md` it is a row `| C-1 | text | case |`, or
//! several cases with commas between them.

use super::{Finding, tree::Tree};
use std::collections::{BTreeMap, BTreeSet};

const CONTRACT: &str = "docs/contract.md";

/// Where the trait is.
const SEAM: &str = "crates/jobs/src";

/// Where the cases are.
const CASES: &[&str] = &["crates/jobs-testkit", "crates/jobs-local/tests"];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let Some(contract) = tree.file(CONTRACT) else {
        let advice = "write it: clause, text, case";
        return vec![Finding::new(CONTRACT, 1, "contract", advice)];
    };
    let cases: BTreeSet<String> = CASES
        .iter()
        .flat_map(|directory| tree.sources_below(directory))
        .flat_map(super::source::Source::functions)
        .collect();
    let on_the_trait = clauses(tree);
    let mut findings = Vec::new();
    let mut in_the_table = BTreeSet::new();
    for (index, line) in contract.text.lines().enumerate() {
        let mut report = |advice| {
            findings.push(Finding::new(CONTRACT, index + 1, "contract", advice));
        };
        let Some(row) = Row::parse(line) else {
            continue;
        };
        let Row { id, text, named } = row;
        if !in_the_table.insert(id.clone()) {
            report(format!("give {id} one row"));
        }
        if !on_the_trait.contains_key(&id) {
            report(format!(
                "write **{id}** on the trait in {SEAM}, or drop its row"
            ));
        }
        if text.is_empty() {
            report(format!("say what {id} demands"));
        }
        if named.is_empty() {
            report(format!("name the case of {id}"));
        }
        for case in named.iter().filter(|case| !cases.contains(*case)) {
            let places = CASES.join(" or ");
            report(format!("write fn {case} in {places}"));
        }
    }
    for (id, (file, line)) in &on_the_trait {
        if !in_the_table.contains(id) {
            let advice = format!("add a row for {id} to {CONTRACT}");
            findings.push(Finding::new(file, *line, "contract", advice));
        }
    }
    if in_the_table.is_empty() && on_the_trait.is_empty() {
        let advice = "write the clauses: there are none yet";
        findings.push(Finding::new(CONTRACT, 1, "contract", advice));
    }
    findings
}

/// The clauses on the trait, with the first place of each.
fn clauses(tree: &Tree<'_>) -> BTreeMap<String, (String, usize)> {
    let mut found = BTreeMap::new();
    for source in tree.sources_below(SEAM) {
        for (index, line) in source.text.lines().enumerate() {
            for id in line
                .split("**")
                .skip(1)
                .step_by(2)
                .filter(|id| is_clause(id))
            {
                found
                    .entry(id.to_owned())
                    .or_insert_with(|| (source.path.clone(), index + 1));
            }
        }
    }
    found
}

struct Row {
    id: String,
    text: String,
    named: Vec<String>,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim().strip_prefix('|')?.trim_end_matches('|');
        let mut cells = cells(line).into_iter();
        let id = cells.next()?.trim_matches(['*', '`']).to_owned();
        if !is_clause(&id) {
            return None;
        }
        let text = cells.next().unwrap_or_default();
        let named = cells.next().unwrap_or_default();
        let named = named
            .split([',', ' '])
            .map(|case| case.trim_matches('`'))
            .filter_map(|case| case.rsplit("::").next())
            .filter(|case| !case.is_empty())
            .map(str::to_owned)
            .collect();
        Some(Self { id, text, named })
    }
}

/// The cells of a row; `\|` is a bar in a cell.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in row.chars() {
        match (c, cells.last_mut()) {
            ('|', _) if !escaped => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        escaped = c == '\\';
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_clause(id: &str) -> bool {
    id.strip_prefix("C-")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::CONTRACT;

    const TRAIT: &str = "crates/jobs/src/registry.rs";

    fn with_row(row: &str) -> Fixture {
        Fixture::good()
            .append(TRAIT, "/// **C-2** Twice.\ntrait More {}\n")
            .append(CONTRACT, &format!("{row}\n"))
    }

    #[test]
    fn there_is_no_contract() {
        Fixture::good()
            .remove(CONTRACT)
            .replace("docs/architecture.md", " and `docs/contract.md`", "")
            .expect("contract", CONTRACT, 1);
    }

    #[test]
    fn there_is_no_clause() {
        Fixture::good()
            .write(CONTRACT, "# Contract\n")
            .write(TRAIT, "//! A module.\n")
            .expect("contract", CONTRACT, 1);
    }

    #[test]
    fn a_second_clause_is_fine() {
        with_row("| **C-2** | text with a \\| in it | `starts_once`, cases::starts_once |")
            .expect_nothing();
    }

    #[test]
    fn a_clause_of_the_trait_has_no_row() {
        with_row("").expect_at("contract", TRAIT, "**C-2**");
    }

    #[test]
    fn a_row_has_no_clause_on_the_trait() {
        Fixture::good()
            .append(CONTRACT, "| C-3 | text | starts_once |\n")
            .expect_at("contract", CONTRACT, "C-3");
    }

    #[test]
    fn a_clause_has_two_rows() {
        Fixture::good()
            .append(CONTRACT, "| C-1 | again | starts_once |\n")
            .expect_at("contract", CONTRACT, "again");
    }

    #[test]
    fn a_clause_has_no_text() {
        with_row("| C-2 |  | starts_once |").expect_at("contract", CONTRACT, "C-2");
    }

    #[test]
    fn a_clause_has_no_case() {
        with_row("| C-2 | text |").expect_at("contract", CONTRACT, "C-2");
        with_row("| C-2 | text | |").expect_at("contract", CONTRACT, "C-2");
    }

    #[test]
    fn a_case_does_not_exist() {
        with_row("| C-2 | text | starts_twice |").expect_at("contract", CONTRACT, "C-2");
        with_row("| C-2 | text | starts_twice |")
            .append(
                "crates/jobs-testkit/src/cases.rs",
                "// fn starts_twice() {}\n",
            )
            .expect_at("contract", CONTRACT, "C-2");
    }

    #[test]
    fn a_case_may_be_a_test_of_the_local_registry() {
        with_row("| C-2 | text | starts_twice |")
            .write(
                "crates/jobs-local/tests/all.rs",
                "//! Tests.\nfn starts_twice() {}\n",
            )
            .expect_nothing();
    }
}
