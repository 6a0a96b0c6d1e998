//! The binary `agent-jobs`: the compositions that people run.
//!
//! - `agent` is the example of a host: how an agent's loop uses the inbox and the tools.
//! - `model` is what stands behind an agent.
//! - `demo` composes registry, tools and producer, and lets a scripted model play with them.
//! - `mcp` serves the tools to any MCP client, over `http` too; `run` runs one command as a job; `settings` finds
//!   what they are told, `signals` ends them in order.
//!
//! Nothing goes to stdout but the result. Logs go to stderr through `tracing`, under the name of
//! the crate and module that logs (`jobs_local`, `tool_jobs`, `jobs_process`, `jobs_mcp`);
//! `RUST_LOG` filters them.

mod agent;
mod args;
mod demo;
mod exit;
mod http;
mod mcp;
mod model;
mod run;
mod settings;
mod signals;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    jobs_process::init(); // before anything else: this binary is the supervisor of its jobs, too
    let cli = Cli::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("agent-jobs: cannot start a runtime: {error}");
            return Exit::Environment.into();
        }
    };
    let exit = runtime.block_on(async {
        match cli.command {
            Command::Demo(args) => demo::run(&args).await,
            Command::Mcp(args) => mcp::run(&args).await,
            Command::Run(args) => run::run(&args).await,
        }
    });
    // A read of stdin cannot be cancelled: nobody waits for it.
    runtime.shutdown_background();
    exit.into()
}
