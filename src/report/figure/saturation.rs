//! The highest loads that networks sustain, side by side.

use super::super::comparison::SustainedLoad;
use super::super::{PointRow, Status};
use super::Figure;
use super::axis::Axis;
use super::bars::{self, Bar, BarChart, Group};
use super::curves::{Curves, Quantity, number_of, series_of};
use super::legend::{Legend, Sample};
use super::names;
use super::palette::{BAR, BLACK, of_series};

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
    let groups = grouped(sustained, series, &mut legend).unwrap_or_else(|| {
        let bar = |it: &Sustained| {
            let name = names::joined(&[&it.figure, &it.series]);
            let name = if name.is_empty() { "unnamed".into() } else { name };
            Group::of_one(&name, it.load, it.failed.map(|failed| (it.load, failed)), BAR)
        };
        sustained.iter().map(bar).collect()
    });
    if sustained.iter().any(|it| it.failed.is_some()) {
        legend.key(Sample::Whisker(BLACK), "to the lowest load not sustained");
    }
    if sustained.iter().any(|it| it.failed.is_none()) {
        legend.note = Some("Without a whisker: sustained at every load tried.".into());
    }
    let axis = Axis::new(quantity.title("Highest sustained"), bars::highest(&groups) * 1.04);
    BarChart { title: title.into(), axis, groups, legend }
}

/// Groups with a bar a series; `None` if the series are no combinations of two things.
fn grouped(sustained: &[Sustained], series: &[String], legend: &mut Legend) -> Option<Vec<Group>> {
    let parts: Vec<(String, String)> = if sustained.iter().all(|it| !it.figure.is_empty()) {
        sustained.iter().map(|it| (it.figure.clone(), it.series.clone())).collect()
    } else {
        let split = |it: &Sustained| {
            let parts = names::parts(&it.series);
            (parts.len() > 1).then(|| (parts[0].to_owned(), names::joined(&parts[1..])))
        };
        sustained.iter().map(split).collect::<Option<_>>()?
    };
    let names = series_of(parts.iter().map(|part| part.0.as_str()));
    let members = series_of(parts.iter().map(|part| part.1.as_str()));
    let crossed =
        names.len() > 1 && members.len() > 1 && names.len() * members.len() == parts.len();
    if !crossed {
        return None;
    }
    // Parts of series' names are no series that have colours elsewhere.
    let known = members.iter().all(|member| series.contains(member));
    let look = |member: &str| of_series(number_of(if known { series } else { &members }, member)).0;
    for member in &members {
        legend.series(Sample::Bar(look(member)), member.clone());
    }
    let group = |name: &String| {
        let own = parts.iter().zip(sustained).filter(|(part, _)| part.0 == *name);
        let bar = |(part, it): (&(String, String), &Sustained)| Bar {
            series: part.1.clone(),
            value: it.load,
            whisker: it.failed.map(|failed| (it.load, failed)),
            colour: look(&part.1),
        };
        Group { label: name.clone(), bars: own.map(bar).collect() }
    };
    Some(names.iter().map(group).collect())
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
