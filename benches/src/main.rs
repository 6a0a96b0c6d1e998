//! Measures the rows that one process can measure, and prints a line of JSON for each figure.

use std::hint::black_box;

use clap::{Parser, Subcommand};
use jobs_bench::effort::Effort;
use jobs_bench::{growth, hot, rows};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Measures rows.
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Measure rows beside their floors
    Rows(Rows),
    /// Do a hot operation, for something else to count
    Hot {
        /// The name of the operation
        name: String,
        /// How many samples of it
        #[arg(long, default_value_t = 1)]
        samples: u32,
    },
    /// Measure how the costs grow, and print a line of JSON for each point
    Growth,
    /// Print the hot operations: the size of a sample, a tab, the name
    HotNames,
}

#[derive(Debug, clap::Args)]
struct Rows {
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

fn main() -> Outcome {
    match Args::parse().what {
        What::Rows(args) => measure(&args),
        What::Hot { name, samples } => {
            let hot = hot::ALL.iter().find(|hot| hot.name == name);
            let hot = hot.ok_or_else(|| format!("there is no hot operation {name}"))?;
            let mut side = (hot.side)(hot.batch);
            for _ in 0..samples {
                black_box(side.sample());
            }
            Ok(())
        }
        What::Growth => {
            for point in growth::times() {
                println!("{}", serde_json::to_string(&point)?);
            }
            Ok(())
        }
        What::HotNames => {
            for hot in hot::ALL {
                println!("{}\t{}", hot.batch, hot.name);
            }
            Ok(())
        }
    }
}

fn measure(args: &Rows) -> Outcome {
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
