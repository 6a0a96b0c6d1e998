//! Output of jobs: a source that can be read from any offset, and the bounded
//! log behind most of them (design D5).
//!
//! Offsets are absolute: they count the bytes of output from the start of the
//! job, whether they are still kept or not. The model's cursor, UIs and
//! re-reads are the same mechanism at different offsets.

mod decode;
mod log;
mod store;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use log::{LogReader, OutputLog};
pub use store::LogSlice;

use crate::error::ProducerError;

/// Which stream of a producer a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Ordinary output.
    Stdout,
    /// Diagnostics.
    Stderr,
}

/// Output that can be read from an offset: the registry's half.
///
/// Called by readers from any thread, outside every lock of the registry.
pub trait OutputSource: Send + Sync {
    /// Renders the output from the absolute byte offset `from` on: all of it,
    /// or a piece whose range is at most `max` bytes. A piece is never empty
    /// while there is output left, so a character that is longer than `max` is
    /// given whole.
    ///
    /// An offset beyond the end gives an empty piece at the end.
    ///
    /// # Errors
    ///
    /// The source's own. A read that fails has used up nothing.
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError>;

    /// How many bytes of memory the source holds for output, for the bound on
    /// what finished jobs keep.
    fn kept_bytes(&self) -> usize;
}

/// A piece of output as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text; its length is not the length of `range`.
    pub text: String,
    /// The offsets that the text covers; its end is where to go on.
    pub range: Range<u64>,
    /// How many bytes between the requested offset and `range` are gone.
    pub dropped: u64,
}
