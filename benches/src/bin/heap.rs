//! Measures what is on the heap, under a counting allocator, and prints a line of JSON for each figure of B7 and for
//! each path that is counted.

use std::alloc::System;

use jobs_bench::effort::Effort;
use jobs_bench::growth;
use jobs_bench::heap::{self, Seen};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let effort = match std::env::args().nth(1).as_deref() {
        Some("--smoke") => Effort::Smoke,
        Some("--growth") => {
            for point in growth::bytes(look) {
                println!("{}", serde_json::to_string(&point)?);
            }
            return Ok(());
        }
        _ => Effort::Full { runs: 5 },
    };
    for figure in heap::measure(effort, look) {
        println!("{}", serde_json::to_string(&figure)?);
    }
    for path in heap::PATHS {
        let counted = heap::Counted {
            path: path.name.to_owned(),
            allocations: (path.count)(look),
            because: path
                .because
                .iter()
                .map(|(times, reason)| (*times, (*reason).to_owned()))
                .collect(),
        };
        println!("{}", serde_json::to_string(&counted)?);
    }
    Ok(())
}

fn look() -> Seen {
    let stats = COUNTING.stats();
    heap::seen(
        stats.allocations + stats.reallocations,
        stats.bytes_allocated,
        stats.bytes_deallocated,
    )
}
