//! The settings of a runner, typed and from files.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jobs::config::{ConfigError, Setting, check_duration};
use serde::{Deserialize, Serialize};

use crate::env::EnvRules;
use crate::launcher::{Direct, Launcher};
use crate::tree::Containment;

/// More than that would cost more than they save.
const MAX_SPARES: usize = 16;
const SPARES: &str = "0 to 16";

/// What happens when the command itself ends and others of its processes stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLeaderExit {
    /// They get the grace to end, then they are stopped.
    #[default]
    Stop,
    /// The job runs on until they end: a server that the command left in the background.
    Wait,
}

/// Settings of a [`ProcessRunner`](crate::ProcessRunner).
///
/// From a file (camelCase, durations in whole milliseconds, sizes in bytes) an absent or null field
/// takes its default, and an unknown one is refused.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use jobs_process::ProcessConfig;
///
/// let typed = ProcessConfig::new().with_grace(Duration::from_millis(500));
/// let read: ProcessConfig = serde_json::from_str(r#"{ "graceMs": 500 }"#)?;
/// assert_eq!(typed.grace(), read.grace());
/// assert!(serde_json::from_str::<ProcessConfig>(r#"{ "graceMs": 0 }"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "File")]
pub struct ProcessConfig {
    pub(crate) output_memory: NonZeroUsize,
    pub(crate) spill_limit: u64,
    pub(crate) grace: Duration,
    pub(crate) output_cap: NonZeroUsize,
    pub(crate) max_output: NonZeroU64,
    pub(crate) max_runtime: Option<Duration>,
    pub(crate) on_leader_exit: OnLeaderExit,
    pub(crate) containment: Containment,
    pub(crate) supervisor: Option<PathBuf>,
    pub(crate) spare_supervisors: usize,
    pub(crate) spill_directory: PathBuf,
    pub(crate) shell: PathBuf,
    pub(crate) env: EnvRules,
    pub(crate) launcher: Arc<dyn Launcher>,
}

impl Default for ProcessConfig {
    fn default() -> Self {
        const OUTPUT_MEMORY: NonZeroUsize = NonZeroUsize::new(128_000).expect("not zero");
        const OUTPUT_CAP: NonZeroUsize = NonZeroUsize::new(30_000).expect("not zero");
        const MAX_OUTPUT: NonZeroU64 = NonZeroU64::new(5 << 30).expect("not zero");
        Self {
            output_memory: OUTPUT_MEMORY,
            spill_limit: 64 << 20,
            grace: Duration::from_secs(3),
            output_cap: OUTPUT_CAP,
            max_output: MAX_OUTPUT,
            max_runtime: None,
            on_leader_exit: OnLeaderExit::Stop,
            containment: Containment::Supervisor,
            supervisor: None,
            spare_supervisors: 2,
            spill_directory: std::env::temp_dir(),
            shell: "bash".into(),
            env: EnvRules::new(),
            launcher: Arc::new(Direct),
        }
    }
}

impl ProcessConfig {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes of output stay in memory, both streams together (128,000).
    #[must_use]
    pub fn with_output_memory(mut self, bytes: NonZeroUsize) -> Self {
        self.output_memory = bytes;
        self
    }

    /// How many bytes of each stream go to a file at most; 0 writes none (64 MiB).
    #[must_use]
    pub fn with_spill_limit(mut self, bytes: u64) -> Self {
        self.spill_limit = bytes;
        self
    }

    /// How long a process that was asked to end may take (3 s).
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The time between a request to end and the use of force.
    #[must_use]
    pub fn grace(&self) -> Duration {
        self.grace
    }

    /// How many bytes of output an answer in the foreground shows (30,000).
    #[must_use]
    pub fn with_output_cap(mut self, bytes: NonZeroUsize) -> Self {
        self.output_cap = bytes;
        self
    }

    /// How many bytes a job may write before it is ended (5 GiB).
    #[must_use]
    pub fn with_max_output(mut self, bytes: NonZeroU64) -> Self {
        self.max_output = bytes;
        self
    }

    /// How long a job may run (no limit).
    #[must_use]
    pub fn with_max_runtime(mut self, limit: Duration) -> Self {
        self.max_runtime = Some(limit);
        self
    }

    /// What happens to processes that outlive the command.
    #[must_use]
    pub fn with_on_leader_exit(mut self, what: OnLeaderExit) -> Self {
        self.on_leader_exit = what;
        self
    }

    /// The highest rung of the containment ladder to use; the best by default.
    #[must_use]
    pub fn with_containment(mut self, highest: Containment) -> Self {
        self.containment = highest;
        self
    }

    /// A binary that calls [`init`](crate::init) first thing in its `main`, for hosts that cannot
    /// do so themselves: an absolute path to this crate's `jobs-supervisor`, for instance.
    #[must_use]
    pub fn with_supervisor(mut self, binary: impl Into<PathBuf>) -> Self {
        self.supervisor = Some(binary.into());
        self
    }

    /// How many supervisors without a job are kept for the next ones (2, at most 16); 0 keeps none.
    ///
    /// One that was kept saves the start of a process; it ends with the runner, and with the host.
    /// It has the limits (`umask`, resource limits, namespaces, a sandbox) that the host had when it
    /// was started: keep none in a host that changes its own later. One that has other users or
    /// groups than the host has by now is not used.
    #[must_use]
    pub fn with_spare_supervisors(mut self, count: usize) -> Self {
        self.spare_supervisors = count;
        self
    }

    /// Where the directory for spilled output is made (the system's temporary directory).
    #[must_use]
    pub fn with_spill_directory(mut self, parent: impl Into<PathBuf>) -> Self {
        self.spill_directory = parent.into();
        self
    }

    /// The shell that runs commands as `<shell> -c <command>` (`bash`).
    #[must_use]
    pub fn with_shell(mut self, shell: impl Into<PathBuf>) -> Self {
        self.shell = shell.into();
        self
    }

    /// Which of the host's variables jobs inherit.
    #[must_use]
    pub fn with_env(mut self, rules: EnvRules) -> Self {
        self.env = rules;
        self
    }

    /// What stands between a command and its process.
    #[must_use]
    pub fn with_launcher(mut self, launcher: Arc<dyn Launcher>) -> Self {
        self.launcher = launcher;
        self
    }

    /// Checks what the types do not.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_duration("graceMs", self.grace)?;
        if let Some(limit) = self.max_runtime {
            check_duration("maxRuntimeMs", limit)?;
        }
        if self.spare_supervisors > MAX_SPARES {
            let got = self.spare_supervisors;
            return Err(ConfigError::new("spareSupervisors", got, SPARES));
        }
        let relative = |path: &Path| !path.is_absolute();
        if let Some(path) = self.supervisor.as_deref().filter(|path| relative(path)) {
            return Err(ConfigError::new(
                "supervisor",
                path.display(),
                "an absolute path",
            ));
        }
        if relative(&self.spill_directory) {
            let path = self.spill_directory.display();
            return Err(ConfigError::new("spillDirectory", path, "an absolute path"));
        }
        if self.shell.as_os_str().is_empty() {
            return Err(ConfigError::new("shell", "an empty name", "a program"));
        }
        Ok(())
    }
}

/// The form of [`ProcessConfig`] in files. Numbers are read as whatever they are, so that a refusal
/// names them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    output_memory_bytes: Option<Setting>,
    spill_limit_bytes: Option<Setting>,
    grace_ms: Option<Setting>,
    output_cap_bytes: Option<Setting>,
    max_output_bytes: Option<Setting>,
    max_runtime_ms: Option<Setting>,
    on_leader_exit: Option<OnLeaderExit>,
    containment: Option<Containment>,
    supervisor: Option<PathBuf>,
    spare_supervisors: Option<Setting>,
    spill_directory: Option<PathBuf>,
    shell: Option<PathBuf>,
    env: Option<EnvRules>,
}

impl TryFrom<File> for ProcessConfig {
    type Error = ConfigError;

    fn try_from(file: File) -> Result<Self, ConfigError> {
        let default = Self::default();
        let output_memory = memory("outputMemoryBytes", file.output_memory_bytes.as_ref())?;
        let output_cap = memory("outputCapBytes", file.output_cap_bytes.as_ref())?;
        let spill_limit = zero_or("spillLimitBytes", file.spill_limit_bytes.as_ref(), BYTES)?;
        let spares = zero_or("spareSupervisors", file.spare_supervisors.as_ref(), SPARES)?;
        let config = Self {
            output_memory: output_memory.unwrap_or(default.output_memory),
            spill_limit: spill_limit.unwrap_or(default.spill_limit),
            grace: millis("graceMs", file.grace_ms.as_ref())?.unwrap_or(default.grace),
            output_cap: output_cap.unwrap_or(default.output_cap),
            max_output: bytes("maxOutputBytes", file.max_output_bytes.as_ref())?
                .unwrap_or(default.max_output),
            max_runtime: millis("maxRuntimeMs", file.max_runtime_ms.as_ref())?,
            on_leader_exit: file.on_leader_exit.unwrap_or_default(),
            containment: file.containment.unwrap_or(default.containment),
            supervisor: file.supervisor,
            spare_supervisors: match spares {
                // More than fits is more than is allowed.
                Some(spares) => usize::try_from(spares).unwrap_or(usize::MAX),
                None => default.spare_supervisors,
            },
            spill_directory: file.spill_directory.unwrap_or(default.spill_directory),
            shell: file.shell.unwrap_or(default.shell),
            env: file.env.unwrap_or_default(),
            launcher: default.launcher,
        };
        config.check()?;
        Ok(config)
    }
}

const BYTES: &str = "a whole number of bytes";

/// A duration of a file.
pub(crate) fn millis(
    field: &'static str,
    given: Option<&Setting>,
) -> Result<Option<Duration>, ConfigError> {
    given.map(|given| given.millis(field)).transpose()
}

/// A size of a file, at least 1.
pub(crate) fn bytes(
    field: &'static str,
    given: Option<&Setting>,
) -> Result<Option<NonZeroU64>, ConfigError> {
    const EXPECTED: &str = "a whole number of bytes, at least 1";
    let whole = |given: &Setting| given.whole(field, u64::MAX, EXPECTED);
    given.map(whole).transpose()
}

fn memory(
    field: &'static str,
    given: Option<&Setting>,
) -> Result<Option<NonZeroUsize>, ConfigError> {
    let Some(size) = bytes(field, given)? else {
        return Ok(None);
    };
    let fits = NonZeroUsize::try_from(size);
    fits.map(Some)
        .map_err(|_| ConfigError::new(field, size, "what memory can hold"))
}

fn zero_or(
    field: &'static str,
    given: Option<&Setting>,
    expected: &'static str,
) -> Result<Option<u64>, ConfigError> {
    match given {
        None => Ok(None),
        Some(Setting::Unsigned(0)) => Ok(Some(0)),
        Some(given) => Ok(Some(given.whole(field, u64::MAX, expected)?.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> String {
        serde_json::from_str::<ProcessConfig>(json)
            .expect_err("refused")
            .to_string()
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        assert!(refused(r#"{"graceMs":0}"#).contains("graceMs: expected whole milliseconds"));
        assert!(refused(r#"{"maxRuntimeMs":2147483648}"#).contains("maxRuntimeMs"));
        assert!(refused(r#"{"supervisor":"bin/x"}"#).contains("absolute"));
        assert!(refused(r#"{"spareSupervisors":17}"#).contains("0 to 16"));
        assert!(refused(r#"{"grace":1}"#).contains("unknown field"));
        assert!(refused(r#"{"maxOutputBytes":0}"#).contains("maxOutputBytes: expected a whole"));
        assert!(refused(r#"{"graceMs":1.5}"#).contains("got 1.5"));
        assert!(refused(r#"{"spillLimitBytes":-1}"#).contains("got -1"));
        let typed = ProcessConfig::new().with_grace(Duration::from_micros(1_500));
        let error = typed.check().expect_err("a fraction of a millisecond");
        assert!(error.to_string().contains("got 1.5ms"), "{error}");
    }

    #[test]
    fn null_is_the_default() {
        let read: ProcessConfig =
            serde_json::from_str(r#"{"graceMs":null,"onLeaderExit":"wait"}"#).expect("accepted");
        assert_eq!(read.grace(), Duration::from_secs(3));
        assert_eq!(read.on_leader_exit, OnLeaderExit::Wait);
    }
}
