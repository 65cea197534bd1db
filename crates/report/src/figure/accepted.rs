//! Accepted over offered load.

use super::super::{Point, Status};
use super::Figure;
use super::axis::Axis;
use super::chart::{Chart, Curve, Mark, Panel, Rule, Sample};
use super::curves::{CurvePoint, Curves};
use super::figure_style::{INTERVAL, LoadsIn};
use super::kind::{Draw, FigureKind, FigureTask, Named, chart_if};
use super::legend::{Legend, Sample as LegendSample};
use super::palette::{GREY, Marker};
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
    chart_if(has_curve, || chart(&curves, task.title))
}

/// The key of hollow markers.
pub(super) const NOT_STEADY: &str = "not steady";

/// Accepted over offered load, with the diagonal on which all that is offered is accepted, and,
/// over several seeds, the 95% confidence interval as a band. Points that are not steady are
/// hollow, but connected: what a network accepts past saturation is the message. A deadlock is a
/// cross, and not connected.
pub fn accepted_figure(rows: &[Point], title: &str) -> Figure {
    Figure::of_chart(chart(&Curves::new(rows), title))
}

/// As [`accepted_figure`], with the colours that `names`, all series of a page, have by their order.
pub fn accepted_figure_among(names: &[&str], rows: &[Point], title: &str) -> Figure {
    let pens = Pens::new(names.iter().copied());
    Figure::of_chart(chart(&Curves::among(rows, &pens, LoadsIn::default()), title))
}

fn chart(curves: &Curves, title: &str) -> Chart {
    let offered = curves.highest_offered();
    let accepted = curves.points().filter_map(|point| point.accepted).fold(0.0, f64::max);
    let mut panel = Panel::new(Axis::of_shares(curves.quantity.title("Accepted"), accepted * 1.08));
    let ends = [(0.0, 0.0), (offered, offered)];
    panel.rules.push(Rule { ends, colour: GREY, dashed: false });
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
    Chart::single(title, curves.offered_axis(), panel, legend(curves))
}

fn legend(curves: &Curves) -> Legend {
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
