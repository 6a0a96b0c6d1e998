//! The deadlines of the rows, on a machine that may be busy with something else.
//!
//! A row says how soon something happens on a machine that runs what is ready. On a busy one each
//! step of it waits for a processor, and no code under test can help that. So a probe measures it
//! within the window of the row: a thread that sleeps a millisecond, computes for a fifth of one,
//! and again. What it takes longer than that is lost to others. A row may take its limit and
//! [`SHARE`] times what the probe has lost meanwhile, but never more than [`CEILING`] times its
//! limit. On a quiet machine the probe loses next to nothing, and the limit is the row's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The probe mostly sleeps, which a scheduler rewards with an early turn. A row is a chain of
/// processes that compute; each of them waits longer for its turn than the probe does.
const SHARE: u32 = 2;
/// No load excuses more than this.
const CEILING: u32 = 20;
const SLEEP: Duration = Duration::from_millis(1);
const WORK: Duration = Duration::from_micros(200);
/// What a sleep takes longer than it should on a quiet machine (the timer slack of Linux is 50 µs).
const USUAL: Duration = Duration::from_micros(250);

pub(crate) struct Stopwatch {
    start: Instant,
    stop: Arc<AtomicBool>,
    probe: Option<JoinHandle<Duration>>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let probe = std::thread::spawn(move || {
            let mut lost = Duration::ZERO;
            while !asked.load(Ordering::Relaxed) {
                lost += step();
            }
            lost
        });
        Self {
            start: Instant::now(),
            stop,
            probe: Some(probe),
        }
    }

    /// What has passed since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Fails if more than `limit` has passed, apart from what others took.
    #[track_caller]
    pub(crate) fn assert_within(mut self, limit: Duration) {
        let elapsed = self.start.elapsed();
        self.stop.store(true, Ordering::Relaxed);
        let probe = self.probe.take().expect("it is joined once");
        let lost = probe.join().expect("no panic");
        let allowed = allowed(limit, lost);
        assert!(
            elapsed < allowed,
            "took {elapsed:?}, allowed {allowed:?}: {limit:?} on a quiet machine, {lost:?} lost to others"
        );
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// One step of the probe; returns what was lost in it.
#[expect(
    clippy::disallowed_methods,
    reason = "how long it really takes is measured"
)]
fn step() -> Duration {
    let start = Instant::now();
    std::thread::sleep(SLEEP);
    let from = own_time();
    while own_time() - from < WORK {
        std::hint::spin_loop();
    }
    start.elapsed().saturating_sub(SLEEP + WORK + USUAL)
}

/// What this thread has computed so far.
pub(crate) fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("not negative")
}

fn allowed(limit: Duration, lost: Duration) -> Duration {
    (limit + SHARE * lost).min(limit * CEILING)
}

#[test]
fn load_excuses_what_it_took_and_no_more() {
    let ms = Duration::from_millis;
    assert_eq!(allowed(ms(100), ms(0)), ms(100));
    assert_eq!(allowed(ms(100), ms(250)), ms(600));
    assert_eq!(allowed(ms(100), ms(5_000)), ms(2_000));
}

#[test]
fn the_probe_loses_no_more_than_passes() {
    let start = Instant::now();
    let lost: Duration = (0..50).map(|_| step()).sum();
    assert!(lost < start.elapsed() - 50 * (SLEEP + WORK), "{lost:?}");
}
