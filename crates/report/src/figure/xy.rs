//! Any number over any other: several series of points or lines.

use super::axis::{Axis, Scale};
use super::chart::{self, Chart, Curve, Markers, Panel, Stroke};
use super::drawing::Figure;
use super::legend::{Legend, Sample};
use super::style::by_names;

/// Of a curve of more points only some are marked.
const EACH_MARKED: usize = 40;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Points joined by a line.
    Curve,
    /// Small points, for thousands of them.
    Dots,
    /// Hollow markers around what is drawn at the same place, for what somebody else has
    /// published.
    Published,
}

/// A series of points, x and y; on a logarithmic axis those above 0 are shown. A curve has a gap
/// where y is not a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub label: String,
    pub style: Style,
    pub points: Vec<(f64, f64)>,
}

/// Draws series over titled axes.
pub fn xy_figure(title: &str, x: (&str, Scale), y: (&str, Scale), series: &[Series]) -> Figure {
    xy_figure_among(&[], title, x, y, series)
}

/// Draws series over titled axes, with the colours that `names`, all that the figures of a page
/// show, have by their order. A series is of the name that its label is or begins with, before a
/// comma: `OFR, published` has the colour of `OFR`.
pub fn xy_figure_among(
    names: &[&str],
    title: &str,
    x: (&str, Scale),
    y: (&str, Scale),
    series: &[Series],
) -> Figure {
    let labels = series.iter().map(|it| (it.label.as_str(), it.style == Style::Published));
    let pens = by_names(names, labels);
    let shown = |&(across, up): &(f64, f64)| {
        (x.1 == Scale::Linear || across > 0.0) && (y.1 == Scale::Linear || up > 0.0)
    };
    let points = || series.iter().flat_map(|series| &series.points).copied().filter(shown);
    let mut legend = Legend::default();
    for (series, &pen) in series.iter().zip(&pens) {
        let sample = match series.style {
            Style::Curve => Sample::Series(pen),
            Style::Dots => Sample::Dot(pen.colour),
            Style::Published => Sample::Around(pen.colour, pen.marker),
        };
        legend.series(sample, series.label.clone());
    }
    let x_axis = axis(x, points().map(|point| point.0));
    let y_axis = axis(y, points().map(|point| point.1));
    let mut panel = Panel::new(y_axis);
    for (number, (series, &pen)) in series.iter().zip(&pens).enumerate() {
        let runs = series.points.split(|point| point.1.is_nan());
        let run = |points: &[(f64, f64)]| {
            let points = points.iter().copied().filter(shown);
            points.map(|(x, y)| chart::Sample::new(x, y)).collect::<Vec<_>>()
        };
        let runs = runs.map(run).filter(|run| !run.is_empty()).collect();
        let curve = Curve::marked(&series.label, "y", pen, runs);
        panel.curves.push(match series.style {
            Style::Curve if series.points.len() > EACH_MARKED => {
                let markers = Markers::few(pen.marker, number, series.points.len());
                Curve { markers, ..curve }
            }
            Style::Curve => curve,
            Style::Published => {
                let markers = Markers::Around(pen.marker);
                Curve { stroke: Stroke::Nothing, markers, ..curve }
            }
            Style::Dots => Curve { stroke: Stroke::Nothing, markers: Markers::Dots, ..curve },
        });
    }
    Figure::of_chart(Chart::single(title, x_axis, panel, legend))
}

fn axis((title, scale): (&str, Scale), values: impl Iterator<Item = f64> + Clone) -> Axis {
    let high = values.clone().fold(0.0, f64::max);
    let axis = Axis::new(title, high * 1.04);
    match scale {
        Scale::Linear => axis,
        Scale::Logarithmic => axis.logarithmic(values.fold(f64::INFINITY, f64::min), high),
    }
}
