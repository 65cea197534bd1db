//! Which points of a result a figure shows that has room for a few of them only.

use super::super::{Point, PointRow};
use super::names::series_of;

/// Whether a point has what a figure draws.
pub(super) type Has = fn(&Point) -> bool;

/// A point that is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown<'p> {
    pub point: &'p Point,
    /// `load 0.3`, or nothing if the point has none.
    pub load: String,
}

impl<'p> Shown<'p> {
    fn new(point: &'p Point) -> Self {
        Self { point, load: load_text(&point.measured) }
    }
}

/// The series that have what is drawn.
pub(super) fn series_having(points: &[Point], has: Has) -> Vec<String> {
    let having = points.iter().filter(|point| has(point));
    series_of(having.map(|point| point.label.series.as_str()))
}

/// The point of a series to be shown: with a load given that or the nearest, otherwise the highest
/// steady load, or the highest if none is steady. Of equal loads, the first.
pub(super) fn point<'p>(
    points: &'p [Point],
    has: Has,
    series: &str,
    load: Option<f64>,
) -> Option<Shown<'p>> {
    best(of_series(points, has, series), load).map(Shown::new)
}

/// The point of one series to be shown, as [`point`].
fn best<'p>(points: impl Iterator<Item = &'p Point>, load: Option<f64>) -> Option<&'p Point> {
    let better = |best: &Point, other: &Point| {
        let (best, other) = (&best.measured, &other.measured);
        match load {
            Some(load) => (load_of(other) - load).abs() < (load_of(best) - load).abs(),
            None => {
                (other.status.is_good(), load_of(other)) > (best.status.is_good(), load_of(best))
            }
        }
    };
    points.reduce(|best, other| if better(best, other) { other } else { best })
}

/// Which points figures of single points show, of those that `have` what is drawn, by place: one of
/// each series. So only what is drawn of these has to be read.
pub fn points_shown(points: &[Point], have: &[bool], load: Option<f64>) -> Vec<bool> {
    let having = || points.iter().zip(have).filter(|(_, have)| **have).map(|(point, _)| point);
    let mut shown = vec![false; points.len()];
    for series in series_of(having().map(|point| point.label.series.as_str())) {
        let own = having().filter(|point| point.label.series == series);
        let best = best(own, load);
        let at = points.iter().position(|point| best.is_some_and(|it| std::ptr::eq(it, point)));
        if let Some(at) = at {
            shown[at] = true;
        }
    }
    shown
}

/// A point of each of several series, all at one load if they can be; up to `most` points of a
/// single one, from its lowest to its highest steady load.
pub(super) fn loads<'p>(
    points: &'p [Point],
    has: Has,
    load: Option<f64>,
    most: usize,
) -> Vec<Shown<'p>> {
    let series = series_having(points, has);
    if let ([only], None) = (&series[..], load) {
        return spread(points, has, only, most);
    }
    let load = load.or_else(|| common_load(points, has, &series));
    series.iter().filter_map(|name| point(points, has, name, load)).collect()
}

/// Up to `most` steady points of a series, evenly.
fn spread<'p>(points: &'p [Point], has: Has, series: &str, most: usize) -> Vec<Shown<'p>> {
    let steady = steady_points(points, has, series);
    if steady.is_empty() {
        return point(points, has, series, None).into_iter().collect();
    }
    let count = most.min(steady.len());
    let place = |at: usize| if count == 1 { 0 } else { at * (steady.len() - 1) / (count - 1) };
    (0..count).map(|at| Shown::new(steady[place(at)])).collect()
}

/// The highest load that is steady in every series.
fn common_load(points: &[Point], has: Has, series: &[String]) -> Option<f64> {
    let steady: Vec<Vec<&Point>> =
        series.iter().map(|name| steady_points(points, has, name)).collect();
    let everywhere = |load: f64| {
        steady.iter().all(|points| points.iter().any(|point| load_of(&point.measured) == load))
    };
    let loads = steady.first()?.iter().rev().map(|point| load_of(&point.measured));
    loads.into_iter().find(|&load| everywhere(load))
}

/// The steady points of a series in ascending load, one of each load.
fn steady_points<'p>(points: &'p [Point], has: Has, series: &str) -> Vec<&'p Point> {
    let steady = |point: &&Point| point.measured.status.is_good();
    let mut steady: Vec<&Point> = of_series(points, has, series).filter(steady).collect();
    let load = |point: &Point| load_of(&point.measured);
    steady.sort_by(|a, b| load(a).total_cmp(&load(b)));
    steady.dedup_by(|a, b| load(a) == load(b) && a.measured.offered_load.is_some());
    steady
}

/// The points of a series that have what is drawn.
fn of_series<'p>(points: &'p [Point], has: Has, series: &str) -> impl Iterator<Item = &'p Point> {
    points.iter().filter(move |point| point.label.series == series && has(point))
}

fn load_of(measured: &PointRow) -> f64 {
    measured.offered().unwrap_or(0.0)
}

fn load_text(measured: &PointRow) -> String {
    match (measured.offered_load, measured.offered_payload) {
        (Some(load), _) => format!("load {}", decimal(load)),
        (None, Some(payload)) => format!("{} GB/s per node", decimal(payload)),
        (None, None) => String::new(),
    }
}

/// Up to three decimals.
fn decimal(value: f64) -> String {
    format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::{Label, LatencyRow, Status};
    use super::*;

    fn results(steady: &[(&str, f64)]) -> Vec<Point> {
        let mut points = Vec::new();
        for series in ["a", "b"] {
            for number in 0..8u32 {
                let load = f64::from(number + 1) / 10.0;
                let limit = steady.iter().find(|limit| limit.0 == series).map_or(1.0, |it| it.1);
                points.push(Point {
                    label: Label { series: series.into(), point: number, ..Label::default() },
                    measured: PointRow {
                        status: if load <= limit { Status::Steady } else { Status::NotSteady },
                        offered_load: Some(load),
                        ..PointRow::default()
                    },
                    latencies: vec![LatencyRow::default()],
                    ..Point::default()
                });
            }
        }
        points
    }

    const HAS: Has = |point| !point.latencies.is_empty();

    #[test]
    fn several_series_are_shown_at_the_highest_load_steady_for_all() {
        let points = results(&[("a", 0.7), ("b", 0.4)]);
        let loads = |load| -> Vec<String> {
            loads(&points, HAS, load, 4).into_iter().map(|shown| shown.load).collect()
        };
        assert_eq!(loads(None), ["load 0.4", "load 0.4"]);
        assert_eq!(loads(Some(0.61)), ["load 0.6", "load 0.6"]);
    }

    #[test]
    fn one_series_is_shown_from_its_lowest_to_its_highest_steady_load() {
        let mut points = results(&[("a", 0.7)]);
        points.retain(|point| point.label.series == "a");
        let shown = loads(&points, HAS, None, 4);
        let loads: Vec<&str> = shown.iter().map(|shown| shown.load.as_str()).collect();
        assert_eq!(loads, ["load 0.1", "load 0.3", "load 0.5", "load 0.7"]);
        assert_eq!(point(&points, HAS, "a", None).unwrap().load, "load 0.7");
    }

    #[test]
    fn a_point_without_rows_is_not_shown() {
        let mut points = results(&[("a", 0.7)]);
        points[6].latencies.clear();
        assert_eq!(point(&points, HAS, "a", None).unwrap().load, "load 0.6");
        assert_eq!(point(&points, |_| false, "a", None), None);
    }
}
