//! The fate of each series: how far it is steady, and its throughput.

use serde::Serialize;

use super::Reported;
use super::curves::Curve;
use flitlab_report::{Status, SustainedLoad};

/// A series in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SeriesLine {
    pub series: String,
    /// Loads, or exchanges.
    pub points: usize,
    /// The highest load below which all were steady; `None` if the first was not.
    pub steady_to: Option<f64>,
    /// The lowest load that was not shown to be steady.
    pub not_steady_from: Option<f64>,
    /// The lowest load that ended in a deadlock.
    pub deadlock_from: Option<f64>,
    /// The highest accepted load.
    pub accepted_most: Option<f64>,
    /// Of a search for saturation; the mean over its seeds.
    pub sustained: Option<f64>,
    pub not_sustained: Option<f64>,
    /// Mean packet latency at the lowest load, ns.
    pub lowest_latency: Option<f64>,
}

impl SeriesLine {
    /// The curve's line; `None` for finite exchanges.
    pub(super) fn of(curve: &Curve, result: &Reported) -> Option<Self> {
        let row = |place: usize| &result.points[place];
        let load = |place: usize| row(place).measured.offered();
        let first = |wanted: fn(Status) -> bool| {
            let point = curve.points.iter().find(|point| wanted(point.status))?;
            load(point.rows[0])
        };
        let good = curve.points.iter().take_while(|point| point.status == Status::Steady);
        let steady_to = good.last().and_then(|point| load(point.rows[0]));
        let rows = || curve.points.iter().flat_map(|point| &point.rows).map(|&place| row(place));
        rows().find_map(|row| row.measured.offered())?;
        let accepted = rows().filter_map(|row| row.measured.accepted());
        let searches: Vec<&SustainedLoad> = result
            .saturation
            .iter()
            .filter(|found| rows().any(|row| row.label.series == found.label.series))
            .collect();
        let over = |loads: Option<Vec<f64>>| {
            let loads = loads.filter(|loads| !loads.is_empty())?;
            Some(loads.iter().sum::<f64>() / loads.len() as f64)
        };
        let sustained = searches.iter().map(|it| Some(it.found.sustained_load)).collect();
        let failed = searches.iter().map(|it| it.found.lowest_load_not_sustained).collect();
        let lowest = curve.points.first().filter(|point| point.status == Status::Steady);
        let latency = lowest.and_then(|point| row(point.rows[0]).measured.packet_latency_mean);
        Some(Self {
            series: curve.series.clone(),
            points: curve.points.len(),
            steady_to,
            not_steady_from: first(Status::lacks_steady_state),
            deadlock_from: first(|status| status == Status::Deadlock),
            accepted_most: accepted.reduce(f64::max),
            sustained: over(sustained),
            not_sustained: over(failed),
            lowest_latency: latency.map(|time| time.0 as f64 / 1e3),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::curves;
    use flitlab_base::units::Picoseconds;
    use flitlab_report::{Label, Point, PointRow, Sustained};

    fn lines(rows: &[(&str, u64, f64, Status)], saturation: Vec<SustainedLoad>) -> Vec<SeriesLine> {
        let points = rows.iter().map(|&(series, seed, load, status)| Point {
            label: Label { series: series.into(), seed, ..Label::default() },
            measured: PointRow {
                offered_load: Some(load),
                accepted_load: Some(load.min(0.25)),
                packet_latency_mean: Some(Picoseconds(400_000)),
                status,
                ..PointRow::default()
            },
            ..Point::default()
        });
        let result = Reported { points: points.collect(), saturation, ..Reported::default() };
        curves(&result.points).iter().filter_map(|curve| SeriesLine::of(curve, &result)).collect()
    }

    #[test]
    fn a_series_is_steady_up_to_the_first_load_that_is_not() {
        use Status::{Deadlock, NotSteady, Steady};
        let rows = [
            ("a", 1, 0.3, NotSteady),
            ("a", 1, 0.2, Steady),
            ("a", 1, 0.4, Steady),
            ("b", 1, 0.1, Deadlock),
        ];
        let lines = lines(&rows, Vec::new());
        assert_eq!((lines[0].steady_to, lines[0].not_steady_from), (Some(0.2), Some(0.3)));
        assert_eq!((lines[0].accepted_most, lines[0].lowest_latency), (Some(0.25), Some(400.0)));
        assert_eq!((lines[1].steady_to, lines[1].deadlock_from), (None, Some(0.1)));
        assert_eq!(lines[1].lowest_latency, None);
    }

    #[test]
    fn searches_with_several_seeds_are_their_mean() {
        let search = |series: &str, sustained_load, failed| SustainedLoad {
            label: Label { series: series.into(), ..Label::default() },
            found: Sustained { sustained_load, lowest_load_not_sustained: failed },
        };
        let rows = [("seed 1", 1, 0.4, Status::Steady), ("seed 2", 2, 0.4, Status::Steady)];
        let found = vec![search("seed 1", 0.5, Some(0.55)), search("seed 2", 0.25, None)];
        let lines = lines(&rows, found);
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].sustained, lines[0].not_sustained), (Some(0.375), None));
    }
}
