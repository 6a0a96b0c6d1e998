//! Measures the rows that one process can measure, and prints a line of JSON for each figure.

use clap::Parser;
use jobs_bench::effort::Effort;
use jobs_bench::rows;

/// Measures rows.
#[derive(Debug, Parser)]
struct Args {
    /// Only this row, such as B1
    #[arg(long)]
    row: Option<String>,
    /// How often each side is sampled, at least 5
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(5..))]
    runs: u16,
    /// Everything once and small, to see that it works
    #[arg(long)]
    smoke: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let effort = if args.smoke {
        Effort::Smoke
    } else {
        Effort::Full {
            runs: args.runs.into(),
        }
    };
    let wanted = |name: &str| args.row.as_ref().is_none_or(|row| row == name);
    let mut measured = false;
    for (_, measure) in rows::ALL.iter().filter(|(name, _)| wanted(name)) {
        measured = true;
        for figure in measure(effort) {
            println!("{}", serde_json::to_string(&figure)?);
        }
    }
    if measured {
        return Ok(());
    }
    let names: Vec<_> = rows::ALL.iter().map(|(name, _)| *name).collect();
    Err(format!("there is no such row: expected one of {}", names.join(", ")).into())
}
