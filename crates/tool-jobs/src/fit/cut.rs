//! The cut that reads and other results share: tail of the content, marker, suffix.

use std::num::NonZeroUsize;

use jobs::text;

use super::output::Fitted;
use super::pieces;

/// Whether `content` and `suffix` together stay within `cap`.
pub(super) fn fits(content: &str, suffix: &[&str], cap: Option<NonZeroUsize>) -> bool {
    cap.is_none_or(|cap| content.len() + pieces::len(suffix) <= cap.get())
}

/// The tail of `content` that leaves room for `marker` and `suffix`, followed by both.
///
/// The marker is left out when the content already ends with it, its leading newline aside. When
/// the fixed part alone fills the cap, the result is the cap's worth of that part's tail.
pub(super) fn keep_tail(content: &str, marker: &str, suffix: &[&str], cap: NonZeroUsize) -> Fitted {
    let marker = if content.ends_with(marker.trim_start_matches('\n')) {
        ""
    } else {
        marker
    };
    let fixed = [&[marker], suffix].concat();
    let room = cap.get().saturating_sub(pieces::len(&fixed));
    let kept = text::tail(content, room);
    let text = [kept, &pieces::tail(&fixed, cap.get())].concat();
    Fitted {
        text,
        omitted: content.len() - kept.len(),
    }
}
