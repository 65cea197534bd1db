//! Latency over offered load.

use super::super::{PointRow, Status};
use super::axis::{Axis, time_unit};
use super::curves::{Curve, CurvePoint, Curves};
use super::legend::{Legend, Sample};
use super::palette::{Colour, GREY, Marker, of_series};
use super::plot::Plot;
use super::scene::Place;
use super::{FEW, Figure, LINE, THIN_LINE};

/// How far above its lowest mean latency a series may stretch the axis. Close to saturation latency
/// has no bound; a curve that goes higher leaves the frame.
const STRETCH: f64 = 8.0;

/// How far above the highest mean the 99th percentiles may stretch the axis.
const TAIL_STRETCH: f64 = 3.0;

/// What is drawn of each series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Mean,
    MeanAndTail,
    Tail,
}

/// Mean packet latency over offered load, with its 95% confidence interval; up to four series also
/// have their 99th percentile, dashed.
///
/// The axis follows the steady points; steady points alone are connected. What comes after them is a
/// hollow marker (a cross for a deadlock) at the upper edge, where the first unsteady load lies. More
/// than four series only end at their last steady point, as a note says.
#[must_use]
pub fn latency_figure(rows: &[PointRow], title: &str) -> Figure {
    let curves = Curves::new(rows);
    let has_tail = curves.points().any(|point| point.p99.is_some());
    let content =
        if has_tail && curves.curves.len() <= FEW { Content::MeanAndTail } else { Content::Mean };
    draw(&curves, content, title)
}

/// The 99th percentile of the packet latency over offered load, for figures with too many series to
/// show it beside the mean. Drawn as [`latency_figure`].
#[must_use]
pub fn tail_latency_figure(rows: &[PointRow], title: &str) -> Figure {
    draw(&Curves::new(rows), Content::Tail, title)
}

/// Whether there is a curve to draw.
pub(super) fn has_curve(curves: &Curves) -> bool {
    curves.has_line() && steady(curves).any(|point| point.mean.is_some())
}

fn steady(curves: &Curves) -> impl Iterator<Item = &CurvePoint> {
    curves.points().filter(|point| point.is_steady())
}

fn draw(curves: &Curves, content: Content, title: &str) -> Figure {
    let high = highest(curves, content) * 1.04;
    let (unit, size) = time_unit(high);
    let what = match content {
        Content::Mean => "Mean packet latency",
        Content::MeanAndTail => "Packet latency",
        Content::Tail => "99th percentile of packet latency",
    };
    let x = Axis::new(curves.quantity.title("Offered"), curves.highest_offered() * 1.02, 6);
    let y = Axis::new(format!("{what} ({unit})"), high / size, 6);
    let mut plot = Plot::new(title, x, y, &legend(curves, content));

    for (number, curve) in curves.curves.iter().enumerate() {
        draw_lines(&mut plot, curve, content, of_series(number).0, size);
    }
    for (number, point) in curves.interleaved() {
        if point.is_steady() {
            draw_marker(&mut plot, point, content, of_series(number), size);
        }
    }
    let mut taken = Vec::new();
    for (number, curve) in curves.curves.iter().enumerate() {
        draw_ends(&mut plot, curve, curves.curves.len() <= FEW, of_series(number), &mut taken);
    }
    Figure::of(plot.finish())
}

/// The value of the curve with markers.
fn value(point: &CurvePoint, content: Content) -> Option<f64> {
    if content == Content::Tail { point.p99 } else { point.mean }
}

/// The highest latency on the axis, in ns.
fn highest(curves: &Curves, content: Content) -> f64 {
    let of_curve = |curve: &Curve| {
        let values = || {
            let steady = curve.points.iter().filter(|point| point.is_steady());
            steady.filter_map(|point| value(point, content))
        };
        let lowest = values().fold(f64::INFINITY, f64::min);
        values().fold(0.0, f64::max).min(lowest * STRETCH)
    };
    let line = curves.curves.iter().map(of_curve).fold(0.0, f64::max);
    let tail = steady(curves).filter_map(|point| point.p99).fold(0.0, f64::max);
    match content {
        Content::MeanAndTail => line.max(tail.min(line * TAIL_STRETCH)),
        Content::Mean | Content::Tail => line,
    }
}

fn draw_lines(plot: &mut Plot, curve: &Curve, content: Content, colour: Colour, size: f64) {
    let places = |plot: &Plot, value: &dyn Fn(&CurvePoint) -> Option<f64>| {
        let runs = curve.points.chunk_by(|a, b| a.is_steady() == b.is_steady());
        let parts = runs.filter(|run| run[0].is_steady()).flat_map(|run| {
            let place = |point: &CurvePoint| Some(plot.place(point.offered, value(point)? / size));
            let places: Vec<Place> = run.iter().filter_map(place).collect();
            plot.clip(&places)
        });
        parts.collect::<Vec<_>>()
    };
    if content == Content::MeanAndTail {
        for part in places(plot, &|point| point.p99) {
            plot.scene.dashed(&part, THIN_LINE, colour);
        }
    }
    for part in places(plot, &|point| value(point, content)) {
        plot.scene.line(&part, LINE, colour);
    }
}

fn draw_marker(
    plot: &mut Plot,
    point: &CurvePoint,
    content: Content,
    (colour, marker): (Colour, Marker),
    size: f64,
) {
    let Some(value) = value(point, content) else { return };
    let place = plot.place(point.offered, value / size);
    if let Some((low, high)) = point.interval.filter(|_| content != Content::Tail) {
        let ends = [low, high].map(|end| plot.place(point.offered, end.max(0.0) / size));
        for part in plot.clip(&ends) {
            whisker(plot, &part, colour);
        }
    }
    if plot.holds(place) {
        plot.scene.marker(place, marker, colour);
    }
}

fn whisker(plot: &mut Plot, ends: &[Place], colour: Colour) {
    plot.scene.line(ends, THIN_LINE, colour);
    for &(x, y) in ends {
        plot.scene.line(&[(x - 1.5, y), (x + 1.5, y)], THIN_LINE, colour);
    }
}

/// Marks at the upper edge where the curve ends. Marks of several series at one load go below one
/// another; `taken` has the places of those before.
fn draw_ends(
    plot: &mut Plot,
    curve: &Curve,
    unsteady: bool,
    (colour, marker): (Colour, Marker),
    taken: &mut Vec<f64>,
) {
    const APART: f64 = 6.0;
    let first = |status: Status| curve.points.iter().find(|point| point.status == status);
    let ends = [
        first(Status::NotSteady).filter(|_| unsteady).map(|point| (point, false)),
        first(Status::Deadlock).map(|point| (point, true)),
    ];
    for (point, deadlock) in ends.into_iter().flatten() {
        let (x, top) = plot.upper_edge(point.offered);
        let before = taken.iter().filter(|&&other| (other - x).abs() < APART).count();
        taken.push(x);
        let place = (x, top + before as f64 * APART);
        if deadlock {
            plot.scene.marker(place, Marker::Cross, colour);
        } else {
            plot.scene.hollow_marker(place, marker, colour);
        }
    }
}

fn legend(curves: &Curves, content: Content) -> Legend {
    let mut legend = Legend::default();
    let single = curves.curves.len() == 1;
    for (number, curve) in curves.curves.iter().enumerate() {
        let (colour, marker) = of_series(number);
        let label = match (single, curve.label.as_str(), content) {
            (true, "", Content::Tail) => continue,
            (true, "", _) => "mean".into(),
            (true, label, Content::MeanAndTail) => format!("{label}, mean"),
            (false, "", _) => "unnamed".into(),
            (_, label, _) => label.into(),
        };
        legend.series(Sample::Series(colour, marker), label);
    }
    if content == Content::MeanAndTail {
        let colour = if single { of_series(0).0 } else { GREY };
        if !single {
            legend.key(Sample::Line(GREY), "mean");
        }
        legend.key(Sample::Dashed(colour), "99th percentile");
    }
    let any = |status: Status| curves.points().any(|point| point.status == status);
    if any(Status::NotSteady) {
        if curves.curves.len() <= FEW {
            legend.key(Sample::Hollow(GREY, Marker::Circle), "first load not steady");
        } else {
            legend.note = Some("Curves end at the last load that reached a steady state.".into());
        }
    }
    if any(Status::Deadlock) {
        legend.key(Sample::Cross(GREY), "deadlock");
    }
    if steady(curves).all(|point| point.mean.is_none()) {
        legend.note = Some("No load reached a steady state.".into());
    }
    legend
}
