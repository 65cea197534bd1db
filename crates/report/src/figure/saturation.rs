//! The highest loads that networks sustain, side by side.

use super::super::saturation::SustainedLoads;
use super::super::{Label, Point, Status, SustainedLoad};
use super::axis::Axis;
use super::bars::{self, BarChart};
use super::curves::{Curves, Quantity};
use super::drawing::Figure;
use super::figure_style::LoadsIn;
use super::groups::{Value, groups};
use super::kind::{Draw, FigureKind, FigureTask, Named, only};
use super::legend::{Legend, Sample};
use super::names;
use super::palette::BLACK;
use super::scaling::scaling_key;
use super::style::Pens;
use flitlab_base::registry::Row;

impl FigureKind {
    /// `saturation`.
    pub const SATURATION: Row<Self> = Row::new(
        "saturation",
        "Highest sustained loads, as bars.",
        Self::new("two series, one of which saturates", Draw::Result(draw)),
    );
}

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let quantity = quantity(task.points, task.wish.look.loads);
    let sustained = sustained(task.points, task.saturation, quantity);
    // Where each series has one load, what it accepts over a key says more.
    let wanted = || task.asked || is_sought(&sustained) || scaling_key(task).is_none();
    if !has_bars(&sustained) || !wanted() {
        return Vec::new();
    }
    only(Figure::of_bars(chart(&sustained, quantity, task.pens, task.title)))
}

/// The meaning of a whisker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whisker {
    /// From the highest load that was sustained to the lowest that was not.
    Bounds,
    /// The 95% confidence interval of the mean over searches, and the step that they end with.
    Interval,
}

/// The highest load that a series sustains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Highest {
    /// The figure that its curve is in, such as a pattern; may be empty.
    pub figure: String,
    /// Without what the figure is called.
    pub series: String,
    /// Of several searches the mean.
    pub load: f64,
    pub whisker: Option<(Whisker, (f64, f64))>,
    /// Whether some load that was tried was not sustained.
    pub saturates: bool,
    /// Whether several loads were tried: one alone tells little.
    pub several: bool,
}

/// Returns the sustained loads that searches found, or that a grid shows. Points have their
/// figure's name in their series.
pub(super) fn sustained(
    points: &[Point],
    found: &[SustainedLoad],
    quantity: Quantity,
) -> Vec<Highest> {
    let split = |name: &str, figure: &str| (figure.to_owned(), names::without(name, figure));
    if !found.is_empty() {
        let of_series = |it: SustainedLoads<'_>| {
            let (figure, series) = split(&it.series, &it.label.figure);
            let shown = if it.searches > 1 { Whisker::Interval } else { Whisker::Bounds };
            // Searches find fractions of capacity.
            let size = match quantity {
                Quantity::Load => 1.0,
                Quantity::Payload => payload_of_load_1(points, it.label).unwrap_or(f64::NAN),
            };
            let whisker = it.interval.map(|(low, high)| (shown, (low * size, high * size)));
            let (load, saturates) = (it.mean * size, it.saturates);
            Highest { figure, series, load, whisker, saturates, several: true }
        };
        return SustainedLoads::of(found).into_iter().map(of_series).collect();
    }
    let loads = if quantity == Quantity::Payload { LoadsIn::Payload } else { LoadsIn::Usual };
    let curves = Curves::among(points, &Pens::default(), loads).curves.into_iter();
    curves
        .map(|curve| {
            let label = points.iter().map(|point| &point.label);
            let label = { label }.find(|label| label.series == curve.label);
            let figure = label.map_or("", |label| label.figure.as_str());
            let (figure, series) = split(&curve.label, figure);
            let first = curve.points.iter().find(|point| !point.is_steady());
            let below = curve.points.iter().take_while(|point| point.is_steady());
            let load = below.last().map_or(0.0, |point| point.offered);
            let whisker = first.map(|failed| (Whisker::Bounds, (load, failed.offered)));
            let (saturates, several) = (first.is_some(), curve.points.len() > 1);
            Highest { figure, series, load, whisker, saturates, several }
        })
        .collect()
}

/// Whether there is something to compare, and something saturates.
fn has_bars(sustained: &[Highest]) -> bool {
    sustained.len() > 1 && sustained.iter().any(|it| it.saturates)
}

/// Whether some series has tried more than one load.
fn is_sought(sustained: &[Highest]) -> bool {
    sustained.iter().any(|it| it.several)
}

/// Payload in GB/s a node at load 1, from the points of a series.
fn payload_of_load_1(points: &[Point], label: &Label) -> Option<f64> {
    let own = points.iter().filter(|point| point.label.series == label.series);
    let ratio =
        |point: &Point| Some(point.measured.offered_payload? / point.measured.offered_load?);
    own.filter_map(ratio).find(|ratio| ratio.is_finite())
}

/// Returns the unit of the loads.
pub(super) fn quantity(points: &[Point], loads: LoadsIn) -> Quantity {
    Quantity::of(points.iter().filter(|it| it.measured.status != Status::Completed), loads)
}

/// The highest sustained load of each series: what searches found, the mean over them with its
/// confidence interval if they are repeated, or else the highest steady load of a grid. Whiskers of
/// single searches and grids go up to the lowest load that was not sustained.
///
/// Series are grouped by the figure that they belong to, else by the first part of their names if
/// all combinations of first parts and others are there, such as patterns and routings.
fn chart(sustained: &[Highest], quantity: Quantity, pens: &Pens, title: &str) -> BarChart {
    let mut legend = Legend::default();
    let value = |it: &Highest| Value {
        figure: it.figure.clone(),
        series: it.series.clone(),
        value: it.load,
        whisker: it.whisker.map(|(_, ends)| ends),
    };
    let values: Vec<Value> = sustained.iter().map(value).collect();
    let groups = groups(&values, pens, &mut legend);
    let has = |shown: Whisker| {
        sustained.iter().any(|it| it.whisker.is_some_and(|(whisker, _)| whisker == shown))
    };
    if has(Whisker::Bounds) {
        legend.key(Sample::Whisker(BLACK), "to the lowest load not sustained");
    }
    if has(Whisker::Interval) {
        legend.key(Sample::Whisker(BLACK), "95% confidence interval, step of the search included");
    }
    if sustained.iter().any(|it| !it.saturates) {
        legend.note = Some(if has(Whisker::Interval) {
            "Some bars: sustained at every load tried.".into()
        } else {
            "Without a whisker: sustained at every load tried.".into()
        });
    }
    let axis = Axis::new(quantity.title("Highest sustained"), bars::highest(&groups));
    let axis = axis.up_to_a_tick(bars::TICKS);
    BarChart { title: title.into(), axis, groups, legend }
}

#[cfg(test)]
mod tests {
    use super::super::super::{PointRow, Sustained};
    use super::*;

    fn label(figure: &str, series: &str) -> Label {
        Label { figure: figure.into(), series: series.into(), ..Label::default() }
    }

    fn found(series: &str, load: f64) -> SustainedLoad {
        SustainedLoad {
            label: label("", series),
            found: Sustained { sustained_load: load, lowest_load_not_sustained: Some(load + 0.02) },
        }
    }

    #[test]
    fn a_grid_sustains_what_lies_below_its_first_unsteady_load() {
        let row = |load: f64, status| Point {
            label: label("tornado", "tornado, ABR"),
            measured: PointRow { status, offered_load: Some(load), ..PointRow::default() },
            ..Point::default()
        };
        let rows = [
            row(0.3, Status::NotSteady),
            row(0.1, Status::Steady),
            row(0.4, Status::Steady),
            row(0.2, Status::Steady),
        ];
        let [only] = &sustained(&rows, &[], Quantity::Load)[..] else { panic!("one series") };
        assert_eq!((only.figure.as_str(), only.series.as_str()), ("tornado", "ABR"));
        assert_eq!((only.load, only.whisker), (0.2, Some((Whisker::Bounds, (0.2, 0.3)))));
    }

    #[test]
    fn a_series_whose_only_load_is_not_steady_has_a_whisker_from_0_to_it() {
        let row = |series: &str, load: f64, status| Point {
            label: label("", series),
            measured: PointRow { status, offered_load: Some(load), ..PointRow::default() },
            ..Point::default()
        };
        let one = [row("a", 0.5, Status::NotSteady), row("b", 0.5, Status::Deadlock)];
        let found = sustained(&one, &[], Quantity::Load);
        assert!(has_bars(&found) && !is_sought(&found));
        let chart = chart(&found, Quantity::Load, &Pens::default(), "");
        let bars: Vec<_> =
            chart.groups.iter().map(|it| (it.bars[0].value, it.bars[0].whisker)).collect();
        assert_eq!(bars, [(0.0, Some((0.0, 0.5))); 2]);
        let more = [
            row("a", 0.5, Status::NotSteady),
            row("b", 0.5, Status::Steady),
            row("b", 0.6, Status::Steady),
        ];
        let found = sustained(&more, &[], Quantity::Load);
        assert_eq!(found.iter().map(|it| it.load).collect::<Vec<_>>(), [0.0, 0.6]);
        assert!(has_bars(&found) && is_sought(&found));
    }

    #[test]
    fn combinations_are_grouped_and_others_are_not() {
        let names = ["uniform, ABR", "uniform, POR", "tornado, ABR", "tornado, POR"];
        let all: Vec<SustainedLoad> = names.iter().map(|name| found(name, 0.5)).collect();
        let groups = |found: &[SustainedLoad]| {
            let sustained = sustained(&[], found, Quantity::Load);
            let pens = Pens::new(sustained.iter().map(|it| it.series.as_str()));
            chart(&sustained, Quantity::Load, &pens, "").groups
        };
        let grouped = groups(&all);
        assert_eq!((grouped.len(), grouped[0].bars.len()), (2, 2));
        assert_eq!(grouped[1].label, "tornado");
        assert_eq!(grouped[0].bars[0].colour, grouped[1].bars[0].colour);
        assert_ne!(grouped[0].bars[0].colour, grouped[0].bars[1].colour);
        let flat = groups(&all[..3]);
        assert_eq!((flat.len(), flat[2].label.as_str()), (3, "tornado, ABR"));
    }

    #[test]
    fn repeated_searches_are_one_bar_with_its_interval() {
        let all = [found("ABR", 0.50), found("POR", 0.40), found("ABR", 0.54)];
        let chart =
            chart(&sustained(&[], &all, Quantity::Load), Quantity::Load, &Pens::default(), "");
        assert_eq!(chart.groups.len(), 2);
        let bar = &chart.groups[0].bars[0];
        assert!((bar.value - 0.52).abs() < 1e-9);
        let (low, high) = bar.whisker.unwrap();
        // Two searches: 12.7062 times the standard deviation over the root of two.
        assert!((high - low - 0.02 - 2.0 * 12.7062 * 0.02).abs() < 1e-4, "{low} {high}");
    }
}
