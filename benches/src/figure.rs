//! What a row measured, and whether its goal is met.

use serde::{Deserialize, Serialize};

use crate::side::Spread;

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// `B1`.
    pub row: String,
    /// Which of the row's goals this is, if it has several.
    pub part: String,
    /// In what the two sides are given.
    pub unit: Unit,
    /// What it costs here.
    pub ours: Spread,
    /// What the least costs; none where the goal is absolute.
    pub floor: Option<Spread>,
    /// What has to hold.
    pub goal: Goal,
}

/// In what a side is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds for one operation.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Times the throughput of one thread.
    Scaling,
}

/// What has to hold for a row to be met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Goal {
    /// Ours is at most this many times the floor.
    RatioAtMost(f64),
    /// Ours is at least this many times the floor.
    RatioAtLeast(f64),
    /// Ours is at most this.
    AtMost(f64),
    /// Whoever measured it judged it too.
    Judged {
        /// The goal in words.
        text: String,
        /// Whether it is met.
        met: bool,
    },
}

impl Figure {
    /// A figure in nanoseconds with a floor.
    #[must_use]
    pub fn new(row: &str, part: &str, ours: Spread, floor: Spread, goal: Goal) -> Self {
        Self {
            row: row.to_owned(),
            part: part.to_owned(),
            unit: Unit::Nanoseconds,
            ours,
            floor: Some(floor),
            goal,
        }
    }

    /// A figure without a floor.
    #[must_use]
    pub fn absolute(row: &str, part: &str, ours: Spread, goal: Goal) -> Self {
        Self {
            row: row.to_owned(),
            part: part.to_owned(),
            unit: Unit::Nanoseconds,
            ours,
            floor: None,
            goal,
        }
    }

    /// Gives the sides in another unit.
    #[must_use]
    pub fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// The ratio of the medians.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.floor.map(|floor| self.ours.median / floor.median)
    }

    /// Whether the goal is met. A ratio that cannot be formed meets none.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        match self.goal {
            Goal::RatioAtMost(most) => ratio <= most,
            Goal::RatioAtLeast(least) => ratio >= least,
            Goal::AtMost(most) => self.ours.median <= most,
            Goal::Judged { met, .. } => met,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Goal};
    use crate::side::Spread;

    fn flat(value: f64) -> Spread {
        Spread::of(vec![value])
    }

    #[test]
    fn a_goal_is_met_up_to_its_bound() {
        for (goal, ours, met) in [
            (Goal::RatioAtMost(3.0), 30.0, true),
            (Goal::RatioAtMost(3.0), 30.1, false),
            (Goal::RatioAtLeast(0.5), 5.0, true),
            (Goal::RatioAtLeast(0.5), 4.9, false),
            (Goal::AtMost(7.0), 7.0, true),
            (Goal::AtMost(7.0), 7.1, false),
        ] {
            let figure = Figure::new("B0", "", flat(ours), flat(10.0), goal);
            assert_eq!(figure.is_met(), met, "{figure:?}");
        }
    }

    #[test]
    fn a_ratio_that_cannot_be_formed_meets_no_goal() {
        let nothing = flat(0.0);
        let figure = Figure::new("B0", "", nothing, nothing, Goal::RatioAtMost(3.0));
        assert!(!figure.is_met());
        let without = Figure::absolute("B0", "", nothing, Goal::RatioAtLeast(0.0));
        assert!(!without.is_met());
    }
}
