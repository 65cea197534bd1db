//! The comparison as one JSON object.

use serde::Serialize;

use super::ComparisonReport;
use super::text::verdict;
use crate::cli::results::Results;
use flitlab::report::comparison::{ComparedPoint, PointKey};
use flitlab::scenario::Difference;

#[derive(Serialize)]
pub(super) struct Object<'r> {
    /// Whether B is as A: exit code 0.
    holds: bool,
    verdict: String,
    tolerance: f64,
    a: Side<'r>,
    b: Side<'r>,
    largest_change: Option<f64>,
    /// Null if a scenario isn't there.
    scenario: Option<&'r [Difference]>,
    points: &'r [ComparedPoint],
    only_in_a: &'r [PointKey],
    only_in_b: &'r [PointKey],
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Side<'r> {
    results: String,
    flitlab: Option<&'r str>,
    points: usize,
}

pub(super) fn object(report: &ComparisonReport) -> Object<'_> {
    Object {
        holds: report.holds(),
        verdict: verdict(report),
        tolerance: report.tolerance,
        a: side(&report.a),
        b: side(&report.b),
        largest_change: report.largest_change().and_then(|(_, values)| values.change),
        scenario: report.scenario.as_deref(),
        points: &report.found.points,
        only_in_a: &report.found.only_in_a,
        only_in_b: &report.found.only_in_b,
        notes: report.notes(),
    }
}

fn side(results: &Results) -> Side<'_> {
    Side {
        results: results.name(),
        flitlab: results.version.as_deref(),
        points: results.rows.points.len(),
    }
}
