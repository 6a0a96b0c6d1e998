//! The project's own checks and generators.
//!
//! One file holds one command; this one only dispatches.

mod bench;
mod ci;
mod clients;
mod conformance;
mod deny;
mod docs;
mod model;
mod soak;
mod stress;
mod tidy;
mod tokens;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use workspace::Workspace;

/// The project's own checks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run every check, one step after the other, and print a table
    Ci(ci::Args),
    /// Write docs/tools.md, or check that it is what the code says
    Docs(docs::Args),
    /// Check the shape of the workspace: dependency edges, absences, docs
    Tidy,
    /// Check the licences and the sources of what we depend on
    Deny(deny::Args),
    /// Run the model checks, or prove that they notice broken variants
    Model(model::Args),
    /// Run the process producer under load and at length
    Stress(stress::Args),
    /// Drive the MCP server with the official SDKs and the inspector
    Clients(clients::Args),
    /// Run the contract's cases, or break each clause and show which cases notice
    Conformance(conformance::Args),
    /// Let hundreds of owners use a registry at random, and look for losses and leaks
    Soak(soak::Args),
    /// Run the benchmarks
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let outcome = Workspace::find().and_then(|workspace| match Cli::parse().command {
        Command::Ci(args) => ci::run(&workspace, &args),
        Command::Docs(args) => docs::run(&workspace, &args),
        Command::Tidy => tidy::run(&workspace),
        Command::Deny(args) => deny::run(&workspace, &args),
        Command::Model(args) => model::run(&workspace, &args),
        Command::Stress(args) => stress::run(&workspace, &args),
        Command::Clients(args) => clients::run(&workspace, &args),
        Command::Conformance(args) => conformance::run(&workspace, &args),
        Command::Soak(args) => soak::run(&workspace, &args),
        Command::Bench(args) => bench::run(&workspace, &args),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
