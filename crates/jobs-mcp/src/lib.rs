//! The job tools for any MCP client: a handler on `rmcp` over the seam.
//!
//! - [`McpServer`] takes a registry and a list of tools ([`jobs::tool::Tool`]) and serves them:
//!   [`McpServer::serve_stdio`] one client, [`McpServer::http`] many.
//! - A host of `rmcp` mounts them itself: a [`Connection`] gives the [`Handler`] and watches the
//!   transport.
//!
//! What makes it differ from a list of functions behind a protocol: an answer counts only once it
//! was delivered. In a session the receipts of an answer are kept until the next message, or five
//! seconds, show that it has arrived, and are dropped when its request is cancelled (`ledger`).
//! Without a session it counts once it was given to the connection (`http`). The ends of jobs that
//! nobody has told yet come as a block of their own in front of the next answer (`notices`).
//!
//! Only this crate names `rmcp`.

mod config;
mod connection;
mod content;
mod error;
mod handler;
mod http;
mod ledger;
mod link;
mod notices;
mod patience;
mod server;
mod stdio;
mod toolbox;
mod watch;

pub use crate::http::{Access, HttpConfig, HttpServer, TokenError, Tokens};
pub use config::McpConfig;
pub use connection::Connection;
pub use error::McpError;
pub use handler::Handler;
pub use server::McpServer;
pub use watch::Watched;
