//! Process jobs as a host and a model see them, with real processes.

mod acceptance;
mod beyond;
mod clock;
mod extras;
mod host;
mod launcher;
mod load;
mod spare;
mod starved;
mod support;
mod tool;
