//! B2: start and settle beside many finished jobs that are kept.

use jobs::JobRegistry as _;

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::population::{Population, drivers_end};
use crate::side::{Side, by_turns, timed};
use crate::stage::{one_thread, read_to_the_end, run_one};

/// How many owners there are, whatever they keep.
const OWNERS: u64 = 1_000;

/// A million against a thousand, which is the floor.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let owners = effort.count(OWNERS);
    let mut sides = [1_000_000, 1_000].map(|kept| ours(effort.count(kept), owners));
    let spreads = by_turns(effort.runs(), &mut sides);
    let goal = Goal::RatioAtMost(1.5);
    vec![Figure::new("B2", "1M kept", spreads[0], spreads[1], goal)]
}

/// A start and a settlement for each owner, with `kept` finished jobs of all of them together. The jobs are read
/// outside the measured time, because an untold one is not taken away and the number would grow.
#[must_use]
pub fn ours(kept: u64, owners: u64) -> Side {
    let runtime = one_thread();
    let Population { stage, actors } = runtime.block_on(Population::of(kept, owners));
    Side::new(move || {
        let mut ids = Vec::with_capacity(actors.len());
        let cost = timed(owners, || {
            runtime.block_on(async {
                for actor in &actors {
                    ids.push(run_one(&**stage.jobs(), actor).await);
                }
            });
        });
        runtime.block_on(async {
            for (actor, id) in actors.iter().zip(&ids) {
                read_to_the_end(&**stage.jobs(), actor, id).await;
            }
            drivers_end().await;
            let kept_now = stage.jobs().list(actors[0].caller()).await.expect("a list");
            assert_eq!(kept_now.len() as u64, kept / owners);
        });
        cost
    })
}
