//! A producer that writes a log: its output is read while the job goes on.
//!
//! `cargo run -p jobs --example log`

use std::num::NonZeroUsize;

use jobs::{Caller, Hooks, JobRegistry, JobSpec, Outcome, Scope, Stream};
use jobs_local::{Config, LocalJobRegistry};
use tokio::sync::mpsc::{Receiver, channel};

/// A job that logs what it gets, until there is nothing more. It keeps the last 64 KiB.
fn importer(mut rows: Receiver<&'static str>) -> JobSpec {
    const KEPT: NonZeroUsize = NonZeroUsize::new(64 * 1024).expect("not zero");
    JobSpec::new("import", "import the customers", move |_id| {
        Ok(Hooks::from_log(KEPT, |stop, log| async move {
            while let Some(Some(row)) = stop.run_until_cancelled(rows.recv()).await {
                match row.split_once(',') {
                    Some((name, _)) => log.push(Stream::Stdout, format!("{name}\n").as_bytes()),
                    None => log.push(Stream::Stderr, b"not a row\n"),
                }
            }
            if stop.is_cancelled() {
                return Outcome::killed();
            }
            Outcome::completed()
        }))
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = LocalJobRegistry::new(Config::default())?;
    let _controller = jobs.controller("example", &Scope::root())?;
    let nobody = Caller::Anonymous;
    let (send, rows) = channel(1);
    let id = jobs.start(importer(rows)).await?;

    send.send("ada,1815").await?;
    send.send("?").await?; // there is room for it: the row before it is in the log
    let first = jobs.read(&id, &nobody).await?.commit();
    print!("while it runs:\n{}", first.text);
    assert!(first.text.starts_with("ada\n"));

    send.send("alan,1912").await?;
    drop(send); // no more rows: the job ends
    jobs.settled(&id, &nobody).await?.commit();
    let all = jobs.observe(&id, &nobody, 0, None).await?; // a second reader, from the start
    print!("all of it:\n{}", all.text);
    assert_eq!(all.text, "ada\nalan\n[stderr]\nnot a row\n");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
