//! Fitting: what the model sees, within a cap in bytes (spec/tools.md, Bounded output).
//!
//! | text | function |
//! |---|---|
//! | `[status: …]` | [`status_line`] |
//! | a read: body and status line | [`body`], [`fit_output`] |
//! | any other single text: kill results, errors | [`fit_result`] |
//! | a completion notice and its summary | [`Notice`], [`summary`] |
//! | a list, a row a job | [`fit_rows`] |
//! | a stream of bytes, of which head and tail are kept | [`Retention`] |
//!
//! All are pure. Kinds, labels, details and ids are taken as they are: showing them on one line
//! ([`jobs::text::one_line`]) is a step before these. A cap is an `Option<NonZeroUsize>`; `None`
//! cuts nothing.
//!
//! # Invariants
//!
//! 1. No text is longer than its cap, and the cap is on the complete text: markers, status line
//!    and counting row included.
//! 2. Every cut is at a UTF-8 boundary, and no replacement character is introduced.
//!    ([`Retention`] takes bytes: what was no UTF-8 before the cut shows as U+FFFD.)
//! 3. What is kept of a content is its tail; of a notice and a list it is the head.
//! 4. A text that fits is unchanged. So fitting is idempotent: a fitted text fits.
//! 5. A cut costs O(cap), not O(content): contents are only touched through [`jobs::text::head`],
//!    [`jobs::text::tail`], their length and their last bytes.

mod cut;
mod notice;
mod output;
mod pieces;
mod result;
mod retention;
mod rows;
mod status_line;
mod summary;

#[cfg(test)]
mod properties;

pub use notice::Notice;
pub(crate) use notice::READER;
pub(crate) use output::MARKER_BYTES;
pub use output::{Fitted, NO_NEW_OUTPUT, Truncation, body, fit_output};
pub(crate) use result::cut_result;
pub use result::fit_result;
pub use retention::{Pushed, Retained, Retention};
pub use rows::fit_rows;
pub use status_line::status_line;
pub use summary::{SUMMARY_CHARS, summary};
