//! B1: a job starts, settles, and is read to its end, and the answer is delivered; one owner, one thread.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::side::{Side, by_turns, timed};
use crate::stage::{OUTPUT, Stage, one_thread, read_to_the_end, run_one};

/// How many cycles a sample has.
const BATCH: u64 = 1_000;

/// Both sides, and what they come to.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let batch = effort.count(BATCH);
    let spreads = by_turns(effort.many_runs(), &mut [ours(batch), floor(batch)]);
    let goal = Goal::RatioAtMost(3.0);
    vec![Figure::new("B1", "", spreads[0], spreads[1], goal)]
}

/// `start`, the end of its work, and a delivered `read` of an ended job with final output. The registry has its
/// default bounds, so from the thousandth job on each cycle also takes the oldest record away.
#[must_use]
pub fn ours(batch: u64) -> Side {
    let runtime = one_thread();
    let stage = Stage::new();
    let actor = stage.actor("session");
    Side::new(move || {
        timed(batch, || {
            runtime.block_on(async {
                for _ in 0..batch {
                    let id = run_one(&**stage.jobs(), &actor).await;
                    read_to_the_end(&**stage.jobs(), &actor, &id).await;
                }
            });
        })
    })
}

/// The least for it: a record goes into a locked map, a task is spawned, says by a oneshot that it is over and
/// what came out, and the record is taken out again.
#[must_use]
pub fn floor(batch: u64) -> Side {
    let runtime = one_thread();
    let records = Mutex::new(HashMap::<u64, &'static str>::new());
    let mut next = 0;
    Side::new(move || {
        timed(batch, || {
            runtime.block_on(async {
                for _ in 0..batch {
                    let id = next;
                    next += 1;
                    let (over, is_over) = oneshot::channel();
                    records.lock().insert(id, "look for errors");
                    drop(tokio::spawn(async move {
                        let _ = over.send(OUTPUT.to_owned());
                    }));
                    assert_eq!(is_over.await.expect("work that ran"), OUTPUT);
                    let label = records.lock().remove(&id);
                    assert_eq!(label, Some("look for errors"));
                }
            });
        })
    })
}
