//! Text from outside, made safe to show: one line, bounded, cut at UTF-8 boundaries.
//!
//! Labels, details and echoed ids come from producers and callers, so often from a model or from
//! a program's output. One-line formats show them through [`one_line`], and errors echo them
//! through [`Echo`] (spec/tools.md, Forgery; spec/registry.md §11).
//!
//! [`head`] and [`tail`] look at no more than three bytes on either side of the cut, whatever the
//! length of the text.

use std::borrow::Cow;
use std::fmt;

/// Shows `text` on one line: each character that could break or reorder the line becomes a space.
///
/// Replaced are the control characters (C0, DEL, C1), the line and paragraph separators U+2028
/// and U+2029, and the bidirectional controls U+061C, U+200E, U+200F, U+202A to U+202E and U+2066
/// to U+2069. Everything else is kept. The text is borrowed when nothing changes, and never grows.
///
/// # Examples
///
/// ```
/// use jobs::text::one_line;
///
/// assert_eq!(one_line("build\njob-2 [bash] running"), "build job-2 [bash] running");
/// assert_eq!(one_line("größer 漢字 😀"), "größer 漢字 😀");
/// ```
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(breaks_line) {
        Cow::Owned(text.replace(breaks_line, " "))
    } else {
        Cow::Borrowed(text)
    }
}

fn breaks_line(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}'
                | '\u{2029}'
                | '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// The longest beginning of `text` of at most `max_bytes` bytes that splits no character.
///
/// # Examples
///
/// ```
/// use jobs::text::head;
///
/// assert_eq!(head("aé漢", 2), "a");
/// assert_eq!(head("aé漢", 3), "aé");
/// assert_eq!(head("aé漢", 100), "aé漢");
/// ```
#[must_use]
pub fn head(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The longest end of `text` of at most `max_bytes` bytes that splits no character.
///
/// # Examples
///
/// ```
/// use jobs::text::tail;
///
/// assert_eq!(tail("aé漢", 4), "漢");
/// assert_eq!(tail("aé漢", 5), "é漢");
/// assert_eq!(tail("aé漢", 100), "aé漢");
/// ```
#[must_use]
pub fn tail(text: &str, max_bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(max_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Text from outside as an error may repeat it: on one line, at most [`Echo::MAX_BYTES`] bytes.
///
/// A text that is cut ends in `…`, which counts towards the cap. Making one costs the same for
/// ten bytes and for ten megabytes (spec/registry.md §11).
///
/// # Examples
///
/// ```
/// use jobs::text::Echo;
///
/// assert_eq!(Echo::new("bash-7\n[status: completed]").as_str(), "bash-7 [status: completed]");
///
/// let long = Echo::new(&"x".repeat(1000));
/// assert_eq!(long.as_str().len(), Echo::MAX_BYTES);
/// assert!(long.as_str().ends_with("x…"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Echo(Box<str>);

impl Echo {
    /// The most bytes an echo holds.
    pub const MAX_BYTES: usize = 200;

    /// One-lines `text` and caps it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        const CUT: &str = "…";
        // A replaced character takes at most three bytes and leaves one, so a window of three
        // times the cap and one more character still overflows after one-lining.
        let window = head(text, 3 * Self::MAX_BYTES + 4);
        let line = one_line(window);
        if line.len() <= Self::MAX_BYTES {
            return Self(line.into());
        }
        let mut cut = head(&line, Self::MAX_BYTES - CUT.len()).to_owned();
        cut.push_str(CUT);
        Self(cut.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Echo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Echo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REPLACED: &str = "\u{0}\t\n\u{b}\u{c}\r\u{1b}\u{7f}\u{80}\u{85}\u{9f}\u{61c}\u{200e}\
        \u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2028}\u{2029}\u{2066}\u{2067}\u{2068}\u{2069}";

    #[test]
    fn one_line_replaces_each_line_breaker_with_one_space() {
        assert_eq!(one_line(REPLACED), " ".repeat(REPLACED.chars().count()));
    }

    #[test]
    fn one_line_keeps_the_neighbours_of_what_it_replaces() {
        let kept = " ~\u{a0}\u{ad}\u{61b}\u{61d}\u{200b}\u{200d}\u{2010}\u{2027}\u{202f}\u{2065}\u{206a}\u{feff}";
        assert!(matches!(one_line(kept), Cow::Borrowed(same) if same == kept));
    }

    #[test]
    fn an_echo_of_megabytes_is_made_of_their_beginning() {
        let cap = Echo::MAX_BYTES;
        for unit in ["x", "é", "漢", "😀", "\n", "\u{2028}", "\u{85}x"] {
            let beginning = unit.repeat(1000);
            let whole = unit.repeat(10_000_000 / unit.len());
            let echo = Echo::new(&whole);
            assert_eq!(echo, Echo::new(&beginning), "{unit:?}");
            assert!(echo.as_str().ends_with('…'), "{unit:?}: {echo}");
            // The cap is filled up to the last character that did not fit.
            assert!(
                (cap - 3..=cap).contains(&echo.as_str().len()),
                "{unit:?}: {echo}"
            );
        }
    }

    #[test]
    fn an_echo_at_the_cap_is_whole() {
        let at_cap = "\u{2028}".repeat(Echo::MAX_BYTES);
        assert_eq!(Echo::new(&at_cap).as_str(), " ".repeat(Echo::MAX_BYTES));
        let over = "\u{2028}".repeat(Echo::MAX_BYTES + 1);
        assert_eq!(
            Echo::new(&over).as_str(),
            " ".repeat(Echo::MAX_BYTES - 3) + "…"
        );
    }

    proptest! {
        #[test]
        fn one_line_leaves_nothing_to_replace(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert!(!line.contains(breaks_line));
            prop_assert_eq!(line.chars().count(), text.chars().count());
            prop_assert_eq!(matches!(line, Cow::Borrowed(_)), !text.contains(breaks_line));
        }

        #[test]
        fn cuts_are_maximal_and_split_nothing(text in "[a-cé漢😀\n]{0,12}", max in 0_usize..40) {
            let (head, tail) = (head(&text, max), tail(&text, max));
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            let longest = |fits: &dyn Fn(usize) -> usize| {
                (0..=text.len()).filter(|&at| text.is_char_boundary(at)).map(fits).filter(|&n| n <= max).max()
            };
            prop_assert_eq!(Some(head.len()), longest(&|at| at));
            prop_assert_eq!(Some(tail.len()), longest(&|at| text.len() - at));
        }

        #[test]
        fn an_echo_is_one_short_line(text in any::<String>(), times in 1_usize..50) {
            let text = text.repeat(times);
            let echo = Echo::new(&text);
            prop_assert!(echo.as_str().len() <= Echo::MAX_BYTES);
            let line = one_line(&text);
            if line.len() <= Echo::MAX_BYTES {
                prop_assert_eq!(echo.as_str(), &*line);
            } else {
                let kept = echo.as_str().strip_suffix('…');
                prop_assert!(kept.is_some_and(|kept| line.starts_with(kept)), "{}", echo);
            }
            prop_assert_eq!(&Echo::new(echo.as_str()), &echo);
        }
    }
}
