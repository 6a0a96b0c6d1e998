//! A process between its start and its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use jobs::{CancellationToken, Hooks};
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use crate::capture::Source;
use crate::drive::Live;
use crate::ending::Ending;

/// A process that runs, outside any registry yet.
///
/// Dropping it stops the process.
#[must_use = "dropping this stops the process"]
#[derive(Debug)]
pub struct RunningProcess {
    stop: DropGuard,
    source: Source,
    live: Live,
    ending: Watched,
}

impl RunningProcess {
    pub(crate) fn new(
        stop: CancellationToken,
        source: Source,
        live: Live,
        task: JoinHandle<Ending>,
    ) -> Self {
        Self {
            stop: stop.drop_guard(),
            source,
            live,
            ending: Watched(task),
        }
    }

    /// The hooks of a job that is this process; its output begins at the start of the process.
    #[must_use]
    pub fn into_hooks(self) -> Hooks {
        let Self {
            stop: guard,
            source,
            live,
            ending,
        } = self;
        let stop = guard.token().clone();
        let cancel = move |reason: Option<&str>| {
            tracing::info!(reason, "a process job is asked to stop");
            stop.cancel();
            Ok(())
        };
        let done = async move {
            let ending = ending.await;
            drop(guard);
            ending.outcome()
        };
        Hooks::new(cancel, done)
            .with_output(Arc::new(source))
            .with_detail(move || live.detail())
    }

    /// Asks the process, and everything that it started, to end.
    pub fn stop(&self) {
        self.stop.token().cancel();
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Waits for the end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing. Not to be polled again after it was ready.
    pub(crate) async fn ended(&mut self) -> Ending {
        (&mut self.ending).await
    }
}

/// The task of a process. It is not aborted with its handle: it has a tree to look after.
#[derive(Debug)]
struct Watched(JoinHandle<Ending>);

impl Future for Watched {
    type Output = Ending;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending> {
        Pin::new(&mut self.0).poll(context).map(|ended| {
            ended.unwrap_or_else(|error| {
                Ending::abandoned(format!("the job was abandoned: {error}"))
            })
        })
    }
}
