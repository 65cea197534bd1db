//! A point of a load curve over the simulated time: warm-up, then the measured windows.

use super::super::{Point, WindowPhase, WindowRow};
use super::Figure;
use super::axis::Axis;
use super::chart::{Chart, Curve, Markers, Panel, Rule, Sample, Stroke};
use super::figure_style::FigureStyle;
use super::kind::{Draw, FigureKind};
use super::legend::{Legend, Sample as LegendSample};
use super::palette::{BLACK, Colour, Dash, GREY, of_series};
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;

impl FigureKind {
    /// `time`.
    pub const TIME: Row<Self> = Row::new(
        "time",
        "Load, latency and utilisation over simulated time.",
        Self::new(
            "windows of a load",
            Draw::Point {
                has: |point| !point.windows.is_empty(),
                most: 1,
                draw: |point, title, look| Figure::of_chart(chart(point, title, look)),
            },
        ),
    );
}

/// Returns the chart of the windows of a point: load, mean latency, flits under way, and
/// utilisation of channels, one above another. Dashed lines mark the end of the warm-up, and a
/// failure during operation and when the sources went on.
fn chart(point: &Point, title: &str, look: &FigureStyle) -> Chart {
    let windows = &point.windows;
    let end =
        windows.iter().map(|row| row.end).max().unwrap_or(Picoseconds::ZERO).0 as f64 / 1000.0;
    let unit = look.unit_for(end);
    let x = Axis::of_time("Simulated time", end, unit);
    let across = |nanoseconds: f64| nanoseconds / unit.size();
    let middle = |row: &WindowRow| across(row.start.0.midpoint(row.end.0) as f64 / 1000.0);
    let at_end = |row: &WindowRow| across(row.end.0 as f64 / 1000.0);
    let (blue, orange) = (of_series(0).colour, of_series(1).colour);
    let samples = |x: &dyn Fn(&WindowRow) -> f64, y: &dyn Fn(&WindowRow) -> Option<f64>| {
        let sample = |row: &WindowRow| Some(Sample::new(x(row), y(row)?));
        windows.iter().filter_map(sample).collect::<Vec<Sample>>()
    };
    let highest = |samples: &[Sample]| samples.iter().map(|it| it.y).fold(0.0, f64::max);

    let accepted = samples(&middle, &|row| row.accepted_load);
    let offered = point.measured.offered_load;
    let high = highest(&accepted).max(offered.unwrap_or(0.0));
    let mut load = Panel::new(Axis::of_shares("Accepted load", high * 1.1));
    load.curves.push(curve("accepted", accepted, Stroke::Full(Dash::Solid), blue));
    if let Some(offered) = offered {
        let ends = [(0.0, offered), (f64::INFINITY, offered)];
        load.rules.push(Rule { ends, colour: GREY, dash: Dash::Solid });
    }

    let latencies = samples(&middle, &|row| Some(row.packet_latency_mean?.0 as f64 / 1000.0));
    let unit = look.unit_for(highest(&latencies));
    let mut latency = Panel::new(Axis::of_time("Mean latency", highest(&latencies) * 1.1, unit));
    let latencies: Vec<Sample> =
        latencies.iter().map(|sample| Sample::new(sample.x, sample.y / unit.size())).collect();
    latency.curves.push(curve("latency", latencies, Stroke::Full(Dash::Solid), blue));

    let under_way = samples(&at_end, &|row| Some(row.flits_under_way as f64));
    let mut backlog = Panel::new(Axis::new("Flits under way", highest(&under_way) * 1.1));
    backlog.curves.push(curve("flits", under_way, Stroke::Full(Dash::Solid), blue));

    let busiest = samples(&at_end, &|row| row.utilisation_busiest);
    let mean = samples(&middle, &|row| row.utilisation_mean);
    let high = highest(&busiest).max(highest(&mean));
    let mut channels = Panel::new(Axis::of_shares("Channel utilisation", high * 1.1));
    let mut legend = Legend::default();
    if offered.is_some() {
        legend.key(LegendSample::Line(GREY), "offered load");
    }
    legend.key(LegendSample::Dashed(BLACK), "end of warm-up");
    channels.curves.push(curve("mean", mean, Stroke::Full(Dash::Solid), blue));
    legend.key(LegendSample::Line(blue), "mean of the window");
    if !busiest.is_empty() {
        channels.curves.push(curve("busiest", busiest, Stroke::Dashed, orange));
        legend.key(LegendSample::Dashed(orange), "busiest channel so far");
    }

    let warm = windows.iter().filter(|row| row.phase == WindowPhase::WarmUp);
    let mut panels = vec![load, latency, backlog, channels];
    let mut mark = |at: f64, colour| {
        for panel in &mut panels {
            let ends = [(at, 0.0), (at, f64::INFINITY)];
            panel.rules.push(Rule { ends, colour, dash: Dash::Dashed });
        }
    };
    if let Some(end) = warm.map(at_end).reduce(f64::max) {
        mark(end, BLACK);
    }
    if let Some(interruption) = point.measured.interruption
        && let Some(warm_up) = point.measured.warm_up
    {
        // The warm-up is half of the time before the failure.
        let (failure, resumed) = (warm_up * 2, warm_up * 2 + interruption);
        let marks = [
            (failure, of_series(2).colour, "failure"),
            (resumed, of_series(4).colour, "sources go on"),
        ];
        for (time, colour, name) in marks {
            mark(across(time.0 as f64 / 1000.0), colour);
            legend.key(LegendSample::Dashed(colour), name);
        }
    }
    panels.retain(|panel| panel.curves.iter().any(|curve| !curve.runs[0].is_empty()));
    Chart::stacked(title, x, panels, legend)
}

fn curve(column: &'static str, samples: Vec<Sample>, stroke: Stroke, colour: Colour) -> Curve {
    let markers = Markers::Nothing;
    let (label, column) = (String::new(), column.into());
    Curve { label, column, colour, stroke, markers, runs: vec![samples] }
}
