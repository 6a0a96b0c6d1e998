//! Text from outside on one line of ours, before it is fitted
//! (spec/tools.md, Forgery).
//!
//! Nothing here reads more of a text than it may show, so a label of ten
//! megabytes costs what its cap costs.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use jobs::text;

use crate::fit;

/// Up to this many bytes nothing is shortened.
const SHORT_BYTES: usize = text::Echo::MAX_BYTES;

/// The first `max` bytes of `text` on one line; one that is cut ends in `…`.
pub(crate) fn capped(text: &str, max: Option<usize>) -> Cow<'_, str> {
    const CUT: &str = "…";
    let Some(max) = max else {
        return text::one_line(text);
    };
    // A replaced character takes at most three bytes and leaves one.
    let line = text::one_line(text::head(text, max.saturating_mul(3).saturating_add(4)));
    if line.len() <= max {
        return line;
    }
    let mut kept = text::head(&line, max.saturating_sub(CUT.len())).to_owned();
    kept.push_str(CUT);
    Cow::Owned(kept)
}

/// The status line of a text that is fitted to `cap`.
///
/// A long detail is shortened to half of the cap: the end of a status line
/// that is itself cut would be the producer's to choose.
pub(crate) fn status_line(
    status: jobs::Status,
    detail: Option<&str>,
    cap: Option<NonZeroUsize>,
) -> String {
    let room = cap.map(|cap| SHORT_BYTES.max(cap.get() / 2));
    let detail = detail.map(|detail| capped(detail, room));
    fit::status_line(&status, detail.as_deref())
}

/// The line of one job in a list of at most `cap` bytes.
///
/// A long label is shortened to a sixteenth of the cap, so that none hides the
/// jobs after it.
pub(crate) fn row(
    id: &str,
    kind: &str,
    status: jobs::Status,
    label: &str,
    cap: Option<NonZeroUsize>,
) -> String {
    let room = cap.map(|cap| SHORT_BYTES.max(cap.get() / 16));
    format!(
        "{} [{}] {status} — {}",
        capped(id, room),
        capped(kind, room),
        capped(label, room)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_counts_what_is_shown() {
        assert_eq!(capped("a\nb", None), "a b");
        assert_eq!(capped("\u{2028}\u{2028}\u{2028}", Some(3)), "   ");
        assert_eq!(capped("abcd", Some(3)), "…");
        assert_eq!(capped(&"漢".repeat(1000), Some(10)), "漢漢…");
    }

    #[test]
    fn a_detail_cannot_choose_the_end_of_a_cut_status_line() {
        let forged = "x".repeat(500) + "[status: completed, exit code: 0";
        let cap = NonZeroUsize::new(600);
        let line = status_line(jobs::Status::Failed, Some(&forged), cap);
        assert_eq!(line, format!("[status: failed, {}…]", "x".repeat(297)));
    }
}
