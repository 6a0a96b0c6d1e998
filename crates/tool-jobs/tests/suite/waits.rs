//! Waits, cancelled calls, and answers that nobody got.

use std::time::Duration;

use jobs::{CancellationToken, Outcome};
use serde_json::json;
use tool_jobs::{Inbox, Policies, ToolsConfig};

use crate::world::{soon, world};

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_job_or_with_its_time() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", None).await;
    job.write("so far");
    let started = tokio::time::Instant::now();
    let arguments = json!({ "job_id": "bash-1", "wait": true, "timeout_ms": 2_147_483_647 });
    let call = world
        .tools
        .call("job_output", arguments, world.owner.caller());
    let live = call.await.deliver();
    assert_eq!(live.text(), "so far\n[status: running]");
    assert_eq!(
        started.elapsed(),
        Duration::from_secs(600),
        "the longest wait"
    );
    let arguments = json!({ "job_id": "bash-1", "wait": true });
    let (served, ()) = tokio::join!(world.reply("job_output", arguments), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        job.end(Outcome::completed());
    });
    assert_eq!(
        served.preview().text(),
        "(no new output)\n[status: completed]"
    );
    assert!(
        !world
            .registry
            .get(&"bash-1".parse().unwrap(), &world.owner.caller())
            .await
            .unwrap()
            .reported()
    );
    let _sent = served.deliver();
    assert!(
        world
            .registry
            .get(&"bash-1".parse().unwrap(), &world.owner.caller())
            .await
            .unwrap()
            .reported()
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_waited_is_refused() {
    let world = world(ToolsConfig::default());
    let _job = world.start("build", None).await;
    for (asked, got) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!(-0.5), "-0.5"),
        (json!(2_147_483_647.5), "2147483647.5"),
        (json!(2_147_483_648_u32), "2147483648"),
        (json!(1e12), "1000000000000"),
        (json!(u64::MAX), "18446744073709552000"),
    ] {
        let mut arguments = json!({ "job_id": "bash-1", "wait": true, "timeout_ms": asked });
        let refused = world.call("job_output", arguments.clone()).await;
        assert_eq!(
            refused.text(),
            format!(
                "Error: invalid wait timeout: expected a positive number of milliseconds, got {got}"
            )
        );
        arguments["wait"] = json!(false);
        assert!(!world.call("job_output", arguments).await.is_error());
    }
    let started = tokio::time::Instant::now();
    for (asked, waited) in [(0.5, 1), (1500.0, 1500), (600_000.5, 600_000)] {
        let arguments = json!({ "job_id": "bash-1", "wait": true, "timeout_ms": asked });
        let before = started.elapsed();
        let call = world
            .tools
            .call("job_output", arguments, world.owner.caller());
        assert!(!call.await.deliver().is_error());
        let took = (started.elapsed() - before).as_millis();
        assert!((waited..waited + 2).contains(&took), "{asked}: {took} ms");
    }
}

#[tokio::test]
async fn a_wait_that_is_served_is_not_announced_again() {
    let world = world(ToolsConfig::default());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    let job = world.start("build", None).await;
    let arguments = json!({ "job_id": job.id, "wait": true });
    let (served, _id) = tokio::join!(world.reply("job_output", arguments), async {
        tokio::task::yield_now().await;
        job.end(Outcome::completed())
    });
    assert!(
        !inbox.is_busy(),
        "told before the answer was delivered or dropped"
    );
    let _sent = served.deliver();
    // A second job's notice shows that the reporter has had its turn.
    world
        .start("other", None)
        .await
        .ended(Outcome::completed())
        .await;
    soon(inbox.woken()).await;
    let mut turn = inbox.begin_turn();
    let texts: Vec<String> = turn
        .claim()
        .iter()
        .map(|message| message.text().to_owned())
        .collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("bash-2"));
    assert!(turn.close().is_ok());
}

#[tokio::test]
async fn an_answer_that_is_dropped_is_announced_and_read_again() {
    let world = world(ToolsConfig::default());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    let job = world.start("build", None).await;
    job.write("precious");
    let arguments = json!({ "job_id": job.id, "wait": true });
    let (served, _id) = tokio::join!(world.reply("job_output", arguments), async {
        tokio::task::yield_now().await;
        job.end(Outcome::completed())
    });
    drop(served);
    soon(inbox.woken()).await;
    let read = world
        .call("job_output", json!({ "job_id": "bash-1" }))
        .await;
    assert_eq!(read.text(), "precious\n[status: completed]");
}

#[tokio::test]
async fn a_cancelled_call_says_when_it_was_cancelled() {
    let world = world(ToolsConfig::default());
    let _job = world.start("build", None).await;
    let arguments = json!({ "job_id": "bash-1", "wait": true });
    let none = Policies::new();
    let before = CancellationToken::new();
    before.cancel();
    let reply = world
        .reply_under(&none, "job_output", arguments.clone(), &before)
        .await;
    assert_eq!(
        reply.deliver().text(),
        "Error: tool call aborted before dispatch"
    );
    let during = CancellationToken::new();
    let (reply, ()) = tokio::join!(
        world.reply_under(&none, "job_output", arguments, &during),
        async {
            tokio::task::yield_now().await;
            during.cancel();
        }
    );
    assert_eq!(reply.deliver().text(), "Error: wait aborted");
}
