//! Kinds and job ids: `<kind>-<n>`.
//!
//! Ids are predictable on purpose; what protects a job is its owner fence, not
//! the secrecy of its id (spec: registry, §1).

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::error::Error;
use crate::text::Echo;

/// The longest kind, in bytes.
pub const MAX_KIND_BYTES: usize = 64;

/// The identity of a job within its registry: its [`Kind`] and an ordinal that
/// counts from 1 for each kind.
///
/// Cloning costs what cloning its kind costs. The text form is the wire form.
///
/// ```
/// use jobs::JobId;
///
/// let id: JobId = "pty-send-12".parse()?;
/// assert_eq!(id.kind().as_str(), "pty-send");
/// assert_eq!(id.ordinal().get(), 12);
/// assert!("bash-012".parse::<JobId>().is_err());
/// # Ok::<(), jobs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct JobId {
    kind: Kind,
    ordinal: NonZeroU64,
}

impl JobId {
    /// The id of the `ordinal`-th job of `kind`.
    #[must_use]
    pub fn new(kind: Kind, ordinal: NonZeroU64) -> Self {
        Self { kind, ordinal }
    }

    /// The producer's namespace.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The position in the namespace, from 1.
    #[must_use]
    pub fn ordinal(&self) -> NonZeroU64 {
        self.ordinal
    }
}

impl FromStr for JobId {
    type Err = Error;

    /// Parses user text.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`] for anything that no registry hands out: a text
    /// without a kind, an ordinal of zero, with a sign, a space or a leading
    /// zero, or above `u64::MAX`.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| Error::UnknownJob {
            id: Echo::new(text),
        })
    }
}

fn parse(text: &str) -> Option<JobId> {
    let (kind, ordinal) = text.rsplit_once('-')?;
    if ordinal.starts_with('0') || !ordinal.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(JobId {
        ordinal: ordinal.parse().ok()?,
        kind: Kind::new(kind).ok()?,
    })
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind, self.ordinal)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for JobId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

/// A producer's namespace and the prefix of its ids: `bash`, `subagent`.
///
/// 1 to 64 bytes of ASCII letters, digits, `-`, `_` and `.`, starting with a
/// letter or a digit. Cloning copies up to 23 bytes; a longer kind is a
/// reference count.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Kind(SmolStr);

impl Kind {
    /// Checks and keeps a kind.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKind`] when `text` is not of the form above.
    pub fn new(text: &str) -> Result<Self, Error> {
        let first = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        let rest = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        if first && rest && text.len() <= MAX_KIND_BYTES {
            Ok(Self(text.into()))
        } else {
            Err(Error::InvalidKind {
                got: Echo::new(text),
            })
        }
    }

    /// The text of the kind.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.as_str().to_owned()
    }
}

impl TryFrom<String> for Kind {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::new(&text)
    }
}

/// Lets a table keyed by kind be asked with borrowed text.
impl std::borrow::Borrow<str> for Kind {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_of_no_registry_are_unknown() {
        for text in [
            "",
            "-",
            "-1",
            "bash",
            "bash-",
            "bash-0",
            "bash-01",
            "bash-+1",
            "bash--",
            "bash- 7",
            "bash-1e3",
            "bash-0x10",
            "bash-1.5",
            "bash-18446744073709551616",
            ".x-1",
            "a b-1",
            "é-1",
            "bash-1\n",
        ] {
            let error = text.parse::<JobId>().unwrap_err();
            assert!(
                matches!(error, Error::UnknownJob { .. }),
                "{text:?}: {error}"
            );
        }
    }

    #[test]
    fn a_kind_ends_before_the_last_dash() {
        let id: JobId = "a-1-18446744073709551615".parse().unwrap();
        assert_eq!((id.kind().as_str(), id.ordinal().get()), ("a-1", u64::MAX));
    }

    #[test]
    fn kinds_are_bounded_identifiers() {
        let longest = "k".repeat(MAX_KIND_BYTES);
        assert!(Kind::new(&longest).is_ok());
        assert!(Kind::new(&format!("{longest}k")).is_err());
        assert!(Kind::new("-a").is_err());
        assert!(Kind::new("9.a_b-c").is_ok());
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_back(kind in "[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}", ordinal in 1..=u64::MAX) {
            let id = JobId::new(Kind::new(&kind).unwrap(), NonZeroU64::new(ordinal).unwrap());
            prop_assert_eq!(id.to_string().parse::<JobId>().unwrap(), id);
        }

        #[test]
        fn any_text_parses_or_is_refused(text in any::<String>()) {
            if let Ok(id) = text.parse::<JobId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
