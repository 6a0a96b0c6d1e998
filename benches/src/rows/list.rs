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

/// How many jobs of others there are; the first is the floor.
pub const DECADES: [u64; 5] = [0, 1_000, 10_000, 100_000, 1_000_000];

/// Among 100k and 1M of others against alone, and against the clock.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let (batch, others) = (effort.count(BATCH), effort.count(OTHERS));
    let mut sides: Vec<Side> = DECADES
        .map(|jobs| ours(batch, effort.count(jobs), others))
        .into();
    let spreads = by_turns(effort.many_runs(), &mut sides);
    let goal = Goal::RatioAtMost(1.25);
    let against = |part, at: usize| Figure::new("B3", part, spreads[at], spreads[0], goal);
    vec![
        against("1k", 1),
        against("10k", 2),
        against("100k", 3),
        against("1M", 4),
        Figure::absolute("B3", "1M, time", spreads[4], Goal::AtMost(5_000.0)),
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
