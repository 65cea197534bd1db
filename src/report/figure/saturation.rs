//! The highest loads that networks sustain, side by side.

use super::super::comparison::SustainedLoad;
use super::super::{PointRow, Status};
use super::Figure;
use super::axis::Axis;
use super::bars::{self, BarChart};
use super::curves::{Curves, Quantity, series_of};
use super::groups::{Value, groups};
use super::legend::{Legend, Sample};
use super::names;
use super::palette::BLACK;

/// The highest load that a series sustains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sustained {
    /// The figure that its curve is in, such as a pattern; may be empty.
    pub figure: String,
    /// Without what the figure is called.
    pub series: String,
    pub load: f64,
    /// The lowest load that was tried and not sustained.
    pub failed: Option<f64>,
}

/// The highest sustained load of each series: what a search found, or else the highest steady load of a
/// grid. Whiskers go up to the lowest load that was not sustained.
///
/// Series are grouped by the figure that they belong to, else by the first part of their names if all
/// combinations of first parts and others are there, such as patterns and routings.
#[must_use]
pub fn saturation_figure(points: &[PointRow], found: &[SustainedLoad], title: &str) -> Figure {
    let sustained = sustained(points, found);
    let series = series_of(sustained.iter().map(|it| it.series.as_str()));
    Figure::of_bars(chart(&sustained, quantity(points), &series, title))
}

/// What a search found, or what a grid shows. Points have their figure's name in their series.
pub(super) fn sustained(points: &[PointRow], found: &[SustainedLoad]) -> Vec<Sustained> {
    let split = |name: &str| {
        let row = points.iter().find(|row| row.series == name);
        let figure = row.map_or("", |row| row.figure.as_str());
        (figure.to_owned(), names::without(name, figure))
    };
    if !found.is_empty() {
        let found = found.iter().map(|found| {
            let (figure, series) = split(&found.series);
            let (load, failed) = (found.sustained_load, found.lowest_load_not_sustained);
            Sustained { figure, series, load, failed }
        });
        return found.collect();
    }
    let curves = Curves::new(points).curves.into_iter().filter(|curve| curve.points.len() > 1);
    curves
        .map(|curve| {
            let (figure, series) = split(&curve.label);
            let first = curve.points.iter().find(|point| !point.is_steady());
            let failed = first.map(|point| point.offered);
            let below = curve.points.iter().take_while(|point| point.is_steady());
            let load = below.last().map_or(0.0, |point| point.offered);
            Sustained { figure, series, load, failed }
        })
        .collect()
}

/// Whether there is something to compare, and something saturates.
pub(super) fn has_bars(sustained: &[Sustained]) -> bool {
    sustained.len() > 1 && sustained.iter().any(|it| it.failed.is_some())
}

/// What the loads are counted in.
pub(super) fn quantity(points: &[PointRow]) -> Quantity {
    let load =
        points.iter().all(|row| row.status == Status::Completed || row.offered_load.is_some());
    if load { Quantity::Load } else { Quantity::Payload }
}

/// `series` has all series, in the order from which their colours follow.
pub(super) fn chart(
    sustained: &[Sustained],
    quantity: Quantity,
    series: &[String],
    title: &str,
) -> BarChart {
    let mut legend = Legend::default();
    let value = |it: &Sustained| Value {
        figure: it.figure.clone(),
        series: it.series.clone(),
        value: it.load,
        whisker: it.failed.map(|failed| (it.load, failed)),
    };
    let values: Vec<Value> = sustained.iter().map(value).collect();
    let groups = groups(&values, series, &mut legend);
    if sustained.iter().any(|it| it.failed.is_some()) {
        legend.key(Sample::Whisker(BLACK), "to the lowest load not sustained");
    }
    if sustained.iter().any(|it| it.failed.is_none()) {
        legend.note = Some("Without a whisker: sustained at every load tried.".into());
    }
    let axis = Axis::new(quantity.title("Highest sustained"), bars::highest(&groups) * 1.04);
    BarChart { title: title.into(), axis, groups, legend }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(series: &str, load: f64) -> SustainedLoad {
        SustainedLoad {
            series: series.into(),
            sustained_load: load,
            lowest_load_not_sustained: Some(load + 0.02),
        }
    }

    #[test]
    fn a_grid_sustains_what_lies_below_its_first_unsteady_load() {
        let row = |load: f64, status| PointRow {
            series: "tornado, ABR".into(),
            figure: "tornado".into(),
            status,
            offered_load: Some(load),
            ..PointRow::default()
        };
        let rows = [
            row(0.3, Status::NotSteady),
            row(0.1, Status::Steady),
            row(0.4, Status::Steady),
            row(0.2, Status::Steady),
        ];
        let [only] = &sustained(&rows, &[])[..] else { panic!("one series") };
        assert_eq!((only.figure.as_str(), only.series.as_str()), ("tornado", "ABR"));
        assert_eq!((only.load, only.failed), (0.2, Some(0.3)));
    }

    #[test]
    fn combinations_are_grouped_and_others_are_not() {
        let names = ["uniform, ABR", "uniform, POR", "tornado, ABR", "tornado, POR"];
        let all: Vec<SustainedLoad> = names.iter().map(|name| found(name, 0.5)).collect();
        let groups = |found: &[SustainedLoad]| {
            let sustained = sustained(&[], found);
            let series = series_of(sustained.iter().map(|it| it.series.as_str()));
            chart(&sustained, Quantity::Load, &series, "").groups
        };
        let grouped = groups(&all);
        assert_eq!((grouped.len(), grouped[0].bars.len()), (2, 2));
        assert_eq!(grouped[1].label, "tornado");
        assert_eq!(grouped[0].bars[0].colour, grouped[1].bars[0].colour);
        assert_ne!(grouped[0].bars[0].colour, grouped[0].bars[1].colour);
        let flat = groups(&all[..3]);
        assert_eq!((flat.len(), flat[2].label.as_str()), (3, "tornado, ABR"));
    }
}
