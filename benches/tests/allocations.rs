//! The hot paths allocate as often as the list says, and no more.

use std::alloc::System;

use jobs_bench::heap::{self, Seen};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn look() -> Seen {
    let stats = COUNTING.stats();
    heap::seen(
        stats.allocations + stats.reallocations,
        stats.bytes_allocated,
        stats.bytes_deallocated,
    )
}

// One test, because whatever runs beside it would be counted too.
#[test]
fn every_allocation_has_its_reason() {
    for path in heap::PATHS {
        let counted = (path.count)(look);
        let name = path.name;
        let listed = path.expected();
        assert_eq!(counted, listed, "{name}: counted, and listed in heap.rs");
    }
}
