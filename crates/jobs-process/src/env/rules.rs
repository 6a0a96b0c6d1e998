//! The environment of a job: the host's, without credentials, with quiet defaults.
//!
//! Last wins: the host's variables minus what looks like a credential; defaults that keep programs
//! from paging and colouring; the caller's; the managed ones (spec/process.md, Spawn).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use memchr::memmem;
use serde::Deserialize;

use super::Environment;

const WORDS: [&str; 9] = [
    "KEY",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "TOKEN",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
];
const SUFFIXES: [&str; 2] = ["_PAT", "_DSN"];
const HARMLESS: [&str; 5] = [
    "TOKENIZERS_PARALLELISM",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "KEYTIMEOUT",
];
const QUIET: [(&str, &str); 6] = [
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("LC_ALL", "C.UTF-8"),
];

/// Which of the host's variables a job inherits.
///
/// A variable is left out when its name holds a word of a credential (`FOO_TOKEN`, `APIKEY`), ends
/// in `_PAT` or `_DSN`, or when its value holds a URL with a password. Two lists of names change
/// that; a name may begin or end in `*`. A denied name is denied even if it is allowed too.
///
/// The host's variables are read once, when the runner is made.
///
/// # Examples
///
/// ```
/// use jobs_process::EnvRules;
///
/// let rules = EnvRules::new().with_allowed("SSH_AUTH_SOCK").with_denied("CORP_*");
/// assert!(rules.inherits("SSH_AUTH_SOCK".as_ref(), "/run/agent".as_ref()));
/// assert!(!rules.inherits("CORP_PROXY".as_ref(), "none".as_ref()));
/// assert!(!rules.inherits("FOO_TOKEN".as_ref(), "1".as_ref()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EnvRules {
    allow: Vec<String>,
    deny: Vec<String>,
}

impl EnvRules {
    /// The rules without exceptions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inherit this name although it looks like a credential.
    #[must_use]
    pub fn with_allowed(mut self, name: impl Into<String>) -> Self {
        self.allow.push(name.into());
        self
    }

    /// Never inherit this name.
    #[must_use]
    pub fn with_denied(mut self, name: impl Into<String>) -> Self {
        self.deny.push(name.into());
        self
    }

    /// A job inherits this variable of the host.
    #[must_use]
    pub fn inherits(&self, name: &OsStr, value: &OsStr) -> bool {
        let name = name.as_bytes();
        if self.deny.iter().any(|pattern| matches(pattern, name)) {
            return false;
        }
        self.allow.iter().any(|pattern| matches(pattern, name))
            || !(is_credential_name(name) || holds_password(value))
    }

    /// What the jobs of a host with these variables start from.
    pub(crate) fn base(&self, host: impl Iterator<Item = (OsString, OsString)>) -> Environment {
        let mut base = Environment::new();
        let inherited = host.filter(|(name, value)| self.inherits(name, value));
        for (name, value) in inherited {
            // No environment holds a variable that another cannot.
            let _ = base.set(name, value);
        }
        for (name, value) in QUIET {
            if base.get(name).is_none() {
                let _ = base.set(name, value);
            }
        }
        base.into_common()
    }
}

fn matches(pattern: &str, name: &[u8]) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => memmem::find(name, pattern.trim_matches('*').as_bytes()).is_some(),
        (Some(end), None) => name.ends_with(end.as_bytes()),
        (None, Some(start)) => name.starts_with(start.as_bytes()),
        (None, None) => name == pattern.as_bytes(),
    }
}

fn is_credential_name(name: &[u8]) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let tail = |length: usize| &name[name.len().saturating_sub(length)..];
    let ends_in = |suffix: &&str| tail(suffix.len()).eq_ignore_ascii_case(suffix.as_bytes());
    let holds = |word: &&str| {
        let first = word.as_bytes()[0];
        name.windows(word.len()).any(|part| {
            part[0].eq_ignore_ascii_case(&first) && part.eq_ignore_ascii_case(word.as_bytes())
        })
    };
    !HARMLESS.into_iter().any(is) && (WORDS.iter().any(holds) || SUFFIXES.iter().any(ends_in))
}

/// `scheme://user:password@host` somewhere in the value.
fn holds_password(value: &OsStr) -> bool {
    if memmem::find(value.as_bytes(), b"://").is_none() {
        return false;
    }
    let text = value.to_string_lossy();
    text.match_indices("://").any(|(at, separator)| {
        let has_scheme =
            text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || "+.-".contains(c));
        let rest = &text[at + separator.len()..];
        let end = rest
            .find(|c: char| c.is_whitespace() || "/?#".contains(c))
            .unwrap_or(rest.len());
        let password = rest[..end]
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'));
        has_scheme && password.is_some_and(|(_, password)| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherits(name: &str, value: &str) -> bool {
        EnvRules::new().inherits(name.as_ref(), value.as_ref())
    }

    #[test]
    fn credentials_stay_with_the_host() {
        for name in [
            "FOO_TOKEN",
            "apikey",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "GH_PAT",
            "SENTRY_DSN",
            "SSH_AUTH_SOCK",
            "JOBS_COOKIE",
            "MY_CREDENTIALS",
            "KEY_PASSPHRASE",
            "X_PASSWD",
        ] {
            assert!(!inherits(name, "1"), "{name}");
        }
        for value in [
            "postgres://me:pw@db/x",
            "a=1 redis://:pw@h",
            "https://u:p%40@h?x=@",
        ] {
            assert!(!inherits("URL", value), "{value}");
        }
    }

    #[test]
    fn harmless_variables_pass() {
        for name in [
            "PATH",
            "HOME",
            "TOKENIZERS_PARALLELISM",
            "GIT_AUTHOR_NAME",
            "PATTERN",
            "DSN_X",
        ] {
            assert!(inherits(name, "1"), "{name}");
        }
        for value in [
            "https://host/a:b@c",
            "https://me@host/",
            "://u:p@h",
            "u:p@h",
            "https://u:@h",
        ] {
            assert!(inherits("URL", value), "{value}");
        }
    }

    #[test]
    fn the_last_rule_wins() {
        let host = [("PAGER", "less"), ("A", "host"), ("X_TOKEN", "host")];
        let host = host.map(|(name, value)| (name.into(), value.into()));
        let base = EnvRules::new().base(host.into_iter());
        let get = |name: &str| base.get(name).and_then(OsStr::to_str);
        assert_eq!(get("A"), Some("host"));
        assert_eq!(get("PAGER"), Some("less"));
        assert_eq!(get("TERM"), Some("dumb"));
        assert_eq!(get("X_TOKEN"), None);
    }
}
