//! Model checks: the registry's own sources under the interleavings that
//! shuttle finds (`cargo xtask model`).
//!
//! A check that fails prints the schedule; `JOBS_MODEL_REPLAY=<schedule>` with
//! the name of the check runs that one again.
#![cfg(shuttle)]

mod closing;
mod handing;
mod killing;
mod reading;
mod reporting;
mod settling;
mod shares;
mod starting;
mod support;
mod timing;
