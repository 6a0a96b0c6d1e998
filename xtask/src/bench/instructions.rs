//! How many instructions the hot operations take, by callgrind: the same on a busy machine.
//!
//! An operation is counted as the difference of two runs of different lengths, so that neither the start of the
//! process nor the preparation counts. Copies of the C library are kept to one algorithm, which it otherwise chooses
//! by the processor's caches. The program is started by the same name wherever it lies: the length of its name moves
//! its buffers, and a copy of 64 KiB takes up to a thousand instructions more from one address than from another.

use super::PACKAGE;
use super::measure::output;
use crate::workspace::{Workspace, execute};
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The committed counts.
const FILE: &str = "benches/instructions.tsv";

const HEAD: &str =
    "# Instructions of the hot operations; cargo xtask bench --instructions --write\n";

/// How far a count may be from one that the same tools made, in per cent. The seeds of hashes move it by less than a
/// tenth.
const TOLERANCE: u64 = 1;

/// The same where other tools counted: another compiler or C library computes the same in other instructions.
const OTHER_TOOLS_TOLERANCE: u64 = 20;

/// No string instruction and no cache-dependent copy.
const ONE_COPY: &str =
    "glibc.cpu.x86_rep_movsb_threshold=0x40000000:glibc.cpu.x86_non_temporal_threshold=0x40000000";

/// Counts, and compares or writes.
///
/// # Errors
///
/// If a count is out of tolerance, above or below: a cheaper operation is committed too, or the next regression
/// would hide in it.
pub(super) fn run(workspace: &Workspace, write: bool) -> Result<()> {
    let mut build = workspace.cargo();
    build.args(["build", "--release", "--package", PACKAGE]);
    execute(build.args(["--bin", PACKAGE]))?;
    let folder = workspace.target_directory().join("release");
    let scratch = workspace.target_directory().join("instructions");
    std::fs::create_dir_all(&scratch).context("failed to make a scratch folder")?;
    let mut counted = BTreeMap::new();
    for line in output(Command::new(folder.join(PACKAGE)).arg("hot-names"))?.lines() {
        let (batch, name) = line
            .split_once('\t')
            .context("expected a size and a name")?;
        let batch: u64 = batch.parse().context("expected a size")?;
        // The first samples warm up: tables grow, and the retention reaches its bound.
        let few = instructions(&folder, &scratch, name, 3)?;
        let more = instructions(&folder, &scratch, name, 5)?;
        let count = (more - few) / (2 * batch);
        println!("{count:>10}  {name}");
        counted.insert(name.to_owned(), count);
    }
    let file = workspace.root().join(FILE);
    let tools = tools()?;
    if write {
        let mut text = format!("{HEAD}# {tools}\n");
        for (name, count) in &counted {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{count}\t{name}");
        }
        return std::fs::write(file, text).with_context(|| format!("failed to write {FILE}"));
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("failed to read {FILE}"))?;
    let tolerance = if text
        .lines()
        .any(|line| line.strip_prefix("# ") == Some(&tools))
    {
        TOLERANCE
    } else {
        println!(
            "the committed counts are of other tools than {tools}: {OTHER_TOOLS_TOLERANCE} % allowed"
        );
        OTHER_TOOLS_TOLERANCE
    };
    let differences = compare(&read(&text)?, &counted, tolerance);
    if differences.is_empty() {
        return Ok(());
    }
    bail!(
        "{}\nmend it, or say why in the commit of cargo xtask bench --instructions --write",
        differences.join("\n")
    )
}

/// What makes the counts: another compiler, C library or counter may count otherwise.
fn tools() -> Result<String> {
    let version = |program: &str, argument: &str| -> Result<String> {
        Ok(output(Command::new(program).arg(argument))?
            .trim()
            .to_owned())
    };
    Ok([
        version("rustc", "--version")?,
        version("getconf", "GNU_LIBC_VERSION")?,
        version("valgrind", "--version")?,
    ]
    .join(", "))
}

/// All instructions of a run of `samples` samples of the program in `folder`.
fn instructions(folder: &Path, scratch: &Path, name: &str, samples: u32) -> Result<u64> {
    let counts = scratch.join("callgrind.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.current_dir(folder);
    valgrind.env("GLIBC_TUNABLES", ONE_COPY);
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.display()));
    valgrind
        .arg(format!("./{PACKAGE}"))
        .args(["hot", name, "--samples", &samples.to_string()]);
    output(&mut valgrind)?;
    let text = std::fs::read_to_string(&counts).context("failed to read the counts")?;
    total(&text).context("expected callgrind's totals")
}

/// The total of a file of callgrind.
fn total(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals: "))?;
    line.trim().parse().ok()
}

fn read(text: &str) -> Result<BTreeMap<String, u64>> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (count, name) = line
                .split_once('\t')
                .context("expected a count and a name")?;
            Ok((name.to_owned(), count.parse().context("expected a count")?))
        })
        .collect()
}

/// What is further apart than `tolerance` per cent, or on one side only.
fn compare(
    committed: &BTreeMap<String, u64>,
    counted: &BTreeMap<String, u64>,
    tolerance: u64,
) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, count) in counted {
        match committed.get(name) {
            None => differences.push(format!("{name}: {count} instructions, none committed")),
            Some(before) if count.abs_diff(*before) * 100 > before * tolerance => {
                differences.push(format!(
                    "{name}: {count} instructions, {before} committed, {tolerance} % allowed"
                ));
            }
            Some(_) => {}
        }
    }
    let gone = committed.keys().filter(|name| !counted.contains_key(*name));
    differences.extend(gone.map(|name| format!("{name}: committed, but not counted any more")));
    differences
}

#[cfg(test)]
mod tests {
    use super::{OTHER_TOOLS_TOLERANCE, TOLERANCE, compare, read, total};

    #[test]
    fn a_count_out_of_tolerance_is_a_difference_either_way() {
        let committed =
            read("# head\n100\ta\n100\tb\n100\tc\n100\td\n100\tgone\n").expect("counts");
        let counted = read("101\ta\n102\tb\n99\tc\n98\td\n7\tnew\n").expect("counts");
        let differences = compare(&committed, &counted, TOLERANCE);
        let names: Vec<_> = differences
            .iter()
            .filter_map(|line| line.split(':').next())
            .collect();
        assert_eq!(names, ["b", "d", "new", "gone"]);
        let differences = compare(&committed, &counted, OTHER_TOOLS_TOLERANCE);
        assert_eq!(differences.len(), 2, "{differences:?}");
    }

    #[test]
    fn the_total_of_callgrind() {
        assert_eq!(total("fn=a\n1 2\ntotals: 1234\n"), Some(1234));
        assert_eq!(total("fn=a\n"), None);
    }
}
