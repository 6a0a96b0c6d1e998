//! `agent-jobs mcp` over standard input and output, and over HTTP, in raw JSON-RPC.

#![expect(
    clippy::needless_pass_by_value,
    reason = "callers write the values where they pass them"
)]

mod cancellations;
mod delivery;
mod ends;
mod http;
mod load;
mod support;
mod tools;
mod web;
