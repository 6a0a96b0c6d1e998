//! Hundreds of owners use one registry at random, for minutes, on several
//! threads: `cargo xtask soak`.
//!
//! It ends well only if no completion was lost, none was told twice against
//! the contract, and memory does not grow. With `--fault` the registry breaks
//! one clause, to show that this is noticed.

mod desk;
mod memory;
mod session;
mod tally;

use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use jobs::{JobRegistry, Scope};
use jobs_local::{Config, LocalJobRegistry};
use jobs_testkit::Settings;
use jobs_testkit::sabotage::Sabotage;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use memory::Memory;
use session::Rules;
use tally::Tally;

/// How much memory may grow, in MiB a minute.
const MOST_GROWTH: f64 = 1.0;

/// How many jobs of an owner may live at once: few, so that some are refused.
const MOST_LIVE: NonZeroU32 = NonZeroU32::MIN.saturating_add(3);

/// A shorter soak does not judge memory: its noise is larger than the bound.
const LEAST_MINUTES_FOR_MEMORY: f64 = 2.0;

#[derive(Debug, Parser)]
struct Args {
    /// For how many minutes; a fraction will do
    #[arg(long, default_value_t = 3.0)]
    minutes: f64,
    /// How many owners at once
    #[arg(long, default_value_t = 300)]
    owners: u32,
    /// On how many threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// For how many milliseconds an owner rests between two calls, at most
    #[arg(long, default_value_t = 20)]
    rest: u64,
    /// For how many seconds a completion may be untold before it is lost
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Break a clause: the name of a fault of the conformance kit
    #[arg(long, value_parser = fault)]
    fault: Option<&'static Sabotage>,
}

fn fault(name: &str) -> Result<&'static Sabotage, String> {
    Sabotage::named(name).ok_or_else(|| "no fault of the kit has this name".to_owned())
}

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(args.threads.max(1))
        .enable_time()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(soak(&args)),
        Err(error) => Err(format!("no runtime: {error}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("soak: {what}");
            ExitCode::FAILURE
        }
    }
}

fn registry(fault: Option<&Sabotage>) -> Arc<dyn JobRegistry> {
    let fresh = |settings: &Settings| -> Arc<dyn JobRegistry> {
        let config = Config::default()
            .with_max_concurrent_jobs_per_owner(settings.max_live_per_owner)
            .with_stop_grace(settings.stop_grace)
            .with_share_lease(settings.share_lease);
        LocalJobRegistry::new(config).expect("the settings are valid")
    };
    let mut settings = Settings::default();
    settings.max_live_per_owner = MOST_LIVE;
    match fault {
        Some(fault) => fault.fresh(&settings, fresh),
        None => fresh(&settings),
    }
}

async fn soak(args: &Args) -> Result<(), String> {
    let jobs = registry(args.fault);
    let controller = jobs
        .controller("soak", &Scope::root())
        .map_err(|error| error.to_string())?;
    let tally = Arc::new(Tally::default());
    let patience = Duration::from_secs(args.patience);
    let rules = Rules {
        until: Instant::now() + Duration::from_secs_f64(args.minutes * 60.0),
        patience,
        rest: args.rest,
    };

    let mut changes = jobs.changes(&Scope::root());
    let observer = tokio::spawn({
        let tally = Arc::clone(&tally);
        async move {
            while changes.next().await.is_some() {
                tally.changes.add();
            }
        }
    });
    let mut sessions = JoinSet::new();
    for number in 0..args.owners {
        let (jobs, tally) = (Arc::clone(&jobs), Arc::clone(&tally));
        sessions.spawn(session::run(jobs, tally, number, rules));
    }
    let mut memory = Memory::default();
    while Instant::now() < rules.until {
        tokio::time::sleep(Duration::from_millis(500)).await;
        memory.sample();
    }
    // Each owner may be patient with its completions, and then with its end.
    let limit = 3 * patience + Duration::from_secs(60);
    let mut faults = Vec::new();
    let all = async {
        while let Some(ended) = sessions.join_next().await {
            faults.extend(ended.err().map(|error| error.to_string()));
        }
    };
    if timeout(limit, all).await.is_err() {
        faults.push("an owner hangs".to_owned());
    }
    if timeout(limit, jobs.shutdown()).await.is_err() {
        faults.push("the shutdown hangs".to_owned());
    }
    drop(controller);
    if timeout(patience, observer).await.is_err() {
        faults.push("the changes do not end".to_owned());
    }

    println!("{tally}");
    match memory.slope() {
        Some(slope) => println!(
            "memory: {:.1} MiB at last, {slope:+.3} MiB a minute",
            memory.last()
        ),
        None => println!("memory: not known"),
    }
    if args.minutes < LEAST_MINUTES_FOR_MEMORY {
        println!("memory: not judged in less than {LEAST_MINUTES_FOR_MEMORY} minutes");
    } else if memory.slope().is_none_or(|slope| slope >= MOST_GROWTH) {
        faults.push(format!(
            "memory grows by {MOST_GROWTH} MiB a minute or more"
        ));
    }
    faults.extend(tally.faults());
    match faults.first() {
        None => Ok(()),
        Some(_) => Err(faults.join("; ")),
    }
}
