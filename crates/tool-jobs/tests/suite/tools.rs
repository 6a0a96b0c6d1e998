//! The three tools against a real registry.

use std::num::NonZeroUsize;

use jobs::{Caller, Outcome, Scope};
use serde_json::json;
use tool_jobs::{Inbox, JobTools, ToolsConfig};

use crate::world::{soon, world};

#[tokio::test]
async fn a_read_goes_on_where_the_delivered_one_ended() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", None).await;
    let arguments = json!({ "job_id": job.id });
    let nothing = world.call("job_output", arguments.clone()).await;
    assert_eq!(nothing.text(), "(no new output)\n[status: running]");
    job.write("one\n");
    let dropped = world.reply("job_output", arguments.clone()).await;
    assert_eq!(dropped.preview().text(), "one\n[status: running]");
    drop(dropped);
    job.write("two");
    let read = world.call("job_output", arguments.clone()).await;
    assert_eq!(read.text(), "one\ntwo\n[status: running]");
    assert_eq!(
        read.value().unwrap()["range"],
        json!({ "from": 0, "to": 7 })
    );
    job.write("three");
    let id = job
        .ended(Outcome::completed().with_detail("exit code: 0"))
        .await
        .id;
    let read = world.call("job_output", arguments).await;
    assert_eq!(read.text(), "three\n[status: completed, exit code: 0]");
    let value = read.value().unwrap();
    assert_eq!(value["text"], "three");
    let mut snapshot = value["job"].clone();
    for time in ["startedAt", "finishedAt"] {
        assert!(
            snapshot
                .as_object_mut()
                .unwrap()
                .remove(time)
                .unwrap()
                .is_u64()
        );
    }
    assert_eq!(
        snapshot,
        json!({ "id": id, "kind": "bash", "label": "build", "status": "completed",
            "detail": "exit code: 0", "cause": "self" })
    );
}

#[tokio::test]
async fn a_list_is_a_line_a_job() {
    let world = world(ToolsConfig::default());
    assert_eq!(
        world.call("job_list", json!({})).await.text(),
        "(no background jobs)"
    );
    let first = world.start("build", None).await;
    let _second = world.start_kind("subagent", "look", None).await;
    first.ended(Outcome::failed()).await;
    let list = world.call("job_list", json!({ "any": "thing" })).await;
    assert_eq!(
        list.text(),
        "bash-1 [bash] failed — build\nsubagent-1 [subagent] running — look"
    );
    assert_eq!(list.value().unwrap().as_array().unwrap().len(), 2);
    let other = world
        .tools
        .call("job_list", json!({}), Caller::Anonymous)
        .await;
    assert_eq!(other.deliver().text(), "(no background jobs)");
}

#[tokio::test]
async fn a_list_is_cut_at_rows() {
    let config = ToolsConfig::builder().list_limit(NonZeroUsize::new(60));
    let world = world(config.build().unwrap());
    for _job in 0..5 {
        let _live = world.start("a label", None).await;
    }
    let list = world.call("job_list", json!({})).await;
    assert_eq!(list.text(), "bash-1 [bash] running — a label\n… and 4 more");
    assert_eq!(list.value().unwrap().as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_kill_is_requested_or_comes_too_late() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", None).await;
    let arguments = json!({ "job_id": job.id, "reason": "enough" });
    let kill = world.call("job_kill", arguments.clone()).await;
    assert_eq!(kill.text(), "requested cancellation of job bash-1");
    assert_eq!(kill.value().unwrap()["outcome"], "cancellation-requested");
    assert_eq!(kill.value().unwrap()["job"]["status"], "stopping");
    job.write("last words");
    job.ended(Outcome::killed().with_detail("signal")).await;
    let kill = world.call("job_kill", arguments).await;
    assert_eq!(
        kill.text(),
        "job bash-1 had already finished [status: killed, signal]"
    );
    assert_eq!(kill.value().unwrap()["outcome"], "already-finished");
    let read = world
        .call("job_output", json!({ "job_id": "bash-1" }))
        .await;
    assert_eq!(read.text(), "last words\n[status: killed, signal]");
}

#[tokio::test]
async fn each_bad_argument_is_named() {
    let world = world(ToolsConfig::default());
    let _job = world.start("build", None).await;
    for (tool, arguments, text) in [
        (
            "job_output",
            json!([]),
            "invalid arguments: expected an object, got a list",
        ),
        (
            "job_output",
            json!({}),
            "invalid arguments: \"job_id\": expected a string, got nothing",
        ),
        (
            "job_output",
            json!({ "job_id": 5, "wait": "yes", "timeout_ms": null, "from": -1 }),
            "invalid arguments: \"job_id\": expected a string, got 5; \
             \"wait\": expected a boolean, got \"yes\"; \
             \"timeout_ms\": expected a number, got null; \
             \"from\": expected a byte offset: a whole number from 0, got -1",
        ),
        (
            "job_kill",
            json!({ "job_id": "bash-1", "reason": {} }),
            "invalid arguments: \"reason\": expected a string, got an object",
        ),
        (
            "job_kill",
            json!({ "job_id": "" }),
            "invalid job_id: expected a non-empty string, got \"\"",
        ),
        (
            "job_output",
            json!({ "job_id": "bash-01" }),
            "unknown job bash-01",
        ),
        (
            "job_output",
            json!({ "job_id": "bash-9" }),
            "unknown job bash-9",
        ),
        (
            "job_output",
            json!({ "job_id": "bash-1", "wait": true, "timeout_ms": 0 }),
            "invalid wait timeout: expected a positive number of milliseconds, got 0",
        ),
        ("job_outputs", json!({}), "unknown tool \"job_outputs\""),
    ] {
        let result = world.call(tool, arguments.clone()).await;
        assert!(result.is_error(), "{arguments}");
        assert_eq!(result.text(), format!("Error: {text}"));
    }
    let unused = json!({ "job_id": "bash-1", "wait": false, "timeout_ms": -5, "extra": 1 });
    assert!(!world.call("job_output", unused).await.is_error());
}

#[tokio::test]
async fn a_foreign_job_is_refused_without_its_limit() {
    let world = world(ToolsConfig::default());
    let _job = world.start("build", Some(10)).await;
    let stranger = world.registry.owner("other".into(), Scope::root());
    let arguments = json!({ "job_id": "bash-1" });
    let reply = world
        .tools
        .call("job_output", arguments, stranger.caller())
        .await;
    assert_eq!(
        reply.deliver().text(),
        "Error: job bash-1 belongs to another session"
    );
}

#[tokio::test]
async fn a_second_mount_at_the_same_scope_is_refused() {
    let world = world(ToolsConfig::default());
    let mount = |scope| JobTools::mount(world.registry.clone(), scope, ToolsConfig::default());
    let refused = mount(Scope::root()).unwrap_err();
    assert!(
        matches!(refused, jobs::Error::ControllerTaken { .. }),
        "{refused}"
    );
    let inner = mount(Scope::root().child("preset")).unwrap();
    drop(inner);
    drop(world.tools);
    let config = ToolsConfig::default();
    assert!(JobTools::mount(world.registry.clone(), Scope::root(), config).is_ok());
}

#[tokio::test]
async fn a_digest_says_what_a_fresh_context_must_know() {
    let world = world(ToolsConfig::default());
    assert_eq!(world.tools.digest(&world.owner.caller()).await.unwrap(), "");
    let _live = world.start("server", None).await;
    let read = world.start("read", None).await;
    let told = world.start("told", None).await;
    let untold = world.start("untold", None).await;
    told.write("output");
    told.ended(Outcome::completed()).await;
    let inbox = Inbox::new();
    let attached = world.tools.attach(&world.owner, inbox.clone());
    soon(inbox.woken()).await;
    drop(attached);
    read.ended(Outcome::completed()).await;
    assert!(
        !world
            .call("job_output", json!({ "job_id": "bash-2" }))
            .await
            .is_error()
    );
    untold.ended(Outcome::failed()).await;
    for _time in 0..2 {
        assert_eq!(
            world.tools.digest(&world.owner.caller()).await.unwrap(),
            "Background jobs still live:\n\
             bash-1 [bash] running — server\n\
             Finished, with output not read yet:\n\
             bash-3 [bash] completed — told\n\
             Finished, not announced yet:\n\
             bash-4 [bash] failed — untold"
        );
    }
}
