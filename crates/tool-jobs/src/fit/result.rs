//! Results of one text that are no reads.

use std::num::NonZeroUsize;

use super::cut;

const MARKER: &str = "\n[result truncated]";

/// Fits a text without a status line: a kill's result, an error, a policy's replacement.
///
/// A text within the cap is unchanged. Otherwise its tail is kept, followed by
/// `\n[result truncated]`; the marker is left out when the text already ends with it. A cap that
/// the marker alone fills keeps the marker's tail.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroUsize;
/// use tool_jobs::fit::fit_result;
///
/// let long = "the policy refused this command because …";
/// assert_eq!(fit_result(long, None), long);
/// assert_eq!(fit_result(long, NonZeroUsize::new(30)), "because …\n[result truncated]");
/// ```
#[must_use]
pub fn fit_result(content: &str, cap: Option<NonZeroUsize>) -> String {
    cut_result(content, cap).unwrap_or_else(|| content.to_owned())
}

/// [`fit_result`] of a text that has to be cut; none for one that fits.
pub(crate) fn cut_result(content: &str, cap: Option<NonZeroUsize>) -> Option<String> {
    let cap = cap.filter(|cap| !cut::fits(content, &[], Some(*cap)))?;
    Some(cut::keep_tail(content, MARKER, &[], cap).text)
}
