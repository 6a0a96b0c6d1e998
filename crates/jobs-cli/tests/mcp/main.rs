//! `agent-jobs mcp` over standard input and output, and over HTTP, in raw JSON-RPC.

#![expect(
    clippy::needless_pass_by_value,
    reason = "callers write the values where they pass them"
)]

mod delivery;
mod ends;
mod http;
mod support;
mod tools;
mod web;
