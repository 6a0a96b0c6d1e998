//! A small plot as SVG: logarithmic in both directions, one line a curve.

use std::fmt::Write as _;

/// One line.
pub(super) struct Curve {
    pub(super) name: String,
    /// How many jobs, and what it costs then.
    pub(super) points: Vec<(u64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
/// Left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (70.0, 190.0, 30.0, 50.0);
const COLOURS: [&str; 4] = ["#1b6ca8", "#c44536", "#3a7d44", "#7b4fa3"];

/// The whole decades around the values of one direction.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn around(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let logarithms = values.map(|value| value.max(1.0).log10());
        let from = logarithms.clone().fold(f64::INFINITY, f64::min).floor();
        let to = logarithms.fold(f64::NEG_INFINITY, f64::max).ceil();
        Self {
            from,
            to: to.max(from + 1.0),
            start,
            end,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.max(1.0).log10() - self.from) / (self.to - self.from);
        self.start + share * (self.end - self.start)
    }

    /// The decades, each with its place.
    fn decades(&self) -> impl Iterator<Item = (f64, f64)> {
        let first = std::iter::successors(Some(self.from), |decade| Some(decade + 1.0));
        first
            .take_while(|decade| *decade <= self.to)
            .map(|decade| (10_f64.powf(decade), self.place(10_f64.powf(decade))))
    }
}

/// Draws the curves.
#[expect(
    clippy::cast_precision_loss,
    reason = "a place in a plot is rounded far above that"
)]
pub(super) fn plot(curves: &[Curve]) -> String {
    let (left, right, top, bottom) = MARGIN;
    let points = || curves.iter().flat_map(|curve| curve.points.iter());
    let x = Axis::around(points().map(|(jobs, _)| *jobs as f64), left, WIDTH - right);
    let y = Axis::around(points().map(|(_, value)| *value), HEIGHT - bottom, top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // Writing to a string cannot fail.
    for (value, at) in x.decades() {
        let (end, label) = (HEIGHT - bottom, HEIGHT - bottom + 18.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {top}V{end}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{label}\" \
             text-anchor=\"middle\">{}</text>",
            short(value)
        );
    }
    for (value, at) in y.decades() {
        let (end, label, base) = (WIDTH - right, left - 8.0, at + 4.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {at:.1}H{end}\" stroke=\"#ddd\"/><text x=\"{label}\" y=\"{base:.1}\" \
             text-anchor=\"end\">{}</text>",
            short(value)
        );
    }
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let places: Vec<_> = curve
            .points
            .iter()
            .map(|(jobs, value)| format!("{:.1} {:.1}", x.place(*jobs as f64), y.place(*value)))
            .collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            places.join("L")
        );
        if let Some((jobs, value)) = curve.points.last() {
            let (at, base) = (x.place(*jobs as f64) + 8.0, y.place(*value) + 4.0);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{base:.1}\" fill=\"{colour}\">{}</text>",
                curve.name
            );
        }
    }
    let (middle, base) = (f64::midpoint(left, WIDTH - right), HEIGHT - 10.0);
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{base}\" text-anchor=\"middle\">finished jobs that are kept</text>\n</svg>"
    );
    svg
}

/// `1`, `100`, `1k`, `1M`.
fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.0}M", value / 1e6),
        value if value >= 1e3 => format!("{:.0}k", value / 1e3),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Curve, plot, short};

    #[test]
    fn an_axis_spans_whole_decades() {
        let axis = Axis::around([20.0, 3_000.0].into_iter(), 0.0, 300.0);
        let decades: Vec<_> = axis.decades().collect();
        let expected = [
            (10.0, 0.0),
            (100.0, 100.0),
            (1_000.0, 200.0),
            (10_000.0, 300.0),
        ];
        for ((value, at), (expected_value, expected_at)) in decades.iter().zip(expected) {
            assert!((value - expected_value).abs() < 1e-6 && (at - expected_at).abs() < 1e-6);
        }
        assert_eq!(decades.len(), expected.len());
    }

    #[test]
    fn each_curve_is_a_line_with_its_name() {
        let curve = |name: &str| Curve {
            name: name.to_owned(),
            points: vec![(1_000, 10.0), (10_000, 10.0)],
        };
        let svg = plot(&[curve("first"), curve("second")]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("stroke-width=\"2\"").count(), 2);
        assert!(svg.contains(">first<") && svg.contains(">second<"));
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([1.0, 100.0, 1e3, 1e6].map(short), ["1", "100", "1k", "1M"]);
    }
}
