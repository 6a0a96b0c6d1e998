//! The contract of background jobs for LLM agents: one trait and its
//! vocabulary.
//!
//! Any long-running work of an agent (a shell command, a sub-agent, a PTY, any
//! future) becomes a *job*: it has an id `<kind>-N`, an owner, reads that
//! return only what is new, waits and a kill, and its end is told once: by an
//! answer or by a notice.
//!
//! - A **producer** imports this crate and makes a [`JobSpec`] with
//!   [`Hooks`].
//! - A **registry** implements [`JobRegistry`]; `jobs-local` is the in-memory
//!   one.
//! - A **host** composes a registry, tools (see [`tool`]) and producers.
//!
//! What makes it safe to lose a call, a connection or a task at any moment is
//! the [`Receipt`]: an answer counts only once its delivery is committed.
//!
//! This crate starts no task, does no I/O and needs no runtime.

pub mod config;
pub mod contain;
pub mod text;
pub mod tool;

mod checker;
mod error;
mod ext;
mod hooks;
mod id;
mod news;
mod outcome;
mod output;
mod owner;
mod receipt;
mod registry;
mod scope;
mod snapshot;
mod spec;

pub use tokio_util::sync::CancellationToken;

pub use crate::checker::{Checker, Violation};
pub use crate::config::ConfigError;
pub use crate::error::{Error, ProducerError};
pub use crate::ext::{JobRegistryExt, Waited};
pub use crate::hooks::{CancelHook, DetailHook, Hooks};
pub use crate::id::{JobId, Kind, MAX_KIND_BYTES};
pub use crate::news::{Change, Changes, Completion, Completions, News, NoticeId, Registration};
pub use crate::outcome::{Origin, Outcome};
pub use crate::output::{LogReader, LogSlice, OutputLog, OutputSource, Rendered, Stream};
pub use crate::owner::{Caller, InstanceId, Owner, OwnerControl, OwnerKey, SessionId};
pub use crate::receipt::{
    CursorDesk, Delivery, Delta, Kill, KillOutcome, OutputRange, Receipt, Share, ShareDesk,
};
pub use crate::registry::{JobRegistry, KilledBy};
pub use crate::scope::Scope;
pub use crate::snapshot::{Cause, End, Snapshot, State, Status, TerminalStatus, UnixMillis};
pub use crate::spec::{JobSpec, Starter};
