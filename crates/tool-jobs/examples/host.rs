//! A host's own loop: registry, tools and inbox around a scripted model.
//!
//! `cargo run -p tool-jobs --example host`

use jobs::{Hooks, JobRegistry, JobSpec, Outcome, Scope};
use jobs_local::{Config, LocalJobRegistry};
use serde_json::{Value, json};
use tool_jobs::{Inbox, JobTools, ToolsConfig};

/// In the place of a model: told of an end, it reads what came of it.
fn step(transcript: &[String]) -> Option<(&'static str, Value)> {
    let last = transcript.last()?;
    let told = last.starts_with("background job build-1 (build: release) finished");
    told.then(|| ("job_output", json!({ "job_id": "build-1" })))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = LocalJobRegistry::new(Config::default())?;
    let tools = JobTools::mount(jobs.clone(), Scope::root(), ToolsConfig::default())?;
    let owner = jobs.owner("session-1".into(), Scope::root());
    let inbox = Inbox::new();
    let _attached = tools.attach(&owner, inbox.clone());

    let work = |_stop| async { Outcome::completed().with_output("3 crates built") };
    let spec = JobSpec::new("build", "release", move |_id| Ok(Hooks::from_future(work)));
    let id = jobs.start(spec.with_owner(&owner)).await?;
    inbox.send_user(format!("you started {id}"));

    let mut transcript = Vec::new();
    while transcript.len() < 3 {
        inbox.woken().await; // by the user, or by the notice of the end
        let mut turn = inbox.begin_turn();
        loop {
            transcript.extend(turn.claim().iter().map(|message| message.text().to_owned()));
            while let Some((tool, arguments)) = step(&transcript) {
                let reply = tools.call(tool, arguments, owner.caller()).await;
                transcript.push(reply.deliver().text()); // sent: from here on it counts
            }
            match turn.close() {
                Ok(()) => break,
                Err(more) => turn = more,
            }
        }
    }
    owner.close().await;
    jobs.shutdown().await;

    println!("{}", transcript.join("\n"));
    assert_eq!(transcript[2], "3 crates built\n[status: completed]");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
