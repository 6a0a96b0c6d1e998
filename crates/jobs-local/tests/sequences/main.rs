//! Sequences of calls against a reference model: whatever is called in
//! whatever order, answers and lists are what the model says.
//!
//! A failure shrinks to a short script, which is kept here as a plain test.
#![expect(
    clippy::unwrap_used,
    reason = "what is not as it should be fails the test"
)]
#![cfg(not(shuttle))]

mod faults;
mod model;
mod op;
mod world;

use std::time::Duration;

use jobs_testkit::sabotage::Sabotage;
use proptest::prelude::*;
use tokio::time::timeout;

use op::{By, End, Op, Reaction};
use world::World;

/// How long a script may take, in the time of the paused clock.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Runs a script on the paused clock.
fn run(script: &[Op]) {
    run_over(script, None);
}

/// Runs a script over a registry that may break a clause.
fn run_over(script: &[Op], fault: Option<&Sabotage>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut world = World::new(fault);
        let all = async {
            for op in script {
                world.apply(op).await;
            }
            world.end().await;
        };
        timeout(LIMIT, all).await.expect("no call hangs");
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_sequence_does_what_the_model_says(script in prop::collection::vec(op::any(), 1..60)) {
        run(&script);
    }
}

#[test]
fn a_lease_runs_out_while_an_answer_is_out() {
    run(&[
        Op::Start {
            owner: Some(0),
            reaction: Reaction::Ignore,
        },
        Op::Subscribe { owner: None },
        Op::Wait { job: 0, caller: 0 },
        Op::Settle {
            job: 0,
            end: End::Completed,
        },
        Op::Next { reporter: 0 },
        Op::Tick { steps: 4 },
        Op::Next { reporter: 0 },
        Op::TakeWait { wait: 0 },
        Op::Commit { held: 0 },
        Op::Next { reporter: 0 },
    ]);
}

#[test]
fn a_kill_that_another_one_outruns_is_announced() {
    run(&[
        Op::Start {
            owner: Some(0),
            reaction: Reaction::Ignore,
        },
        Op::Kill {
            job: 0,
            caller: 0,
            by: By::User,
        },
        Op::Kill {
            job: 0,
            caller: 0,
            by: By::Model,
        },
        Op::Commit { held: 1 },
        Op::Settle {
            job: 0,
            end: End::Killed,
        },
        Op::Subscribe { owner: Some(0) },
        Op::Next { reporter: 0 },
    ]);
}

#[test]
fn a_hand_over_to_a_successor_takes_the_grace_along() {
    run(&[
        Op::Start {
            owner: Some(0),
            reaction: Reaction::Ignore,
        },
        Op::Kill {
            job: 0,
            caller: 0,
            by: By::Host,
        },
        Op::NewOwner { session: 0 },
        Op::HandOver { from: 0, to: 2 },
        Op::Close { owner: 0 },
        Op::Tick { steps: 6 },
        Op::Subscribe { owner: Some(2) },
        Op::Next { reporter: 0 },
        Op::Commit { held: 0 },
        Op::Start {
            owner: Some(0),
            reaction: Reaction::Die,
        },
        Op::Start {
            owner: Some(2),
            reaction: Reaction::Refuse,
        },
        Op::Close { owner: 2 },
    ]);
}

#[test]
fn a_shutdown_resolves_what_waits() {
    run(&[
        Op::Start {
            owner: None,
            reaction: Reaction::Ignore,
        },
        Op::Start {
            owner: Some(1),
            reaction: Reaction::Refuse,
        },
        Op::Wait { job: 0, caller: 0 },
        Op::Wait { job: 1, caller: 1 },
        Op::Shutdown,
        Op::TakeWait { wait: 1 },
        Op::Tick { steps: 7 },
        Op::TakeWait { wait: 0 },
        Op::NewOwner { session: 0 },
        Op::Start {
            owner: Some(0),
            reaction: Reaction::Die,
        },
    ]);
}

#[test]
fn a_kept_kill_holds_no_forced_end_back() {
    let start = |owner| Op::Start {
        owner,
        reaction: Reaction::Ignore,
    };
    run(&[
        Op::Subscribe { owner: None },
        start(Some(1)),
        Op::Kill {
            job: 0,
            caller: 1,
            by: By::Model,
        },
        Op::Tick { steps: 5 },
        Op::Next { reporter: 0 },
    ]);
}
