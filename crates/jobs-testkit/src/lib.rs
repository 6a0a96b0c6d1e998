//! Conformance cases and puppet producers for the contract of the crate
//! [`jobs`].
//!
//! - [`conformance!`] runs every clause of
//!   [`JobRegistry`](jobs::JobRegistry) against an implementation; it needs a
//!   [`Harness`], which a plain function is.
//! - [`producers!`] runs what a producer owes against its hooks.
//! - [`Puppet`] and [`ScriptedSource`] are producers that do what a test says,
//!   when it says so.
//! - [`sabotage`] breaks one clause each, to show that a check can fail.
//!
//! Cases run on tokio's paused clock: a registry under test must take its time
//! from tokio, and graces and leases then cost nothing.

pub mod conformance;
pub mod producers;
pub mod sabotage;

mod harness;
mod puppet;
mod source;

pub use crate::harness::{Harness, Settings, UnownedAccess};
pub use crate::puppet::Puppet;
pub use crate::source::ScriptedSource;
