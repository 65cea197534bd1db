//! Which points of a result a figure shows that has room for a few of them only.

use super::super::{ChannelRow, LatencyRow, PointRow, Status, WindowRow};
use super::curves::{number_of, series_of};

/// A row that belongs to a point.
pub(super) trait OfPoint {
    fn place(&self) -> (&str, u32);
}

impl OfPoint for ChannelRow {
    fn place(&self) -> (&str, u32) {
        (&self.series, self.point)
    }
}

impl OfPoint for LatencyRow {
    fn place(&self) -> (&str, u32) {
        (&self.series, self.point)
    }
}

impl OfPoint for WindowRow {
    fn place(&self) -> (&str, u32) {
        (&self.series, self.point)
    }
}

/// A point that is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub series: String,
    /// The series' number among all.
    pub number: usize,
    pub point: u32,
    /// `load 0.3`, or nothing if the point has none.
    pub load: String,
}

/// The series that have rows.
pub(super) fn series_with_rows<R: OfPoint>(rows: &[R]) -> Vec<String> {
    series_of(rows.iter().map(|row| row.place().0))
}

/// The point of a series to be shown: with a load given that or the nearest, otherwise the highest
/// steady load, or the highest if none is steady. Of equal loads, the first. Points without rows don't
/// count.
pub(super) fn point<R: OfPoint>(
    points: &[PointRow],
    rows: &[R],
    all: &[String],
    series: &str,
    load: Option<f64>,
) -> Shown {
    let numbers = numbers(rows, series);
    let of_series = points
        .iter()
        .filter(|row| row.series == series && numbers.binary_search(&row.point).is_ok());
    let better = |best: &PointRow, row: &PointRow| match load {
        Some(load) => (load_of(row) - load).abs() < (load_of(best) - load).abs(),
        None => (is_steady(row), load_of(row)) > (is_steady(best), load_of(best)),
    };
    let chosen = of_series.reduce(|best, row| if better(best, row) { row } else { best });
    Shown {
        series: series.into(),
        number: number_of(all, series),
        point: chosen.map_or(numbers.first().copied().unwrap_or(0), |row| row.point),
        load: chosen.map(load_text).unwrap_or_default(),
    }
}

/// A point of each of several series, all at one load if they can be; up to `most` points of a single
/// one, from its lowest to its highest steady load.
pub(super) fn loads<R: OfPoint>(
    points: &[PointRow],
    rows: &[R],
    series: &[String],
    load: Option<f64>,
    most: usize,
) -> Vec<Shown> {
    let with_rows: Vec<&String> =
        series.iter().filter(|name| !numbers(rows, name).is_empty()).collect();
    if let ([only], None) = (&with_rows[..], load) {
        return spread(points, rows, series, only, most);
    }
    let load = load.or_else(|| common_load(points, rows, &with_rows));
    with_rows.iter().map(|name| point(points, rows, series, name, load)).collect()
}

/// Up to `most` steady points of a series, evenly.
fn spread<R: OfPoint>(
    points: &[PointRow],
    rows: &[R],
    all: &[String],
    series: &str,
    most: usize,
) -> Vec<Shown> {
    let steady = steady_points(points, rows, series);
    if steady.is_empty() {
        return vec![point(points, rows, all, series, None)];
    }
    let count = most.min(steady.len());
    let place = |at: usize| if count == 1 { 0 } else { at * (steady.len() - 1) / (count - 1) };
    let shown = |at: usize| Shown {
        series: series.into(),
        number: number_of(all, series),
        point: steady[place(at)].point,
        load: load_text(steady[place(at)]),
    };
    (0..count).map(shown).collect()
}

/// The highest load that is steady in every series.
fn common_load<R: OfPoint>(points: &[PointRow], rows: &[R], series: &[&String]) -> Option<f64> {
    let steady: Vec<Vec<&PointRow>> =
        series.iter().map(|name| steady_points(points, rows, name)).collect();
    let everywhere =
        |load: f64| steady.iter().all(|points| points.iter().any(|row| load_of(row) == load));
    let loads = steady.first()?.iter().rev().map(|row| load_of(row));
    loads.into_iter().find(|&load| everywhere(load))
}

/// The steady points of a series in ascending load, one of each load.
fn steady_points<'p, R: OfPoint>(
    points: &'p [PointRow],
    rows: &[R],
    series: &str,
) -> Vec<&'p PointRow> {
    let numbers = numbers(rows, series);
    let mut steady: Vec<&PointRow> = points
        .iter()
        .filter(|row| row.series == series && is_steady(row))
        .filter(|row| numbers.binary_search(&row.point).is_ok())
        .collect();
    steady.sort_by(|a, b| load_of(a).total_cmp(&load_of(b)));
    steady.dedup_by(|a, b| load_of(a) == load_of(b) && a.offered_load.is_some());
    steady
}

/// The points of a series that have rows, in ascending order.
fn numbers<R: OfPoint>(rows: &[R], series: &str) -> Vec<u32> {
    let own = rows.iter().map(OfPoint::place).filter(|place| place.0 == series);
    let mut numbers: Vec<u32> = own.map(|place| place.1).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn is_steady(row: &PointRow) -> bool {
    matches!(row.status, Status::Steady | Status::Completed)
}

fn load_of(row: &PointRow) -> f64 {
    row.offered_load.or(row.offered_payload).unwrap_or(0.0)
}

fn load_text(row: &PointRow) -> String {
    match (row.offered_load, row.offered_payload) {
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
    use super::*;

    fn results(steady: &[(&str, f64)]) -> (Vec<PointRow>, Vec<LatencyRow>) {
        let mut points = Vec::new();
        for series in ["a", "b"] {
            for number in 0..8u32 {
                let load = f64::from(number + 1) / 10.0;
                let limit = steady.iter().find(|limit| limit.0 == series).map_or(1.0, |it| it.1);
                points.push(PointRow {
                    series: series.into(),
                    point: number,
                    status: if load <= limit { Status::Steady } else { Status::NotSteady },
                    offered_load: Some(load),
                    ..PointRow::default()
                });
            }
        }
        let row = |row: &PointRow| LatencyRow {
            series: row.series.clone(),
            point: row.point,
            ..LatencyRow::default()
        };
        let rows = points.iter().map(row).collect();
        (points, rows)
    }

    #[test]
    fn several_series_are_shown_at_the_highest_load_steady_for_all() {
        let (points, rows) = results(&[("a", 0.7), ("b", 0.4)]);
        let all = series_with_rows(&rows);
        let loads = |load| -> Vec<String> {
            loads(&points, &rows, &all, load, 4).into_iter().map(|shown| shown.load).collect()
        };
        assert_eq!(loads(None), ["load 0.4", "load 0.4"]);
        assert_eq!(loads(Some(0.61)), ["load 0.6", "load 0.6"]);
    }

    #[test]
    fn one_series_is_shown_from_its_lowest_to_its_highest_steady_load() {
        let (points, rows) = results(&[("a", 0.7)]);
        let points: Vec<PointRow> = points.into_iter().filter(|row| row.series == "a").collect();
        let rows: Vec<LatencyRow> = rows.into_iter().filter(|row| row.series == "a").collect();
        let shown = loads(&points, &rows, &["a".to_owned()], None, 4);
        let loads: Vec<&str> = shown.iter().map(|shown| shown.load.as_str()).collect();
        assert_eq!(loads, ["load 0.1", "load 0.3", "load 0.5", "load 0.7"]);
        assert_eq!(point(&points, &rows, &["a".to_owned()], "a", None).load, "load 0.7");
    }
}
