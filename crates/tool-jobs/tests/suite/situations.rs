//! What the tools say when something is refused or fails (spec/registry.md
//! §11), and what becomes of long details.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use jobs::{Hooks, JobSpec, Outcome, OutputSource, ProducerError, Rendered};
use serde_json::json;
use tool_jobs::fit::Truncation;
use tool_jobs::{Inbox, ToolsConfig};

use crate::world::{World, soon, world, world_over};

/// An output source that has only trouble.
struct Trouble(fn() -> ProducerError);

impl OutputSource for Trouble {
    fn read(&self, _from: u64, _max: Option<usize>) -> Result<Rendered, ProducerError> {
        Err((self.0)())
    }

    fn kept_bytes(&self) -> usize {
        0
    }
}

async fn start_trouble(world: &World, limit: u64, trouble: fn() -> ProducerError) {
    let spec = JobSpec::new("bash", "build", move |_id| {
        let cancel = move |_reason: Option<&str>| Err(trouble());
        let hooks = Hooks::new(cancel, std::future::pending());
        Ok(hooks.with_output(Arc::new(Trouble(trouble))))
    })
    .with_owner(&world.owner)
    .with_output_limit(limit);
    world.registry.start(spec).await.unwrap();
}

#[tokio::test]
async fn a_producers_own_text_is_one_line_within_the_limit() {
    for (limit, trouble, text) in [
        (
            1000,
            (|| ProducerError::new("disk\ngone")) as fn() -> ProducerError,
            "Error: disk gone",
        ),
        (1000, || panic!("a\nbug"), "Error: producer panicked: a bug"),
        (
            40,
            || ProducerError::new("no ".repeat(500)),
            "no no no no no no no \n[result truncated]",
        ),
    ] {
        let world = world(ToolsConfig::default());
        start_trouble(&world, limit, trouble).await;
        for (tool, arguments) in [
            ("job_output", json!({ "job_id": "bash-1" })),
            ("job_output", json!({ "job_id": "bash-1", "from": 3 })),
            ("job_kill", json!({ "job_id": "bash-1" })),
        ] {
            let result = world.call(tool, arguments).await;
            assert!(result.is_error());
            assert_eq!(result.text(), text, "{tool}");
        }
        let list = world.call("job_list", json!({})).await;
        assert_eq!(list.text(), "bash-1 [bash] running — build");
        let digest = world.tools.digest(&world.owner.caller()).await;
        assert!(digest.unwrap().ends_with("bash-1 [bash] running — build"));
    }
}

#[tokio::test]
async fn what_retention_took_is_no_longer_kept() {
    let one = NonZeroU32::MIN;
    let bounds = jobs_local::Config::default().with_max_finished_jobs_per_owner(one);
    let world = world_over(bounds, ToolsConfig::default());
    for _job in 0..2 {
        let job = world.start("build", None).await;
        let arguments = json!({ "job_id": job.id });
        job.ended(Outcome::completed()).await;
        assert!(!world.call("job_output", arguments).await.is_error());
    }
    for (tool, arguments) in [
        ("job_output", json!({ "job_id": "bash-1" })),
        ("job_output", json!({ "job_id": "bash-1", "wait": true })),
        ("job_output", json!({ "job_id": "bash-1", "from": 0 })),
        ("job_kill", json!({ "job_id": "bash-1" })),
    ] {
        let text = world.call(tool, arguments).await.text();
        assert_eq!(text, "Error: job bash-1 is no longer kept");
    }
    let list = world.call("job_list", json!({})).await;
    assert_eq!(list.text(), "bash-2 [bash] completed — build");
}

#[tokio::test]
async fn output_that_retention_took_is_no_longer_kept() {
    let bounds = jobs_local::Config::default().with_max_finished_output_bytes_per_owner(10);
    let world = world_over(bounds, ToolsConfig::default());
    for _job in 0..2 {
        let job = world.start("build", None).await;
        job.write("eight by");
        let arguments = json!({ "job_id": job.id });
        job.ended(Outcome::completed()).await;
        assert!(!world.call("job_output", arguments).await.is_error());
    }
    let read = |id: &str| world.call("job_output", json!({ "job_id": id, "from": 0 }));
    assert_eq!(
        read("bash-1").await.text(),
        "Error: job bash-1 is no longer kept"
    );
    assert_eq!(read("bash-2").await.text(), "eight by\n[status: completed]");
    let kill = world.call("job_kill", json!({ "job_id": "bash-1" })).await;
    assert_eq!(
        kill.text(),
        "job bash-1 had already finished [status: completed]"
    );
}

#[tokio::test(start_paused = true)]
async fn after_a_shutdown_every_tool_says_so() {
    let world = world(ToolsConfig::default());
    let _job = world.start("build", None).await;
    world.registry.shutdown().await;
    for (tool, arguments) in [
        ("job_output", json!({ "job_id": "bash-1" })),
        ("job_output", json!({ "job_id": "bash-1", "wait": true })),
        ("job_output", json!({ "job_id": "bash-1", "from": 0 })),
        ("job_kill", json!({ "job_id": "bash-1" })),
        ("job_list", json!({})),
    ] {
        let text = world.call(tool, arguments).await.text();
        assert_eq!(text, "Error: job registry is shut down");
    }
    let digest = world.tools.digest(&world.owner.caller()).await;
    assert!(matches!(digest, Err(jobs::Error::ShutDown)));
}

#[tokio::test]
async fn a_detail_is_whole_wherever_it_fits() {
    let detail = "d".repeat(300);
    let status = format!("[status: failed, {detail}]");
    let plain = ToolsConfig::builder().truncation(Truncation::Plain);
    for (limit, output, text) in [
        (None, "", format!("(no new output)\n{status}")),
        (Some(320), "x", format!("x\n{status}")),
        (
            Some(339),
            "a body that does not fit",
            format!("t\n[output truncated]\n{status}"),
        ),
        (
            Some(338),
            "a body that does not fit",
            format!("\n[output truncated]\n{status}"),
        ),
        (Some(337), "a body that does not fit", {
            let short = format!("[status: failed, {}…]", "d".repeat(197));
            let shown = 337 - short.len() - "\n[output truncated]\n".len();
            assert!(shown > "a body that does not fit".len());
            format!("a body that does not fit\n{short}")
        }),
    ] {
        let world = world(plain.clone().build().unwrap());
        let job = world.start("build", limit).await;
        job.write(output);
        let inbox = Inbox::new();
        let _attached = world.tools.attach(&world.owner, inbox.clone());
        job.ended(Outcome::failed().with_detail(detail.as_str()))
            .await;
        soon(inbox.woken()).await;
        let notice = inbox.begin_turn().claim()[0].text().to_owned();
        let read = world
            .call("job_output", json!({ "job_id": "bash-1" }))
            .await;
        assert_eq!(read.text(), text, "under {limit:?}");
        let kill = world.call("job_kill", json!({ "job_id": "bash-1" })).await;
        let whole = format!("job bash-1 had already finished {status}");
        if limit.is_none_or(|limit| whole.len() as u64 <= limit) {
            assert_eq!(kill.text(), whole);
        } else {
            let start = "job bash-1 had already finished [status: failed, ddd";
            assert!(kill.text().starts_with(start), "{}", kill.text());
            assert!(kill.text().ends_with("d…]"), "{}", kill.text());
        }
        let told = format!("background job bash-1 (bash: build) finished {status}. Read");
        let cut = "\n[notice truncated]\nDone; job_output.";
        if limit.is_none() {
            assert!(notice.starts_with(&told));
        } else {
            let head = notice.strip_suffix(cut).unwrap();
            assert!(told.starts_with(head), "{notice}");
        }
    }
}

#[tokio::test]
async fn rows_of_a_list_are_whole() {
    let config = ToolsConfig::builder().list_limit(NonZeroUsize::new(1000));
    let world = world(config.build().unwrap());
    for _job in 0..5 {
        let _live = world.start(&"l".repeat(300), None).await;
    }
    let list = world.call("job_list", json!({})).await.text();
    let row = |n: u32| format!("bash-{n} [bash] running — {}", "l".repeat(300));
    let rows = [row(1), row(2), row(3)].join("\n");
    assert_eq!(list, format!("{rows}\n… and 2 more"));
    let digest = world.tools.digest(&world.owner.caller()).await.unwrap();
    let heading = "Background jobs still live:";
    assert_eq!(
        digest,
        format!("{heading}\n{}\n{}\n… and 3 more", row(1), row(2))
    );
}
