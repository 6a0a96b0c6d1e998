//! Bearer tokens, and whose they are.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq;

/// Shorter ones could be guessed.
const LEAST: usize = 16;

/// Who has a token that is named by nothing else.
const DEFAULT_NAME: &str = "default";

/// Tokens and the names of those who have them. Tokens are compared in constant time, and never
/// shown.
///
/// # Examples
///
/// ```
/// use jobs_mcp::Tokens;
///
/// let tokens = Tokens::parse("# who  token\nann 0123456789abcdef\nbob fedcba9876543210\n")?;
/// assert_eq!(tokens.len(), 2);
/// assert!(Tokens::parse("short").is_err());
/// # Ok::<(), jobs_mcp::TokenError>(())
/// ```
pub struct Tokens(Vec<Token>);

struct Token {
    name: Arc<str>,
    secret: Box<[u8]>,
}

/// A list of tokens that cannot be used. It names no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// There is none.
    #[error("no token: expected lines of a name and a token, or one token")]
    Empty,
    /// More than a name and a token.
    #[error("invalid token in line {line}: expected a name and a token")]
    Line {
        /// Counted from 1.
        line: usize,
    },
    /// It could be guessed.
    #[error("invalid token in line {line}: expected at least 16 bytes")]
    Short {
        /// Counted from 1.
        line: usize,
    },
    /// No client could send it, or it is a comment.
    #[error(
        "invalid token in line {line}: expected ASCII letters, digits and any of -._~+/, with = only \
         at its end; comments have lines of their own"
    )]
    Character {
        /// Counted from 1.
        line: usize,
    },
    /// The token of an earlier line.
    #[error("invalid token in line {line}: expected each token once")]
    Repeated {
        /// Counted from 1.
        line: usize,
    },
}

impl Tokens {
    /// Reads lines of a name and a token with space between; a token alone is of `default`. Empty
    /// lines and those that begin with `#` are passed over. One name may have several tokens. A
    /// token has the characters of RFC 6750, section 2.1.
    ///
    /// # Errors
    ///
    /// [`TokenError`].
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut tokens = Self(Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim_start().starts_with('#') {
                continue;
            }
            let words: Vec<&str> = text.split_whitespace().collect();
            let (name, secret) = match words[..] {
                [] => continue,
                [secret] => (DEFAULT_NAME, secret),
                [name, secret] => (name, secret),
                _ => return Err(TokenError::Line { line }),
            };
            if secret.len() < LEAST {
                return Err(TokenError::Short { line });
            }
            if !is_bearer(secret) {
                return Err(TokenError::Character { line });
            }
            if tokens.name_of(secret.as_bytes()).is_some() {
                return Err(TokenError::Repeated { line });
            }
            tokens.0.push(Token {
                name: name.into(),
                secret: secret.as_bytes().into(),
            });
        }
        if tokens.0.is_empty() {
            return Err(TokenError::Empty);
        }
        Ok(tokens)
    }

    /// How many there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whose token this is. Takes as long for every token of one length.
    pub(super) fn name_of(&self, given: &[u8]) -> Option<Arc<str>> {
        let mut found = None;
        for token in &self.0 {
            if bool::from(token.secret.ct_eq(given)) {
                found = Some(&token.name);
            }
        }
        found.map(Arc::clone)
    }
}

/// The syntax of a bearer token (RFC 6750, section 2.1).
fn is_bearer(token: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~+/".contains(c);
    let token = token.trim_end_matches('=');
    !token.is_empty() && token.chars().all(plain)
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|token| &token.name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_owner() {
        let tokens =
            Tokens::parse("ann 0123456789abcdef\n\n  # x\nfedcba9876543210\r\n").expect("tokens");
        assert_eq!(tokens.name_of(b"0123456789abcdef").as_deref(), Some("ann"));
        assert_eq!(
            tokens.name_of(b"fedcba9876543210").as_deref(),
            Some("default")
        );
        for wrong in [
            &b""[..],
            b"0123456789abcde",
            b"0123456789abcdeF",
            b"0123456789abcdef0",
        ] {
            assert_eq!(tokens.name_of(wrong), None);
        }
        assert_eq!(format!("{tokens:?}"), r#"["ann", "default"]"#);
    }

    #[test]
    fn what_cannot_be_a_list_is_refused_by_its_line() {
        let refused = |text: &str| Tokens::parse(text).expect_err(text);
        assert_eq!(refused(" \n#\n"), TokenError::Empty);
        assert_eq!(refused("\na b c"), TokenError::Line { line: 2 });
        assert_eq!(refused("a 0123456789abcde"), TokenError::Short { line: 1 });
        for token in [
            "#a-comment-behind-a-token",
            "0123456789abcdéf",
            "0123=456789abcdef",
            "================",
        ] {
            let line = format!("0123456789abcdef {token}");
            assert_eq!(refused(&line), TokenError::Character { line: 1 });
        }
        assert_eq!(
            refused("\u{feff}0123456789abcdef"),
            TokenError::Character { line: 1 }
        );
        assert!(Tokens::parse("ann 01234567+/abcdef==").is_ok());
        let twice = "a 0123456789abcdef\nb 0123456789abcdef";
        assert_eq!(refused(twice), TokenError::Repeated { line: 2 });
    }
}
