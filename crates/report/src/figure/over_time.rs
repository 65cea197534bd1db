//! A point over the simulated time, window by window: the warm-up of a load, then what is measured; a
//! run that comes to its end from its beginning on. Of several workloads each has a curve.

use super::super::{FailureRow, Point, WindowPhase, WindowRow};
use super::axis::Axis;
use super::chart::{Chart, Curve, Markers, Panel, Rule, Sample, Stroke};
use super::drawing::Figure;
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
        "Load, latency, flits under way and utilisation over simulated time.",
        Self::new(
            "windows of a point",
            Draw::Point {
                has: |point| !point.windows.is_empty(),
                most: 1,
                draw: |point, title, look| Figure::of_chart(chart(point, title, look)),
            },
        ),
    );
}

/// The windows of one workload, or of all together.
struct Course<'p> {
    /// Empty for all together.
    name: &'p str,
    colour: Colour,
    windows: Vec<&'p WindowRow>,
}

/// The name of the workload of a window; empty for all together.
fn of_whom(row: &WindowRow) -> &str {
    row.workload.as_deref().unwrap_or("")
}

/// What is drawn: the whole if there is one workload, or if some windows tell of the whole only; and
/// each workload if there are several.
fn courses(point: &Point) -> Vec<Course<'_>> {
    let of = |name: &str| point.windows.iter().filter(|row| of_whom(row) == name).collect();
    let mut names: Vec<&str> = Vec::new();
    for name in point.windows.iter().filter_map(|row| row.workload.as_deref()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let whole: Vec<&WindowRow> = of("");
    let several = !names.is_empty();
    let all_known = names.iter().all(|name| of(name).len() == whole.len());
    let first = if several { BLACK } else { of_series(0).colour };
    let whole = Course { name: "", colour: first, windows: whole };
    let whole = (!several || !all_known).then_some(whole);
    // Black is for the whole.
    let colours = (0..).map(|number| of_series(number).colour).filter(|&it| it != BLACK);
    let each = names.into_iter().zip(colours);
    let each = each.map(|(name, colour)| Course { name, colour, windows: of(name) });
    whole.into_iter().chain(each).collect()
}

impl Course<'_> {
    fn curve(&self, what: &str, stroke: Stroke, runs: Vec<Vec<Sample>>) -> Curve {
        let label = match self.name {
            "" => String::new(),
            name => format!("{name}, {what}"),
        };
        let (markers, column) = (Markers::Nothing, what.to_owned().into());
        Curve { label, column, colour: self.colour, stroke, markers, runs }
    }

    /// Samples of the windows that have a value. A line breaks where some have none, unless flits
    /// were under way all the time.
    fn samples(
        &self,
        x: &dyn Fn(&WindowRow) -> f64,
        y: &dyn Fn(&WindowRow) -> Option<f64>,
    ) -> Vec<Vec<Sample>> {
        let waits = |row: &WindowRow| row.flits_under_way.is_some_and(|flits| flits > 0);
        let values = self.windows.iter().map(|row| (row, y(row)));
        let values = values.filter(|(row, value)| value.is_some() || !waits(row));
        let values: Vec<Option<Sample>> =
            values.map(|(row, value)| Some(Sample::new(x(row), value?))).collect();
        let runs = values.split(Option::is_none).filter(|run| !run.is_empty());
        runs.map(|run| run.iter().flatten().copied().collect()).collect()
    }
}

/// Latencies whose highest is above so many times the lowest have a logarithmic axis: what a few
/// suffer leaves the others in sight.
const WIDE: f64 = 20.0;

fn highest<'c>(curves: impl IntoIterator<Item = &'c Curve>) -> f64 {
    let samples = curves.into_iter().flat_map(|curve| curve.runs.iter().flatten());
    samples.map(|it| it.y).fold(0.0, f64::max)
}

fn nanoseconds(time: Picoseconds) -> f64 {
    time.0 as f64 / 1000.0
}

/// Returns the chart of the windows of a point: load, latency, flits under way, and utilisation of
/// channels, one above another. Lines across all of them mark the end of the warm-up, the start and
/// the end of each workload, and a failure during operation and when the sources went on.
fn chart(point: &Point, title: &str, look: &FigureStyle) -> Chart {
    let end = point.windows.iter().map(|row| row.end).max().unwrap_or(Picoseconds::ZERO);
    let unit = look.unit_for(nanoseconds(end));
    let x = Axis::of_time("Simulated time", nanoseconds(end), unit);
    let across = |time: Picoseconds| nanoseconds(time) / unit.size();
    let middle = |row: &WindowRow| across(row.start).midpoint(across(row.end));
    let at_end = |row: &WindowRow| across(row.end);
    let courses = courses(point);
    let several = courses.iter().any(|course| !course.name.is_empty());
    let solid = Stroke::Full(Dash::Solid);
    let mut legend = Legend::default();
    for course in courses.iter().filter(|_| several) {
        let name = if course.name.is_empty() { "all workloads" } else { course.name };
        legend.series(LegendSample::Line(course.colour), name);
    }

    // Rates of what is left at the end are chance if it is short.
    let length = |row: &WindowRow| row.end - row.start;
    let usual = point.windows.first().map_or(Picoseconds::ZERO, length);
    let is_short = |row: &WindowRow| row.end == end && length(row) < usual / 2;
    let rate = |row: &WindowRow, rate: Option<f64>| rate.filter(|_| !is_short(row));
    let accepted = |course: &Course<'_>| {
        let accepted = |row: &WindowRow| rate(row, row.accepted_load);
        course.curve("accepted", solid, course.samples(&middle, &accepted))
    };
    let accepted: Vec<Curve> = courses.iter().map(accepted).collect();
    let offered = point.measured.offered_load.filter(|_| !several);
    let high = highest(&accepted).max(offered.unwrap_or(0.0));
    let mut load = Panel::new(Axis::of_shares("Accepted load", high * 1.1));
    load.curves = accepted;
    if let Some(offered) = offered {
        let ends = [(0.0, offered), (f64::INFINITY, offered)];
        load.rules.push(Rule { ends, colour: GREY, dash: Dash::Solid });
        legend.key(LegendSample::Line(GREY), "offered load");
    }

    let latencies = |course: &Course<'_>| {
        let mean = |row: &WindowRow| row.packet_latency_mean.map(nanoseconds);
        let tail = |row: &WindowRow| row.packet_latency_p99.map(nanoseconds);
        let mean = course.curve("latency", solid, course.samples(&middle, &mean));
        let tail = course.curve("p99", Stroke::Dashed, course.samples(&middle, &tail));
        [mean, tail]
    };
    let mut latencies: Vec<Curve> = courses.iter().flat_map(latencies).collect();
    let has_tail = latencies.iter().any(|curve| curve.column == "p99" && !curve.runs.is_empty());
    let high = highest(&latencies);
    let latency_unit = look.unit_for(high);
    let name = if has_tail { "Packet latency" } else { "Mean latency" };
    let lowest = latencies.iter().flat_map(|curve| curve.runs.iter().flatten());
    let lowest = lowest.map(|it| it.y).filter(|&it| it > 0.0).fold(f64::INFINITY, f64::min);
    let axis = Axis::of_time(name, high * 1.1, latency_unit);
    let mut latency = Panel::new(if high > WIDE * lowest {
        axis.logarithmic(lowest / latency_unit.size(), high / latency_unit.size())
    } else {
        axis
    });
    let samples = latencies.iter_mut().flat_map(|curve| curve.runs.iter_mut().flatten());
    samples.for_each(|sample| sample.y /= latency_unit.size());
    latency.curves = latencies;
    let ink = if several { BLACK } else { of_series(0).colour };
    if has_tail {
        legend.key(LegendSample::Line(ink), "mean");
        legend.key(LegendSample::Dashed(ink), "99th percentile");
    }

    let under_way = |course: &Course<'_>| {
        let flits = |row: &WindowRow| row.flits_under_way.map(|flits| flits as f64);
        course.curve("flits", solid, course.samples(&at_end, &flits))
    };
    let under_way: Vec<Curve> = courses.iter().map(under_way).collect();
    let mut backlog = Panel::new(Axis::new("Flits under way", highest(&under_way) * 1.1));
    backlog.curves = under_way;

    // Channels belong to all workloads.
    let windows = point.windows.iter().filter(|row| row.workload.is_none()).collect();
    let whole = Course { name: "", colour: ink, windows };
    let mean =
        whole.curve("mean", solid, whole.samples(&middle, &|row| rate(row, row.utilisation_mean)));
    let fullest = whole.samples(&middle, &|row| rate(row, row.utilisation_fullest));
    let busiest = whole.samples(&at_end, &|row| row.utilisation_busiest);
    // Earlier results have the busiest channel so far alone.
    let (name, column, fullest) = if fullest.is_empty() {
        ("busiest channel so far", "busiest", busiest)
    } else {
        ("fullest channel of the window", "fullest", fullest)
    };
    let colour = of_series(5).colour;
    let whole = Course { colour, ..whole };
    let mut curves = vec![mean];
    if !has_tail {
        legend.key(LegendSample::Line(ink), "mean of the window");
    }
    if !fullest.is_empty() {
        curves.push(whole.curve(column, Stroke::Dashed, fullest));
        legend.key(LegendSample::Dashed(colour), name);
    }
    let mut channels = Panel::new(Axis::of_shares("Channel utilisation", highest(&curves) * 1.1));
    channels.curves = curves;

    let mut panels = vec![load, latency, backlog, channels];
    let mut mark = |at: f64, colour, dash| {
        for panel in &mut panels {
            let ends = [(at, 0.0), (at, f64::INFINITY)];
            panel.rules.push(Rule { ends, colour, dash });
        }
    };
    let ends = point.workloads.iter().any(|row| row.measured.completion_time.is_some());
    let mut marked = [false; 2];
    for course in &courses {
        let row = point.workloads.iter().find(|row| row.name == course.name);
        let Some(row) = row.filter(|_| ends) else { continue };
        let start = row.start.unwrap_or(Picoseconds::ZERO);
        if start > Picoseconds::ZERO {
            mark(across(start), course.colour, Dash::Dotted);
            marked[0] = true;
        }
        if let Some(completion) = row.measured.completion_time {
            mark(across(start + completion), course.colour, Dash::Alternating);
            marked[1] = true;
        }
    }
    let names = [(Dash::Dotted, "start"), (Dash::Alternating, "end")];
    for ((dash, name), _) in names.into_iter().zip(marked).filter(|(_, marked)| *marked) {
        legend.bound(dash, format!("{name} of a workload"));
    }
    let warm = point.windows.iter().filter(|row| row.phase == WindowPhase::WarmUp && !ends);
    if let Some(end) = warm.map(|row| row.end).max() {
        mark(across(end), BLACK, Dash::Dashed);
        legend.key(LegendSample::Dashed(BLACK), "end of warm-up");
    }
    if let Some(interruption) = point.measured.interruption
        && let Some(warm_up) = point.measured.warm_up
    {
        // The warm-up is half of the time before the failure, of several the first one.
        let (mut failed, mut resumed) = (vec![warm_up * 2], vec![warm_up * 2 + interruption]);
        if !point.failures.is_empty() {
            let after = |row: &FailureRow| row.interruption.map(|after| row.time + after);
            failed = point.failures.iter().map(|row| row.time).collect();
            resumed = point.failures.iter().filter_map(after).collect();
            resumed.dedup();
        }
        let marks = [
            (failed, of_series(2).colour, "failure"),
            (resumed, of_series(4).colour, "sources go on"),
        ];
        for (times, colour, name) in marks {
            times.into_iter().for_each(|time| mark(across(time), colour, Dash::Dashed));
            legend.key(LegendSample::Dashed(colour), name);
        }
    }
    panels.retain(|panel| panel.curves.iter().any(|curve| !curve.runs.is_empty()));
    for panel in &mut panels {
        panel.curves.retain(|curve| !curve.runs.is_empty());
    }
    Chart::stacked(title, x, panels, legend)
}
