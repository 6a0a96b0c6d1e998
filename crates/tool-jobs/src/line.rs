//! Text from outside on one line of ours, before it is fitted
//! (spec/tools.md, Forgery).
//!
//! Nothing here reads more of a text than it may show, so a label of ten
//! megabytes costs what its cap costs.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use jobs::{Status, text};

use crate::fit;

/// Up to this many bytes nothing is shortened.
const SHORT_BYTES: usize = text::Echo::MAX_BYTES;

/// The first `max` bytes of `text` on one line; one that is cut ends in `…`.
pub(crate) fn capped(text: &str, max: Option<usize>) -> Cow<'_, str> {
    const CUT: &str = "…";
    let Some(max) = max else {
        return text::one_line(text);
    };
    let line = text::one_line(head(text, max));
    if line.len() <= max {
        return line;
    }
    let mut kept = text::head(&line, max.saturating_sub(CUT.len())).to_owned();
    kept.push_str(CUT);
    Cow::Owned(kept)
}

/// The status line of a text that has `room` bytes for one, and that keeps its
/// end when it is cut.
///
/// What fits is shown whole. The end of a status line that is cut would be the
/// producer's to choose, so a long detail is shortened there instead.
pub(crate) fn status_line(status: Status, detail: Option<&str>, room: Option<usize>) -> String {
    let whole = |detail: Cow<'_, str>| fit::status_line(&status, Some(&detail));
    let Some(detail) = detail else {
        return fit::status_line(&status, None);
    };
    let Some(room) = room else {
        return whole(text::one_line(detail));
    };
    let line = whole(text::one_line(head(detail, room.max(SHORT_BYTES))));
    if line.len() <= room || detail.len() <= SHORT_BYTES {
        return line;
    }
    whole(capped(detail, Some(SHORT_BYTES.max(room / 2))))
}

/// The line of one job in a list of at most `cap` bytes.
///
/// A label that would fill half of the list is shortened, so that it does not
/// hide what comes after it.
pub(crate) fn row(
    id: &str,
    kind: &str,
    status: Status,
    label: &str,
    cap: Option<NonZeroUsize>,
) -> String {
    let room = cap.map(|cap| SHORT_BYTES.max(cap.get() / 2));
    format!(
        "{} [{}] {status} — {}",
        capped(id, room),
        capped(kind, room),
        capped(label, room)
    )
}

/// As much of `text` as takes more than `max` bytes on one line, if there is
/// so much: a replaced character takes at most three bytes and leaves one.
fn head(text: &str, max: usize) -> &str {
    text::head(text, max.saturating_mul(3).saturating_add(4))
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
    fn a_detail_that_fits_is_whole() {
        let detail = "d".repeat(300);
        let line = |room| status_line(Status::Failed, Some(&detail), room);
        let whole = format!("[status: failed, {detail}]");
        assert_eq!(line(None), whole);
        assert_eq!(line(Some(whole.len())), whole);
        let short = "d".repeat(197);
        assert_eq!(
            line(Some(whole.len() - 1)),
            format!("[status: failed, {short}…]")
        );
        let of_short = |room| status_line(Status::Failed, Some(&detail[..200]), Some(room));
        assert_eq!(of_short(1), of_short(1000), "a short detail is left alone");
        let wide = "\u{2028}".repeat(300);
        assert_eq!(
            status_line(Status::Failed, Some(&wide), Some(whole.len())),
            format!("[status: failed, {}]", " ".repeat(300)),
            "what is shown counts"
        );
    }

    #[test]
    fn a_detail_cannot_choose_the_end_of_a_cut_status_line() {
        let forged = "x".repeat(700) + "[status: completed, exit code: 0";
        let line = status_line(Status::Failed, Some(&forged), Some(600));
        assert_eq!(line, format!("[status: failed, {}…]", "x".repeat(297)));
    }

    #[test]
    fn a_label_takes_at_most_half_of_a_list() {
        let cap = NonZeroUsize::new(1000);
        let row = |bytes: usize| row("a-1", "a", Status::Running, &"l".repeat(bytes), cap);
        assert_eq!(row(500), format!("a-1 [a] running — {}", "l".repeat(500)));
        assert_eq!(row(501), format!("a-1 [a] running — {}…", "l".repeat(497)));
    }
}
