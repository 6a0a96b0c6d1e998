//! The check of the recorded byte retention.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;
use tool_jobs::fit::{Pushed, Retention};

use crate::functions::{Checked, Difference, Failure, keeping_bom, same};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextRetainer {
    strategy: Strategy,
    chunks: Vec<Chunk>,
}

#[derive(Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Strategy {
    Head {
        max_bytes: usize,
    },
    Tail {
        max_bytes: usize,
    },
    HeadTail {
        head_bytes: usize,
        tail_bytes: usize,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Chunk {
    B64(String),
    Str(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Retained {
    text: String,
    truncated: bool,
    omitted_bytes: Omitted,
    pushes: Vec<(bool, bool)>,
    #[serde(rename = "js_bom_stripped")]
    bom_stripped: Option<bool>,
    #[serde(rename = "text_keeping_bom")]
    text_keeping_bom: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Omitted {
    None,
    Exact { count: u64 },
}

pub(crate) fn text_retainer(input: &TextRetainer, out: &Retained) -> Checked {
    let mut retention = match input.strategy {
        Strategy::Head { max_bytes } => Retention::head(max_bytes),
        Strategy::Tail { max_bytes } => Retention::tail(max_bytes),
        Strategy::HeadTail {
            head_bytes,
            tail_bytes,
        } => Retention::head_tail(head_bytes, tail_bytes),
    };
    let mut pushes = Vec::new();
    for chunk in &input.chunks {
        let pushed = match chunk {
            Chunk::Str(text) => retention.push(text.as_bytes()),
            Chunk::B64(text) => retention.push(
                &BASE64_STANDARD
                    .decode(text)
                    .map_err(|error| Failure::new("b64", "base64", error))?,
            ),
        };
        pushes.push((pushed == Pushed::Kept, retention.is_cut()));
    }
    let ours = retention.retained();
    same("pushes", &out.pushes, &pushes)?;
    same("truncated", out.truncated, ours.omitted > 0)?;
    let omitted = match out.omitted_bytes {
        Omitted::None => 0,
        Omitted::Exact { count } => count,
    };
    same("omittedBytes", omitted, ours.omitted)?;
    keeping_bom(
        &out.text,
        out.bom_stripped,
        out.text_keeping_bom.as_deref(),
        &ours.text,
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    throws: String,
}

pub(crate) fn text_retainer_new(input: &Value, out: &Refusal) -> Checked {
    let strategy = input.get("strategy").cloned().unwrap_or_default();
    let fields = strategy.as_object().into_iter().flatten();
    let refused: Vec<_> = fields
        .filter(|(name, value)| {
            *name != "kind" && serde_json::from_value::<usize>((*value).clone()).is_err()
        })
        .map(|(name, _)| format!("{name} must be a non-negative integer"))
        .collect();
    same("throws", &vec![out.throws.clone()], &refused)?;
    Ok(Some(Difference::Inexpressible))
}
