//! Latency over offered load.

use super::super::{Point, Status};
use super::axis::{Axis, Scale};
use super::chart::{Chart, Curve, Mark, Markers, Panel, Sample, Stroke};
use super::curves::{self, CurvePoint, Curves, Percentile};
use super::drawing::Figure;
use super::figure_style::{FigureStyle, INTERVAL, LoadsIn};
use super::kind::{Draw, FigureKind, FigureTask, Named, chart_if};
use super::legend::{Legend, Sample as LegendSample};
use super::palette::{Colour, Dash, FEW, GREY, Marker, Pen, of_series};
use super::style::Pens;
use flitlab_base::registry::Row;

impl FigureKind {
    /// `latency`.
    pub const LATENCY: Row<Self> = Row::new(
        "latency",
        "Mean and 99th percentile of the packet latency over offered load.",
        Self { columns: &["packet_latency_mean_ns"], ..Self::new(NEEDS, Draw::Group(draw)) },
    );

    /// `percentiles`.
    pub const PERCENTILES: Row<Self> = Row::new(
        "percentiles",
        "Median, 95th, 99th and 99.9th percentile over offered load.",
        Self {
            columns: &["packet_latency_mean_ns", "packet_latency_p99_ns"],
            ..Self::new(NEEDS, Draw::Group(draw_percentiles))
        },
    );
}

const NEEDS: &str = "a series with two loads, one of them steady";

/// The latency; of more than four series also a percentile by itself, and each percentile whose
/// figure is asked for by its name.
fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let (curves, look) = (task.curves(), &task.wish.look);
    let mut figures =
        chart_if(has_curve(&curves), || chart(&curves, usual(&curves, look), task.title, look));
    if figures.is_empty() {
        return figures;
    }
    let tail = tail(&curves, look).filter(|_| curves.curves.len() > FEW);
    let is_named = |percentile: Percentile| {
        let own = format!("{}-{}", FigureKind::LATENCY.name, percentile.column());
        let mut rests = task.wish.names.iter().filter_map(|name| name.strip_prefix(&own));
        rests.any(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let has = |it: Percentile| curves.points().any(|point| point.percentile(it).is_some());
    let wanted = |it: &Percentile| tail == Some(*it) || (is_named(*it) && has(*it));
    let own = Percentile::ALL.into_iter().filter(wanted);
    figures.extend(own.map(|percentile| of_percentile(task, &curves, percentile)));
    figures
}

/// All percentiles of a series; of several series, if asked for, a figure a percentile.
fn draw_percentiles(task: &FigureTask<'_>) -> Vec<Named> {
    let curves = task.curves();
    let has = |it: &Percentile| curves.points().any(|point| point.percentile(*it).is_some());
    let all = Percentile::ALL.into_iter().filter(has);
    if !has_curve(&curves) {
        Vec::new()
    } else if curves.curves.len() > 1 {
        let figures = all.map(|percentile| of_percentile(task, &curves, percentile));
        if task.asked { figures.collect() } else { Vec::new() }
    } else {
        chart_if(all.count() > 0, || percentile_chart(&curves, task.title, &task.wish.look))
    }
}

fn of_percentile(task: &FigureTask<'_>, curves: &Curves, percentile: Percentile) -> Named {
    let chart = chart(curves, Content::One(percentile), task.title, &task.wish.look);
    (format!("-{}", percentile.column()), Figure::of_chart(chart))
}

/// How far above its lowest mean latency a series may stretch the axis. Close to saturation latency
/// has no bound; a curve that goes higher leaves the frame.
const STRETCH: f64 = 6.0;

/// How far above the highest mean the 99th percentiles may stretch the axis.
const TAIL_STRETCH: f64 = 1.6;

/// They may stretch it further, so that the first of each curve are seen, with some room above
/// them, unless these are very far from the means.
const BESIDE_FIRST: f64 = 1.3;
const FARTHEST_FIRST: f64 = 4.0;

/// How far above the highest mean the highest percentile may stretch the axis.
const PERCENTILE_STRETCH: f64 = 4.0;

/// The key of hollow markers above the frame.
pub(super) const FIRST_NOT_STEADY: &str = "first load not steady";

/// The quantities drawn of each series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Mean,
    /// The mean, and a percentile dashed.
    MeanAndTail(Percentile),
    One(Percentile),
}

impl Content {
    fn tail(self) -> Option<Percentile> {
        if let Self::MeanAndTail(percentile) = self { Some(percentile) } else { None }
    }
}

/// Mean packet latency over offered load, with its 95% confidence interval as a band; up to four
/// series also have a percentile, the 99th unless another or none is wanted, dashed.
///
/// The axis follows the steady points; steady points alone are connected. What comes after them is
/// a hollow marker (a cross for a deadlock) above the frame, where the first unsteady load lies.
/// More than four series only end at their last steady point, as a note says.
pub fn latency_figure(rows: &[Point], title: &str) -> Figure {
    latency_figure_of(&Curves::new(rows), title)
}

/// As [`latency_figure`], with the colours that `names`, all series of a page, have by their order.
pub fn latency_figure_among(names: &[&str], rows: &[Point], title: &str) -> Figure {
    let pens = Pens::new(names.iter().copied());
    latency_figure_of(&Curves::among(rows, &pens, LoadsIn::default()), title)
}

fn latency_figure_of(curves: &Curves, title: &str) -> Figure {
    Figure::of_chart(chart(
        curves,
        usual(curves, &FigureStyle::default()),
        title,
        &FigureStyle::default(),
    ))
}

/// The 99th percentile of the packet latency over offered load, for figures with too many series to
/// show it beside the mean. Drawn as [`latency_figure`].
pub fn tail_latency_figure(rows: &[Point], title: &str) -> Figure {
    let content = Content::One(Percentile::P99);
    Figure::of_chart(chart(&Curves::new(rows), content, title, &FigureStyle::default()))
}

/// The median, the 95th, 99th and 99.9th percentile of the packet latency of one series over
/// offered load: the first of the rows. Drawn as [`latency_figure`].
pub fn percentile_figure(rows: &[Point], title: &str) -> Figure {
    let mut curves = Curves::new(rows);
    curves.curves.truncate(1);
    Figure::of_chart(percentile_chart(&curves, title, &FigureStyle::default()))
}

/// Returns the quantities that a figure shows by default, given the number of curves.
fn usual(curves: &Curves, look: &FigureStyle) -> Content {
    match tail(curves, look) {
        Some(percentile) if curves.curves.len() <= FEW => Content::MeanAndTail(percentile),
        _ => Content::Mean,
    }
}

/// The percentile that is wanted beside the mean, if it is known.
fn tail(curves: &Curves, look: &FigureStyle) -> Option<Percentile> {
    let wanted = Percentile::beside_mean(look.percentile);
    wanted.filter(|it| curves.points().any(|point| point.percentile(*it).is_some()))
}

/// Whether there is a curve to draw.
fn has_curve(curves: &Curves) -> bool {
    curves.has_line() && steady(curves).any(|point| point.mean.is_some())
}

fn steady(curves: &Curves) -> impl Iterator<Item = &CurvePoint> {
    curves.points().filter(|point| point.is_steady())
}

fn chart(curves: &Curves, content: Content, title: &str, look: &FigureStyle) -> Chart {
    let high = highest(curves, content, look) * 1.04;
    let unit = look.unit_for(high);
    let size = unit.size();
    let what = match content {
        Content::Mean => "Mean packet latency".into(),
        Content::MeanAndTail(_) => "Packet latency".into(),
        Content::One(percentile) => format!("Packet latency, {}", percentile.name()),
    };
    let mut panel = Panel::new(Axis::of_time(&what, high, unit));
    for curve in &curves.curves {
        let pen = curve.pen;
        if let Some(percentile) = content.tail() {
            let runs = runs(curve, &|point| point.percentile(percentile), false, size);
            let tail = Curve::marked(&curve.label, percentile.column(), pen, runs);
            panel.curves.push(Curve { stroke: Stroke::Dashed, markers: Markers::Dots, ..tail });
        }
        let column = match content {
            Content::One(percentile) => percentile.column(),
            Content::Mean | Content::MeanAndTail(_) => "mean",
        };
        let runs = runs(curve, &|point| value(point, content), is_mean(content), size);
        panel.curves.push(Curve::marked(&curve.label, column, pen, runs));
        let few = curves.curves.len() <= FEW;
        panel.marks.extend(ends(&curve.points, few, (pen.colour, pen.marker)));
    }
    Chart::single(title, curves.offered_axis(), panel, legend(curves, content))
}

/// All percentiles of one curve.
fn percentile_chart(curves: &Curves, title: &str, look: &FigureStyle) -> Chart {
    let contents = Percentile::ALL.map(Content::One);
    let highest = contents.iter().map(|&content| highest(curves, content, look));
    let highest = highest.fold(0.0, f64::max);
    let mean = highest_of(curves, Content::Mean, look);
    let high =
        if shows_all(look) { highest } else { highest.min(mean * PERCENTILE_STRETCH) } * 1.04;
    let unit = look.unit_for(high);
    let size = unit.size();
    let mut panel = Panel::new(Axis::of_time("Packet latency", high, unit));
    let mut legend = Legend::default();
    let known = |it: Percentile| curves.points().any(|point| point.percentile(it).is_some());
    let all = Percentile::ALL.into_iter().enumerate().rev();
    for (number, percentile) in all.filter(|(_, percentile)| known(*percentile)) {
        let pen = of_series(number);
        legend.series(LegendSample::Series(pen), percentile.name());
        for curve in &curves.curves {
            let runs = runs(curve, &|point| point.percentile(percentile), false, size);
            let (name, column) = (percentile.name(), percentile.column());
            panel.curves.push(Curve::marked(name, column, pen, runs));
        }
    }
    for curve in &curves.curves {
        panel.marks.extend(ends(&curve.points, true, (GREY, Marker::Circle)));
    }
    keys_of_ends(curves, true, &mut legend);
    Chart::single(title, curves.offered_axis(), panel, legend)
}

fn is_mean(content: Content) -> bool {
    !matches!(content, Content::One(_))
}

/// The steady points with a value, those together that follow each other. Times are in units of
/// `size` ns.
fn runs(
    curve: &curves::Curve,
    value: &dyn Fn(&CurvePoint) -> Option<f64>,
    intervals: bool,
    size: f64,
) -> Vec<Vec<Sample>> {
    let sample = |point: &CurvePoint| {
        let interval = point.interval.filter(|_| intervals);
        Some(Sample {
            x: point.offered,
            y: value(point)? / size,
            interval: interval.map(|(low, high)| (low.max(0.0) / size, high / size)),
            hollow: false,
        })
    };
    let runs = curve.points.chunk_by(|a, b| a.is_steady() == b.is_steady());
    runs.filter(|run| run[0].is_steady())
        .map(|run| run.iter().filter_map(sample).collect())
        .collect()
}

/// The value of the curve with markers.
fn value(point: &CurvePoint, content: Content) -> Option<f64> {
    match content {
        Content::One(percentile) => point.percentile(percentile),
        Content::Mean | Content::MeanAndTail(_) => point.mean,
    }
}

/// Whether nothing leaves the frame: a logarithmic axis has room for what grows without a bound.
fn shows_all(look: &FigureStyle) -> bool {
    look.y_scale == Some(Scale::Logarithmic)
}

/// The highest latency on the axis, in ns.
fn highest(curves: &Curves, content: Content, look: &FigureStyle) -> f64 {
    let line = highest_of(curves, content, look);
    let Some(percentile) = content.tail() else { return line };
    let tail = |point: &CurvePoint| point.percentile(percentile);
    let first = |curve: &curves::Curve| {
        curve.points.iter().filter(|point| point.is_steady()).find_map(tail)
    };
    let firsts = curves.curves.iter().filter_map(first).fold(0.0, f64::max);
    let room = match shows_all(look) {
        true => f64::INFINITY,
        false => (line * TAIL_STRETCH).max((firsts * BESIDE_FIRST).min(line * FARTHEST_FIRST)),
    };
    line.max(steady(curves).filter_map(tail).fold(0.0, f64::max).min(room))
}

/// The highest value of the curves with markers, where they don't stretch the axis too far.
fn highest_of(curves: &Curves, content: Content, look: &FigureStyle) -> f64 {
    let stretch = if shows_all(look) { f64::INFINITY } else { STRETCH };
    let of_curve = |curve: &curves::Curve| {
        let values = || {
            let steady = curve.points.iter().filter(|point| point.is_steady());
            steady.filter_map(|point| value(point, content))
        };
        let lowest = values().fold(f64::INFINITY, f64::min);
        values().fold(0.0, f64::max).min(lowest * stretch)
    };
    curves.curves.iter().map(of_curve).fold(0.0, f64::max)
}

/// Marks above the frame where a curve ends.
fn ends(
    points: &[CurvePoint],
    unsteady: bool,
    (colour, marker): (Colour, Marker),
) -> impl Iterator<Item = Mark> {
    let first = |wanted: fn(Status) -> bool| points.iter().find(|point| wanted(point.status));
    let mark = |point: &CurvePoint, marker, hollow| Mark {
        x: point.offered,
        y: None,
        marker,
        colour,
        hollow,
    };
    let ends = [
        first(Status::lacks_steady_state)
            .filter(|_| unsteady)
            .map(|point| mark(point, marker, true)),
        first(|status| status == Status::Deadlock).map(|point| mark(point, Marker::Cross, false)),
    ];
    ends.into_iter().flatten()
}

fn legend(curves: &Curves, content: Content) -> Legend {
    let mut legend = Legend::default();
    let single = curves.curves.len() == 1;
    for curve in &curves.curves {
        let label = match (single, curve.label.as_str(), content) {
            (true, "", Content::One(_)) => continue,
            (true, "", _) => "mean".into(),
            (true, label, Content::MeanAndTail(_)) => format!("{label}, mean"),
            (false, "", _) => "unnamed".into(),
            (_, label, _) => label.into(),
        };
        legend.series(LegendSample::Series(curve.pen), label);
    }
    if let Some(percentile) = content.tail() {
        let any = Pen { colour: GREY, marker: Marker::Circle, dash: Dash::Solid };
        if !single {
            legend.key(LegendSample::Series(any), "mean");
        }
        let pen = if single { curves.curves[0].pen } else { any };
        legend.key(LegendSample::Tail(pen), percentile.name());
    }
    if let Some(colour) = curves.with_band(|point| point.interval).filter(|_| is_mean(content)) {
        legend.key(LegendSample::Band(colour), INTERVAL);
    }
    keys_of_ends(curves, curves.curves.len() <= FEW, &mut legend);
    legend
}

/// Adds the meaning of the marks above the frame to the legend.
fn keys_of_ends(curves: &Curves, few: bool, legend: &mut Legend) {
    if curves.any(Status::NotSteady) || curves.any(Status::Undecided) {
        if few {
            legend.key(LegendSample::Hollow(GREY, Marker::Circle), FIRST_NOT_STEADY);
        } else {
            legend.note = Some("Curves end at the last load that reached a steady state.".into());
        }
    }
    if curves.any(Status::Deadlock) {
        legend.key(LegendSample::Cross(GREY), "deadlock");
    }
    if steady(curves).all(|point| point.mean.is_none()) {
        legend.note = Some("No load reached a steady state.".into());
    }
}
