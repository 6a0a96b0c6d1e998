//! The summary of a collapsed row.

/// The most Unicode scalar values a [`summary`] holds.
pub const SUMMARY_CHARS: usize = 120;

/// `text` in at most [`SUMMARY_CHARS`] Unicode scalar values, the last one `…` when it is cut.
///
/// Looks at the first 121 scalar values only.
///
/// # Examples
///
/// ```
/// use tool_jobs::fit::summary;
///
/// assert_eq!(summary("bash cargo test [status: completed]"), "bash cargo test [status: completed]");
/// assert_eq!(summary(&"漢".repeat(121)), "漢".repeat(119) + "…");
/// ```
#[must_use]
pub fn summary(text: &str) -> String {
    let mut ends = text.char_indices().map(|(start, _)| start);
    let last = ends.nth(SUMMARY_CHARS - 1);
    match (last, ends.next()) {
        (Some(last), Some(_)) => format!("{}…", &text[..last]),
        _ => text.to_owned(),
    }
}
