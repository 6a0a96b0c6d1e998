//! A call while it lasts: it can be cancelled, and a client that asked for it is told that it
//! goes on.

use std::pin::pin;
use std::time::{Duration, Instant};

use jobs::CancellationToken;
use jobs::contain::Contained;
use jobs::tool::{Reply, Tool, ToolCall, ToolResult};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;

/// Whom to tell of progress, and how often.
pub(crate) struct Progress {
    pub(crate) token: ProgressToken,
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) interval: Duration,
}

/// Runs a call to its end; the reply, and how many notifications of progress went out before it.
/// None goes out after it.
///
/// The call is cancelled by its own token, and when its connection is `over`.
pub(crate) async fn run(
    tool: &dyn Tool,
    call: ToolCall,
    over: &CancellationToken,
    progress: Option<Progress>,
) -> (Reply, u32) {
    let cancel = call.cancel.clone();
    let body = pin!(async {
        let mut body = Contained::new(Box::pin(async move { tool.call(call).await }));
        let reply = tokio::select! {
            biased;
            reply = &mut body => reply,
            () = over.cancelled() => {
                cancel.cancel();
                body.await
            }
        };
        reply.unwrap_or_else(|panicked| {
            tracing::error!(tool = tool.definition().name, %panicked, "a tool panicked");
            ToolResult::failure(format!("Error: tool panicked: {panicked}")).into()
        })
    });
    let Some(progress) = progress else {
        return (body.await, 0);
    };
    let finished = CancellationToken::new();
    let body = async {
        let reply = body.await;
        finished.cancel();
        reply
    };
    tokio::join!(body, Box::pin(tell(progress, &cancel, &finished)))
}

/// Tells of progress until `finished`, and not of a cancelled call.
async fn tell(progress: Progress, cancel: &CancellationToken, finished: &CancellationToken) -> u32 {
    let Progress {
        token,
        peer,
        interval,
    } = progress;
    let mut told = 0;
    let start = Instant::now();
    loop {
        tokio::select! {
            biased;
            () = finished.cancelled() => return told,
            () = cancel.cancelled() => return told,
            () = tokio::time::sleep(interval) => {}
        }
        let seconds = start.elapsed().as_secs_f64();
        let param = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message(format!("waiting for {seconds:.0} s"));
        if peer.notify_progress(param).await.is_err() {
            return told;
        }
        told += 1;
    }
}
