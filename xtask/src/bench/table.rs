//! `docs/benchmarks.md`.

use super::reference::Reference;
use jobs_bench::figure::{Figure, Goal, Unit};
use jobs_bench::heap::Counted;
use jobs_bench::side::Spread;
use std::fmt::Write as _;

/// What the page says.
pub(super) struct Page<'a> {
    pub(super) figures: &'a [Figure],
    pub(super) reference: Option<&'a Reference>,
    pub(super) allocations: &'a [Counted],
    pub(super) machine: &'a str,
}

const HEAD: &str = "# Benchmarks

Written by `cargo xtask bench --reference`. The rows are those of spec/benchmarks.md; each floor is the least that the
same work costs in Rust, and stands next to its row in `benches/src/rows`. Both sides are measured by turns in one
run; given are medians, with the middle half of the samples in parentheses, and the ratio of the medians. Rows of one
thread count the processor's time of that thread; B9 to B12 count the time that passes.
";

/// The whole page.
pub(super) fn page(page: &Page<'_>) -> String {
    let mut text = format!("{HEAD}\n{}", page.machine);
    if let Some(reference) = page.reference {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "- Reference: {}, measured in the same minutes.",
            reference.version
        );
    }
    text.push_str(
        "\n| row | ours | floor | ratio | reference | goal | |\n|---|---|---|---|---|---|---|\n",
    );
    for figure in page.figures {
        text.push_str(&line(figure, page.reference));
        text.push('\n');
    }
    text.push_str(
        "\nHow the costs grow over four decades:\n\n![B2, B3, B4 and B7 over four decades](benchmarks-growth.svg)\n",
    );
    text.push_str(
        "\n## Allocations of the hot paths\n\n| path | allocations | what for |\n|---|---|---|\n",
    );
    for counted in page.allocations {
        let because: Vec<_> = counted
            .because
            .iter()
            .map(|(times, reason)| format!("{times} {reason}"))
            .collect();
        let because = because.join("; ");
        let _ = writeln!(
            text,
            "| {} | {} | {because} |",
            counted.path, counted.allocations
        );
    }
    text
}

/// One line of the table.
pub(super) fn line(figure: &Figure, reference: Option<&Reference>) -> String {
    let none = || "–".to_owned();
    let name = match figure.part.as_str() {
        "" => figure.row.clone(),
        part => format!("{}, {part}", figure.row),
    };
    let ours = spread(figure.ours, figure.unit);
    let floor = figure
        .floor
        .map_or_else(none, |floor| spread(floor, figure.unit));
    let ratio = figure
        .ratio()
        .map_or_else(none, |ratio| format!("{ratio:.2}"));
    let reference = reference
        .and_then(|reference| reference.value(&figure.row, &figure.part))
        .map_or_else(none, |(value, note)| {
            let times = value / figure.ours.median;
            let value = quantity(value, figure.unit);
            match note {
                "" => format!("{value} ({times:.1} × ours)"),
                note => format!("{value} ({note})"),
            }
        });
    let goal = match &figure.goal {
        Goal::RatioAtMost(most) => format!("≤ {most} ×"),
        Goal::RatioAtLeast(least) => format!("≥ {least} ×"),
        Goal::AtMost(most) => format!("≤ {}", quantity(*most, figure.unit)),
        Goal::Judged { text, .. } => text.clone(),
    };
    let met = if figure.is_met() { "met" } else { "not met" };
    format!("| {name} | {ours} | {floor} | {ratio} | {reference} | {goal} | {met} |")
}

fn spread(spread: Spread, unit: Unit) -> String {
    let median = quantity(spread.median, unit);
    if spread.low < spread.high {
        let (low, high) = (quantity(spread.low, unit), quantity(spread.high, unit));
        return format!("{median} ({low} to {high})");
    }
    median
}

/// A number that one can read: three digits and a unit.
fn quantity(value: f64, unit: Unit) -> String {
    match unit {
        _ if value.is_nan() => "–".to_owned(),
        Unit::Scaling => format!("{value:.2}"),
        Unit::Bytes => format!("{value:.0} B"),
        Unit::Nanoseconds => {
            let steps = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
            let step = steps.iter().find(|(size, _)| value >= *size);
            let (size, name) = step.copied().unwrap_or((1.0, "ns"));
            let value = value / size;
            let digits = if value >= 100.0 {
                0
            } else if value >= 10.0 {
                1
            } else {
                2
            };
            format!("{value:.digits$} {name}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{line, quantity};
    use jobs_bench::figure::{Figure, Goal, Unit};
    use jobs_bench::side::Spread;

    #[test]
    fn the_last_cell_says_whether_the_goal_is_met() {
        let spread = |value| Spread::of(vec![value]);
        let goal = Goal::RatioAtMost(3.0);
        let mut figure = Figure::new("B6", "arm", spread(1500.0), spread(500.0), goal);
        let met = "| B6, arm | 1.50 µs | 500 ns | 3.00 | – | ≤ 3 × | met |";
        assert_eq!(line(&figure, None), met);
        figure.ours = spread(1501.0);
        assert!(line(&figure, None).ends_with("| not met |"));
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown: Vec<_> = [0.5, 12.34, 999.0, 5_123.0, 53e6, 1.5e9]
            .map(|value| quantity(value, Unit::Nanoseconds))
            .into();
        let expected = [
            "0.50 ns", "12.3 ns", "999 ns", "5.12 µs", "53.0 ms", "1.50 s",
        ];
        assert_eq!(shown, expected);
    }
}
