//! The operations whose instructions are counted: each does a fixed number of them a sample.

use crate::rows::{cycle, fit, list, log, output_call};
use crate::side::Side;

/// An operation, by its name.
#[derive(Debug, Clone, Copy)]
pub struct Hot {
    /// How it is called in the file of counts.
    pub name: &'static str,
    /// How many operations a sample has.
    pub batch: u64,
    /// Makes the side that does so many of them a sample.
    pub side: fn(u64) -> Side,
}

/// All of them.
pub const ALL: &[Hot] = &[
    Hot {
        name: "start, settle, delivered read",
        batch: 500,
        side: cycle::ours,
    },
    Hot {
        name: "list of ten",
        batch: 500,
        side: |batch| list::ours(batch, 100, 10),
    },
    Hot {
        name: "job_output of 64 KiB",
        batch: 50,
        side: |batch| output_call::ours(batch, 100, 10),
    },
    Hot {
        name: "fit 1 MiB to 16 KiB",
        batch: 500,
        side: |batch| fit::ours(batch, "x", 1024 * 1024),
    },
    Hot {
        name: "push of 1 byte",
        batch: 20_000,
        side: |batch| log::ours(batch, 1),
    },
    Hot {
        name: "push of 64 KiB",
        batch: 50,
        side: |batch| log::ours(batch, 64 * 1024),
    },
];
