//! Which situation an error text stands for (spec: registry, §11).
//!
//! Texts are each side's own; the situations are what is compared. A text that
//! is in no row is a puppet's own message and is compared as it is.

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Recorded from the reference.
    Reference,
    /// Said by this project.
    Ours,
}

/// A situation, how the reference begins to say it, and how we do.
struct Row(
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROWS: &[Row] = &[
    Row(
        "no controller",
        &["background jobs unavailable: no job controller"],
        &["background jobs are unavailable: no job controller"],
    ),
    Row("bad kind", &["invalid job kind"], &["invalid job kind"]),
    Row("bad label", &["invalid job label"], &["invalid job label"]),
    Row(
        "bad limit",
        &["invalid outputLimitBytes"],
        &["invalid output limit"],
    ),
    Row(
        "at the limit",
        &["background job limit reached"],
        &["background job limit reached"],
    ),
    Row("unknown id", &["unknown job"], &["unknown job"]),
    Row("too many untold", &[], &["too many unread completions"]),
    Row("wait cancelled", &["wait aborted"], &["wait aborted"]),
    Row(
        "bad wait",
        &["invalid wait timeout", "deadline timeoutMs must be"],
        &["invalid wait timeout"],
    ),
    Row("shut down", &[], &["job registry is shut down"]),
    Row(
        "bad configuration",
        &["$.", "invalid config", "tool-jobs: "],
        &["invalid configuration"],
    ),
    Row("unknown tool", &["unknown tool"], &["unknown tool"]),
    Row(
        "bad arguments",
        &["invalid arguments", "invalid job_id"],
        &["invalid arguments", "invalid job_id"],
    ),
    Row(
        "cancelled before dispatch",
        &["tool call aborted before dispatch"],
        &["tool call aborted before dispatch"],
    ),
    Row("cancelled", &["tool call aborted"], &["tool call aborted"]),
    Row(
        "mounted twice",
        &["prompt section "],
        &["controller \"tool:jobs\" is already registered"],
    ),
    Row(
        "broken snapshot",
        &["invariant violated"],
        &["invariant violated"],
    ),
];

/// The situation of `text`, or `text` itself where it is nobody's but the
/// puppet's.
pub(crate) fn of(text: &str, side: Side) -> String {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    if let Some(situation) = infix(text, side) {
        return format!("<{situation}>");
    }
    ROWS.iter()
        .find(|row| {
            let starts = match side {
                Side::Reference => row.1,
                Side::Ours => row.2,
            };
            starts.iter().any(|start| text.starts_with(start))
        })
        .map_or_else(|| text.to_owned(), |row| format!("<{}>", row.0))
}

/// Situations whose texts are told by their ends, because an id, a name or a
/// session stands before.
fn infix(text: &str, side: Side) -> Option<&'static str> {
    let is = |start: &str, end: &str| text.starts_with(start) && text.contains(end);
    let found = match side {
        Side::Reference => [
            (
                is("agent \"", "is not the registered agent instance")
                    || text.starts_with("background job ownership requires"),
                "owner not current",
            ),
            (
                text.starts_with("cannot create effect on inactive context"),
                "owner closed",
            ),
            (is("job ", "belongs to another session"), "foreign id"),
            (false, "evicted id"),
            (is("tool \"", "returned invalid output"), "bad replacement"),
        ],
        Side::Ours => [
            (
                is("job owner \"", "is not the current instance"),
                "owner not current",
            ),
            (is("job owner \"", "is closed"), "owner closed"),
            (is("job ", "belongs to another session"), "foreign id"),
            (is("job ", "is no longer kept"), "evicted id"),
            (is("tool \"", "returned invalid output"), "bad replacement"),
        ],
    };
    found
        .into_iter()
        .find_map(|(holds, situation)| holds.then_some(situation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_scenarios_meet_in_situations() {
        for (reference, ours) in [
            (
                "agent \"x\" is not the registered agent instance (…)",
                "job owner \"x\" is not the current instance",
            ),
            (
                "cannot create effect on inactive context",
                "job owner \"x\" is closed",
            ),
            (
                "tool call aborted before dispatch",
                "Error: tool call aborted before dispatch",
            ),
            ("no shell", "Error: no shell"),
        ] {
            assert_eq!(of(reference, Side::Reference), of(ours, Side::Ours));
        }
        assert_ne!(
            of("tool call aborted", Side::Reference),
            of("tool call aborted before dispatch", Side::Ours)
        );
        assert_eq!(of("no shell", Side::Ours), "no shell");
    }
}
