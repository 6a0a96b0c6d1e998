//! The environment of a command, in the form in which the system takes it.
//!
//! 1. Every variable can be given to a program: its name is not empty and holds no `=`, and neither
//!    name nor value holds a NUL (`environ(7)`).
//! 2. A name is there once.

mod rules;

use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use crate::error::ProcessError;

pub use rules::EnvRules;

/// The variable that marks every process of a job.
pub(crate) const COOKIE: &str = "JOBS_COOKIE";

/// The environment of a command: names and their values.
///
/// Cloning is cheap: what the commands of a runner have in common is shared.
///
/// # Examples
///
/// ```
/// use jobs_process::Environment;
///
/// let mut env = Environment::new();
/// env.set("LANG", "C")?;
/// env.set("LANG", "C.UTF-8")?;
/// assert_eq!(env.get("LANG"), Some("C.UTF-8".as_ref()));
/// assert!(env.set("A=B", "").is_err());
/// # Ok::<(), jobs_process::ProcessError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// What many commands have.
    common: Arc<Vec<Variable>>,
    /// What this one has besides.
    own: Vec<Variable>,
}

#[derive(Clone, PartialEq, Eq)]
struct Variable {
    /// `NAME=value`.
    text: CString,
    /// The length of the name.
    name: usize,
}

impl Environment {
    /// No variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        let found = self.variables().find(|variable| variable.name() == name);
        found.map(Variable::value)
    }

    /// Sets a variable, in the place of an earlier value.
    ///
    /// # Errors
    ///
    /// [`ProcessError::VariableName`] and [`ProcessError::Nul`]; nothing is set then.
    pub fn set(
        &mut self,
        name: impl AsRef<OsStr>,
        value: impl AsRef<OsStr>,
    ) -> Result<(), ProcessError> {
        let variable = Variable::new(name.as_ref(), value.as_ref())?;
        self.retain(|name, _| name != variable.name());
        self.own.push(variable);
        Ok(())
    }

    /// Keeps only the variables for which `keep` is true of name and value.
    pub fn retain(&mut self, mut keep: impl FnMut(&OsStr, &OsStr) -> bool) {
        let mut keep = |variable: &Variable| keep(variable.name(), variable.value());
        self.own.retain(&mut keep);
        if let Some(at) = self.common.iter().position(|variable| !keep(variable)) {
            let mut rest = self.common[..at].to_vec();
            rest.extend(
                self.common[at + 1..]
                    .iter()
                    .filter(|one| keep(one))
                    .cloned(),
            );
            self.common = Arc::new(rest);
        }
    }

    /// Names and values; those that other commands have, too, come first.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables()
            .map(|variable| (variable.name(), variable.value()))
    }

    /// Every variable as `NAME=value`.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &CStr> {
        self.variables().map(|variable| variable.text.as_c_str())
    }

    /// The inverse of [`strings`](Self::strings); `None` if one has no name.
    pub(crate) fn from_strings(strings: impl IntoIterator<Item = CString>) -> Option<Self> {
        let variable = |text: CString| {
            let name = memchr::memchr(b'=', text.as_bytes()).filter(|name| *name > 0)?;
            Some(Variable { text, name })
        };
        let own = strings.into_iter().map(variable).collect::<Option<_>>()?;
        let common = Arc::default();
        Some(Self { common, own })
    }

    /// The same, ready to be the beginning of many.
    pub(crate) fn into_common(self) -> Self {
        let mut common = Arc::unwrap_or_clone(self.common);
        common.extend(self.own);
        Self {
            common: Arc::new(common),
            own: Vec::new(),
        }
    }

    fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.common.iter().chain(&self.own)
    }
}

/// Says how many there are: their values are nobody's business.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.variables().count())
    }
}

impl Variable {
    fn new(name: &OsStr, value: &OsStr) -> Result<Self, ProcessError> {
        let shown = || name.to_string_lossy().into_owned();
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            return Err(ProcessError::VariableName { name: shown() });
        }
        let nul = |what: String, at| ProcessError::Nul { what, at };
        if let Some(at) = memchr::memchr(0, name.as_bytes()) {
            return Err(nul("variable name".to_owned(), at));
        }
        let mut text = Vec::with_capacity(name.len() + value.len() + 2);
        text.extend_from_slice(name.as_bytes());
        text.push(b'=');
        text.extend_from_slice(value.as_bytes());
        let name = name.len();
        let text = CString::new(text).map_err(|error| {
            nul(
                format!("variable {}", shown()),
                error.nul_position() - name - 1,
            )
        })?;
        Ok(Self { text, name })
    }

    fn name(&self) -> &OsStr {
        OsStr::from_bytes(&self.text.as_bytes()[..self.name])
    }

    fn value(&self) -> &OsStr {
        OsStr::from_bytes(&self.text.as_bytes()[self.name + 1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(env: &Environment) -> Vec<&str> {
        env.strings()
            .map(|text| text.to_str().expect("text"))
            .collect()
    }

    fn common() -> Environment {
        let strings = [c"A=1", c"B=", c"C=a=b"].map(CStr::to_owned);
        let env = Environment::from_strings(strings).expect("with names");
        env.into_common()
    }

    #[test]
    fn a_change_of_one_does_not_change_the_others() {
        let base = common();
        let mut one = base.clone();
        one.set("B", "2").expect("valid");
        one.set("D", "x").expect("valid");
        assert_eq!(shown(&one), ["A=1", "C=a=b", "B=2", "D=x"]);
        one.set("D", "y").expect("valid");
        one.retain(|name, value| name != "A" && value != "a=b");
        assert_eq!(shown(&one), ["B=2", "D=y"]);
        assert_eq!(one.get("B"), Some("2".as_ref()));
        assert_eq!((one.get("A"), one.get("DD")), (None, None));
        assert_eq!(shown(&base), ["A=1", "B=", "C=a=b"]);
        assert_eq!(base.get("C"), Some("a=b".as_ref()));
    }

    #[test]
    fn what_no_program_can_be_given_is_refused() {
        let mut env = common();
        let mut refused = |name: &str, value: &str| {
            let error = env.set(name, value).expect_err("invalid");
            assert_eq!(env, common(), "nothing is set");
            error.to_string()
        };
        let name = "expected a non-empty name without '='";
        assert_eq!(
            refused("", "1"),
            format!("invalid variable name \"\": {name}")
        );
        assert_eq!(
            refused("A=", "1"),
            format!("invalid variable name \"A=\": {name}")
        );
        let nul = "expected text without NUL bytes, got one at byte 1; remove it";
        assert_eq!(refused("D\0", "1"), format!("invalid variable name: {nul}"));
        assert_eq!(refused("A", "1\0"), format!("invalid variable A: {nul}"));
        assert_eq!(Environment::from_strings([c"=1".to_owned()]), None);
        assert_eq!(Environment::from_strings([c"A".to_owned()]), None);
    }

    #[test]
    fn values_are_not_shown() {
        assert_eq!(format!("{:?}", common()), "Environment(3 variables)");
    }
}
