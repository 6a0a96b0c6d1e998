//! What the work costs, beside the least that the same work can cost.
//!
//! Each row of spec/benchmarks.md is a module of [`rows`]. A row has *sides*: ours, and its floor, which is the
//! least that the same work costs without us, written down next to it. Sides are measured by turns in one run, so
//! that what disturbs the machine disturbs both, and quoted as the ratio of their medians.
//!
//! Each side checks what its work produced, on every run.

#![expect(
    clippy::missing_panics_doc,
    reason = "a side panics where its work did not do what it should: that is its check"
)]

pub mod effort;
pub mod figure;
pub mod growth;
pub mod heap;
pub mod hot;
pub mod population;
pub mod rows;
pub mod side;
pub mod stage;
