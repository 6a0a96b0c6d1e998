//! How much memory the process holds, and how that grows.

use std::time::Instant;

/// Samples of the resident set.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    started: Option<Instant>,
    /// Minutes since the first, and MiB.
    samples: Vec<(f64, f64)>,
}

impl Memory {
    pub(crate) fn sample(&mut self) {
        let started = *self.started.get_or_insert_with(Instant::now);
        if let Some(mib) = resident() {
            let minutes = started.elapsed().as_secs_f64() / 60.0;
            self.samples.push((minutes, mib));
        }
    }

    /// MiB at the last sample.
    pub(crate) fn last(&self) -> f64 {
        self.samples.last().map_or(f64::NAN, |(_, mib)| *mib)
    }

    /// The slope, in MiB a minute, of the line that fits best, without the first
    /// third: until then tables grow to their size.
    pub(crate) fn slope(&self) -> Option<f64> {
        slope(&self.samples[self.samples.len() / 3..])
    }
}

/// Least squares; none for fewer than two different moments.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = f64::from(u32::try_from(points.len()).ok()?);
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let over: f64 = points.iter().map(|(a, b)| (a - x) * (b - y)).sum();
    let under: f64 = points.iter().map(|(a, _)| (a - x).powi(2)).sum();
    (under > 0.0).then(|| over / under)
}

/// The resident set in MiB (`proc_pid_status(5)`, `VmRSS`).
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_line() {
        let line: Vec<_> = (0..30)
            .map(|minute| (f64::from(minute), 5.0 + 2.5 * f64::from(minute)))
            .collect();
        let found = slope(&line).expect("a slope");
        assert!((found - 2.5).abs() < 1e-9, "{found}");
        assert_eq!(slope(&line[..1]), None);
        assert_eq!(slope(&[]), None);
    }

    #[test]
    fn the_first_third_does_not_count() {
        let samples = (0..30_u8).map(|minute| {
            let grown = f64::from(minute.min(10)) * 100.0;
            (f64::from(minute), grown)
        });
        let memory = Memory {
            started: None,
            samples: samples.collect(),
        };
        assert!(memory.slope().expect("a slope").abs() < 1e-9);
    }

    #[test]
    fn a_process_holds_memory() {
        assert!(resident().expect("a resident set") > 0.5);
    }
}
