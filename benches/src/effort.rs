//! How much to measure.

/// How many runs, and how large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Everything once and small: to see that it works.
    Smoke,
    /// What the table is made from: this many runs of each side.
    Full {
        /// At least 5.
        runs: usize,
    },
}

impl Effort {
    /// How often each side is sampled.
    #[must_use]
    pub fn runs(self) -> usize {
        match self {
            Self::Smoke => 1,
            Self::Full { runs } => runs,
        }
    }

    /// How often each side of a quick row is sampled: many short samples are seldom interrupted.
    #[must_use]
    pub fn many_runs(self) -> usize {
        match self {
            Self::Smoke => 1,
            Self::Full { runs } => runs * 10,
        }
    }

    /// A count that a smoke run divides by a hundred.
    #[must_use]
    pub fn count(self, full: u64) -> u64 {
        match self {
            Self::Smoke => full.div_ceil(100),
            Self::Full { .. } => full,
        }
    }
}
