//! Settings, found in the same way by every command: flag, environment, file, default, in this
//! order (spec/compositions.md).
//!
//! The file is TOML, named by `--config` or `AGENT_JOBS_CONFIG`. Its keys are those of the
//! libraries, which check the values; a key that a command does not know is refused.

mod flags;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use flags::{Flags, Layer};
pub(crate) use table::{Kind, MCP, PROCESS, RUN, Row};

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("cannot read the configuration {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the configuration {} is not TOML: {text}", path.display())]
    Syntax { path: PathBuf, text: String },
    #[error("unknown setting {key} in {}: see --print-config for those that there are", path.display())]
    Unknown { path: PathBuf, key: String },
    #[error("{0}")]
    Refused(String),
}

impl SettingsError {
    /// Whether the surroundings are at fault, not whoever called.
    pub(crate) fn is_environment(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File,
    Variable,
    Flag,
}

impl Source {
    fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Variable => "variable",
            Self::Flag => "flag",
        }
    }
}

/// What is in force.
#[derive(Debug)]
pub(crate) struct Settings {
    rows: Vec<(Row, Value, Source)>,
}

impl Settings {
    /// Settles every row.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] for a file that cannot be used. Values are checked by [`Self::read`].
    pub(crate) fn load(rows: &[&[Row]], flags: &Flags) -> Result<Self, SettingsError> {
        let file = match &flags.config {
            Some(path) => read_file(path, rows)?,
            None => BTreeMap::new(),
        };
        let settle = |row: &Row| {
            if let Some((layer, given)) = flags.given.get(row.path) {
                let source = match layer {
                    Layer::Flag => Source::Flag,
                    Layer::Variable => Source::Variable,
                };
                return (*row, parse(row.kind, given), source);
            }
            match file.get(row.path) {
                Some(value) => (*row, spelled(row.kind, value.clone()), Source::File),
                None => {
                    let given: Vec<String> = match row.kind {
                        Kind::List => Vec::new(),
                        _ => vec![row.default().into_owned()],
                    };
                    (*row, parse(row.kind, &given), Source::Default)
                }
            }
        };
        Ok(Self {
            rows: rows.iter().copied().flatten().map(settle).collect(),
        })
    }

    /// One table, in the form of a library.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Refused`] in the words of the library.
    pub(crate) fn read<T: DeserializeOwned>(&self, table: &str) -> Result<T, SettingsError> {
        let prefix = format!("{table}.");
        let mut values = Map::new();
        for (row, value, _) in &self.rows {
            let Some(path) = row.path.strip_prefix(&prefix) else {
                continue;
            };
            let mut inner = &mut values;
            let mut parts = path.split('.').peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_none() {
                    inner.insert(part.to_owned(), value.clone());
                    break;
                }
                let next = inner
                    .entry(part)
                    .or_insert_with(|| Value::Object(Map::new()));
                let Value::Object(next) = next else { break };
                inner = next;
            }
        }
        serde_json::from_value(Value::Object(values))
            .map_err(|error| SettingsError::Refused(format!("[{table}] {error}")))
    }

    /// What is in force, as a file that would say the same.
    pub(crate) fn print(&self) -> String {
        let mut tables: Vec<&str> = Vec::new();
        for (row, ..) in &self.rows {
            let (table, _) = row.split();
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        let mut text = String::new();
        for table in tables {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}[{table}]");
            for (row, value, source) in &self.rows {
                let (of, key) = row.split();
                if of != table {
                    continue;
                }
                let shown = match value {
                    Value::Null => "\"none\"".to_owned(),
                    // JSON's numbers, texts, truth values and lists of them are TOML's, too.
                    other => other.to_string(),
                };
                let _ = writeln!(text, "{key} = {shown} # {}", source.as_str());
            }
        }
        text
    }
}

/// A value as a flag or a variable gives it.
fn parse(kind: Kind, given: &[String]) -> Value {
    let last = given.last().map_or("", String::as_str);
    match kind {
        Kind::Number => match last.parse::<u64>() {
            Ok(number) => number.into(),
            Err(_) => spelled(kind, last.into()),
        },
        Kind::Text => last.into(),
        Kind::List => given.iter().map(String::as_str).collect(),
    }
}

/// A value as a file gives it: TOML has no null.
fn spelled(kind: Kind, value: Value) -> Value {
    match (kind, &value) {
        (Kind::Number, Value::String(word)) if word == "none" => Value::Null,
        _ => value,
    }
}

fn read_file(path: &Path, rows: &[&[Row]]) -> Result<BTreeMap<String, Value>, SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let table: Value = toml::from_str(&text).map_err(|error| SettingsError::Syntax {
        path: path.to_owned(),
        text: error.to_string().trim_end().to_owned(),
    })?;
    let mut found = BTreeMap::new();
    flatten("", table, &mut found);
    let known = |key: &String| rows.iter().copied().flatten().any(|row| row.path == key);
    match found.keys().find(|key| !known(key)) {
        Some(key) => Err(SettingsError::Unknown {
            path: path.to_owned(),
            key: key.clone(),
        }),
        None => Ok(found),
    }
}

fn flatten(prefix: &str, value: Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let path = if prefix.is_empty() {
                    key
                } else {
                    format!("{prefix}.{key}")
                };
                flatten(&path, value, found);
            }
        }
        value => {
            found.insert(prefix.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests;
