//! Process jobs as a host and a model see them, with real processes.

mod acceptance;
mod beyond;
mod host;
mod support;
mod tool;
