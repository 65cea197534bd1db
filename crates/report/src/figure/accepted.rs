//! Accepted over offered load.

use super::super::{BoundLine, Point, Status};
use super::axis::Axis;
use super::chart::{Chart, Curve, Mark, Panel, Rule, Sample};
use super::curves::{CurvePoint, Curves, Quantity};
use super::drawing::Figure;
use super::figure_style::{INTERVAL, LoadsIn};
use super::kind::{Draw, FigureKind, FigureTask, Named, chart_if};
use super::legend::{Legend, Sample as LegendSample};
use super::palette::{Dash, GREY, Marker};
use super::style::Pens;
use flitlab_base::registry::Row;

impl FigureKind {
    /// `accepted`.
    pub const ACCEPTED: Row<Self> = Row::new(
        "accepted",
        "Accepted over offered load.",
        Self {
            columns: &["accepted_load"],
            ..Self::new("a series with two loads", Draw::Group(draw))
        },
    );
}

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let curves = task.curves();
    let has_curve = curves.has_line() && curves.points().any(|point| point.accepted.is_some());
    chart_if(has_curve, || chart(&curves, task.bounds, task.title))
}

/// The lines of bounds, by their order in the result, so that they are the same in all panels.
const BOUND_DASHES: [Dash; 3] = [Dash::Dashed, Dash::Dotted, Dash::Alternating];

/// The key of hollow markers.
pub(super) const NOT_STEADY: &str = "not steady";

/// Accepted over offered load, with the diagonal on which all that is offered is accepted, and,
/// over several seeds, the 95% confidence interval as a band. Points that are not steady are
/// hollow, but connected: what a network accepts past saturation is the message. A deadlock is a
/// cross, and not connected.
pub fn accepted_figure(rows: &[Point], title: &str) -> Figure {
    Figure::of_chart(chart(&Curves::new(rows), &[], title))
}

/// As [`accepted_figure`], with the colours that `names`, all series of a page, have by their order.
pub fn accepted_figure_among(names: &[&str], rows: &[Point], title: &str) -> Figure {
    let pens = Pens::new(names.iter().copied());
    Figure::of_chart(chart(&Curves::among(rows, &pens, LoadsIn::default()), &[], title))
}

fn chart(curves: &Curves, bounds: &[BoundLine], title: &str) -> Chart {
    let offered = curves.highest_offered();
    let accepted = curves.points().filter_map(|point| point.accepted).fold(0.0, f64::max);
    // A bound of what nobody offers says nothing.
    let bounds = bounds.iter().zip(BOUND_DASHES.into_iter().cycle());
    let bounds = bounds.filter(|(bound, _)| bound.load < offered * (1.0 - 1e-9));
    let bounds: Vec<(&BoundLine, Dash)> =
        bounds.filter(|_| curves.quantity == Quantity::Load).collect();
    let highest = bounds.iter().map(|(bound, _)| bound.load).fold(accepted, f64::max);
    let mut panel = Panel::new(Axis::of_shares(curves.quantity.title("Accepted"), highest * 1.08));
    let ends = [(0.0, 0.0), (offered, offered)];
    panel.rules.push(Rule { ends, colour: GREY, dash: Dash::Solid });
    for &(bound, dash) in &bounds {
        // Below it something else is offered less.
        let ends = [(bound.load, bound.load), (f64::INFINITY, bound.load)];
        panel.rules.push(Rule { ends, colour: GREY, dash });
    }
    let alive = |point: &&CurvePoint| point.status != Status::Deadlock;
    for curve in &curves.curves {
        let pen = curve.pen;
        let sample = |point: &CurvePoint| {
            let hollow = !point.is_steady();
            let interval = point.accepted_interval;
            Some(Sample { x: point.offered, y: point.accepted?, interval, hollow })
        };
        let run = curve.points.iter().filter(alive).filter_map(sample).collect();
        panel.curves.push(Curve::marked(&curve.label, "accepted", pen, vec![run]));
        let dead = curve.points.iter().filter(|point| !alive(point));
        panel.marks.extend(dead.filter_map(|point| {
            let (x, y) = (point.offered, Some(point.accepted?));
            Some(Mark { x, y, marker: Marker::Cross, colour: pen.colour, hollow: false })
        }));
    }
    Chart::single(title, curves.offered_axis(), panel, legend(curves, &bounds))
}

fn legend(curves: &Curves, bounds: &[(&BoundLine, Dash)]) -> Legend {
    let mut legend = Legend::default();
    for curve in &curves.curves {
        let label = match curve.label.as_str() {
            "" if curves.curves.len() == 1 => "accepted",
            "" => "unnamed",
            label => label,
        };
        legend.series(LegendSample::Series(curve.pen), label);
    }
    legend.key(LegendSample::Line(GREY), "accepted = offered");
    for (bound, dash) in bounds {
        legend.bound(*dash, format!("{}: at most {:.3}", bound.name, bound.load));
    }
    if let Some(colour) = curves.with_band(|point| point.accepted_interval) {
        legend.key(LegendSample::Band(colour), INTERVAL);
    }
    if curves.any(Status::NotSteady) || curves.any(Status::Undecided) {
        legend.key(LegendSample::Hollow(GREY, Marker::Circle), NOT_STEADY);
    }
    if curves.any(Status::Deadlock) {
        legend.key(LegendSample::Cross(GREY), "deadlock");
    }
    legend
}

#[cfg(test)]
mod tests {
    use super::super::super::{Label, PointRow};
    use super::*;

    fn points(loads: &[f64]) -> Vec<Point> {
        let point = |&load: &f64| Point {
            label: Label { series: "a".into(), ..Label::default() },
            measured: PointRow {
                offered_load: Some(load),
                accepted_load: Some(load.min(0.3)),
                ..PointRow::default()
            },
            ..Point::default()
        };
        loads.iter().map(point).collect()
    }

    #[test]
    fn bounds_of_what_is_offered_are_lines_from_the_diagonal_on_each_with_dashes_of_its_own() {
        let bound = |name: &str, load| BoundLine { figure: String::new(), name: name.into(), load };
        let bounds = [bound("more", 1.0), bound("minimal ways", 0.3), bound("any ways", 0.7)];
        let chart = chart(&Curves::new(&points(&[0.1, 0.5, 1.0])), &bounds, "");
        let [_, minimal, any] = &chart.panels[0].rules[..] else { panic!("{chart:?}") };
        assert_eq!((minimal.ends[0], minimal.ends[1].1), ((0.3, 0.3), 0.3));
        assert_eq!((any.dash, any.ends[1]), (Dash::Alternating, (f64::INFINITY, 0.7)));
        assert_eq!(minimal.dash, Dash::Dotted);
        assert!(chart.panels[0].y.high >= 0.7);
        let key = (LegendSample::Bound(Dash::Alternating), "any ways: at most 0.700".to_owned());
        assert!(chart.legend.keys.contains(&key), "{:?}", chart.legend);
    }
}
