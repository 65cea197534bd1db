//! Mean hops over offered load: how far detours lead at each load.

use std::collections::BTreeMap;

use flitlab::registry::Row;
use flitlab::report::figure::{Draw, FigureKind, FigureTask, Named, Scale, Series, Style};
use flitlab::report::figure::{only, xy_figure};

/// The figure.
pub static HOPS: Row<FigureKind> = Row::new(
    "hops",
    "Mean hops of packets over offered load.",
    FigureKind::new("a load of which packets have arrived", Draw::Group(draw)),
);

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let mut series: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for point in task.points {
        if let (Some(load), Some(hops)) = (point.measured.offered_load, point.measured.hops_mean) {
            series.entry(&point.label.series).or_default().push((load, hops));
        }
    }
    let series: Vec<Series> = series
        .into_iter()
        .map(|(label, points)| Series { label: label.into(), style: Style::Curve, points })
        .collect();
    if series.is_empty() {
        return Vec::new();
    }
    let (x, y) = (("Offered load", Scale::Linear), ("Mean hops", Scale::Linear));
    only(xy_figure(task.title, x, y, &series))
}
