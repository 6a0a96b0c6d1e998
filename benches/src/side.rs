//! A side of a row, and how two sides are measured by turns.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// One side of a row: gives a sample each time it is asked, in nanoseconds for one operation.
pub struct Side(Box<dyn FnMut() -> f64>);

impl std::fmt::Debug for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Side")
    }
}

impl Side {
    /// A side that measures itself.
    pub fn new(sample: impl FnMut() -> f64 + 'static) -> Self {
        Self(Box::new(sample))
    }

    /// A side that does its work `batch` times a sample.
    pub fn of<T>(batch: u64, mut work: impl FnMut() -> T + 'static) -> Self {
        Self::new(move || {
            timed(batch, || {
                for _ in 0..batch {
                    black_box(work());
                }
            })
        })
    }

    /// One sample.
    pub fn sample(&mut self) -> f64 {
        (self.0)()
    }
}

/// Nanoseconds for one of the `batch` operations in `work`: of the processor's time, which on an idle machine is the
/// time that passes, and on a busy one is not prolonged by what else runs. For work that never waits.
#[expect(
    clippy::cast_precision_loss,
    reason = "a figure is rounded far above the last bits of a nanosecond"
)]
pub fn timed(batch: u64, work: impl FnOnce()) -> f64 {
    let start = processor_nanoseconds();
    work();
    (processor_nanoseconds() - start) as f64 / batch as f64
}

/// How long this thread has run so far.
fn processor_nanoseconds() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The median of samples and where the middle half of them lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// A quarter of the samples are below.
    pub low: f64,
    /// A quarter of the samples are above.
    pub high: f64,
}

impl Spread {
    /// Of these samples, which are sorted on the way; zeros if there are none.
    #[must_use]
    pub fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let at = |numerator: usize| {
            let last = samples.len().saturating_sub(1);
            samples.get(last * numerator / 4).copied().unwrap_or(0.0)
        };
        Self {
            median: at(2),
            low: at(1),
            high: at(3),
        }
    }
}

/// Samples all sides by turns, `runs` times, after one sample of each that does not count.
pub fn by_turns(runs: usize, sides: &mut [Side]) -> Vec<Spread> {
    let mut samples = vec![Vec::with_capacity(runs); sides.len()];
    for side in sides.iter_mut() {
        black_box(side.sample());
    }
    for _ in 0..runs {
        for (side, samples) in sides.iter_mut().zip(&mut samples) {
            samples.push(side.sample());
        }
    }
    samples.into_iter().map(Spread::of).collect()
}

#[cfg(test)]
mod tests {
    use super::{Side, Spread, by_turns};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn a_spread_is_the_median_and_the_middle_half() {
        let spread = Spread::of(vec![5.0, 1.0, 100.0, 3.0, 4.0]);
        assert_eq!(
            spread,
            Spread {
                median: 4.0,
                low: 3.0,
                high: 5.0
            }
        );
    }

    #[test]
    fn sides_take_turns_and_the_first_samples_do_not_count() {
        let order = Rc::new(RefCell::new(String::new()));
        let side = |name: char, samples: &'static [f64]| {
            let order = Rc::clone(&order);
            let mut samples = samples.iter();
            Side::new(move || {
                order.borrow_mut().push(name);
                *samples.next().expect("a sample")
            })
        };
        let mut sides = [side('a', &[900.0, 1.0, 2.0]), side('b', &[900.0, 7.0, 7.0])];
        let spreads = by_turns(2, &mut sides);
        assert_eq!(*order.borrow(), "ababab");
        assert_eq!((spreads[0].high, spreads[1].median), (1.0, 7.0));
    }
}
