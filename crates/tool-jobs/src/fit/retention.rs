//! Byte retention: the head, the tail, or both ends of a stream of bytes.

use std::collections::VecDeque;

/// Keeps the first and the last bytes of what is pushed, in bounded memory.
///
/// While everything fits the two budgets together, nothing is lost. Afterwards the first `head`
/// and the last `tail` bytes are kept, and at the cut broken characters are dropped: an unfinished
/// one at the end of the head, continuation bytes at the beginning of the tail. A byte order mark
/// is kept like any other character.
///
/// Memory is bounded by the budgets, and a push costs O(min(chunk, budgets)). For output that is
/// read from an offset while it grows, use the job's output log instead: this keeps ends, not
/// positions.
///
/// # Examples
///
/// ```
/// use tool_jobs::fit::{Pushed, Retention};
///
/// let mut ends = Retention::head_tail(4, 5);
/// assert_eq!(ends.push(b"first"), Pushed::Kept);
/// assert_eq!(ends.push(b" second"), Pushed::Cut);
/// let retained = ends.retained();
/// assert_eq!(retained.text, "firsecond");
/// assert_eq!(retained.omitted, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Retention {
    head_bytes: usize,
    tail_bytes: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    pushed: u64,
}

/// What a [`Retention`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retained {
    /// Head and tail, joined. Bytes that are no UTF-8 show as U+FFFD.
    pub text: String,
    /// How many of the pushed bytes are left out. Zero means that nothing was cut.
    pub omitted: u64,
}

/// What became of the bytes of one push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// They are kept, and displaced none (or there were none).
    Kept,
    /// They are left out, or displaced others, in part or in whole.
    Cut,
}

impl Retention {
    /// Keeps the first `max_bytes` bytes.
    #[must_use]
    pub fn head(max_bytes: usize) -> Self {
        Self::head_tail(max_bytes, 0)
    }

    /// Keeps the last `max_bytes` bytes.
    #[must_use]
    pub fn tail(max_bytes: usize) -> Self {
        Self::head_tail(0, max_bytes)
    }

    /// Keeps the first `head_bytes` and the last `tail_bytes` bytes.
    #[must_use]
    pub fn head_tail(head_bytes: usize, tail_bytes: usize) -> Self {
        Self {
            head_bytes,
            tail_bytes,
            head: Vec::new(),
            tail: VecDeque::new(),
            pushed: 0,
        }
    }

    /// Takes the next bytes of the stream. Chunks may split characters.
    pub fn push(&mut self, chunk: &[u8]) -> Pushed {
        self.pushed += chunk.len() as u64;
        let (first, rest) = chunk.split_at(chunk.len().min(self.head_bytes - self.head.len()));
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(self.tail_bytes)..];
        let displaced = (self.tail.len() + last.len()).saturating_sub(self.tail_bytes);
        self.tail.drain(..displaced);
        self.tail.extend(last);
        if self.is_cut() && !chunk.is_empty() {
            Pushed::Cut
        } else {
            Pushed::Kept
        }
    }

    /// Whether any byte was left out so far.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.pushed > (self.head.len() + self.tail.len()) as u64
    }

    /// What is held at this point of the stream; more may be pushed afterwards.
    #[must_use]
    pub fn retained(&self) -> Retained {
        let mut head = &self.head[..];
        let mut tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.is_cut() {
            head = whole_characters(head);
            let broken = tail
                .iter()
                .take_while(|&&byte| is_continuation(byte))
                .count();
            tail.drain(..broken);
        }
        let omitted = self.pushed - (head.len() + tail.len()) as u64;
        Retained {
            text: String::from_utf8_lossy(&[head, &tail].concat()).into_owned(),
            omitted,
        }
    }
}

/// `bytes` without the character at their end that its lead byte announces as longer.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let Some(lead) = bytes.iter().rposition(|&byte| !is_continuation(byte)) else {
        return bytes;
    };
    let announced = match bytes[lead] {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => 1,
    };
    if bytes.len() - lead < announced {
        &bytes[..lead]
    } else {
        bytes
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
