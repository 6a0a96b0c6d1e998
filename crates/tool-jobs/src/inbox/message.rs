//! What waits in an inbox.

use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::notice::Notice;

/// A message for an agent, to be appended to its transcript.
///
/// It serialises to its wire form: `{ role, text, source, … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A person wrote it.
    User(String),
    /// A job has ended.
    Notice(Notice),
}

impl Message {
    /// What the model reads.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::User(text) => text,
            Self::Notice(notice) => &notice.text,
        }
    }
}

impl Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Source {
            kind: &'static str,
        }
        match self {
            Self::User(text) => {
                let mut wire = serializer.serialize_struct("Message", 3)?;
                wire.serialize_field("role", "user")?;
                wire.serialize_field("text", text)?;
                wire.serialize_field("source", &Source { kind: "user" })?;
                wire.end()
            }
            Self::Notice(notice) => notice.serialize(serializer),
        }
    }
}
