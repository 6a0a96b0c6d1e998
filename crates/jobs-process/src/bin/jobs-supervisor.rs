//! The supervisor of jobs as a small binary of its own, for hosts that cannot call
//! `jobs_process::init` first thing in their `main` (a library inside another program, a test).

fn main() -> std::process::ExitCode {
    jobs_process::init();
    eprintln!(
        "jobs-supervisor: expected to be started by a host of jobs-process; \
         name this file in ProcessConfig::with_supervisor"
    );
    std::process::ExitCode::from(64)
}
