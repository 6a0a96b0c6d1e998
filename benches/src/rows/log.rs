//! B8: the output log: many pushes of one byte, and pushes of 64 KiB.

use std::hint::black_box;
use std::num::NonZeroUsize;

use jobs::{OutputLog, Stream};
use parking_lot::Mutex;

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::side::{Side, by_turns};

/// What the log keeps.
const WINDOW: usize = 1024 * 1024;

/// How many pushes of one byte there are.
const PUSHES: u64 = 200_000;

/// The large push.
const LARGE: usize = 64 * 1024;

/// How many large pushes a sample has.
const BATCH: u64 = 100;

/// Both sizes, for one push.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let pushes = effort.count(PUSHES);
    let mut bytes = [ours(pushes, 1), floor(pushes, 1)];
    let bytes = by_turns(effort.runs(), &mut bytes);
    let batch = effort.count(BATCH);
    let mut large = [ours(batch, LARGE), floor(batch, LARGE)];
    let large = by_turns(effort.many_runs(), &mut large);
    vec![
        Figure::new("B8", "1 byte", bytes[0], bytes[1], Goal::RatioAtMost(3.0)),
        Figure::new("B8", "64 KiB", large[0], large[1], Goal::RatioAtMost(2.0)),
    ]
}

/// Lines of text, as long as a push.
fn piece(size: usize) -> Vec<u8> {
    b"a line of forty bytes that a build writes\n"
        .iter()
        .copied()
        .cycle()
        .take(size)
        .collect()
}

/// Pushes pieces of `size` bytes into a log.
#[must_use]
pub fn ours(pushes: u64, size: usize) -> Side {
    let log = OutputLog::with_budget(NonZeroUsize::new(WINDOW).expect("it is not zero"));
    let reader = log.reader();
    let piece = piece(size);
    let mut pushed = 0;
    Side::of(pushes, move || {
        log.push(Stream::Stdout, black_box(&piece));
        pushed += 1;
        if pushed % pushes == 0 {
            assert_eq!(reader.end(), pushed * size as u64);
        }
    })
}

/// The least for it: under a lock, the bytes go to the next place in a ring.
#[must_use]
pub fn floor(pushes: u64, size: usize) -> Side {
    let ring = Mutex::new((vec![0_u8; WINDOW].into_boxed_slice(), 0_usize));
    let piece = piece(size);
    let mut pushed = 0;
    Side::of(pushes, move || {
        let piece = black_box(piece.as_slice());
        let mut locked = ring.lock();
        let (ring, end) = &mut *locked;
        let at = *end % WINDOW;
        match piece {
            [byte] => ring[at] = *byte,
            piece => ring[at..at + piece.len()].copy_from_slice(piece),
        }
        *end += piece.len();
        pushed += 1;
        if pushed % pushes == 0 {
            assert_eq!(*end as u64, pushed * size as u64);
            assert_eq!(black_box(&ring)[at], piece[0]);
        }
    })
}
