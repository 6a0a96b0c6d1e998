//! Walks a folder of vectors and says which lines do not hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::functions::{self, Checked, Difference, Failure};
use crate::{retention, summary};

/// What a folder held, a file a key.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Vectors checked.
    pub(crate) lines: BTreeMap<String, usize>,
    /// Vectors where our value differs from the recorded one by design.
    pub(crate) differences: BTreeMap<(String, Difference), usize>,
}

/// How many failures are printed; the others are counted.
const SHOWN: usize = 20;

/// Checks every line of every `*.jsonl` file in `folder`.
///
/// # Errors
///
/// A text that names each failing line as `FILE:LINE`, with expected and got.
pub(crate) fn check_folder(folder: &Path) -> Result<Counts, String> {
    let files = read_files(folder)
        .map_err(|error| format!("cannot read the vectors in {}: {error}", folder.display()))?;
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    for (file, content) in files {
        let lines = content.strip_suffix(b"\n").unwrap_or(&content);
        for (index, line) in lines.split(|&byte| byte == b'\n').enumerate() {
            match check_line(line) {
                Ok(difference) => {
                    if let Some(difference) = difference {
                        *counts
                            .differences
                            .entry((file.clone(), difference))
                            .or_default() += 1;
                    }
                }
                Err(failure) => failures.push(format!("{file}:{}: {failure}", index + 1)),
            }
            *counts.lines.entry(file.clone()).or_default() += 1;
        }
    }
    if counts.lines.is_empty() {
        return Err(format!(
            "no vectors in {}: expected *.jsonl files with lines",
            folder.display()
        ));
    }
    if failures.is_empty() {
        return Ok(counts);
    }
    let hold = if failures.len() == 1 {
        "vector does not hold"
    } else {
        "vectors do not hold"
    };
    let mut text = format!("{} {hold}", failures.len());
    for failure in failures.iter().take(SHOWN) {
        let _ = write!(text, "\n{failure}");
    }
    if failures.len() > SHOWN {
        let _ = write!(text, "\n… and {} more", failures.len() - SHOWN);
    }
    Err(text)
}

fn read_files(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            let content = fs::read(&path)?;
            if !content.is_empty() {
                let name = path.file_name().unwrap_or_default();
                files.insert(name.to_string_lossy().into_owned(), content);
            }
        }
    }
    Ok(files)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    r#fn: String,
    r#in: Value,
    out: Value,
    #[serde(rename = "via")]
    _via: Option<Via>,
}

/// Through which call a result was recorded; the rule is the same.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Via {
    JobKill,
    Denied,
}

/// Checks one line, by the function that it names.
///
/// # Errors
///
/// What was expected and what was got, also where the line is no vector at all.
pub(crate) fn check_line(line: &[u8]) -> Checked {
    let line: Line = serde_json::from_slice(line).map_err(Failure::unreadable)?;
    match line.r#fn.as_str() {
        "status_line" => functions::status_line(&read(line.r#in)?, &read(line.out)?),
        "job_output" => functions::job_output(&read(line.r#in)?, &read(line.out)?),
        "completion_notice" => functions::completion_notice(&read(line.r#in)?, &read(line.out)?),
        "bound_single_text" => functions::bound_single_text(&read(line.r#in)?, &read(line.out)?),
        "bound_context_summary" => {
            summary::bound_context_summary(&read(line.r#in)?, &read(line.out)?)
        }
        "TextRetainer" => retention::text_retainer(&read(line.r#in)?, &read(line.out)?),
        "TextRetainer.new" => retention::text_retainer_new(&line.r#in, &read(line.out)?),
        other => Err(Failure::new("fn", "the name of a recorded function", other)),
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(Failure::unreadable)
}
