//! The model-facing job tools: bounded output, completion notices, the agent
//! inbox.
//!
//! - [`JobTools`] mounts `job_output`, `job_list` and `job_kill` at a scope of
//!   a registry. A call answers a reply that counts once it is delivered.
//! - [`Inbox`] is where the notices of an agent's jobs join its running turn
//!   or wake it; [`JobTools::attach`] feeds it.
//! - [`Policies`] put a host's decisions around the calls.
//! - [`fit`] holds the functions that cut what a model reads to a cap in bytes.
//!
//! The formats are those of spec/tools.md. This crate knows the seam only, not
//! any registry.

pub mod fit;

mod attach;
mod config;
mod digest;
mod inbox;
mod limit;
mod line;
mod mount;
mod notice;
mod pipeline;
mod prompt;
mod sync;
mod tools;

pub use attach::Attachment;
pub use config::{CompletionDelivery, ToolsConfig, ToolsConfigBuilder};
pub use inbox::{Deliver, DeliverError, Inbox, Lane, Message, Turn, WakeBudget};
pub use mount::JobTools;
pub use notice::Notice;
pub use pipeline::{
    AroundPolicy, Invocation, Judgement, Next, Policies, PolicyError, PostPolicy, PrePolicy,
    Verdict,
};
pub use prompt::PromptSection;
pub use tools::{InvalidWaitTimeout, wait_timeout};
