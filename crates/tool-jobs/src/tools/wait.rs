//! The check of a wait's length.

use std::time::Duration;

/// The longest wait: what timers everywhere can take.
const MAX_MILLIS: f64 = 2_147_483_647.0;

/// Checks a number of milliseconds that a caller wants to wait.
///
/// # Errors
///
/// [`InvalidWaitTimeout`] unless it is a positive number up to 2,147,483,647.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tool_jobs::wait_timeout;
///
/// assert_eq!(wait_timeout(1500.0), Ok(Duration::from_millis(1500)));
/// assert_eq!(
///     wait_timeout(-1.0).unwrap_err().to_string(),
///     "invalid wait timeout: expected a positive number of milliseconds, got -1",
/// );
/// ```
pub fn wait_timeout(millis: f64) -> Result<Duration, InvalidWaitTimeout> {
    if millis > 0.0 && millis <= MAX_MILLIS {
        Ok(Duration::from_secs_f64(millis / 1000.0))
    } else {
        Err(InvalidWaitTimeout { got: millis })
    }
}

/// A number of milliseconds that nobody can wait.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("invalid wait timeout: expected a positive number of milliseconds, got {got}")]
#[non_exhaustive]
pub struct InvalidWaitTimeout {
    /// What was asked for.
    pub got: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_that_can_be_waited_pass() {
        for millis in [0.0, -0.5, f64::NAN, f64::INFINITY, 2_147_483_648.0] {
            let refused = wait_timeout(millis).unwrap_err();
            assert_eq!(refused.got.to_bits(), millis.to_bits());
        }
        assert_eq!(wait_timeout(0.5), Ok(Duration::from_micros(500)));
        assert_eq!(
            wait_timeout(MAX_MILLIS),
            Ok(Duration::from_millis(2_147_483_647))
        );
    }
}
