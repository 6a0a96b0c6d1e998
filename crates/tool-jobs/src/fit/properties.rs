//! Property tests of all that cuts: invariants 1 to 5 of [`super`].

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use jobs::text;
use proptest::prelude::*;

use super::*;

/// Texts of mixed widths with newlines, and ones that already end in a marker.
fn content() -> impl Strategy<Value = String> {
    let text = "[a-cé漢😀\\u{feff}\n]{0,60}";
    let end = prop_oneof![
        4 => Just(""),
        1 => Just("\n[output truncated]"),
        1 => Just("[result truncated]"),
        1 => Just("\n[output truncated: 12 bytes above not shown; from=3 reads them]"),
    ];
    (text, 1_usize..20, end).prop_map(|(text, times, end)| text.repeat(times) + end)
}

fn status() -> impl Strategy<Value = String> {
    "[a-cé漢😀 ]{0,30}".prop_map(|detail| status_line("failed", Some(&detail)))
}

fn cap() -> impl Strategy<Value = NonZeroUsize> {
    prop_oneof![1_usize..100, 1_usize..1500].prop_map(|cap| NonZeroUsize::new(cap).unwrap())
}

fn truncation() -> impl Strategy<Value = Truncation> {
    prop_oneof![Just(Truncation::Plain), Just(Truncation::Counted)]
}

/// The numbers of a counted marker.
fn numbers(marker: &str) -> Option<(usize, u64)> {
    let rest = marker
        .strip_prefix("\n[output truncated: ")?
        .strip_suffix(" reads them]")?;
    let (count, from) = rest.split_once(" bytes above not shown; from=")?;
    Some((count.parse().ok()?, from.parse().ok()?))
}

proptest! {
    #[test]
    fn a_read_stays_within_its_cap_and_keeps_a_tail(
        body in content(),
        status in status(),
        cap in cap(),
        truncation in truncation(),
        from in any::<u64>(),
    ) {
        let fitted = fit_output(&body, &status, Some(cap), truncation, from);
        prop_assert!(fitted.text.len() <= cap.get());
        prop_assert_eq!(&fit_result(&fitted.text, Some(cap)), &fitted.text);

        let content = body.strip_suffix('\n').unwrap_or(&body);
        let kept = &content[fitted.omitted..];
        let end = format!("\n{status}");
        let whole = format!("{content}{end}");
        if whole.len() <= cap.get() {
            prop_assert_eq!((fitted.text, fitted.omitted), (whole, 0));
            return Ok(());
        }
        let marker = fitted.text.strip_suffix(&end).and_then(|text| text.strip_prefix(kept));
        let counted = marker.and_then(numbers);
        match (marker, counted) {
            (Some(marker), Some(numbers)) => {
                prop_assert_eq!(truncation, Truncation::Counted);
                prop_assert_eq!(numbers, (fitted.omitted, from));
                prop_assert!(4 * marker.len() <= cap.get());
            }
            (Some("\n[output truncated]"), _) => {}
            (Some(""), _) if content.ends_with("[output truncated]") => {}
            _ => {
                // Marker and status line alone fill the cap: their tail is left.
                prop_assert_eq!(fitted.omitted, content.len());
                let fixed = format!("\n[output truncated]{end}");
                prop_assert_eq!(&fitted.text, text::tail(&fixed, cap.get()));
                return Ok(());
            }
        }
        // Not one character more would have fitted, also where the count were shorter then.
        let next = content[..fitted.omitted].chars().next_back().map_or(0, char::len_utf8);
        let digits = |count: usize| counted.map_or(0, |_| count.to_string().len());
        let shorter = digits(fitted.omitted) - digits(fitted.omitted - next);
        prop_assert!(fitted.text.len() + next - shorter > cap.get());
    }

    #[test]
    fn a_fitted_body_is_left_alone(body in content(), status in status(), cap in cap(), truncation in truncation()) {
        let once = fit_output(&body, &status, Some(cap), truncation, 0);
        if once.omitted > 0 && let Some(fitted_body) = once.text.strip_suffix(&format!("\n{status}")) {
            let twice = fit_output(fitted_body, &status, Some(cap), truncation, 0);
            prop_assert_eq!((twice.text, twice.omitted), (once.text, 0));
        }
    }

    #[test]
    fn a_smaller_cap_on_a_plain_cut_is_as_if_cut_once(body in content(), status in status(), small in cap(), large in cap()) {
        let (small, large) = (small.min(large), small.max(large));
        let fit = |body: &str, cap| fit_output(body, &status, Some(cap), Truncation::Plain, 0);
        let once = fit(&body, large);
        if once.omitted > 0 && let Some(fitted_body) = once.text.strip_suffix(&format!("\n{status}")) {
            prop_assert_eq!(fit(fitted_body, small).text, fit(&body, small).text);
        }
    }

    #[test]
    fn a_result_stays_within_its_cap_and_keeps_a_tail(content in content(), cap in cap()) {
        let fitted = fit_result(&content, Some(cap));
        prop_assert!(fitted.len() <= cap.get());
        prop_assert_eq!(&fit_result(&fitted, Some(cap)), &fitted);
        if content.len() <= cap.get() || content.ends_with("[result truncated]") {
            prop_assert_eq!(&fitted, text::tail(&content, cap.get()));
        } else if let Some(kept) = fitted.strip_suffix("\n[result truncated]") {
            prop_assert!(content.ends_with(kept));
        } else {
            prop_assert_eq!(&fitted, text::tail("\n[result truncated]", cap.get()));
        }
    }

    #[test]
    fn a_notice_stays_within_its_cap(label in content(), id in "[a-z漢]{1,12}", status in status(), cap in cap()) {
        let notice = Notice { id: &id, kind: "bash", label: &label, status_line: &status };
        let (whole, fitted) = (notice.text(None), notice.text(Some(cap)));
        prop_assert!(fitted.len() <= cap.get());
        prop_assert_eq!(&notice.text(NonZeroUsize::new(whole.len())), &whole);
        prop_assert_ne!(&notice.text(NonZeroUsize::new(whole.len() - 1)), &whole);
        if whole.len() <= cap.get() {
            prop_assert_eq!(fitted, whole);
        } else if let Some(kept) = fitted.strip_suffix("\nDone; job_output.") {
            prop_assert!(whole.starts_with(kept.strip_suffix("\n[notice truncated]").unwrap_or(kept)));
        } else {
            prop_assert!("\nDone; job_output.".ends_with(&fitted));
        }
        let line = format!("bash {label} {status}");
        prop_assert_eq!(notice.summary(), summary(&line));
    }

    #[test]
    fn a_summary_holds_120_scalar_values(text in content()) {
        let short = summary(&text);
        prop_assert_eq!(short.chars().count(), text.chars().count().min(120));
        prop_assert_eq!(&summary(&short), &short);
        prop_assert!(text.starts_with(short.strip_suffix('…').unwrap_or(&short)));
    }

    #[test]
    fn a_list_is_cut_at_rows_and_counts_the_rest(rows in prop::collection::vec("[a-cé漢]{1,30}", 0..30), cap in cap()) {
        let fitted = fit_rows(&rows, Some(cap));
        prop_assert!(fitted.len() <= cap.get());
        let whole = fit_rows(&rows, None);
        prop_assert_eq!(&whole, &rows.join("\n"));
        if whole.len() <= cap.get() {
            prop_assert_eq!(fitted, whole);
        } else if let Some(count) = fitted.lines().last().and_then(|last| last.strip_prefix("… and ")?.strip_suffix(" more")) {
            let kept: Vec<&str> = fitted.lines().rev().skip(1).collect();
            prop_assert!(kept.iter().rev().eq(rows.iter().take(kept.len())));
            prop_assert_eq!(count.parse::<usize>(), Ok(rows.len() - kept.len()));
        } else {
            prop_assert!(fitted == "…" || fitted.is_empty());
            let count = format!("… and {} more", rows.len());
            prop_assert!(count.len() > cap.get());
        }
    }

    #[test]
    fn without_a_cap_nothing_is_cut(text in content(), status in status(), truncation in truncation()) {
        let fitted = fit_output(&text, &status, None, truncation, 7);
        let content = text.strip_suffix('\n').unwrap_or(&text);
        prop_assert_eq!((fitted.text, fitted.omitted), (format!("{content}\n{status}"), 0));
        prop_assert_eq!(fit_result(&text, None), text.as_str());
        let notice = Notice { id: &text, kind: &text, label: &text, status_line: &status };
        let end = format!("{text}) finished {status}. Read its output with job_output.");
        prop_assert!(notice.text(None).ends_with(&end));
    }

    #[test]
    fn retention_keeps_ends_of_text_and_counts_the_rest(
        text in "[aé漢😀\\u{feff}]{0,40}",
        head in 0_usize..40,
        tail in 0_usize..40,
        chunk in 1_usize..9,
    ) {
        let mut kept = Retention::head_tail(head, tail);
        for bytes in text.as_bytes().chunks(chunk) {
            kept.push(bytes);
        }
        let retained = kept.retained();
        let expected = if text.len() <= head + tail {
            text.clone()
        } else {
            text::head(&text, head).to_owned() + text::tail(&text, tail)
        };
        prop_assert_eq!(retained.omitted, (text.len() - expected.len()) as u64);
        prop_assert_eq!(kept.is_cut(), retained.omitted > 0);
        prop_assert_eq!(retained.text, expected);
    }
}

#[test]
fn the_summary_of_a_notice_sees_that_wide_characters_are_cut() {
    for width in SUMMARY_CHARS..=SUMMARY_CHARS + 2 {
        let notice = Notice {
            id: "bash-1",
            kind: "",
            label: &"😀".repeat(width - 2),
            status_line: "",
        };
        let line = format!(" {} ", notice.label);
        assert_eq!(notice.summary(), summary(&line));
        assert_eq!(notice.summary().ends_with('…'), width > SUMMARY_CHARS);
    }
}

#[test]
fn a_push_says_whether_the_stream_is_cut_by_now() {
    let mut kept = Retention::head_tail(1, 2);
    assert_eq!(kept.push(b""), Pushed::Kept);
    assert_eq!(kept.push(b"abc"), Pushed::Kept);
    assert_eq!(kept.push(b"d"), Pushed::Cut);
    assert_eq!(kept.push(b""), Pushed::Kept, "nothing came");
    assert_eq!(kept.push(b"e"), Pushed::Cut);
}

/// Invariant 5, with three orders of magnitude to spare: looking at the whole content once per
/// call would read 640 GiB.
#[test]
fn a_cut_does_not_look_at_the_whole_content() {
    let content = "0123456789abcde\n".repeat(4 << 20);
    assert_eq!(content.len(), 64 << 20);
    let cap = NonZeroUsize::new(300);
    let notice = Notice {
        id: "bash-1",
        kind: "bash",
        label: &content,
        status_line: "[s]",
    };
    let started = Instant::now();
    for from in 0..2500 {
        let fitted = fit_output(&content, "[s]", cap, Truncation::Counted, from);
        assert!(fitted.text.len() > 290 && fit_result(&content, cap).len() > 290);
        assert!(notice.text(cap).len() > 290 && notice.summary().len() > 120);
    }
    let took = started.elapsed();
    assert!(took < Duration::from_secs(20), "10,000 cuts took {took:?}");
}
