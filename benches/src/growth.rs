//! How the costs grow with the number of finished jobs that are kept.

use serde::{Deserialize, Serialize};

use crate::heap::{self, Look};
use crate::rows::{list, output_call, retained};
use crate::side::{Side, by_turns};

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Whose.
    pub curve: String,
    /// How many jobs are kept.
    pub jobs: u64,
    /// What it costs then.
    pub value: f64,
}

/// Four decades.
pub const DECADES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

const OWNERS: u64 = 1_000;

/// B2, B3 and B4, each over all decades by turns.
#[must_use]
pub fn times() -> Vec<Point> {
    let curve = |name: &str, runs: usize, side: &dyn Fn(u64) -> Side| {
        let mut sides: Vec<Side> = DECADES.map(side).into();
        let spreads = by_turns(runs, &mut sides);
        DECADES
            .into_iter()
            .zip(spreads)
            .map(|(jobs, spread)| Point {
                curve: name.to_owned(),
                jobs,
                value: spread.median,
            })
            .collect::<Vec<_>>()
    };
    [
        curve("B2, ns a job", 15, &|jobs| retained::ours(jobs, OWNERS)),
        curve("B3, ns a list", 50, &|jobs| list::ours(1_000, jobs, OWNERS)),
        curve("B4, ns a call", 50, &|jobs| {
            output_call::ours(100, jobs, OWNERS)
        }),
    ]
    .concat()
}

/// B7 over all decades.
#[must_use]
pub fn bytes(look: Look) -> Vec<Point> {
    DECADES
        .into_iter()
        .map(|jobs| Point {
            curve: "B7, bytes a job".to_owned(),
            jobs,
            value: heap::per_finished(jobs, OWNERS, look),
        })
        .collect()
}
