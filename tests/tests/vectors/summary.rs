//! The check of the recorded summaries.

use serde::Deserialize;
use tool_jobs::fit::{SUMMARY_CHARS, summary};

use crate::functions::{Checked, Difference, Failure, same};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measured {
    text: String,
    utf16_len: usize,
    chars: usize,
    bytes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Summary {
    text: Option<String>,
    text_lossy: Option<String>,
    text_utf16: Option<Vec<u16>>,
    lone_surrogate: Option<bool>,
    utf16_len: usize,
}

pub(crate) fn bound_context_summary(input: &Measured, out: &Summary) -> Checked {
    let text = &input.text;
    same("utf16_len", input.utf16_len, text.encode_utf16().count())?;
    same("chars", input.chars, text.chars().count())?;
    same("bytes", input.bytes, text.len())?;
    let lone = out.lone_surrogate.unwrap_or(false);
    let recorded = match (&out.text, &out.text_utf16, &out.text_lossy) {
        (Some(whole), None, None) if !lone => whole.encode_utf16().collect(),
        (None, Some(units), Some(lossy)) if lone => {
            same("text_lossy", lossy, &String::from_utf16_lossy(units))?;
            units.clone()
        }
        _ => {
            return Err(Failure::new(
                "out",
                "a text, or the units of a broken one",
                "neither",
            ));
        }
    };
    same("utf16_len", out.utf16_len, recorded.len())?;
    let unit = compare_summaries(text, &recorded, &summary(text))?;
    Ok(if lone {
        Some(Difference::LoneSurrogate)
    } else {
        unit
    })
}

/// Holds the recorded summary against UTF-16 units and ours against scalar values.
pub(crate) fn compare_summaries(text: &str, recorded: &[u16], ours: &str) -> Checked {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    if units.len() > SUMMARY_CHARS {
        units.truncate(SUMMARY_CHARS - 1);
        units.extend("…".encode_utf16());
    }
    same(
        "summary",
        String::from_utf16_lossy(recorded),
        String::from_utf16_lossy(&units),
    )?;
    same("summary units", recorded, &units[..])?;
    let right = if text.chars().count() > SUMMARY_CHARS {
        text.chars().take(SUMMARY_CHARS - 1).chain(['…']).collect()
    } else {
        text.to_owned()
    };
    same("summary", &right[..], ours)?;
    Ok(ours
        .encode_utf16()
        .ne(recorded.iter().copied())
        .then_some(Difference::SummaryUnit))
}
