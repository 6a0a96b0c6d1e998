//! From a command to a task that can be started: checks, environment, launcher, program file.

use std::ffi::{CString, OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::command::{JobCommand, Program};
use crate::config::ProcessConfig;
use crate::env::{COOKIE, Environment};
use crate::error::ProcessError;
use crate::launcher::Launch;
use crate::platform::random;
use crate::spill::{SpillDirectory, TemporaryFile};
use crate::wire::Task;

/// The longest single argument, its NUL included (execve(2), `MAX_ARG_STRLEN`).
const MAX_ARGUMENT: usize = 128 * 1024;

/// What was made of a command.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The task, or why there is no such program: that is an outcome, not an error.
    pub(crate) task: Result<Task, String>,
    pub(crate) cookie: String,
    /// The script of a long command, to be kept until it was run.
    pub(crate) script: Option<TemporaryFile>,
}

/// # Errors
///
/// Everything that can be seen to be wrong before anything is started.
pub(crate) fn prepare(
    config: &ProcessConfig,
    base: &Environment,
    spill: &SpillDirectory,
    command: &JobCommand,
) -> Result<Prepared, ProcessError> {
    let cwd = working_directory(command.cwd.as_deref())?;
    let cookie = random_name();
    let (argv, script) = arguments(config, spill, &command.program)?;
    check_arguments(&argv)?;
    let mut env = base.clone();
    for (name, value) in &command.env {
        env.set(name, value)?;
    }
    env.set(COOKIE, &cookie)?;
    let mut launch = config
        .launcher
        .launch(Launch { argv, env, cwd })
        .map_err(|veto| ProcessError::Vetoed {
            reason: veto.to_string(),
        })?;
    check_arguments(&launch.argv)?;
    nul(|| "working directory".to_owned(), launch.cwd.as_os_str())?;
    if launch.cwd.is_relative() {
        return Err(ProcessError::WorkingDirectory {
            path: launch.cwd,
            got: "a relative path from the launcher".to_owned(),
        });
    }
    launch.env.set(COOKIE, &cookie)?;
    let task = match find(&launch) {
        Ok(program) => Ok(task(program, launch)?),
        Err(reason) => Err(reason),
    };
    Ok(Prepared {
        task,
        cookie,
        script,
    })
}

fn arguments(
    config: &ProcessConfig,
    spill: &SpillDirectory,
    program: &Program,
) -> Result<(Vec<OsString>, Option<TemporaryFile>), ProcessError> {
    let command = match program {
        Program::Argv(argv) => return Ok((argv.clone(), None)),
        Program::Shell(command) => command,
    };
    let shell = config.shell.clone().into_os_string();
    if command.len() < MAX_ARGUMENT {
        return Ok((vec![shell, "-c".into(), command.clone()], None));
    }
    nul(|| "the command".to_owned(), command)?;
    let write = || {
        let (mut file, script) = spill.create("script")?;
        file.write_all(command.as_bytes())?;
        Ok(script)
    };
    let script = write().map_err(|source| ProcessError::Script {
        limit: MAX_ARGUMENT - 1,
        path: config.spill_directory.clone(),
        source,
    })?;
    Ok((
        vec![shell, script.path().as_os_str().to_owned()],
        Some(script),
    ))
}

fn working_directory(given: Option<&Path>) -> Result<PathBuf, ProcessError> {
    let path = given.unwrap_or(Path::new("."));
    nul(|| "working directory".to_owned(), path.as_os_str())?;
    let fail = |got: String| ProcessError::WorkingDirectory {
        path: path.to_owned(),
        got,
    };
    let absolute = match given {
        Some(path) => std::path::absolute(path),
        None => std::env::current_dir(),
    };
    let absolute = absolute.map_err(|error| fail(error.to_string()))?;
    // Where this process is, is a directory.
    if given.is_some() {
        match absolute.metadata() {
            Ok(found) if !found.is_dir() => {
                return Err(fail("something that is no directory".into()));
            }
            Ok(_) => {}
            Err(error) => return Err(fail(error.to_string())),
        }
    }
    access(&absolute, Access::EXEC_OK).map_err(|error| fail(error.to_string()))?;
    Ok(absolute)
}

fn check_arguments(argv: &[OsString]) -> Result<(), ProcessError> {
    if argv.first().is_none_or(|program| program.is_empty()) {
        return Err(ProcessError::EmptyCommand);
    }
    for (index, argument) in argv.iter().enumerate() {
        nul(|| format!("argument {index}"), argument)?;
    }
    Ok(())
}

fn nul(what: impl FnOnce() -> String, text: &OsStr) -> Result<(), ProcessError> {
    match memchr::memchr(0, text.as_bytes()) {
        Some(at) => Err(ProcessError::Nul { what: what(), at }),
        None => Ok(()),
    }
}

/// Finds the program file as execvp(3) would, with the job's `PATH` and directory.
fn find(launch: &Launch) -> Result<PathBuf, String> {
    let Some(program) = launch.argv.first() else {
        return Err("no program was given".into());
    };
    let name = jobs::text::one_line(&program.to_string_lossy()).into_owned();
    if program.as_bytes().contains(&b'/') {
        let path = launch.cwd.join(program);
        return match executable(&path) {
            Ok(()) => Ok(path),
            Err(reason) => Err(format!("{name}: {reason}")),
        };
    }
    let path = launch.env.get("PATH");
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut refused = None;
    for directory in std::env::split_paths(path) {
        let candidate = launch.cwd.join(directory).join(program);
        match executable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(_) if !candidate.exists() => {}
            Err(reason) => {
                refused.get_or_insert(format!("{}: {reason}", candidate.display()));
            }
        }
    }
    Err(refused.unwrap_or_else(|| format!("{name}: no such program in PATH")))
}

fn executable(path: &Path) -> Result<(), String> {
    let found = path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "no such program".to_owned(),
        _ => error.to_string(),
    })?;
    if found.is_dir() {
        return Err("it is a directory".into());
    }
    access(path, Access::EXEC_OK).map_err(|_| "it is not executable by this user".to_owned())
}

fn task(program: PathBuf, launch: Launch) -> Result<Task, ProcessError> {
    let terminated = |what: &str, bytes: Vec<u8>| {
        CString::new(bytes).map_err(|error| ProcessError::Nul {
            what: what.to_owned(),
            at: error.nul_position(),
        })
    };
    let argument = |text: OsString| terminated("argument", text.into_vec());
    let path = |path: PathBuf| terminated("path", path.into_os_string().into_vec());
    Ok(Task {
        program: path(program)?,
        cwd: path(launch.cwd)?,
        argv: launch
            .argv
            .into_iter()
            .map(argument)
            .collect::<Result<_, _>>()?,
        env: launch.env,
    })
}

/// A name that nobody else has.
pub(crate) fn random_name() -> String {
    let mut bytes = [0_u8; 16];
    random(&mut bytes);
    format!("{:032x}", u128::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_sets_every_variable_but_the_cookie() {
        let config = ProcessConfig::new();
        let spill = SpillDirectory::new(std::env::temp_dir());
        let host = [("A", "host"), ("B", "host")];
        let host = host.map(|(name, value)| (name.into(), value.into()));
        let base = config.env.base(host.into_iter());
        let command = JobCommand::argv(["/bin/true"])
            .with_env("A", "caller")
            .with_env("X_TOKEN", "caller")
            .with_env(COOKIE, "forged");
        let prepared = prepare(&config, &base, &spill, &command).expect("nothing is wrong");
        let env = prepared.task.expect("a program").env;
        let get = |name: &str| env.get(name).and_then(OsStr::to_str);
        assert_eq!((get("A"), get("B")), (Some("caller"), Some("host")));
        assert_eq!(get("X_TOKEN"), Some("caller"));
        assert_eq!(get(COOKIE), Some(prepared.cookie.as_str()));
    }
}
