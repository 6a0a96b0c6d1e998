//! The tool `bash` over the in-memory registry.

use std::sync::Arc;
use std::time::Duration;

use jobs::tool::{Reply, Tool, ToolCall};
use jobs::{
    Caller, CancellationToken, JobId, JobRegistry, Owner, Registration, Scope, SessionId, Status,
};
use jobs_local::{Config, LocalJobRegistry};
use jobs_process::{BackgroundRuns, BashTool, BashToolConfig, Containment, OnTimeLimit};
use serde_json::{Value, json};

use crate::support::{Bench, run};

struct Host {
    bench: Bench,
    registry: Arc<LocalJobRegistry>,
    owner: Owner,
    controller: Option<Registration>,
    tool: BashTool,
}

impl Host {
    fn new(config: BashToolConfig) -> Self {
        let bench = Bench::new(Containment::Supervisor);
        let registry = LocalJobRegistry::new(Config::default()).expect("valid");
        let controller = registry
            .controller("test", &Scope::root())
            .expect("the first");
        let owner = registry.owner(SessionId::new("s"), Scope::root());
        let jobs: Arc<dyn JobRegistry> = Arc::clone(&registry) as _;
        let tool = BashTool::new(bench.runner.clone(), jobs, config).expect("valid");
        Self {
            bench,
            registry,
            owner,
            controller: Some(controller),
            tool,
        }
    }

    fn marked(&self, command: &str) -> String {
        format!("export JOBS_TEST_MARK={}; {command}", self.bench.mark)
    }

    async fn call(&self, arguments: Value) -> Reply {
        self.tool
            .call(ToolCall::new(arguments, self.owner.caller()))
            .await
    }

    async fn run(&self, command: &str) -> String {
        self.call(json!({ "command": self.marked(command) }))
            .await
            .deliver()
            .text()
    }

    async fn close(self) {
        self.owner.close().await;
        self.registry.shutdown().await;
        assert_eq!(self.bench.census().live, Vec::<i32>::new());
    }
}

#[test]
fn a_foreground_run_answers_output_and_markers() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        for (command, wanted) in [
            ("echo hi", "hi\n"),
            ("true", "(no output)"),
            ("exit 3", "(no output)\n[exit code: 3]"),
            (
                "echo out; echo err >&2; exit 3",
                "out\n[stderr]\nerr\n[exit code: 3]",
            ),
            ("printf x; kill -SEGV $$", "x\n[killed by signal: SIGSEGV]"),
            (
                "sleep 30 & echo hi",
                "hi\n[1 process(es) left by the command were stopped]\n",
            ),
        ] {
            assert_eq!(host.run(command).await, wanted, "{command}");
        }
        let reply = host.call(json!({ "command": "exit 3" })).await.deliver();
        assert!(!reply.is_error(), "a code is a result");
        let value = reply.value().expect("a value");
        assert_eq!(
            (&value["kind"], &value["detail"]),
            (&json!("foreground"), &json!("exit code: 3"))
        );
        assert_eq!(value["facts"]["exitCode"], 3);
        host.close().await;
    });
}

#[test]
fn long_output_is_cut_and_its_file_is_there() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let text = host.run("seq 100000; exit 1").await;
        assert!(text.len() < 30_200 && text.contains("\n99999\n100000\n[output truncated; "));
        assert!(
            text.ends_with("]\n[exit code: 1]"),
            "{}",
            &text[text.len() - 100..]
        );
        let (_, path) = text.split_once("full output: ").expect("a path");
        let (path, _) = path.split_once(']').expect("its end");
        let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
        assert_eq!(std::fs::read_to_string(path).expect("the file"), all);
        host.close().await;
    });
}

#[test]
fn a_background_run_answers_its_id() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let command = host.marked("echo hi; exit 3");
        let arguments =
            json!({ "command": command, "description": "say hi", "run_in_background": true });
        let result = host.call(arguments).await.deliver();
        assert_eq!(result.text(), "started background job bash-1");
        assert_eq!(
            result.value(),
            Some(&json!({ "kind": "background", "jobId": "bash-1" }))
        );

        let id: JobId = "bash-1".parse().expect("an id");
        let caller = host.owner.caller();
        let ended = host
            .registry
            .settled(&id, &caller)
            .await
            .expect("known")
            .commit();
        assert_eq!(
            (ended.status(), ended.detail()),
            (Status::Completed, Some("exit code: 3"))
        );
        assert_eq!(&*ended.label, "say hi");
        let delta = host
            .registry
            .read(&id, &caller)
            .await
            .expect("known")
            .commit();
        assert_eq!(delta.text, "hi\n");

        let arguments =
            json!({ "command": "true", "workdir": "/no/such", "run_in_background": true });
        let refused = host.call(arguments).await.deliver();
        assert!(
            refused.is_error()
                && refused
                    .text()
                    .starts_with("Error: invalid working directory")
        );
        assert_eq!(
            host.registry.list(&caller).await.expect("open").len(),
            1,
            "no second job"
        );
        host.close().await;
    });
}

#[test]
fn a_background_run_with_a_limit_is_ended_by_it() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let arguments =
            json!({ "command": "sleep 60", "timeout_ms": 100, "run_in_background": true });
        assert!(!host.call(arguments).await.deliver().is_error());
        let id = "bash-1".parse().expect("an id");
        let ended = host
            .registry
            .settled(&id, &host.owner.caller())
            .await
            .expect("known")
            .commit();
        assert_eq!(ended.detail(), Some("limit: max runtime 100ms"));
        let end = ended.end().expect("ended");
        assert_eq!(end.cause, jobs::Cause::Limit);
        host.close().await;
    });
}

#[test]
fn a_run_that_takes_long_becomes_a_job() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let gate = host.bench.spill.path().join("gate");
        let command = format!(
            "echo a; while [ ! -e {} ]; do sleep 0.02; done; echo b",
            gate.display()
        );
        let arguments = json!({ "command": host.marked(&command), "timeout_ms": 300 });
        let reply = host.call(arguments).await;
        let wanted = "a\n[timed out after 300ms]\n[still running as background job bash-1]";
        assert_eq!(reply.preview().text(), wanted);
        assert_eq!(
            reply.preview().value().expect("a value")["kind"],
            "promoted"
        );

        let id: JobId = "bash-1".parse().expect("an id");
        let caller = host.owner.caller();
        let read = host.registry.read(&id, &caller).await.expect("known");
        assert_eq!(read.commit().text, "a\n", "not delivered yet");
        let _ = reply.deliver();
        std::fs::write(&gate, "").expect("written");
        host.registry
            .settled(&id, &caller)
            .await
            .expect("known")
            .commit();
        let read = host.registry.read(&id, &caller).await.expect("known");
        assert_eq!(read.commit().text, "b\n");
        host.close().await;
    });
}

#[test]
fn a_run_that_takes_long_is_ended_where_that_is_configured_or_the_start_is_refused() {
    run(async {
        let config = BashToolConfig::new().with_on_time_limit(OnTimeLimit::Kill);
        let host = Host::new(config);
        let arguments = json!({ "command": "echo a; sleep 60", "timeout_ms": 200 });
        let text = host.call(arguments.clone()).await.deliver().text();
        assert_eq!(
            text,
            "a\n[timed out after 200ms]\n[killed by signal: SIGTERM]"
        );
        host.close().await;

        let mut host = Host::new(BashToolConfig::new());
        drop(host.controller.take());
        let text = host.call(arguments).await.deliver().text();
        let reason = "[not continued as a background job: background jobs are unavailable";
        assert!(
            text.starts_with(&format!("a\n[timed out after 200ms]\n{reason}")),
            "{text}"
        );
        assert!(text.ends_with("]\n[killed by signal: SIGTERM]"), "{text}");
        host.close().await;
    });
}

#[test]
fn background_runs_can_be_switched_off() {
    run(async {
        let config = BashToolConfig::new().with_background_runs(BackgroundRuns::Withheld);
        let host = Host::new(config);
        let schema = host.tool.definition().input_schema.to_string();
        assert!(!schema.contains("run_in_background"), "{schema}");
        let forced = host
            .call(json!({ "command": "true", "run_in_background": true }))
            .await
            .deliver();
        assert!(
            forced.is_error() && forced.text().contains("run_in_background"),
            "{}",
            forced.text()
        );
        assert_eq!(host.run("echo hi").await, "hi\n");
        host.close().await;

        let promote = BashToolConfig::new()
            .with_background_runs(BackgroundRuns::Withheld)
            .with_on_time_limit(OnTimeLimit::Promote);
        let bench = Bench::new(Containment::Supervisor);
        let registry = LocalJobRegistry::new(Config::default()).expect("valid");
        assert!(BashTool::new(bench.runner.clone(), registry, promote).is_err());
    });
}

#[test]
fn a_call_that_is_cancelled_or_dropped_leaves_nothing() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let cancel = CancellationToken::new();
        let arguments = json!({ "command": host.marked("setsid sleep 60 & sleep 60") });
        let call = ToolCall::new(arguments, host.owner.caller()).with_cancel(cancel.clone());
        let start = async {
            crate::support::until(|| host.bench.census().live.len() >= 2).await;
            cancel.cancel();
        };
        let (reply, ()) = tokio::join!(host.tool.call(call.clone()), start);
        assert_eq!(reply.deliver().text(), "Error: tool call aborted");
        assert_eq!(host.bench.census().live, Vec::<i32>::new());
        let late = host.tool.call(call.clone()).await.deliver();
        assert_eq!(late.text(), "Error: tool call aborted before dispatch");

        let dropped = host.tool.call(call.with_cancel(CancellationToken::new()));
        assert!(
            tokio::time::timeout(Duration::from_millis(300), dropped)
                .await
                .is_err()
        );
        crate::support::until(|| host.bench.census().live.is_empty()).await;
        host.close().await;
    });
}

#[test]
fn what_cannot_run_is_an_error_result() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let failed = host.call(json!({ "command": 3 })).await.deliver();
        assert_eq!(
            failed.text(),
            "Error: invalid arguments: command: expected a string, got a number"
        );
        let failed = host
            .call(json!({ "command": "true", "workdir": "/no" }))
            .await
            .deliver();
        assert!(
            failed.is_error()
                && failed
                    .text()
                    .starts_with("Error: invalid working directory /no")
        );
        let background = json!({ "command": "true", "run_in_background": true });
        let caller = Caller::Session(SessionId::new("s"));
        let failed = host
            .tool
            .call(ToolCall::new(background, caller))
            .await
            .deliver();
        assert!(
            failed
                .text()
                .starts_with("Error: background jobs need an owner"),
            "{}",
            failed.text()
        );
        host.close().await;
    });
}

#[test]
fn the_card_names_the_work() {
    run(async {
        let host = Host::new(BashToolConfig::new());
        let card = host
            .tool
            .present(&json!({ "command": "make", "description": "Build" }));
        let card = card.expect("a card");
        assert_eq!(
            (card.title.as_str(), card.raw_input),
            ("Build", Some(json!("make")))
        );
        assert!(host.tool.present(&json!({})).is_none());
        assert!(BashTool::PROMPT.len() < 200 && !BashTool::PROMPT.contains('\n'));
        host.close().await;
    });
}
