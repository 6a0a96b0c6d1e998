//! One check a recorded function: our value against the recorded one.
//!
//! Where ours differs by design (spec/differences.md), the check does not skip the line: it holds
//! the recorded value against the recorded rule, and ours against our rule.

use std::fmt;
use std::num::NonZeroUsize;

use serde::Deserialize;
use tool_jobs::fit::{self, Notice, Truncation, fit_output, fit_result};

use crate::summary::compare_summaries;

/// Why our value of a line differs from the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Difference {
    /// An empty detail is none.
    EmptyDetail,
    /// A summary is measured in scalar values, not in UTF-16 units.
    SummaryUnit,
    /// The recorded summary was cut inside a surrogate pair.
    LoneSurrogate,
    /// A leading byte order mark is kept.
    ByteOrderMark,
    /// The recorded refusal is of something that cannot be written down here.
    Inexpressible,
}

/// A line that holds, with the difference by design if there is one, or that does not.
pub(crate) type Checked = Result<Option<Difference>, Failure>;

#[derive(Debug)]
pub(crate) struct Failure {
    what: &'static str,
    expected: String,
    got: String,
}

impl Failure {
    pub(crate) fn new(what: &'static str, expected: impl fmt::Debug, got: impl fmt::Debug) -> Self {
        Self {
            what,
            expected: format!("{expected:?}"),
            got: format!("{got:?}"),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
    pub(crate) fn unreadable(error: serde_json::Error) -> Self {
        Self {
            what: "line",
            expected: "a vector { fn, in, out }".into(),
            got: error.to_string(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\n  expected: {}\n  got:      {}",
            self.what, self.expected, self.got
        )
    }
}

/// Nothing when both are equal.
pub(crate) fn same<T: PartialEq<U> + fmt::Debug, U: fmt::Debug>(
    what: &'static str,
    expected: T,
    got: U,
) -> Result<(), Failure> {
    if expected == got {
        Ok(())
    } else {
        Err(Failure::new(what, expected, got))
    }
}

/// The status line as recorded, and whether ours differs: the reference shows an empty detail.
fn recorded_status_line(
    status: &str,
    detail: Option<&str>,
) -> Result<(String, Option<Difference>), Failure> {
    let bare = format!("[status: {status}]");
    let recorded = detail.map_or_else(
        || bare.clone(),
        |detail| format!("[status: {status}, {detail}]"),
    );
    let empty = detail == Some("");
    let ours = fit::status_line(status, detail);
    same("status line", if empty { &bare } else { &recorded }, &ours)?;
    Ok((recorded, empty.then_some(Difference::EmptyDetail)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusLine {
    status: String,
    detail: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    text: String,
}

pub(crate) fn status_line(input: &StatusLine, out: &Text) -> Checked {
    let (recorded, difference) = recorded_status_line(&input.status, input.detail.as_deref())?;
    same("text", &out.text, &recorded)?;
    Ok(difference)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobOutput {
    text: String,
    status: String,
    detail: Option<String>,
    limit: Option<NonZeroUsize>,
    #[serde(rename = "mode")]
    _mode: Mode,
}

/// How the job kept its output; the text is the same.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Stream,
    Final,
}

/// A recorded text, and the one with the byte order mark that the reference dropped.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fitted {
    text: String,
    bytes: usize,
    #[serde(rename = "js_bom_stripped")]
    bom_stripped: Option<bool>,
    text_keeping_bom: Option<String>,
}

pub(crate) fn job_output(input: &JobOutput, out: &Fitted) -> Checked {
    let (line, empty) = recorded_status_line(&input.status, input.detail.as_deref())?;
    let body = fit::body(&input.text);
    // The recorded status line goes in, so that the cut is compared where the lines differ, too.
    let ours = fit_output(body, &line, input.limit, Truncation::Plain, 0);
    let bom = keeping_bom(
        &out.text,
        out.bom_stripped,
        out.text_keeping_bom.as_deref(),
        &ours.text,
    )?;
    same("bytes", out.bytes, out.text.len())?;
    Ok(empty.or(bom))
}

/// Compares `ours` with the text that keeps byte order marks. The reference drops one at the
/// beginning of a decoded piece: of the text, and of the tail behind a cut.
pub(crate) fn keeping_bom(
    text: &str,
    stripped: Option<bool>,
    keeping: Option<&str>,
    ours: &str,
) -> Checked {
    same(
        "text_keeping_bom",
        stripped.unwrap_or(false),
        keeping.is_some(),
    )?;
    let Some(keeping) = keeping else {
        same("text", text, ours)?;
        return Ok(None);
    };
    same("text_keeping_bom", keeping, ours)?;
    let bom = '\u{feff}';
    let marks = |text: &str| text.matches(bom).count();
    let dropped = marks(keeping).checked_sub(marks(text));
    same(
        "byte order mark dropped",
        true,
        matches!(dropped, Some(1 | 2)),
    )?;
    same("text", text.replace(bom, ""), keeping.replace(bom, ""))?;
    Ok(Some(Difference::ByteOrderMark))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompletionNotice {
    id: String,
    kind: String,
    label: String,
    status: String,
    detail: Option<String>,
    limit: Option<NonZeroUsize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FittedNotice {
    text: String,
    bytes: usize,
    summary: String,
    summary_utf16_len: usize,
}

pub(crate) fn completion_notice(input: &CompletionNotice, out: &FittedNotice) -> Checked {
    let CompletionNotice {
        id,
        kind,
        label,
        status,
        detail,
        limit,
    } = input;
    let (line, empty) = recorded_status_line(status, detail.as_deref())?;
    let notice = Notice {
        id,
        kind,
        label,
        status_line: &line,
    };
    same("text", &out.text, &notice.text(*limit))?;
    same("bytes", out.bytes, out.text.len())?;
    let recorded: Vec<u16> = out.summary.encode_utf16().collect();
    same("summary_utf16_len", out.summary_utf16_len, recorded.len())?;
    let unit = compare_summaries(
        &format!("{kind} {label} {line}"),
        &recorded,
        &notice.summary(),
    )?;
    Ok(empty.or(unit))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Single {
    text: String,
    limit: Option<NonZeroUsize>,
}

pub(crate) fn bound_single_text(input: &Single, out: &Fitted) -> Checked {
    let ours = fit_result(&input.text, input.limit);
    same("bytes", out.bytes, out.text.len())?;
    keeping_bom(
        &out.text,
        out.bom_stripped,
        out.text_keeping_bom.as_deref(),
        &ours,
    )
}
