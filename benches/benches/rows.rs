//! The sides of the rows for people to look at: `cargo bench --package jobs-bench -- B1`.
//!
//! A sample here is a whole sample of the side, its preparation included; `cargo xtask bench` makes the table of the
//! same sides.

use divan::Bencher;
use jobs_bench::rows::waiters::Part;
use jobs_bench::rows::{cycle, fit, list, log, notice, output_call, owners, retained, waiters};
use jobs_bench::side::Side;

fn main() {
    divan::main();
}

/// One bench: its name, and the side that it samples.
macro_rules! benches {
    ($($name:literal => $function:ident, $side:expr;)*) => {
        $(#[divan::bench(name = $name)]
        fn $function(bencher: Bencher<'_, '_>) {
            let mut side: Side = $side;
            bencher.bench_local(|| side.sample());
        })*
    };
}

benches! {
    "B1 ours, 1k cycles" => cycle_ours, cycle::ours(1_000);
    "B1 floor, 1k cycles" => cycle_floor, cycle::floor(1_000);
    "B2 beside 10k, 100 jobs" => retained_ours, retained::ours(10_000, 100);
    "B2 beside 100 (floor), 100 jobs" => retained_floor, retained::ours(100, 100);
    "B3 among 10k, 1k lists" => list_ours, list::ours(1_000, 10_000, 100);
    "B3 alone (floor), 1k lists" => list_floor, list::ours(1_000, 0, 1);
    "B4 ours, 100 calls" => call_ours, output_call::ours(100, 100, 10);
    "B4 floor, 100 calls" => call_floor, output_call::floor(100);
    "B5 ours, 1k cuts" => fit_ours, fit::ours(1_000, "x", 16 * 1024 * 1024);
    "B5 floor, 1k cuts" => fit_floor, fit::floor(1_000);
    "B6 ours" => waiters_ours, waiters::ours(waiters::WAITERS, Part::Serve);
    "B6 floor" => waiters_floor, waiters::floor(waiters::WAITERS, Part::Serve);
    "B8 ours, 1 byte, 10k pushes" => bytes_ours, log::ours(10_000, 1);
    "B8 floor, 1 byte, 10k pushes" => bytes_floor, log::floor(10_000, 1);
    "B8 ours, 64 KiB, 100 pushes" => large_ours, log::ours(100, 64 * 1024);
    "B8 floor, 64 KiB, 100 pushes" => large_floor, log::floor(100, 64 * 1024);
    "B9 ours, 1k cycles a thread" => owners_ours, owners::ours(1_000);
    "B9 floor, 1k cycles a thread" => owners_floor, owners::floor(1_000);
    "B12 ours, 100 notices" => notice_ours, notice::ours(100);
    "B12 floor, 100 notices" => notice_floor, notice::floor(100);
}
