//! The bodies of the fuzz targets: plain functions that panic when something
//! does not hold of their input.
//!
//! `fuzz/` runs them under a fuzzer, `tests/corpus.rs` over what it has found.

use std::num::NonZeroUsize;
use std::time::Duration;

use jobs::{
    Hooks, JobId, JobRegistry, JobSpec, Kind, Outcome, OutputLog, OutputSource, Scope, Stream,
};
use jobs_local::LocalJobRegistry;
use serde_json::Value;
use tool_jobs::fit::{self, Pushed, Retention, Truncation, fit_output, fit_result, fit_rows};
use tool_jobs::{JobTools, ToolsConfig};

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("ids", ids),
    ("fitting", fitting),
    ("output_log", output_log),
    ("arguments", arguments),
    ("configuration", configuration),
];

/// Whatever parses as an id prints as it was given.
///
/// # Panics
///
/// If it does not.
pub fn ids(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match text.parse::<JobId>() {
        Ok(id) => {
            assert_eq!(id.to_string(), text);
            assert_eq!(Kind::new(id.kind().as_str()).as_ref(), Ok(id.kind()));
        }
        Err(error) => assert_shown(&error.to_string()),
    }
    if let Err(error) = Kind::new(&text) {
        assert_shown(&error.to_string());
    }
}

/// Every fitted text is within its cap, and fits again as it is.
///
/// # Panics
///
/// If one is not.
pub fn fitting(data: &[u8]) {
    let [low, high, split, rest @ ..] = data else {
        return;
    };
    let cap = usize::from(u16::from_le_bytes([*low, high & 0x0f]));
    let limit = NonZeroUsize::new(cap);
    let text = String::from_utf8_lossy(rest);
    let at = jobs::text::head(&text, usize::from(*split)).len();
    let (detail, body) = text.split_at(at);
    let fits = |text: &str| limit.is_none_or(|limit| text.len() <= limit.get());

    let result = fit_result(&text, limit);
    assert!(fits(&result) && fit_result(&result, limit) == result);

    let truncation = match split & 1 {
        0 => Truncation::Counted,
        _ => Truncation::Plain,
    };
    let status = fit::status_line("completed", Some(detail));
    let output = fit_output(body, &status, limit, truncation, 70);
    assert!(fits(&output.text), "{} of {cap}", output.text.len());
    if limit.is_none() {
        assert!(output.text.ends_with(&status));
    }

    let rows: Vec<_> = text.split('\n').collect();
    assert!(fits(&fit_rows(&rows, limit)));
    assert!(fit::summary(&text).chars().count() <= fit::SUMMARY_CHARS);

    let mut ends = Retention::head_tail(cap / 2, usize::from(*split));
    let mut cut = false;
    for piece in rest.chunks(usize::from(*split).max(1)) {
        cut |= ends.push(piece) == Pushed::Cut;
    }
    let kept = ends.retained();
    assert_eq!(cut, ends.is_cut());
    // What is no UTF-8 takes three bytes for one.
    assert!(kept.text.len() <= 3 * (cap / 2 + usize::from(*split)));
    assert!(cut || kept.text == String::from_utf8_lossy(rest));
    assert!(kept.omitted <= rest.len() as u64);
}

/// What a log keeps is the end of everything that was pushed, decoded; it
/// counts what it dropped, and any walk over it reads the same.
///
/// # Panics
///
/// If it does not.
pub fn output_log(data: &[u8]) {
    let [budget, rest @ ..] = data else { return };
    let mut rest = rest;
    let budget = NonZeroUsize::MIN.saturating_add(usize::from(*budget) * 4);
    let log = OutputLog::with_budget(budget);
    let reader = log.reader();
    let mut model = Written::default();
    while let [step, more @ ..] = rest {
        let (piece, after) = more.split_at(more.len().min(usize::from(step >> 2)));
        rest = after;
        let stream = match step & 3 {
            0 => Stream::Stderr,
            3 => {
                walk(&reader, &model, piece.len());
                continue;
            }
            _ => Stream::Stdout,
        };
        log.push(stream, piece);
        model.push(stream, piece);
        let kept = reader.kept_bytes();
        assert!(kept <= budget.get(), "{kept} of {budget} bytes");
        walk(&reader, &model, usize::MAX);
    }
    log.close();
    model.close();
    log.push(Stream::Stdout, b"late");
    walk(&reader, &model, 1);
    walk(&reader, &model, 7);
}

/// Everything that was pushed, as a log should decode it.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    /// What has begun and not ended, of each stream.
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Written {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let open = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        open.extend(bytes);
        while let Err(error) = std::str::from_utf8(open) {
            self.text.extend(open.drain(..error.valid_up_to()));
            let Some(invalid) = error.error_len() else {
                return;
            };
            open.drain(..invalid);
            self.text.extend("\u{FFFD}".bytes());
        }
        self.text.append(open);
    }

    fn close(&mut self) {
        for open in [&mut self.stdout, &mut self.stderr] {
            if !std::mem::take(open).is_empty() {
                self.text.extend("\u{FFFD}".bytes());
            }
        }
    }
}

/// Reads everything in pieces, and compares it with the model.
fn walk(reader: &jobs::LogReader, model: &Written, max: usize) {
    let end = model.text.len() as u64;
    assert_eq!(reader.end(), end);
    let whole = reader.slice(0, None);
    assert_eq!(whole.range, reader.dropped()..end);
    assert_eq!(whole.dropped, reader.dropped());
    let mut at = whole.range.start;
    let mut pieces = Vec::new();
    while at < end {
        let slice = reader.slice(at, Some(max));
        assert_eq!((slice.range.start, slice.dropped), (at, 0));
        assert!(slice.range.end > at, "a read does not move on");
        let before = pieces.len();
        pieces.extend(slice.pieces().flat_map(|(_, text)| text.bytes()));
        // One character is given even where it is longer.
        assert!(pieces.len() - before <= max.max(4), "a page beyond {max}");
        at = slice.range.end;
    }
    let dropped = usize::try_from(whole.range.start).expect("it was in memory");
    assert_eq!(pieces, model.text[dropped..]);
}

/// Whatever a model sends as arguments is answered within the cap, and a
/// failure is one line.
///
/// # Panics
///
/// If it is not.
pub fn arguments(data: &[u8]) {
    let [tool, data @ ..] = data else { return };
    let Ok(arguments) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(call(usize::from(*tool), arguments));
}

async fn call(tool: usize, arguments: Value) {
    const CAP: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);
    let jobs = LocalJobRegistry::new(jobs_local::Config::default()).expect("a valid default");
    let config = ToolsConfig::builder()
        .default_output_limit(Some(CAP))
        .list_limit(Some(CAP))
        .build()
        .expect("a valid configuration");
    let tools = JobTools::mount(jobs.clone(), Scope::root(), config).expect("nothing is mounted");
    let owner = jobs.owner("session".into(), Scope::root());
    let long = "long ".repeat(500);
    for output in ["short", &long[..]] {
        let outcome = Outcome::completed().with_output(output);
        let spec = JobSpec::new("a", "one\nlabel", move |_| {
            Ok(Hooks::new(|_| Ok(()), std::future::ready(outcome)))
        });
        jobs.start(spec.with_owner(&owner)).await.expect("a job");
    }
    let all = tools.tools();
    let name = &all[tool % all.len()].definition().name;
    let shown = all[tool % all.len()].present(&arguments);
    if let Some(shown) = shown {
        assert!(!shown.title.is_empty());
    }
    let answer = tools.call(name, arguments, owner.caller());
    let answer = tokio::time::timeout(Duration::from_secs(86_400), answer).await;
    let result = answer.expect("every call is answered").deliver();
    assert!(result.text().len() <= CAP.get(), "{}", result.text().len());
    if result.is_error() {
        assert_shown(&result.text());
    }
    jobs.shutdown().await;
}

/// Whatever a file holds is a configuration or a refusal of one line.
///
/// # Panics
///
/// If it is neither.
pub fn configuration(data: &[u8]) {
    match serde_json::from_slice::<jobs_local::Config>(data) {
        Ok(config) => {
            LocalJobRegistry::new(config).expect("what was read is valid");
        }
        Err(error) => assert_shown(&error.to_string()),
    }
    match serde_json::from_slice::<ToolsConfig>(data) {
        Ok(config) => {
            let text = serde_json::to_string(&config).expect("it has a text");
            assert_eq!(
                serde_json::from_str::<ToolsConfig>(&text).ok(),
                Some(config)
            );
        }
        Err(error) => assert_shown(&error.to_string()),
    }
}

/// An error that somebody may see: one line, and bounded.
fn assert_shown(text: &str) {
    assert!(!text.contains(['\n', '\r']), "{text:?}");
    assert!(text.len() <= 2048, "an error of {} bytes", text.len());
}
