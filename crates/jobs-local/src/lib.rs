//! The in-memory job registry: [`LocalJobRegistry`] implements the contract of
//! the crate `jobs` for one process.
//!
//! Every owner has a *room* with a lock of its own; ids, rooms with their
//! controllers, reporters and observers are tables beside it. A job has one
//! *driver* task until its end is told. `shares`, `waiters` and `sequence` are
//! plain values without a lock, and everything that a schedule can interleave comes
//! from `sync`, so that the model checks run these very sources.

mod board;
mod changes;
mod config;
mod core;
mod driver;
mod effects;
mod ids;
mod job;
mod kill;
mod offers;
mod read;
mod registry;
mod retention;
mod room;
mod sequence;
mod settle;
mod shares;
mod start;
#[doc(hidden)]
pub mod sync;
mod teardown;
mod wait;
mod waiters;

pub use crate::config::{Config, UnownedAccess};
pub use crate::registry::LocalJobRegistry;
