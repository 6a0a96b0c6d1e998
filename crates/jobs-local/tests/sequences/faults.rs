//! The sequences can fail: over a registry that breaks a clause they find a
//! script that shows it, and shrink it until a person can read it.

use std::sync::Once;
use std::thread;

use jobs_testkit::sabotage::Sabotage;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestError, TestRng, TestRunner};

use crate::op::{self, Op};
use crate::run_over;

/// A shrunk script that under `fault` differs from the model, if one is found.
/// Chance is the same in every run.
fn differing(fault: &'static Sabotage) -> Option<Vec<Op>> {
    let config = ProptestConfig {
        cases: 256,
        max_shrink_iters: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let scripts = prop::collection::vec(op::any(), 1..60);
    let found = runner.run(&scripts, |script| {
        run_over(&script, Some(fault));
        Ok(())
    });
    match found {
        Ok(()) => None,
        Err(TestError::Fail(_, script)) => Some(script),
        Err(TestError::Abort(why)) => panic!("{fault:?}: {why}"),
    }
}

/// A script that a person can read.
const FEW: usize = 12;

/// Faults of what the model knows.
const FAULTS: &[&str] = &[
    "UnknownIsForeign",
    "ForeignIsUnknown",
    "UnownedIsClosed",
    "ListsAfterShutdown",
    "PanicsOfOwnersOfHooksPoison",
    "FailedStartersLeaveRecords",
    "SecondOwnersSkipAnOrdinal",
    "LimitIsOffByOne",
    "ListsTell",
    "ListsAreReversed",
    "ReadsBeginAtTheStart",
    "ReadsUseOutputUp",
    "TerminalReadsTell",
    "ReadsHoldNoShare",
    "ObserversMoveTheCursor",
    "ObserversSeeEverything",
    "FailedKillsAreAccepted",
    "EndedKillsAreRequested",
    "EverybodyIsTheModel",
    "ModelKillsTellEveryEnd",
    "KillsTell",
    "StoppingHasNoEnd",
    "TheStopGraceIsShort",
    "WaitsEndAtTheStop",
    "WaitsHoldNoShare",
    "DroppedWaitsTell",
    "NarrowingIsIgnored",
    "LateReportersHearNothing",
    "UnownedAreOffered",
    "TheLatestComesFirst",
    "OffersTell",
    "OffersAreHandedOver",
    "ToldComesAgain",
    "WaitersAreLate",
    "LeasesNeverEnd",
];

/// What is wrong of the faults with numbers `at`, `at + step`, …
fn check(at: usize, step: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in FAULTS.iter().skip(at).step_by(step) {
        let fault = Sabotage::named(name).expect("a fault of the kit");
        match differing(fault) {
            None => wrong.push(format!("{fault:?}: no script differs")),
            Some(script) if script.len() > FEW => {
                wrong.push(format!("{fault:?}: nobody can read {script:?}"));
            }
            Some(script) => println!("{fault:?}: {script:?}"),
        }
    }
    wrong
}

#[test]
fn broken_registries_are_noticed_by_a_short_script() {
    quieten();
    let parts = thread::available_parallelism().map_or(2, usize::from);
    let running: Vec<_> = (0..parts)
        .map(|at| {
            let part = thread::Builder::new().name(QUIET.to_owned());
            part.spawn(move || check(at, parts)).expect("a thread")
        })
        .collect();
    let wrong: Vec<_> = running
        .into_iter()
        .flat_map(|part| part.join().expect("a part of the faults"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The name of threads whose panics are expected.
const QUIET: &str = "over a broken registry";

/// Leaves the panics of scripts unprinted: here they come by the hundred.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = thread::current();
            let here = thread
                .name()
                .is_some_and(|name| name.starts_with("faults::"));
            if !here {
                print(panic);
            }
        }));
    });
}
