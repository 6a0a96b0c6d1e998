//! The rows of spec/benchmarks.md, a module each.

pub mod cycle;
pub mod fit;
pub mod list;
pub mod log;
pub mod notice;
pub mod output_call;
pub mod owners;
pub mod retained;
pub mod waiters;

use crate::effort::Effort;
use crate::figure::Figure;

/// Measures a row.
pub type Measure = fn(Effort) -> Vec<Figure>;

/// The rows that one process measures by itself, in their order.
pub const ALL: &[(&str, Measure)] = &[
    ("B1", cycle::measure),
    ("B2", retained::measure),
    ("B3", list::measure),
    ("B4", output_call::measure),
    ("B5", fit::measure),
    ("B6", waiters::measure),
    ("B8", log::measure),
    ("B9", owners::measure),
    ("B12", notice::measure),
];
