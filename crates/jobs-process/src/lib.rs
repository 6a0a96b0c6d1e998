//! Shell commands as background jobs: own session, whole-tree kill, bounded capture.

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
mod spill;
mod supervisor;
mod text;
mod tool;
mod tree;
mod wire;

pub use command::{JobCommand, Streams};
pub use config::{OnLeaderExit, ProcessConfig};
pub use ending::Facts;
pub use env::EnvRules;
pub use error::ProcessError;
pub use launcher::{Bwrap, Direct, Launch, Launcher, Network, Veto};
pub use runner::{KIND, ProcessRunner, RunningProcess};
pub use supervisor::init;
pub use tool::{BackgroundRuns, BashTool, BashToolConfig, OnTimeLimit};
pub use tree::Containment;
