//! What became of each series: how far it is steady, and what it carried.

use serde::Serialize;

use super::Reported;
use super::curves::Curve;
use crate::report::Status;

/// A series in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SeriesLine {
    pub series: String,
    /// Loads, or exchanges.
    pub points: usize,
    /// The highest load below which all were steady; `None` if the first was not.
    pub steady_to: Option<f64>,
    /// The lowest load that did not reach a steady state.
    pub not_steady_from: Option<f64>,
    /// The lowest load that ended in a deadlock.
    pub deadlock_from: Option<f64>,
    /// The highest accepted load.
    pub accepted_most: Option<f64>,
    /// Of a search for saturation.
    pub sustained: Option<f64>,
    pub not_sustained: Option<f64>,
    /// Mean packet latency at the lowest load, ns.
    pub lowest_latency: Option<f64>,
}

impl SeriesLine {
    /// The curve's line; `None` for finite exchanges.
    pub(super) fn of(curve: &Curve, result: &Reported) -> Option<Self> {
        let row = |place: usize| &result.points[place];
        let load = |place: usize| row(place).offered_load.or(row(place).offered_payload);
        let first = |status: Status| {
            let point = curve.points.iter().find(|point| point.status == status)?;
            load(point.rows[0])
        };
        let good = curve.points.iter().take_while(|point| point.status == Status::Steady);
        let steady_to = good.last().and_then(|point| load(point.rows[0]));
        let rows = || curve.points.iter().flat_map(|point| &point.rows).map(|&place| row(place));
        rows().find_map(|row| row.offered_load.or(row.offered_payload))?;
        let accepted = rows().filter_map(|row| row.accepted_load.or(row.accepted_payload));
        let found = result.saturation.iter().find(|found| found.series == curve.series);
        let lowest = curve.points.first().filter(|point| point.status == Status::Steady);
        let latency = lowest.and_then(|point| row(point.rows[0]).packet_latency_mean);
        Some(Self {
            series: curve.series.clone(),
            points: curve.points.len(),
            steady_to,
            not_steady_from: first(Status::NotSteady),
            deadlock_from: first(Status::Deadlock),
            accepted_most: accepted.reduce(f64::max),
            sustained: found.map(|found| found.sustained_load),
            not_sustained: found.and_then(|found| found.lowest_load_not_sustained),
            lowest_latency: latency.map(|time| time as f64 / 1e3),
        })
    }
}
