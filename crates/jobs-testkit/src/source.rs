//! An output source that does what a test says.

use std::fmt;
use std::sync::Arc;

use jobs::text::head;
use jobs::{OutputSource, ProducerError, Rendered};
use parking_lot::Mutex;

type OnRead = Arc<dyn Fn(u64) -> Result<(), ProducerError> + Send + Sync>;

/// Output that a test appends to, and whose reads it can disturb.
///
/// It keeps everything: for output that falls out of a window, use an
/// [`OutputLog`](jobs::OutputLog).
///
/// ```
/// use jobs::OutputSource;
/// use jobs_testkit::ScriptedSource;
///
/// let source = ScriptedSource::new("one ");
/// source.append("two");
/// assert_eq!(source.read(4, None)?.text, "two");
/// # Ok::<(), jobs::ProducerError>(())
/// ```
pub struct ScriptedSource {
    text: Mutex<String>,
    on_read: Mutex<OnRead>,
}

impl ScriptedSource {
    /// A source that has written `text` so far.
    #[must_use]
    pub fn new(text: &str) -> Arc<Self> {
        Arc::new(Self {
            text: Mutex::new(text.to_owned()),
            on_read: Mutex::new(Arc::new(|_| Ok(()))),
        })
    }

    /// Writes more.
    pub fn append(&self, text: &str) {
        self.text.lock().push_str(text);
    }

    /// Sets what every later read does first, with the offset that it was
    /// asked for: it may fail, panic, or call the registry.
    pub fn on_read(&self, work: impl Fn(u64) -> Result<(), ProducerError> + Send + Sync + 'static) {
        *self.on_read.lock() = Arc::new(work);
    }
}

impl OutputSource for ScriptedSource {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        let on_read = Arc::clone(&*self.on_read.lock());
        on_read(from)?;
        let text = self.text.lock();
        let begin = usize::try_from(from).map_or(text.len(), |from| from.min(text.len()));
        let rest = text
            .get(begin..)
            .ok_or_else(|| ProducerError::new("the offset is inside a character"))?;
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let piece = head(rest, max.unwrap_or(rest.len()).max(first));
        Ok(Rendered {
            text: piece.to_owned(),
            range: begin as u64..(begin + piece.len()) as u64,
            dropped: 0,
        })
    }

    fn kept_bytes(&self) -> usize {
        self.text.lock().len()
    }
}

impl fmt::Debug for ScriptedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedSource")
            .field("bytes", &self.kept_bytes())
            .finish_non_exhaustive()
    }
}
