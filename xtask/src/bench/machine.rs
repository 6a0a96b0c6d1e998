//! Where and with what it was measured.

use super::measure::{Runs, output};
use anyhow::Result;
use std::process::Command;

/// How busy the machine was lately: the load of the last minute.
pub(super) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Lines of Markdown. `before` is the load before the run.
pub(super) fn describe(before: &str, runs: Runs) -> Result<String> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let models: Vec<_> = cpus
        .lines()
        .filter_map(|line| line.strip_prefix("model name"))
        .map(|rest| rest.trim_start_matches([' ', '\t', ':']))
        .collect();
    let memory = read("/proc/meminfo");
    let memory = memory
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .map_or_else(String::new, |kib| format!(", {} GiB", kib / 1024 / 1024));
    let kernel = read("/proc/sys/kernel/osrelease");
    let rustc = output(Command::new("rustc").arg("--version"))?;
    Ok(format!(
        "- Machine: {} × {}{memory}; Linux {}. Load {before} before, {} after: the fewer others, the better.\n\
         - Built by {} for release. Each side {runs} times by turns (quick rows ten times as often).\n",
        models.len(),
        models.first().copied().unwrap_or("an unknown processor"),
        kernel.trim(),
        load(),
        rustc.trim(),
    ))
}
