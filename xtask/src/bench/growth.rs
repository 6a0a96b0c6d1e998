//! `docs/benchmarks-growth.svg`: how B2, B3, B4 and B7 grow over four decades.

use super::PACKAGE;
use super::measure::{binary, lines};
use super::plot::{Curve, plot};
use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use jobs_bench::growth::Point;

/// Measures the curves and draws them.
pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let mut points: Vec<Point> = lines(binary(workspace, PACKAGE).arg("growth"))?;
    points.extend(lines::<Point>(binary(workspace, "heap").arg("--growth"))?);
    let mut curves: Vec<Curve> = Vec::new();
    for Point { curve, jobs, value } in points {
        println!("{curve}: {value:.0} at {jobs}");
        match curves.iter_mut().find(|other| other.name == curve) {
            Some(known) => known.points.push((jobs, value)),
            None => curves.push(Curve {
                name: curve,
                points: vec![(jobs, value)],
            }),
        }
    }
    let path = workspace.root().join("docs/benchmarks-growth.svg");
    std::fs::write(&path, plot(&curves)).context("failed to write the plot")?;
    println!("wrote {}", path.display());
    Ok(())
}
