//! Accepted over offered load.

use super::super::{PointRow, Status};
use super::axis::Axis;
use super::curves::{CurvePoint, Curves};
use super::legend::{Legend, Sample};
use super::palette::{GREY, Marker, of_series};
use super::plot::Plot;
use super::{Figure, LINE, THIN_LINE};

/// Accepted over offered load, with the diagonal on which all that is offered is accepted. Points that
/// are not steady are hollow, but connected: what a network accepts past saturation is the message. A
/// deadlock is a cross, and not connected.
#[must_use]
pub fn accepted_figure(rows: &[PointRow], title: &str) -> Figure {
    let curves = Curves::new(rows);
    let offered = curves.highest_offered();
    let accepted = curves.points().filter_map(|point| point.accepted).fold(0.0, f64::max);
    let x = Axis::new(curves.quantity.title("Offered"), offered * 1.02, 6);
    let y = Axis::new(curves.quantity.title("Accepted"), accepted * 1.08, 6);
    let diagonal = x.high.max(y.high);
    let mut plot = Plot::new(title, x, y, &legend(&curves));

    let ends = [plot.place(0.0, 0.0), plot.place(offered, offered.min(diagonal))];
    for part in plot.clip(&ends) {
        plot.scene.line(&part, THIN_LINE, GREY);
    }
    for (number, curve) in curves.curves.iter().enumerate() {
        let connected = curve.points.iter().filter(|point| point.status != Status::Deadlock);
        let places: Vec<_> = connected.filter_map(|point| place(&plot, point)).collect();
        for part in plot.clip(&places) {
            plot.scene.line(&part, LINE, of_series(number).0);
        }
    }
    for (number, point) in curves.interleaved() {
        let (colour, marker) = of_series(number);
        let Some(place) = place(&plot, point) else { continue };
        match point.status {
            Status::Steady | Status::Completed => plot.scene.marker(place, marker, colour),
            Status::NotSteady => plot.scene.hollow_marker(place, marker, colour),
            Status::Deadlock => plot.scene.marker(place, Marker::Cross, colour),
        }
    }
    Figure::of(plot.finish())
}

/// Whether there is a curve to draw.
pub(super) fn has_curve(curves: &Curves) -> bool {
    curves.has_line() && curves.points().any(|point| point.accepted.is_some())
}

fn place(plot: &Plot, point: &CurvePoint) -> Option<(f64, f64)> {
    Some(plot.place(point.offered, point.accepted?))
}

fn legend(curves: &Curves) -> Legend {
    let mut legend = Legend::default();
    for (number, curve) in curves.curves.iter().enumerate() {
        let (colour, marker) = of_series(number);
        let label = match curve.label.as_str() {
            "" if curves.curves.len() == 1 => "accepted",
            "" => "unnamed",
            label => label,
        };
        legend.series(Sample::Series(colour, marker), label);
    }
    legend.key(Sample::Line(GREY), "accepted = offered");
    let any = |status: Status| curves.points().any(|point| point.status == status);
    if any(Status::NotSteady) {
        legend.key(Sample::Hollow(GREY, Marker::Circle), "not steady");
    }
    if any(Status::Deadlock) {
        legend.key(Sample::Cross(GREY), "deadlock");
    }
    legend
}
