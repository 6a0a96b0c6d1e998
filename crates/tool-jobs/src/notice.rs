//! The notice that tells an owner of the end of a job (spec/tools.md,
//! Completion notices).

use std::num::NonZeroUsize;

use jobs::{Completion, NoticeId};
use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::fit;
use crate::line;

/// A completion notice.
///
/// It serialises to its wire form:
///
/// ```
/// use jobs::{InstanceId, NoticeId};
/// use tool_jobs::Notice;
///
/// let id = NoticeId::new(InstanceId::fresh(), "bash-1".parse()?);
/// let notice = Notice::new(id.clone(), "background job bash-1 …", "bash build [status: completed]");
/// assert_eq!(
///     serde_json::to_value(&notice).unwrap(),
///     serde_json::json!({
///         "id": id.to_string(),
///         "role": "user",
///         "text": "background job bash-1 …",
///         "source": {
///             "kind": "plugin",
///             "plugin": "tool-jobs",
///             "form": "notice",
///             "summary": "bash build [status: completed]",
///         },
///     }),
/// );
/// # Ok::<(), jobs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The same for every telling of this completion.
    pub id: NoticeId,
    /// What the model reads, within the job's output limit.
    pub text: String,
    /// One line of at most 120 characters, for a collapsed row.
    pub summary: String,
}

impl Notice {
    /// A notice, for tests of a [`Deliver`](crate::Deliver).
    #[must_use]
    pub fn new(id: NoticeId, text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            id,
            text: text.into(),
            summary: summary.into(),
        }
    }

    /// Says that a job has ended, within its output limit or else
    /// `default_cap`. For whoever tells completions by other means than
    /// [`JobTools::attach`](crate::JobTools::attach).
    #[must_use]
    pub fn of(completion: &Completion, default_cap: Option<NonZeroUsize>) -> Self {
        Self::naming(fit::READER, completion, default_cap)
    }

    /// The same where models know the tool `job_output` under the name of `reader`.
    #[must_use]
    pub fn naming(
        reader: &str,
        completion: &Completion,
        default_cap: Option<NonZeroUsize>,
    ) -> Self {
        let job = &completion.job;
        let cap = crate::limit::of_job(job).or(default_cap);
        let id = job.id.to_string();
        // Text and summary keep their heads: more of a text than this neither
        // can show. Without a cap, all.
        let shown = cap.map(|cap| cap.get().max(4 * fit::SUMMARY_CHARS).saturating_add(4));
        let label = line::capped(&job.label, shown);
        let detail = job.detail().map(|detail| line::capped(detail, shown));
        let status_line = fit::status_line(&job.status(), detail.as_deref());
        let parts = fit::Notice {
            id: &id,
            kind: job.kind().as_str(),
            label: &label,
            status_line: &status_line,
        };
        let text = parts.text_naming(reader, cap);
        Self::new(completion.notice.clone(), text, parts.summary())
    }
}

impl Serialize for Notice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Source<'a> {
            kind: &'static str,
            plugin: &'static str,
            form: &'static str,
            summary: &'a str,
        }
        let mut wire = serializer.serialize_struct("Notice", 4)?;
        wire.serialize_field("id", &self.id.to_string())?;
        wire.serialize_field("role", "user")?;
        wire.serialize_field("text", &self.text)?;
        let source = Source {
            kind: "plugin",
            plugin: "tool-jobs",
            form: "notice",
            summary: &self.summary,
        };
        wire.serialize_field("source", &source)?;
        wire.end()
    }
}
