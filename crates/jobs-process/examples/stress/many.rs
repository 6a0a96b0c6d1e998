//! Ten thousand short jobs, 64 at once, over a registry: nothing is left, and each end is told.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use jobs::{JobRegistry, Scope, SessionId};
use jobs_local::{Config, LocalJobRegistry};
use jobs_process::{Containment, JobCommand, ProcessConfig, ProcessRunner};
use tokio::sync::Semaphore;

use crate::scan::{MARK, Scan, new_mark};
use crate::{Error, Verdict, runner};

const JOBS: usize = 10_000;
const AT_ONCE: usize = 64;

pub(crate) async fn run() -> Result<Verdict, Error> {
    let mut all = Verdict::Holds;
    for rung in [Containment::Supervisor, Containment::Sweep] {
        let runner = runner(rung, ProcessConfig::new())?;
        let mark = new_mark();
        // What the first jobs cost once is not what a job leaves.
        told(&runner, &mark, AT_ONCE).await?;
        let before = Scan::take(&mark)?;
        let start = Instant::now();
        let told = told(&runner, &mark, JOBS).await?;
        let took = start.elapsed();
        let after = Scan::take(&mark)?;
        drop(runner);
        let end = Scan::take(&mark)?;
        let verdict = Verdict::of(
            told == JOBS
                && after.live.is_empty()
                && after.zombies == 0
                && after.children <= before.children
                && after.descriptors <= before.descriptors
                && end.zombies + end.children == 0,
        );
        println!(
            "{rung:?}: {told} of {JOBS} told in {:.1} s ({:.2} ms a job, {AT_ONCE} at once); left: \
             {} live, {} zombies, {} spare supervisors (before: {}), {} once the runner is gone; \
             descriptors {}, before {}: {verdict}",
            took.as_secs_f64(),
            took.as_secs_f64() * 1e3 / JOBS as f64,
            after.live.len(),
            after.zombies,
            after.children,
            before.children,
            end.children,
            after.descriptors,
            before.descriptors,
        );
        all = all.and(verdict);
    }
    Ok(all)
}

/// Runs so many jobs; returns of how many different ones it was told that they exited with 0.
async fn told(runner: &ProcessRunner, mark: &str, count: usize) -> Result<usize, Error> {
    let at_once = u32::try_from(AT_ONCE)?.try_into()?;
    let config = Config::default().with_max_concurrent_jobs_per_owner(at_once);
    let registry = LocalJobRegistry::new(config)?;
    let _controller = registry.controller("stress", &Scope::root())?;
    let owner = registry.owner(SessionId::new("stress"), Scope::root());
    let mut completions = registry.completions(&Scope::root(), Some(owner.key()));
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let free = Arc::clone(&slots);
    let told = tokio::spawn(async move {
        let mut told = HashSet::new();
        while told.len() < count {
            let Some(receipt) = completions.next().await else {
                break;
            };
            let completion = receipt.commit();
            if completion.job.detail() == Some("exit code: 0") {
                told.insert(completion.notice);
            }
            free.add_permits(1);
        }
        told.len()
    });
    for _ in 0..count {
        slots.acquire().await?.forget();
        let command = JobCommand::argv(["/bin/true"]).with_env(MARK, mark);
        registry
            .start(runner.spec(command).with_owner(&owner))
            .await?;
    }
    let told = told.await?;
    owner.close().await;
    registry.shutdown().await;
    Ok(told)
}
