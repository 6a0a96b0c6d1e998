//! The rows of spec/benchmarks.md, a module each.

pub mod cycle;

use crate::effort::Effort;
use crate::figure::Figure;

/// Measures a row.
pub type Measure = fn(Effort) -> Vec<Figure>;

/// The rows that one process measures by itself, in their order.
pub const ALL: &[(&str, Measure)] = &[("B1", cycle::measure)];
