//! Where the workspace is, and how its commands are run.

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace that `cargo xtask` was called in.
pub(crate) struct Workspace {
    root: PathBuf,
    metadata: Metadata,
}

impl Workspace {
    /// Finds the workspace around the current directory.
    pub(crate) fn find() -> Result<Self> {
        Self::load(MetadataCommand::new().no_deps())
    }

    /// Opens the workspace whose root manifest lies in `root`.
    pub(crate) fn at(root: &Path) -> Result<Self> {
        Self::load(MetadataCommand::new().current_dir(root).no_deps())
    }

    fn load(command: &mut MetadataCommand) -> Result<Self> {
        let metadata = command
            .exec()
            .context("failed to read the workspace with cargo metadata")?;
        Ok(Self {
            root: metadata.workspace_root.clone().into(),
            metadata,
        })
    }

    /// The directory of the root manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo builds.
    pub(crate) fn target_directory(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// The members of the workspace, as their manifests declare them.
    pub(crate) fn packages(&self) -> &[Package] {
        &self.metadata.packages
    }

    /// Whether a member has this name.
    pub(crate) fn has(&self, package: &str) -> bool {
        self.packages().iter().any(|p| p.name == package)
    }

    /// A member's directory, relative to the root, with `/` between its parts.
    pub(crate) fn directory(&self, package: &Package) -> String {
        let manifest = package.manifest_path.as_std_path();
        let directory = manifest.parent().unwrap_or(manifest);
        relative(&self.root, directory)
    }

    /// The cargo that runs us, in the root of the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(&self.root);
        command
    }

    /// Builds an example of a package for release, and says where it is.
    ///
    /// # Errors
    ///
    /// It could not be built.
    pub(crate) fn example(&self, package: &str, name: &str) -> Result<PathBuf> {
        let mut cargo = self.cargo();
        cargo.args(["build", "--quiet", "--release", "--package", package]);
        execute(cargo.args(["--example", name]))?;
        let examples = self.target_directory().join("release/examples");
        Ok(examples.join(name))
    }
}

/// `path` below `root`, with `/` between its parts.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Shows the command, runs it with our output, and fails if it does.
pub(crate) fn execute(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("failed to start {}", shown(command)))?;
    if status.success() {
        return Ok(());
    }
    bail!("{} ended with {status}", shown(command))
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let set = command
        .get_envs()
        .filter_map(|(key, value)| value.map(|value| (key, value)))
        .map(|(key, value)| format!("{}={:?} ", key.to_string_lossy(), value.to_string_lossy()));
    let arguments = command
        .get_args()
        .map(|argument| format!(" {}", argument.to_string_lossy()));
    set.chain([name.to_string_lossy().into_owned()])
        .chain(arguments)
        .collect()
}
