//! The comparison as one JSON object.

use serde::Serialize;

use super::Report;
use super::text::{verdict, verdict_name};
use crate::cli::results::Results;
use flitlab::report::comparison::{ComparedPoint, Estimate, Place, Values};
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
    points: Vec<Point<'r>>,
    only_in_a: Vec<PlaceObject<'r>>,
    only_in_b: Vec<PlaceObject<'r>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Side<'r> {
    results: String,
    flitlab: Option<&'r str>,
    points: usize,
}

#[derive(Serialize)]
struct PlaceObject<'r> {
    series: &'r str,
    offered_load: Option<f64>,
}

#[derive(Serialize)]
struct Point<'r> {
    #[serde(flatten)]
    place: PlaceObject<'r>,
    verdict: &'static str,
    same_events: bool,
    state_a: &'static str,
    state_b: &'static str,
    values: Vec<Value>,
}

#[derive(Serialize)]
struct Value {
    measure: &'static str,
    a: Option<Estimate>,
    b: Option<Estimate>,
    /// Relative to A.
    change: Option<f64>,
    /// Whether the intervals have no value in common; null if one isn't known.
    significant: Option<bool>,
    verdict: &'static str,
}

pub(super) fn object(report: &Report) -> Object<'_> {
    Object {
        holds: report.holds(),
        verdict: verdict(report),
        tolerance: report.tolerance,
        a: side(&report.a),
        b: side(&report.b),
        largest_change: report.largest_change().and_then(|(_, values)| values.change()),
        scenario: report.scenario.as_deref(),
        points: report.found.points.iter().map(point).collect(),
        only_in_a: report.found.only_in_a.iter().map(place).collect(),
        only_in_b: report.found.only_in_b.iter().map(place).collect(),
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

fn place(place: &Place) -> PlaceObject<'_> {
    PlaceObject { series: &place.series, offered_load: place.offered_load }
}

fn point(point: &ComparedPoint) -> Point<'_> {
    Point {
        place: place(&point.place),
        verdict: verdict_name(point.verdict),
        same_events: point.same_events,
        state_a: point.state.0.name(),
        state_b: point.state.1.name(),
        values: point.values.iter().map(value).collect(),
    }
}

fn value(values: &Values) -> Value {
    Value {
        measure: values.measure.name(),
        a: values.a,
        b: values.b,
        change: values.change(),
        significant: values.significant(),
        verdict: verdict_name(values.verdict),
    }
}
