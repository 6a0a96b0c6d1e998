//! B5: a long output is cut to 16 KiB.

use std::hint::black_box;
use std::num::NonZeroUsize;

use tool_jobs::fit::{Truncation, fit_output};

use crate::effort::Effort;
use crate::figure::{Figure, Goal};
use crate::side::{Side, by_turns};

/// How many cuts a sample has.
const BATCH: u64 = 1_000;

/// The cap.
const CAP: usize = 16 * 1024;

/// The output that is cut.
const LONG: usize = 16 * 1024 * 1024;

/// A text of one byte a character, one of three, and a short one.
#[must_use]
pub fn measure(effort: Effort) -> Vec<Figure> {
    let batch = effort.count(BATCH);
    let mut sides = [
        floor(batch),
        ours(batch, "x", LONG),
        ours(batch, "\u{20ac}", LONG),
        ours(batch, "x", 2 * CAP),
    ];
    let spreads = by_turns(effort.many_runs(), &mut sides);
    let goal = || Goal::RatioAtMost(2.0);
    let independent = Goal::RatioAtMost(1.25);
    vec![
        Figure::new("B5", "", spreads[1], spreads[0], goal()),
        Figure::new("B5", "3-byte text", spreads[2], spreads[0], goal()),
        Figure::new(
            "B5",
            "16 MiB against 32 KiB",
            spreads[1],
            spreads[3],
            independent,
        ),
    ]
}

/// Cuts a text of `length` bytes.
#[must_use]
pub fn ours(batch: u64, character: &str, length: usize) -> Side {
    let body = character.repeat(length / character.len());
    Side::of(batch, move || {
        let cap = NonZeroUsize::new(CAP);
        let body = black_box(body.as_str());
        let fitted = fit_output(body, "[status: running]", cap, Truncation::Counted, 0);
        assert!(fitted.text.len() <= CAP && fitted.text.len() > CAP - 4);
        assert!(fitted.omitted > body.len() - CAP);
        fitted
    })
}

/// The least for it: 16 KiB are copied into a fresh string.
#[must_use]
pub fn floor(batch: u64) -> Side {
    let body = "x".repeat(LONG);
    Side::of(batch, move || {
        let mut text = String::with_capacity(CAP);
        text.push_str(black_box(&body[LONG - CAP..]));
        assert_eq!(text.len(), CAP);
        text
    })
}
