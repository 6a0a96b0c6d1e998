//! The kit tests itself: registries that break one clause each, and the cases
//! that notice.
//!
//! Every fault names the cases that fail under it; all others must pass. Run
//! with `--nocapture` to see the matrix.

use std::collections::BTreeSet;
use std::sync::{Arc, Once};

use async_trait::async_trait;
use jobs::JobRegistry;
use jobs_local::{Config, LocalJobRegistry, UnownedAccess};
use jobs_testkit::conformance::CASES;
use jobs_testkit::sabotage::{SABOTAGES, Sabotage};
use jobs_testkit::{Harness, Settings};

fn local(settings: &Settings) -> Arc<dyn JobRegistry> {
    let config = Config::default()
        .with_max_concurrent_jobs_per_owner(settings.max_live_per_owner)
        .with_stop_grace(settings.stop_grace)
        .with_teardown_grace(settings.teardown_grace)
        .with_share_lease(settings.share_lease)
        .with_max_finished_jobs_per_owner(settings.max_finished_per_owner)
        .with_max_finished_output_bytes_per_owner(settings.max_output_kept_per_owner)
        .with_max_untold_completions_per_owner(settings.max_untold_per_owner)
        .with_unowned_access(match settings.unowned_access {
            jobs_testkit::UnownedAccess::Full => UnownedAccess::Full,
            jobs_testkit::UnownedAccess::ReadOnly => UnownedAccess::ReadOnly,
            jobs_testkit::UnownedAccess::Nothing => UnownedAccess::Nothing,
        });
    LocalJobRegistry::new(config).expect("the settings are valid")
}

struct Sabotaged(&'static Sabotage);

#[async_trait]
impl Harness for Sabotaged {
    async fn fresh(&self, settings: &Settings) -> Arc<dyn JobRegistry> {
        self.0.fresh(settings, local)
    }
}

type Names = BTreeSet<&'static str>;

/// The names of the cases that fail under a fault, without those in real time.
fn noticing(sabotage: &'static Sabotage) -> Names {
    CASES
        .iter()
        .filter(|case| !case.is_in_real_time())
        .filter(|case| case.run(Arc::new(Sabotaged(sabotage))).is_err())
        .map(|case| case.name)
        .collect()
}

/// The rows with numbers `at`, `at + step`, …, as they were seen.
fn rows(at: usize, step: usize) -> Vec<(usize, Names)> {
    let numbered = SABOTAGES.iter().enumerate().skip(at).step_by(step);
    numbered.map(|(at, row)| (at, noticing(row))).collect()
}

/// Leaves the panics of cases unprinted: here they come by the hundred.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or_default();
            let of_a_case = CASES.iter().any(|case| case.name == name);
            if !of_a_case && !name.starts_with("tokio") {
                print(panic);
            }
        }));
    });
}

/// `cargo xtask conformance --matrix` reads the lines that this prints.
#[test]
fn matrix() {
    quieten();
    let parts = std::thread::available_parallelism().map_or(2, usize::from);
    let running: Vec<_> = (0..parts)
        .map(|at| std::thread::spawn(move || rows(at, parts)))
        .collect();
    let mut seen: Vec<_> = running
        .into_iter()
        .flat_map(|part| part.join().expect("a part of the matrix"))
        .collect();
    seen.sort_unstable();
    let mut wrong = Vec::new();
    for (at, failed) in seen {
        let row = &SABOTAGES[at];
        println!("{row:?}: {failed:?}");
        let declared: Names = row.noticed_by.iter().copied().collect();
        if failed != declared {
            let more: Vec<_> = failed.difference(&declared).collect();
            let less: Vec<_> = declared.difference(&failed).collect();
            wrong.push(format!(
                "{row:?}: not declared {more:?}, not noticed by {less:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_clause_is_broken_and_its_own_cases_notice() {
    let clauses: BTreeSet<_> = CASES.iter().map(|case| case.clause).collect();
    let broken: BTreeSet<_> = SABOTAGES.iter().map(|row| row.clause).collect();
    assert_eq!(broken, clauses);
    for row in SABOTAGES {
        let own = CASES
            .iter()
            .filter(|case| case.clause == row.clause)
            .any(|case| row.noticed_by.contains(&case.name));
        assert!(own, "{row:?}");
    }
}

#[test]
fn every_case_can_fail() {
    let noticing: BTreeSet<_> = SABOTAGES
        .iter()
        .flat_map(|row| row.noticed_by)
        .copied()
        .collect();
    let cases: BTreeSet<_> = CASES
        .iter()
        .filter(|case| !case.is_in_real_time())
        .map(|case| case.name)
        .collect();
    assert_eq!(noticing, cases);
}

#[test]
fn every_case_in_real_time_can_fail() {
    let pairs = [
        ("LimitIsOffByOne", "concurrent_starts_do_not_pass_the_limit"),
        (
            "EndedKillsAreRequested",
            "a_job_that_ends_inside_cancel_is_already_finished",
        ),
        (
            "EndedKillsAreRequested",
            "consumers_may_call_anything_while_jobs_settle",
        ),
        (
            "ClosesDoNotWait",
            "closes_and_starts_race_and_leave_nothing",
        ),
        ("ToldComesAgain", "every_owner_is_told_each_completion_once"),
        (
            "ToldComesAgain",
            "waits_reads_and_reporters_race_and_one_of_them_tells",
        ),
    ];
    let named: BTreeSet<_> = pairs.iter().map(|(_, case)| *case).collect();
    let in_real_time = CASES.iter().filter(|case| case.is_in_real_time());
    for case in in_real_time {
        assert!(named.contains(case.name), "{case:?} has no fault");
    }
    quieten();
    for (fault, name) in pairs {
        let sabotage = Sabotage::named(fault).expect("a fault");
        let case = CASES.iter().find(|case| case.name == name);
        let held = case.expect("a case").run(Arc::new(Sabotaged(sabotage)));
        assert!(held.is_err(), "{name} does not notice {fault}");
    }
}
