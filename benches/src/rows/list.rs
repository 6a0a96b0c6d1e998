//! B3: a list of ten own jobs among many of others.

use jobs::JobRegistry as _;

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::population::Population;
use crate::side::{Side, by_turns, timed};
use crate::stage::{one_thread, read_to_the_end, run_one};

/// How many lists a sample has.
const BATCH: u64 = 1_000;

/// How many owners the other jobs have.
const OTHERS: u64 = 1_000;

/// Among 100k and 1M of others against alone, and against the clock.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let (batch, others) = (effort.count(BATCH), effort.count(OTHERS));
    let mut sides: Vec<Side> = [0, 100_000, 1_000_000]
        .map(|jobs| ours(batch, effort.count(jobs), others))
        .into();
    let spreads = by_turns(effort.many_runs(), &mut sides);
    let against = |part, at: usize| {
        let goal = Goal::RatioAtMost(1.25);
        Figure::new("B3", part, spreads[at], spreads[0], goal)
    };
    let clock = Goal::AtMost(5_000.0);
    vec![
        against("100k of others", 1),
        against("1M of others", 2),
        Figure::absolute("B3", "1M of others, time", spreads[2], clock),
    ]
}

/// Lists the ten ended jobs of one owner, among `jobs` ended ones of `others` more.
#[must_use]
pub fn ours(batch: u64, jobs: u64, others: u64) -> Side {
    let runtime = one_thread();
    let population = runtime.block_on(Population::with_room_for(1_000, jobs, others));
    let stage = population.stage;
    let actor = stage.actor("own");
    let own: Vec<_> = runtime.block_on(async {
        let mut own = Vec::new();
        for _ in 0..10 {
            own.push(run_one(&**stage.jobs(), &actor).await);
        }
        for id in &own {
            read_to_the_end(&**stage.jobs(), &actor, id).await;
        }
        own
    });
    Side::new(move || {
        let _others = &population.actors;
        timed(batch, || {
            runtime.block_on(async {
                for _ in 0..batch {
                    let listed = stage.jobs().list(actor.caller()).await.expect("a list");
                    assert!(listed.iter().map(|job| &job.id).eq(&own));
                }
            });
        })
    })
}
