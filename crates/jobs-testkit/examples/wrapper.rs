//! A wrapper around any registry, held against the contract: it counts what is started.
//!
//! `cargo run -p jobs-testkit --example wrapper`

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use jobs::*;
use jobs_local::{Config, LocalJobRegistry};
use jobs_testkit::{Settings, conformance::CASES};

static STARTED: AtomicUsize = AtomicUsize::new(0);

struct Counting(Arc<dyn JobRegistry>);

#[rustfmt::skip] // One line a method: all of them, and each is delegated.
#[async_trait]
impl JobRegistry for Counting {
    async fn start(&self, spec: JobSpec) -> Result<JobId, Error> {
        let id = self.0.start(spec).await?;
        STARTED.fetch_add(1, Ordering::Relaxed);
        Ok(id)
    }
    async fn get(&self, id: &JobId, by: &Caller) -> Result<Snapshot, Error> { self.0.get(id, by).await }
    async fn list(&self, by: &Caller) -> Result<Vec<Snapshot>, Error> { self.0.list(by).await }
    async fn read(&self, id: &JobId, by: &Caller) -> Result<Receipt<Delta>, Error> { self.0.read(id, by).await }
    async fn observe(&self, id: &JobId, by: &Caller, from: u64, max: Option<usize>) -> Result<Delta, Error> { self.0.observe(id, by, from, max).await }
    async fn kill(&self, id: &JobId, by: &Caller, who: KilledBy, why: Option<&str>) -> Result<Receipt<Kill>, Error> { self.0.kill(id, by, who, why).await }
    async fn settled(&self, id: &JobId, by: &Caller) -> Result<Receipt<Snapshot>, Error> { self.0.settled(id, by).await }
    async fn shutdown(&self) { self.0.shutdown().await; }
    fn owner(&self, session: SessionId, scope: Scope) -> Owner { self.0.owner(session, scope) }
    fn controller(&self, name: &str, scope: &Scope) -> Result<Registration, Error> { self.0.controller(name, scope) }
    fn completions(&self, scope: &Scope, owner: Option<&OwnerKey>) -> Completions { self.0.completions(scope, owner) }
    fn changes(&self, scope: &Scope) -> Changes { self.0.changes(scope) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let harness = Arc::new(|_: &Settings| -> Arc<dyn JobRegistry> {
        Arc::new(Counting(
            LocalJobRegistry::new(Config::default()).expect("valid"),
        ))
    });
    // The cases of reading need no other settings than the defaults.
    let reading = CASES.iter().filter(|case| case.clause.starts_with("C-3"));
    for case in reading.clone() {
        case.run(harness.clone())?;
    }
    let started = STARTED.load(Ordering::Relaxed);
    println!("{} cases hold, with {started} jobs", reading.count());
    assert!(started > 10);
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
