//! The in-memory job registry: implements the contract of the crate jobs.
