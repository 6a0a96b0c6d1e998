//! The model's view of raw output: no escape sequences, of a line that overwrote itself its last
//! state, of binary data nothing.

use memchr::{memchr, memchr3};

/// The longest line that waits to see whether it is overwritten, in bytes.
const LONGEST_HELD: usize = 16 * 1024;
/// The longest escape string (a window title, a link), in bytes.
const LONGEST_STRING: usize = 4 * 1024;
/// How much of a stream is looked at to tell text from binary data, in bytes.
const PROBE: u64 = 8 * 1024;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// What a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    /// A NUL was among its first bytes.
    Binary,
}

/// The filter of one stream; feed it in pieces of any size.
#[derive(Debug)]
pub(crate) struct Filter {
    seen: u64,
    content: Content,
    escape: Escape,
    line: Line,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After ESC.
    Start,
    /// Inside `ESC [ …`, up to its final byte.
    Control,
    /// Inside `ESC ] …` and the like, up to BEL or `ESC \`.
    String {
        length: usize,
        ending: bool,
    },
    /// After `ESC (` and the like: one byte more.
    Charset,
}

impl Filter {
    pub(crate) fn new() -> Self {
        Self {
            seen: 0,
            content: Content::Text,
            escape: Escape::None,
            line: Line::default(),
        }
    }

    pub(crate) fn content(&self) -> Content {
        self.content
    }

    /// Raw bytes so far.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// The last state of a line that overwrites itself, while it waits for its end.
    pub(crate) fn waiting(&self) -> Option<&[u8]> {
        let is_bar = self.content == Content::Text && self.line.overwritten;
        is_bar.then(|| self.line.last())
    }

    /// Passes `bytes` on to `out`. A plain line that is not finished passes at once; one that
    /// overwrites itself waits for its end.
    pub(crate) fn push(&mut self, bytes: &[u8], mut out: impl FnMut(&[u8])) {
        if self.seen < PROBE {
            let probed = &bytes[..bytes
                .len()
                .min(usize::try_from(PROBE - self.seen).unwrap_or(0))];
            if memchr(0, probed).is_some() {
                self.content = Content::Binary;
            }
        }
        self.seen += bytes.len() as u64;
        if self.content == Content::Binary {
            return;
        }
        let is_plain = self.escape == Escape::None
            && self.line.is_settled()
            && memchr3(ESCAPE, b'\r', BELL, bytes).is_none();
        if is_plain {
            if let Some(last) = bytes.last() {
                self.line.given = *last != b'\n';
                out(bytes);
            }
            return;
        }
        let mut done = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.step(*byte, &mut done);
        }
        self.line.give_plain(&mut done);
        if !done.is_empty() {
            out(&done);
        }
    }

    /// The stream has ended: passes on what waited.
    pub(crate) fn finish(&mut self, mut out: impl FnMut(&[u8])) {
        let mut done = Vec::new();
        self.line.give(&mut done);
        if self.content == Content::Text && !done.is_empty() {
            out(&done);
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.escape = match (self.escape, byte) {
            (Escape::None | Escape::Start, ESCAPE) => Escape::Start,
            (Escape::Start, b'[') | (Escape::Control, b' '..=b'?') => Escape::Control,
            (Escape::Start, b']' | b'P' | b'X' | b'^' | b'_') => Escape::String {
                length: 0,
                ending: false,
            },
            (Escape::Start, b' '..=b'/') => Escape::Charset,
            (Escape::None | Escape::String { .. }, BELL)
            | (Escape::Start | Escape::Charset, _)
            | (Escape::Control, b'@'..=b'~')
            | (Escape::String { ending: true, .. }, b'\\') => Escape::None,
            // In a sequence: it was none after all, and what follows is text again.
            (Escape::None | Escape::Control, _) => {
                self.line.push(byte, out);
                Escape::None
            }
            (Escape::String { length, .. }, _) if length >= LONGEST_STRING => Escape::None,
            (Escape::String { length, .. }, _) => Escape::String {
                length: length + 1,
                ending: byte == ESCAPE,
            },
        };
    }
}

/// A line that may be overwritten after a carriage return.
#[derive(Debug, Default)]
struct Line {
    /// What stands on the line since its last overwriting.
    current: Vec<u8>,
    /// The state before that, for a line that is only cleared at its end.
    previous: Vec<u8>,
    /// A carriage return was the last byte.
    returned: bool,
    /// Something on this line was overwritten.
    overwritten: bool,
    /// A part of this line has passed already.
    given: bool,
}

impl Line {
    fn is_settled(&self) -> bool {
        self.current.is_empty() && self.previous.is_empty() && !self.returned && !self.overwritten
    }

    fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b'\n' => {
                self.give(out);
                out.push(b'\n');
                *self = Self::default();
            }
            b'\r' => self.returned = true,
            _ => {
                if std::mem::take(&mut self.returned) {
                    self.overwritten = true;
                    if !is_blank(&self.current) {
                        std::mem::swap(&mut self.previous, &mut self.current);
                    }
                    self.current.clear();
                }
                self.current.push(byte);
                if self.current.len() > LONGEST_HELD {
                    self.give(out);
                    *self = Self {
                        given: true,
                        ..Self::default()
                    };
                }
            }
        }
    }

    /// At the end of a piece: a line that shows no sign of being overwritten does not wait.
    fn give_plain(&mut self, out: &mut Vec<u8>) {
        if !self.returned && !self.overwritten && !self.current.is_empty() {
            self.give(out);
            self.current.clear();
            self.given = true;
        }
    }

    fn last(&self) -> &[u8] {
        if is_blank(&self.current) && !self.previous.is_empty() {
            &self.previous
        } else {
            &self.current
        }
    }

    fn give(&self, out: &mut Vec<u8>) {
        let last = self.last();
        if self.given && self.overwritten && !last.is_empty() {
            out.push(b'\n');
        }
        out.extend_from_slice(last);
    }
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte == b' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(pieces: &[&[u8]]) -> String {
        let (mut filter, mut all) = (Filter::new(), Vec::new());
        for piece in pieces {
            filter.push(piece, |text| all.extend_from_slice(text));
        }
        filter.finish(|text| all.extend_from_slice(text));
        String::from_utf8(all).expect("the sources are text")
    }

    #[test]
    fn escape_sequences_vanish() {
        for (source, wanted) in [
            ("\x1b[31mred\x1b[0m\n", "red\n"),
            ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\n", "ab\n"),
            ("\x1b(Bx\x1b=y\x1b[2K\x1b[1;2Hz\x07", "xyz"),
            ("a\x1b[3\nb", "a\nb"),
        ] {
            assert_eq!(filtered(&[source.as_bytes()]), wanted, "{source:?}");
        }
    }

    #[test]
    fn of_a_progress_bar_the_last_state_stays() {
        for (source, wanted) in [
            ("\r 1%\r 50%\r100%\nend\n", "100%\nend\n"),
            ("1%\r50%\r100%\r    \r\ndone\n", "100%\ndone\n"),
            ("a\r\nb\r\r\n\r\n", "a\nb\n\n"),
            ("bar 1%\r\x1b[Kbar 2%", "bar 2%"),
            ("no end\r", "no end"),
        ] {
            assert_eq!(filtered(&[source.as_bytes()]), wanted, "{source:?}");
        }
    }

    #[test]
    fn the_state_of_a_bar_can_be_seen_while_it_runs() {
        let mut filter = Filter::new();
        for (piece, wanted) in [
            ("plain", None),
            ("\r 1%", Some(" 1%")),
            ("\r 2%\r", Some(" 2%")),
            ("\r     ", Some(" 2%")),
            ("\ndone\n", None),
        ] {
            filter.push(piece.as_bytes(), |_| {});
            let waiting = filter.waiting().map(String::from_utf8_lossy);
            assert_eq!(waiting.as_deref(), wanted, "{piece:?}");
        }
    }

    #[test]
    fn a_plain_line_does_not_wait_for_its_end() {
        let mut filter = Filter::new();
        let mut all = Vec::new();
        filter.push(b"name: ", |text| all.extend_from_slice(text));
        assert_eq!(all, b"name: ");
        filter.push(b"\rname: x\rname: y\n", |text| all.extend_from_slice(text));
        assert_eq!(all, b"name: \nname: y\n");
    }

    #[test]
    fn binary_data_is_counted_only() {
        let mut filter = Filter::new();
        filter.push(b"\x7fELF\0\0", |_| panic!("nothing passes"));
        filter.push(b"more\n", |_| panic!("nothing passes"));
        assert_eq!((filter.content(), filter.seen()), (Content::Binary, 11));
    }

    #[test]
    fn many_frames_cost_no_memory() {
        let mut filter = Filter::new();
        let mut all = Vec::new();
        for frame in 0..400_000 {
            filter.push(format!("\rframe {frame:>72}").as_bytes(), |text| {
                all.extend_from_slice(text);
            });
            assert!(filter.line.current.capacity() < 1024);
        }
        filter.push(b"\n", |text| all.extend_from_slice(text));
        assert_eq!(all.len(), 79);
    }

    proptest! {
        #[test]
        fn lines_without_specials_pass_unchanged(text in "[a-z \n\té漢]{0,200}", at in 0_usize..200) {
            let at = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(at);
            prop_assert_eq!(filtered(&[head, tail]), text);
        }

        #[test]
        fn finished_lines_do_not_depend_on_the_pieces(
            lines in prop::collection::vec("\r[a-z ]{0,5}(\r|\x1b\\[1m|[a-z])*", 0..6),
            at in 0_usize..100,
        ) {
            let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            let at = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(at);
            prop_assert_eq!(filtered(&[head, tail]), filtered(&[text.as_bytes()]));
        }
    }
}
