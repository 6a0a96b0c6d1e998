//! Incremental UTF-8: bytes that arrive in any chunks become text.
//!
//! At most three bytes of an unfinished character are carried to the next
//! chunk; each maximal invalid piece becomes one U+FFFD, as in
//! `String::from_utf8_lossy`.

use simdutf8::compat::from_utf8;

const REPLACEMENT: &str = "\u{FFFD}";

/// The bytes of a character that has begun and not ended.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    carried: [u8; 3],
    len: usize,
}

impl Decoder {
    /// Gives the text of `bytes` to `sink`, piece by piece.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(&str)) {
        while self.len > 0 {
            let Some((&next, rest)) = bytes.split_first() else {
                return;
            };
            let mut joined = [0; 4];
            joined[..self.len].copy_from_slice(&self.carried[..self.len]);
            joined[self.len] = next;
            match std::str::from_utf8(&joined[..=self.len]) {
                Ok(character) => {
                    sink(character);
                    self.len = 0;
                    bytes = rest;
                }
                Err(error) if error.error_len().is_none() => {
                    self.carried[self.len] = next;
                    self.len += 1;
                    bytes = rest;
                }
                // The new byte cannot continue the character: it begins anew.
                Err(_) => self.finish(&mut sink),
            }
        }
        loop {
            let error = match from_utf8(bytes) {
                Ok("") => return,
                Ok(text) => return sink(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            if let (false, Ok(text)) = (valid.is_empty(), from_utf8(valid)) {
                sink(text);
            }
            let Some(invalid) = error.error_len() else {
                self.len = rest.len();
                self.carried[..rest.len()].copy_from_slice(rest);
                return;
            };
            sink(REPLACEMENT);
            bytes = &rest[invalid..];
        }
    }

    /// No more bytes come: an unfinished character is an invalid one.
    pub(super) fn finish(&mut self, mut sink: impl FnMut(&str)) {
        if self.len > 0 {
            self.len = 0;
            sink(REPLACEMENT);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(chunks: &[&[u8]]) -> String {
        let (mut decoder, mut text) = (Decoder::default(), String::new());
        for chunk in chunks {
            decoder.push(chunk, |piece| text.push_str(piece));
        }
        decoder.finish(|piece| text.push_str(piece));
        text
    }

    proptest! {
        #[test]
        fn any_chunking_decodes_like_the_whole(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0xC0..=0xF5_u8, 0x80..=0xBF_u8], 0..64),
            size in 1_usize..8,
        ) {
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(decode(&chunks), String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn valid_text_survives_any_chunking(text in any::<String>(), size in 1_usize..5) {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            prop_assert_eq!(decode(&chunks), text);
        }
    }
}
