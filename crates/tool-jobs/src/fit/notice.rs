//! Completion notices.

use std::num::NonZeroUsize;

use super::pieces;
use super::summary::{SUMMARY_CHARS, summary};

const MARKER: &str = "\n[notice truncated]";

/// The tool that reads output, under its own name.
pub(crate) const READER: &str = "job_output";

/// What a completion notice says, as the parts it is made of.
///
/// The parts are shown as they are: see [`jobs::text::one_line`] for the step before.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroUsize;
/// use tool_jobs::fit::Notice;
///
/// let notice = Notice {
///     id: "bash-1",
///     kind: "bash",
///     label: "cargo test --workspace",
///     status_line: "[status: completed, exit code: 0]",
/// };
/// assert_eq!(
///     notice.text(None),
///     "background job bash-1 (bash: cargo test --workspace) finished \
///      [status: completed, exit code: 0]. Read its output with job_output.",
/// );
/// assert_eq!(
///     notice.text(NonZeroUsize::new(80)),
///     "background job bash-1 (bash: cargo test --w\n[notice truncated]\nDone; job_output.",
/// );
/// assert_eq!(
///     notice.summary(),
///     "bash cargo test --workspace [status: completed, exit code: 0]",
/// );
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    /// The job's id.
    pub id: &'a str,
    /// The job's kind.
    pub kind: &'a str,
    /// The job's label.
    pub label: &'a str,
    /// The status line, as [`status_line`](super::status_line) makes it.
    pub status_line: &'a str,
}

impl Notice<'_> {
    /// The text of the notice within `cap`, the job's output limit.
    ///
    /// A text that does not fit keeps, as far as there is room: the action `\nDone; job_output.`,
    /// the id, the marker `\n[notice truncated]`, the head of what remains.
    #[must_use]
    pub fn text(&self, cap: Option<NonZeroUsize>) -> String {
        self.text_naming(READER, cap)
    }

    /// The same where the tool that reads output goes by the name of `reader`.
    #[must_use]
    pub fn text_naming(&self, reader: &str, cap: Option<NonZeroUsize>) -> String {
        let Self {
            id,
            kind,
            label,
            status_line,
        } = *self;
        let prefix = ["background job ", id];
        let about = [" (", kind, ": ", label, ") finished ", status_line];
        let whole = [
            &prefix[..],
            &about,
            &[". Read its output with ", reader, "."],
        ]
        .concat();
        let Some(cap) = cap
            .map(NonZeroUsize::get)
            .filter(|cap| pieces::len(&whole) > *cap)
        else {
            return whole.concat();
        };
        let action = ["\nDone; ", reader, "."];
        let Some(room) = cap.checked_sub(pieces::len(&action)) else {
            return pieces::tail(&action, cap);
        };
        let kept = match room.checked_sub(pieces::len(&prefix) + MARKER.len()) {
            Some(room) => prefix.concat() + &pieces::head(&about, room) + MARKER,
            None => pieces::head(&prefix, room),
        };
        kept + &action.concat()
    }

    /// The summary for a collapsed row: `<kind> <label> <status line>`, see [`summary`].
    #[must_use]
    pub fn summary(&self) -> String {
        let pieces = [self.kind, " ", self.label, " ", self.status_line];
        // One scalar value more than a summary holds, four bytes each: enough to see the cut.
        summary(&pieces::head(&pieces, 4 * (SUMMARY_CHARS + 1)))
    }
}
