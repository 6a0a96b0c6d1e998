//! The launcher seam: what stands between a command and its process.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::env::Environment;
use crate::error::ProcessError;

/// What is about to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments; never empty when it is handed to a launcher.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub env: Environment,
    /// An absolute working directory that exists; what a launcher returns has to be absolute too.
    pub cwd: PathBuf,
}

/// A launcher's refusal; its text is shown to whoever asked for the command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Veto(pub String);

/// For a launcher that sets a variable which no environment can hold.
impl From<ProcessError> for Veto {
    fn from(error: ProcessError) -> Self {
        Self(error.to_string())
    }
}

/// Maps a command to the command that is really run: inside a sandbox, a container, another host.
///
/// Called once a start, synchronously, so it must not block. Supervision of the tree and capture of
/// the output stay with this crate; a wrapper that hands the command to a daemon (`docker run`,
/// `systemd-run`) takes the processes out of the tree and has to stop them itself.
pub trait Launcher: fmt::Debug + Send + Sync {
    /// Returns what to run instead of `launch`.
    ///
    /// # Errors
    ///
    /// The command is refused; nothing is started.
    fn launch(&self, launch: Launch) -> Result<Launch, Veto>;
}

/// Runs commands as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Direct;

impl Launcher for Direct {
    fn launch(&self, launch: Launch) -> Result<Launch, Veto> {
        Ok(launch)
    }
}

/// Runs commands under bubblewrap: the file system read-only, the working directory writable, a
/// `/tmp` of their own, and a process namespace of their own.
///
/// A worked example of a [`Launcher`], usable where `bwrap(1)` is installed. The file system stays
/// readable, so it protects against accidents and not against a command that looks for secrets.
/// Nobody in the namespace can escape a sweep of the tree: when its first process dies, the kernel
/// kills the rest.
///
/// # Examples
///
/// ```
/// use jobs_process::{Bwrap, Environment, Launch, Launcher, Network};
///
/// let launch = Launch {
///     argv: vec!["bash".into(), "-c".into(), "make".into()],
///     env: Environment::new(),
///     cwd: "/src".into(),
/// };
/// let wrapped = Bwrap::new(Network::Isolated).launch(launch)?;
/// assert_eq!(wrapped.argv[0], "bwrap");
/// assert_eq!(wrapped.argv.last().unwrap(), "make");
/// # Ok::<(), jobs_process::Veto>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Bwrap {
    network: Network,
}

/// Whether a sandboxed command reaches the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// It uses the host's.
    Shared,
    /// It has a loopback device and nothing else.
    Isolated,
}

impl Bwrap {
    /// A launcher with the given reach.
    #[must_use]
    pub fn new(network: Network) -> Self {
        Self { network }
    }
}

impl Launcher for Bwrap {
    fn launch(&self, launch: Launch) -> Result<Launch, Veto> {
        if launch.cwd == std::path::Path::new("/") {
            return Err(Veto(
                "a sandboxed command cannot own /; give it a workdir".into(),
            ));
        }
        let cwd = launch.cwd.as_os_str();
        let mut argv: Vec<OsString> = [
            "bwrap",
            "--die-with-parent",
            "--unshare-pid",
            "--unshare-ipc",
        ]
        .map(Into::into)
        .into();
        if self.network == Network::Isolated {
            argv.push("--unshare-net".into());
        }
        argv.extend(
            [
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "--tmpfs",
                "/tmp",
                "--bind",
            ]
            .map(Into::into),
        );
        argv.extend([
            cwd.to_owned(),
            cwd.to_owned(),
            "--chdir".into(),
            cwd.to_owned(),
            "--".into(),
        ]);
        argv.extend(launch.argv);
        Ok(Launch { argv, ..launch })
    }
}
