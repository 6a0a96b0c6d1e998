//! SIGINT, SIGTERM and SIGHUP: the first ends the work in order, the second at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use jobs::CancellationToken;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

/// What a shell adds to the number of a signal for the exit code.
const SIGNALLED: i32 = 128;

/// Listens for as long as it lives.
#[derive(Debug)]
pub(crate) struct Signals {
    stop: CancellationToken,
    first: Arc<AtomicI32>,
    listener: JoinHandle<()>,
}

impl Signals {
    /// Listens from now on. A second signal ends this process at once; the supervisors of its jobs
    /// notice, and end their trees.
    ///
    /// # Errors
    ///
    /// When the system refuses a handler.
    pub(crate) fn listen() -> io::Result<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        let mut signals = [interrupt?, terminate?, hangup?];
        let stop = CancellationToken::new();
        let first = Arc::new(AtomicI32::new(0));
        let listener = tokio::spawn({
            let (stop, first) = (stop.clone(), Arc::clone(&first));
            async move {
                let number = kinds[next(&mut signals).await].as_raw_value();
                tracing::info!(number, "a signal: the work ends");
                first.store(number, Ordering::Relaxed);
                stop.cancel();
                let number = kinds[next(&mut signals).await].as_raw_value();
                tracing::warn!(number, "a second signal: the work ends at once");
                std::process::exit(SIGNALLED + number);
            }
        });
        Ok(Self {
            stop,
            first,
            listener,
        })
    }

    /// Cancelled by the first signal.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// The exit code of a process that the first signal has ended.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        let number = self.first.load(Ordering::Relaxed);
        (number > 0).then(|| u8::try_from(SIGNALLED + number).unwrap_or(u8::MAX))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// The index of the next one that comes.
async fn next(signals: &mut [Signal; 3]) -> usize {
    let [interrupt, terminate, hangup] = signals;
    tokio::select! {
        _ = interrupt.recv() => 0,
        _ = terminate.recv() => 1,
        _ = hangup.recv() => 2,
    }
}
