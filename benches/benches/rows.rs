//! The sides of the rows for people to look at: `cargo bench --package jobs-bench -- B1`.
//!
//! A sample here is a whole sample of the side; `cargo xtask bench` makes the table.

use divan::Bencher;
use jobs_bench::rows::cycle;

fn main() {
    divan::main();
}

#[divan::bench(name = "B1 ours, 1000 cycles")]
fn cycle_ours(bencher: Bencher<'_, '_>) {
    let mut side = cycle::ours(1_000);
    bencher.bench_local(|| side.sample());
}

#[divan::bench(name = "B1 floor, 1000 cycles")]
fn cycle_floor(bencher: Bencher<'_, '_>) {
    let mut side = cycle::floor(1_000);
    bencher.bench_local(|| side.sample());
}
