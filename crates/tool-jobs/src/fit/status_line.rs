//! The status line, last of every read.

use std::fmt::Display;

/// `[status: <status>]`, or `[status: <status>, <detail>]`; an empty detail is none.
///
/// The detail is shown as it is: see [`jobs::text::one_line`] for the step before.
///
/// # Examples
///
/// ```
/// use tool_jobs::fit::status_line;
///
/// assert_eq!(status_line("running", None), "[status: running]");
/// assert_eq!(status_line("running", Some("")), "[status: running]");
/// assert_eq!(status_line("failed", Some("exit code: 1")), "[status: failed, exit code: 1]");
/// ```
#[must_use]
pub fn status_line(status: &(impl Display + ?Sized), detail: Option<&str>) -> String {
    match detail {
        None | Some("") => format!("[status: {status}]"),
        Some(detail) => format!("[status: {status}, {detail}]"),
    }
}
