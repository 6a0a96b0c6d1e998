//! `agent-jobs demo`: a composition, and a play on it.
//!
//! 1. Every command is run by the bash on PATH, every call goes through the real tools, and every
//!    line of the transcript is what was really answered.
//! 2. What is expected is data (`acts`), and is held against what came; nothing else is called
//!    good.
//! 3. However the play ends, owners and registry are closed before the verdict.
//!
//! `compose` puts the parts together, `play` is what happens around the agents, `scripted` is the
//! model, `stage` and `witness` are the world outside, `report` and `human` the transcript.

mod acts;
mod compose;
mod expect;
mod human;
mod play;
mod report;
mod script;
mod scripted;
mod stage;
mod witness;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::args::DemoArgs;
use crate::exit::Exit;
use report::{Form, Report};

/// Runs the demo, and says how it went.
pub(crate) async fn run(args: &DemoArgs) -> Exit {
    let form = if args.json {
        Form::JsonLines
    } else {
        Form::Human
    };
    let ended = tokio::select! {
        ended = demo(form) => ended,
        // Dropping the play stops what it started.
        _ = tokio::signal::ctrl_c() => Err(DemoError::Interrupted),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("agent-jobs: {error}");
        match error {
            DemoError::Interrupted => Exit::Bad,
            DemoError::NoShell
            | DemoError::Directory(_)
            | DemoError::Composition(_)
            | DemoError::Output(_) => Exit::Environment,
        }
    })
}

async fn demo(form: Form) -> Result<Exit, DemoError> {
    let shell: PathBuf = which::which("bash").map_err(|_| DemoError::NoShell)?;
    let report = Arc::new(Report::new(form, anstream::stdout()));
    let stage = stage::Stage::new(Arc::clone(&report)).map_err(DemoError::Directory)?;
    let stage = Arc::new(stage);
    let parts = compose::Composition::new(&shell, &stage)?;
    play::play(&shell, &stage, &parts).await;
    let exit = match report.verdict() {
        0 => Exit::Good,
        _ => Exit::Bad,
    };
    report.finish().map_err(DemoError::Output)?;
    Ok(exit)
}

/// Why the demo could not be played to its verdict.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    /// There is no bash.
    #[error("bash was not found on PATH: install it, or put its directory there")]
    NoShell,
    /// The directory of the stage cannot be made.
    #[error("cannot make a temporary directory: {0}")]
    Directory(io::Error),
    /// The parts cannot be put together here.
    #[error(transparent)]
    Composition(#[from] compose::ComposeError),
    /// The transcript cannot be written.
    #[error("cannot write the transcript: {0}")]
    Output(io::Error),
    /// The user had enough.
    #[error("interrupted")]
    Interrupted,
}
