//! What a finished foreground run answers: its output within the cap, then marker lines.

use std::borrow::Cow;
use std::time::Duration;

use jobs::TerminalStatus;
use jobs::tool::ToolResult;
use serde_json::json;

use crate::capture::Source;
use crate::ending::Ending;

/// How far a cut moves to begin at a line, in bytes.
const LINE_SLACK: usize = 1024;

/// What happened to a run besides its own end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Interruption {
    None,
    /// It took longer than this, and was ended.
    TimedOut(Duration),
    /// The same; and it was to become a job, but the start was refused, for this reason.
    NotPromoted(Duration, String),
}

/// Whether an answer shows less than there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Yes,
    No,
}

/// The answer of a run that has ended.
pub(super) fn finished(
    source: &Source,
    cap: usize,
    interruption: &Interruption,
    ending: &Ending,
) -> (ToolResult, Cut) {
    let outcome = ending.outcome();
    let detail = outcome.detail.unwrap_or_default();
    if outcome.status == TerminalStatus::Failed {
        return (ToolResult::failure(format!("Error: {detail}")), Cut::No);
    }
    let slice = source.log.slice(0, None);
    let all = slice.render(None);
    let cut = if slice.dropped > 0 || all.len() > cap {
        Cut::Yes
    } else {
        Cut::No
    };
    let path = (cut == Cut::Yes).then(|| source.spilled.describe());
    let output = fit(&all, cap, path.as_deref());

    let mut text = output.clone();
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if let Interruption::TimedOut(limit) | Interruption::NotPromoted(limit, _) = interruption {
        line(
            &mut text,
            &format!("[timed out after {}ms]", limit.as_millis()),
        );
    }
    if let Interruption::NotPromoted(_, reason) = interruption {
        line(
            &mut text,
            &format!("[not continued as a background job: {reason}]"),
        );
    }
    if detail.starts_with("limit: ") {
        line(&mut text, &format!("[{detail}]"));
    }
    if let Some(signal) = &ending.facts.signal {
        line(&mut text, &format!("[killed by signal: {signal}]"));
    }
    if let Some(code) = ending.facts.exit_code.filter(|code| *code != 0) {
        line(&mut text, &format!("[exit code: {code}]"));
    }
    let value = json!({
        "kind": "foreground",
        "output": output,
        "detail": detail,
        "timedOut": *interruption != Interruption::None,
        "truncated": cut == Cut::Yes,
        "facts": outcome.facts.unwrap_or_else(|| json!({})),
    });
    (ToolResult::success(text, value), cut)
}

/// The end of `text` in at most `cap` bytes, at a line where one is near, and the line that says
/// that it was cut, if it was or if `path` says so.
pub(super) fn fit(text: &str, cap: usize, path: Option<&str>) -> String {
    let mut kept = jobs::text::tail(text, cap);
    if kept.len() < text.len()
        && let Some(newline) = kept
            .as_bytes()
            .iter()
            .take(LINE_SLACK)
            .position(|byte| *byte == b'\n')
        && newline + 1 < kept.len()
    {
        kept = &kept[newline + 1..];
    }
    let mut fitted = kept.to_owned();
    let marker = match path {
        Some(path) => Some(Cow::Owned(format!(
            "[output truncated; full output: {path}]"
        ))),
        None if kept.len() < text.len() => Some(Cow::Borrowed("[output truncated]")),
        None => None,
    };
    if let Some(marker) = marker {
        line(&mut fitted, &marker);
    }
    fitted
}

/// Appends a line of its own.
pub(super) fn line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_begins_at_a_line_and_says_where_the_rest_is() {
        assert_eq!(fit("one\ntwo\n", 8, None), "one\ntwo\n");
        assert_eq!(
            fit("one\ntwo\n", 6, Some("/s")),
            "two\n[output truncated; full output: /s]"
        );
        assert_eq!(fit("aaaa漢", 4, None), "a漢\n[output truncated]");
        assert_eq!(
            fit("all", 9, Some("(unavailable)")),
            "all\n[output truncated; full output: (unavailable)]"
        );
    }
}
