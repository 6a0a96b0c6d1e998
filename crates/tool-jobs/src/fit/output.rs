//! Reads: a body and a status line within a cap.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use jobs::text;
use serde::{Deserialize, Serialize};

use super::{cut, pieces};

const PLAIN: &str = "\n[output truncated]";

/// The counted marker, around the count and the offset.
const COUNTED: [&str; 3] = [
    "\n[output truncated: ",
    " bytes above not shown; from=",
    " reads them]",
];

/// The length of the plain marker, its newline included.
pub(crate) const MARKER_BYTES: usize = PLAIN.len();

/// The body of a read that has nothing new to show.
pub const NO_NEW_OUTPUT: &str = "(no new output)";

/// A fitted read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fitted {
    /// The complete text for the model.
    pub text: String,
    /// How many bytes of the body, from its beginning, the text does not show.
    pub omitted: usize,
}

/// How a read says that its beginning was cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Truncation {
    /// `[output truncated: <n> bytes above not shown; from=<offset> reads them]`, as long as that
    /// takes at most a quarter of the cap; [`Truncation::Plain`] otherwise.
    #[default]
    Counted,
    /// `[output truncated]`.
    Plain,
}

/// The body of a read: its text, or [`NO_NEW_OUTPUT`] when that is empty.
///
/// # Examples
///
/// ```
/// use tool_jobs::fit::body;
///
/// assert_eq!(body("compiling\n"), "compiling\n");
/// assert_eq!(body(""), "(no new output)");
/// ```
#[must_use]
pub fn body(text: &str) -> &str {
    if text.is_empty() { NO_NEW_OUTPUT } else { text }
}

/// Fits a read: the body, a newline, the status line.
///
/// One trailing newline of the body is dropped first, so that none is doubled. What fits is
/// unchanged. Otherwise the tail of the body is kept, followed by a marker on its own line and the
/// status line; if those two alone fill the cap, their tail is the result. `from` is the absolute
/// offset at which the range that was read begins: the counted marker names it, so that the model
/// can ask for what it missed.
///
/// The plain marker is left out when the body already ends with it, so a body that was cut before
/// carries one. A counted marker is always added, because the numbers of an older one belong to
/// another cut; and it is never shown in part, because half a number is a wrong one: where marker
/// and status line do not fit whole, the marker is plain.
///
/// Costs O(cap) for any length of body.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroUsize;
/// use tool_jobs::fit::{Truncation, fit_output};
///
/// let status = "[status: running]";
/// let whole = fit_output("tests pass\n", status, None, Truncation::Counted, 0);
/// assert_eq!(whole.text, "tests pass\n[status: running]");
///
/// let cap = NonZeroUsize::new(400);
/// let fitted = fit_output(&"x".repeat(5000), status, cap, Truncation::Counted, 70);
/// let marker = "[output truncated: 4685 bytes above not shown; from=70 reads them]";
/// assert_eq!(fitted.text, format!("{}\n{marker}\n{status}", "x".repeat(315)));
/// assert_eq!(fitted.omitted, 4685);
///
/// let plain = fit_output(&"x".repeat(5000), status, cap, Truncation::Plain, 70);
/// assert_eq!(plain.text, format!("{}\n[output truncated]\n{status}", "x".repeat(363)));
/// ```
#[must_use]
pub fn fit_output(
    body: &str,
    status_line: &str,
    cap: Option<NonZeroUsize>,
    truncation: Truncation,
    from: u64,
) -> Fitted {
    let content = body.strip_suffix('\n').unwrap_or(body);
    let suffix = ["\n", status_line];
    let Some(cap) = cap.filter(|_| !cut::fits(content, &suffix, cap)) else {
        return Fitted {
            text: [content, "\n", status_line].concat(),
            omitted: 0,
        };
    };
    let counted = match truncation {
        Truncation::Counted => keep_counted(content, &suffix, cap, from),
        Truncation::Plain => None,
    };
    counted.unwrap_or_else(|| cut::keep_tail(content, PLAIN, &suffix, cap))
}

/// The cut with a counted marker, or `None` where the marker has to be plain.
///
/// The marker counts what it displaces itself, so the count is a fixed point. From zero upwards a
/// longer number only ever leaves less room, so the counts rise to the least fixed point, and each
/// step but the last adds a digit.
fn keep_counted(content: &str, suffix: &[&str], cap: NonZeroUsize, from: u64) -> Option<Fitted> {
    let fixed = pieces::len(&COUNTED) + digits(from) + pieces::len(suffix);
    let mut omitted = 0;
    loop {
        let counted = fixed + digits(omitted as u64);
        if counted - pieces::len(suffix) > cap.get() / 4 {
            return None;
        }
        let kept = text::tail(content, cap.get().checked_sub(counted)?);
        if kept.len() + omitted == content.len() {
            let [before, between, after] = COUNTED;
            let mut text = String::with_capacity(kept.len() + counted);
            text.push_str(kept);
            // Writing to a string cannot fail.
            let _ = write!(text, "{before}{omitted}{between}{from}{after}");
            text.extend(suffix.iter().copied());
            return Some(Fitted { text, omitted });
        }
        omitted = content.len() - kept.len();
    }
}

/// How many digits a number has.
fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(body: &str, status_line: &str, cap: usize, from: u64) -> Fitted {
        fit_output(
            body,
            status_line,
            NonZeroUsize::new(cap),
            Truncation::Counted,
            from,
        )
    }

    #[test]
    fn the_count_includes_what_its_own_digits_displace() {
        // The room that a marker with a count of one digit would leave.
        let marker = "\n[output truncated: 0 bytes above not shown; from=0 reads them]";
        let (cap, status) = (400, "[status: running]");
        let room = cap - marker.len() - status.len() - 1;
        for (missing, expected) in [(80, 81), (98, 99), (99, 101), (997, 999), (998, 1001)] {
            let fitted = fit(&"x".repeat(room + missing), status, cap, 0);
            assert_eq!(fitted.omitted, expected, "{missing} bytes too many");
            assert_eq!(fitted.text.len(), cap);
            assert!(
                fitted
                    .text
                    .contains(&format!("truncated: {expected} bytes above"))
            );
        }
    }

    #[test]
    fn a_quarter_of_the_cap_decides_between_counted_and_plain() {
        let marker = "\n[output truncated: 9700 bytes above not shown; from=12345 reads them]";
        let body = "x".repeat(9700 + 4 * marker.len() - marker.len() - "\n[s]".len());
        let counted = fit(&body, "[s]", 4 * marker.len(), 12345);
        assert!(
            counted.text.ends_with(&format!("x{marker}\n[s]")),
            "{}",
            counted.text
        );
        assert_eq!(counted.omitted, 9700);
        let plain = fit(&body, "[s]", 4 * marker.len() - 1, 12345);
        assert!(
            plain.text.ends_with("x\n[output truncated]\n[s]"),
            "{}",
            plain.text
        );
    }

    #[test]
    fn a_counted_marker_is_never_shown_in_part() {
        let fit = |detail: usize| fit(&"x".repeat(9999), &"d".repeat(detail), 400, 0).text;
        let counted = "\n[output truncated: 9999 bytes above not shown; from=0 reads them]\n";
        let plain = "\n[output truncated]\n";
        let room = 400 - counted.len();
        assert_eq!(fit(room), counted.to_owned() + &"d".repeat(room));
        let shown = "x".repeat(400 - plain.len() - room - 1);
        assert_eq!(fit(room + 1), shown + plain + &"d".repeat(room + 1));
    }

    #[test]
    fn an_older_count_is_not_taken_for_the_new_one() {
        let body =
            "x".repeat(9999) + "\n[output truncated: 7 bytes above not shown; from=0 reads them]";
        let fitted = fit(&body, "[s]", 400, 0);
        assert_eq!(fitted.text.matches("[output truncated: ").count(), 2);
        assert!(
            fitted
                .text
                .contains(&format!("[output truncated: {} bytes", fitted.omitted))
        );
    }

    #[test]
    fn truncation_is_spelled_in_lower_case() {
        let parsed: Vec<Truncation> = serde_json::from_str(r#"["counted","plain"]"#).unwrap();
        assert_eq!(parsed, [Truncation::Counted, Truncation::Plain]);
        assert_eq!(
            serde_json::to_string(&parsed).unwrap(),
            r#"["counted","plain"]"#
        );
        assert_eq!(Truncation::default(), Truncation::Counted);
    }
}
