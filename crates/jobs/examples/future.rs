//! A producer made of a future: a sub-agent that stops when it is asked to.
//!
//! `cargo run -p jobs --example future`

use jobs::{Caller, Hooks, JobRegistry, JobSpec, KilledBy, Outcome, Scope, Status};
use jobs_local::{Config, LocalJobRegistry};

/// The work: anything that can be awaited, here one that never ends by itself.
async fn research(topic: &str) -> String {
    std::future::pending::<()>().await;
    format!("all about {topic}")
}

fn subagent(topic: &'static str) -> JobSpec {
    JobSpec::new("subagent", format!("research {topic}"), move |_id| {
        Ok(Hooks::from_future(move |stop| async move {
            match stop.run_until_cancelled(research(topic)).await {
                Some(text) => Outcome::completed().with_output(text),
                None => Outcome::killed().with_output("found nothing yet"),
            }
        }))
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = LocalJobRegistry::new(Config::default())?;
    // Whoever can collect and stop jobs; without one, nothing is started.
    let _controller = jobs.controller("example", &Scope::root())?;

    let id = jobs.start(subagent("tides")).await?;
    let nobody = Caller::Anonymous; // the job has no owner
    println!("{id} is {}", jobs.get(&id, &nobody).await?.status());

    let kill = jobs
        .kill(&id, &nobody, KilledBy::User, Some("enough"))
        .await?;
    assert_eq!(kill.commit().job.status(), Status::Stopping);
    let ended = jobs.settled(&id, &nobody).await?.commit();
    let output = jobs.read(&id, &nobody).await?.commit();
    println!(
        "{id} is {}, {:?}: {}",
        ended.status(),
        ended.detail(),
        output.text
    );
    assert_eq!(ended.status(), Status::Killed);
    assert_eq!(ended.detail(), Some("stopped by user: enough"));
    assert_eq!(output.text, "found nothing yet");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
