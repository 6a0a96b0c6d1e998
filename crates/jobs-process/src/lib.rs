//! Shell commands as background jobs: own session, whole-tree kill, bounded capture.
//!
//! A [`ProcessRunner`] makes a job of a [`JobCommand`]: a [`JobSpec`](jobs::JobSpec) for any
//! registry, or a [`RunningProcess`] without one. [`BashTool`] offers the same to a model.
//!
//! - **The tree, not the leader.** Whatever the command starts belongs to the job and ends with it:
//!   background processes, sessions of their own, daemons. How surely depends on the rung of the
//!   [`Containment`] ladder; call [`init`] first thing in `main` for the best one. A job is over
//!   when nothing of it is left.
//! - **Bounded.** Output in memory, on disk and in all, the time to end, and, if wanted, the time to
//!   run have limits. What memory drops is counted, and is in a file.
//! - **Clean.** A job inherits three descriptors, no signal state, and no variable that looks like
//!   a credential ([`EnvRules`]). It is no sandbox: put one in between with a [`Launcher`].
//!
//! Linux 5.4 or later with glibc 2.34 or later. Where pidfds are missing, [`ProcessRunner::new`]
//! says `unsupported platform`.
//!
//! # Where to look
//!
//! `runner` starts, `drive` decides when to ask and when to use force, `tree` knows what belongs to
//! a job, `supervisor` is the process behind the best rung, `capture`, `text` and `spill` take the
//! output, `tool` is for models. `platform` alone has unsafe code and sends signals.

mod capture;
mod command;
mod config;
mod drive;
mod ending;
mod env;
mod error;
mod launcher;
mod platform;
mod prepare;
mod runner;
mod running;
mod spill;
mod supervisor;
mod text;
mod tool;
mod tree;
mod wire;

pub use command::{JobCommand, Streams};
pub use config::{OnLeaderExit, ProcessConfig};
pub use ending::Facts;
pub use env::{EnvRules, Environment};
pub use error::ProcessError;
pub use launcher::{Bwrap, Direct, Launch, Launcher, Network, Veto};
pub use runner::{KIND, ProcessRunner};
pub use running::RunningProcess;
pub use supervisor::init;
pub use tool::{BackgroundRuns, BashTool, BashToolConfig, OnTimeLimit};
pub use tree::Containment;
