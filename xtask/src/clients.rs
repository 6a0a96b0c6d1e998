//! `cargo xtask clients`: drives `agent-jobs mcp` with clients that nobody here wrote.
//!
//! Each is installed from its package registry, at a pinned version, into a scratch directory below the target
//! directory. Its script in `tests/clients` runs the cases and prints a line for each.

mod install;
mod throughput;

use crate::workspace::{Workspace, execute, shown};
use anyhow::{Context as _, Result, ensure};
use install::Installed;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What to drive it with.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Measure calls a second instead, beside a server with an empty tool
    #[arg(long)]
    throughput: bool,
    /// Only clients whose names contain this: python, typescript or inspector
    filter: Option<String>,
}

/// A client.
#[derive(Debug, Clone, Copy)]
struct Client {
    name: &'static str,
    transports: &'static [&'static str],
    /// All of these have to be run; nothing else may be.
    cases: &'static [&'static str],
}

/// All cases. A call of the inspector is a process with a session of its own: it has those that need no second call.
const CASES: &[&str] = &[
    "list",
    "schemas",
    "start",
    "delta",
    "wait-served",
    "wait-timed-out",
    "wait-cancelled",
    "kill",
    "notices",
    "sessions",
    "bad-arguments",
    "bounded",
    "structured",
    "end",
];

const CLIENTS: &[Client] = &[
    Client {
        name: "python",
        transports: &["stdio", "http", "stdio-2026-07-28", "http-2026-07-28"],
        cases: CASES,
    },
    Client {
        name: "typescript",
        transports: &["stdio", "http"],
        cases: CASES,
    },
    Client {
        name: "inspector",
        transports: &["stdio", "http"],
        cases: &[
            "list",
            "schemas",
            "calls",
            "start",
            "sessions",
            "bad-arguments",
            "bounded",
            "structured",
            "end",
        ],
    },
];

/// No client takes so long over one transport, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs every case with every client over every transport, and prints a table; or measures.
///
/// # Errors
///
/// If a client cannot be installed, a case does not hold, or one was not run.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.throughput {
        return throughput::run(workspace);
    }
    let binary = build(workspace)?;
    let scratch = workspace.target_directory().join("clients");
    let wanted = |client: &&Client| {
        let filter = args.filter.as_deref().unwrap_or_default();
        client.name.contains(filter)
    };
    let mut table = Table::default();
    for client in CLIENTS.iter().filter(wanted) {
        let scripts = workspace.root().join("tests/clients").join(client.name);
        let installed = install::install(client.name, &scripts, &scratch)?;
        for transport in client.transports {
            let start = Instant::now();
            let log = scratch.join(format!("{}-{transport}.log", client.name));
            let verdicts = drive(&installed, &binary, transport, &log).with_context(|| {
                format!("{} over {transport}: see {}", client.name, log.display())
            })?;
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{} over {transport}: {seconds:.1} s, log in {}",
                client.name,
                log.display()
            );
            table.add(client, transport, &verdicts);
        }
    }
    ensure!(!table.rows.is_empty(), "no client was run");
    println!("\n{}", table.text());
    ensure!(table.failed == 0, "{} cases did not hold", table.failed);
    Ok(())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    execute(
        workspace
            .cargo()
            .args(["build", "--quiet", "--package", "jobs-cli"]),
    )?;
    Ok(workspace.target_directory().join("debug/agent-jobs"))
}

/// The result of each case that was run.
fn drive(
    client: &Installed,
    binary: &Path,
    transport: &str,
    log: &Path,
) -> Result<BTreeMap<String, String>> {
    let mut command = client.command();
    command.arg(binary).arg(transport);
    let mut running = Running::start(&mut command, log)?;
    let mut verdicts = BTreeMap::new();
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(line) = running.lines.recv_timeout(left) else {
            break;
        };
        let case = line
            .strip_prefix("case ")
            .and_then(|line| line.split_once(' '));
        if let Some((case, verdict)) = case {
            if verdict != "ok" {
                println!("  {case}: {verdict}");
            }
            verdicts.insert(case.to_owned(), verdict.to_owned());
        }
    }
    ensure!(
        Instant::now() < end,
        "it did not end in {} s",
        PATIENCE.as_secs()
    );
    let status = running.child.wait()?;
    ensure!(status.success(), "it ended with {status}");
    Ok(verdicts)
}

/// A client that runs. Dropping it ends it.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command, log: &Path) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log)?);
        let started = command.spawn();
        let mut child = started.with_context(|| format!("failed to start {}", shown(command)))?;
        let output = child.stdout.take().context("no output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, lines })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What became of the cases.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<[String; 4]>,
    failed: usize,
}

impl Table {
    fn add(&mut self, client: &Client, transport: &str, verdicts: &BTreeMap<String, String>) {
        let row =
            |case: &str, verdict: &str| [client.name, transport, case, verdict].map(str::to_owned);
        for case in client.cases {
            let verdict = verdicts.get(*case).map_or("NOT RUN", String::as_str);
            self.failed += usize::from(verdict != "ok");
            self.rows.push(row(case, verdict));
        }
        for (case, verdict) in verdicts {
            if !client.cases.contains(&case.as_str()) {
                self.failed += 1;
                self.rows
                    .push(row(case, &format!("UNKNOWN CASE: {verdict}")));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let head = ["client", "transport", "case", "result"].map(str::to_owned);
        for [client, transport, case, verdict] in [&head].into_iter().chain(&self.rows) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{client:<11} {transport:<17} {case:<15} {verdict}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, Table};
    use std::collections::BTreeMap;

    #[test]
    fn a_case_that_was_not_run_has_failed() {
        let client = &CLIENTS[1];
        let all = |verdict: &str| -> BTreeMap<String, String> {
            let cases = client.cases.iter();
            cases
                .map(|case| ((*case).to_owned(), verdict.to_owned()))
                .collect()
        };
        let failed = |verdicts: &BTreeMap<String, String>| {
            let mut table = Table::default();
            table.add(client, "stdio", verdicts);
            assert!(table.rows.len() >= client.cases.len());
            table.failed
        };
        assert_eq!(failed(&all("ok")), 0);
        assert_eq!(failed(&BTreeMap::new()), client.cases.len());
        assert_eq!(failed(&all("FAILED: no")), client.cases.len());
        let mut more = all("ok");
        more.insert("more".to_owned(), "ok".to_owned());
        assert_eq!(failed(&more), 1);
    }
}
