//! Curves of points, the points that are one, and the intervals of their means.

use std::collections::BTreeMap;

use serde::Serialize;

use flitlab_model::interval::half_width_95_of_few;
use flitlab_report::comparison::{Estimate, load_key, worst};
use flitlab_report::{Point, PointRow, Status};

/// Decimals of a load that tell points apart.
const SCALE: f64 = 1e6;

/// A series: its points in ascending offered load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Curve {
    /// The series without its seed.
    pub series: String,
    /// The series without the figure's name, too.
    pub name: String,
    pub figure: String,
    pub points: Vec<CurvePoint>,
}

/// The runs of one load, which differ in their seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CurvePoint {
    /// Places of the runs among the result's rows.
    pub rows: Vec<usize>,
    /// The worst of the runs.
    pub status: Status,
    /// Half widths of the 95% confidence intervals, by column.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub halves: BTreeMap<&'static str, f64>,
}

/// The curves of a result, in the order in which their series appear.
pub(super) fn curves(points: &[Point]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    let mut loads: Vec<BTreeMap<Option<i128>, Vec<usize>>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (place, row) in points.iter().enumerate() {
        let series = row.label.series_without_seed();
        let at = *known.entry(series.clone()).or_insert(curves.len());
        if at == curves.len() {
            let parts = series.split(", ").filter(|part| *part != row.label.figure);
            let name = parts.collect::<Vec<_>>().join(", ");
            let figure = row.label.figure.clone();
            curves.push(Curve { series, name, figure, points: Vec::new() });
            loads.push(BTreeMap::new());
        }
        loads[at].entry(row.measured.offered().map(load_key)).or_default().push(place);
    }
    for (curve, loads) in curves.iter_mut().zip(loads) {
        curve.points = loads.into_values().map(|rows| CurvePoint::new(rows, points)).collect();
    }
    curves
}

impl CurvePoint {
    fn new(rows: Vec<usize>, points: &[Point]) -> Self {
        let runs: Vec<&Point> = rows.iter().map(|&row| &points[row]).collect();
        let measured = PointRow::COLUMNS.iter().filter(|column| column.role.is_measured());
        let halves = measured.filter_map(|column| {
            let runs: Vec<_> =
                runs.iter().filter_map(|run| column.estimate(&run.measured)).collect();
            // What has no interval of its own, such as a percentile, has that of its repetitions, as in
            // means.csv.
            let of_few =
                || half_width_95_of_few(&runs.iter().map(|(value, _)| *value).collect::<Vec<_>>());
            let half = Estimate::of_runs(&runs)?.half_width().or_else(of_few)?;
            // The digits of points.csv.
            Some((column.name, (half * SCALE).round() / SCALE))
        });
        Self { halves: halves.collect(), status: worst(&runs), rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::units::Picoseconds;
    use flitlab_report::Label;

    fn row(series: &str, load: f64, seed: u64, status: Status) -> Point {
        let (series, figure) = (series.into(), "tornado".into());
        Point {
            label: Label { series, figure, seed, ..Label::default() },
            measured: PointRow {
                status,
                offered_load: Some(load),
                packet_latency_mean: Some(Picoseconds(100_000)),
                packet_latency_mean_ci95: Some(Picoseconds(5_000)),
                packet_latency_p99: Some(Picoseconds(200_000 + 2_000 * seed)),
                ..PointRow::default()
            },
            ..Point::default()
        }
    }

    #[test]
    fn seeds_are_one_point_and_loads_ascend() {
        let rows = [
            row("tornado, bfs, seed 1", 0.2, 1, Status::Steady),
            row("tornado, bfs, seed 2", 0.1, 2, Status::Steady),
            row("tornado, bfs, seed 1", 0.1, 1, Status::NotSteady),
            row("tornado, sssp", 0.1, 1, Status::Steady),
        ];
        let curves = curves(&rows);
        assert_eq!(curves.len(), 2);
        assert_eq!((curves[0].name.as_str(), curves[0].series.as_str()), ("bfs", "tornado, bfs"));
        assert_eq!(curves[0].points[0].rows, [1, 2]);
        assert_eq!(curves[0].points[0].status, Status::NotSteady);
        // Two runs of +-5: the root of the sum of squares over two.
        assert_eq!(curves[0].points[0].halves["packet_latency_mean_ns"], 3.535_534);
        // A percentile has the interval of its repetitions: 200 +- 2, twice.
        let tail = curves[0].points[0].halves["packet_latency_p99_ns"];
        assert!((tail - 12.706_205).abs() < 1e-5, "{tail}");
        assert_eq!(curves[0].points[1].halves["packet_latency_mean_ns"], 5.0);
        assert_eq!(curves[0].points[1].halves.len(), 1);
    }
}
