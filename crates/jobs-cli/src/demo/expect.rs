//! What the script expects of an answer.

use std::fmt;
use std::time::Duration;

use jobs::tool::ToolResult;
use serde::Serialize;

/// An expectation, with what it shows in words.
#[derive(Debug, Clone)]
pub(crate) struct Expect {
    pub(crate) says: &'static str,
    pub(crate) test: Test,
}

/// What is expected.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// A success with exactly this text.
    Is(String),
    /// An error with exactly this text.
    Refused(String),
    /// A success whose text holds this.
    Has(&'static str),
    /// A text of at most this many bytes.
    Within(usize),
    /// It took at least this long.
    AtLeast(Duration),
    /// It took less than this.
    LessThan(Duration),
}

/// What was expected, and what came instead.
#[derive(Debug, Serialize)]
pub(crate) struct Mismatch {
    pub(crate) expected: String,
    pub(crate) got: String,
}

impl Mismatch {
    pub(crate) fn new(expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        Self {
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }

    /// Holds if both are equal.
    pub(crate) fn unless_equal<T: PartialEq + fmt::Debug>(
        expected: &T,
        got: &T,
    ) -> Result<(), Self> {
        if expected == got {
            return Ok(());
        }
        Err(Self::new(
            format_args!("{expected:?}"),
            format_args!("{got:?}"),
        ))
    }
}

impl Test {
    /// Holds an answer, which took so long, against the expectation.
    pub(crate) fn check(&self, result: &ToolResult, took: Duration) -> Result<(), Mismatch> {
        let text = result.text();
        let kind = if result.is_error() {
            "the error"
        } else {
            "the answer"
        };
        let (holds, expected) = match self {
            Self::Is(exact) => (
                !result.is_error() && text == *exact,
                format!("the answer {exact:?}"),
            ),
            Self::Refused(exact) => (
                result.is_error() && text == *exact,
                format!("the error {exact:?}"),
            ),
            Self::Has(part) => (
                !result.is_error() && text.contains(part),
                format!("an answer with {part:?}"),
            ),
            Self::Within(bytes) => (text.len() <= *bytes, format!("at most {bytes} bytes")),
            Self::AtLeast(time) => (took >= *time, format!("at least {time:?}")),
            Self::LessThan(time) => (took < *time, format!("less than {time:?}")),
        };
        if holds {
            return Ok(());
        }
        let got = match self {
            Self::Within(_) => format!("{} bytes", text.len()),
            Self::AtLeast(_) | Self::LessThan(_) => format!("{took:?}"),
            Self::Is(_) | Self::Refused(_) | Self::Has(_) => format!("{kind} {text:?}"),
        };
        Err(Mismatch::new(expected, got))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_can_fail_and_says_how() {
        let answer = ToolResult::success("one two", serde_json::Value::Null);
        let error = ToolResult::failure("one two");
        let took = Duration::from_millis(20);
        let is = Test::Is("one two".into());
        let refused = Test::Refused("one two".into());
        for (test, good, bad) in [
            (&is, &answer, &error),
            (&refused, &error, &answer),
            (&Test::Has("two"), &answer, &error),
        ] {
            assert!(test.check(good, took).is_ok(), "{test:?}");
            assert!(test.check(bad, took).is_err(), "{test:?}");
        }
        assert!(Test::Has("three").check(&answer, took).is_err());
        assert!(Test::Within(7).check(&answer, took).is_ok());
        assert!(Test::Within(6).check(&answer, took).is_err());
        assert!(Test::AtLeast(took).check(&answer, took).is_ok());
        assert!(Test::LessThan(took).check(&answer, took).is_err());
        let mismatch = is.check(&error, took).unwrap_err();
        assert_eq!(mismatch.expected, "the answer \"one two\"");
        assert_eq!(mismatch.got, "the error \"one two\"");
    }
}
