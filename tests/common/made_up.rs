//! Made-up results, and a look into the figures drawn from them.

use std::fs;
use std::path::PathBuf;

use flitlab::engine::ChannelKind;
use flitlab::report::{
    ChannelRow, Label, LatencyRow, Point, PointRow, ResultRows, Status, WindowPhase, WindowRow,
    WorkloadRow,
};
use flitlab::units::Picoseconds;

/// A folder of its own for a test, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("flitlab-figures-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A sweep like one of a queueing network that saturates at `capacity`: latency grows as 1 /
/// (capacity - load).
pub fn sweep(series: &str, capacity: f64, zero_load: f64, step: f64) -> Vec<Point> {
    let count = (1.0 / step).round() as u32;
    (1..=count)
        .map(|number| {
            let load = f64::from(number) * step;
            let steady = load < capacity - 1e-9;
            let wait = if steady { 60.0 * load / (capacity - load) } else { 40_000.0 };
            let picoseconds = |latency: f64| Some(Picoseconds((latency * 1000.0).round() as u64));
            let measured = PointRow {
                status: if steady { Status::Steady } else { Status::NotSteady },
                offered_load: Some(load),
                offered_payload: Some(load * 6.4),
                accepted_load: Some(if steady { load } else { capacity * 0.97 }),
                accepted_payload: Some(load.min(capacity) * 6.4),
                accepted_minimum_source: Some(load.min(capacity) * 6.0),
                jain_fairness: Some(0.999_987),
                packets: Some(123_456),
                packet_latency_mean: picoseconds(zero_load + wait),
                packet_latency_mean_ci95: picoseconds(2.0 + wait * 0.02),
                packet_latency_p50: picoseconds(zero_load + wait * 0.7),
                packet_latency_p95: picoseconds(zero_load * 1.2 + wait * 2.2),
                packet_latency_p99: picoseconds(zero_load * 1.3 + wait * 3.1),
                packet_latency_p999: picoseconds(zero_load * 1.4 + wait * 4.7),
                packet_latency_max: picoseconds(zero_load * 1.5 + wait * 7.0),
                network_latency_mean: picoseconds(zero_load + wait / 2.0),
                hops_mean: Some(4.033_333),
                simulated_time: Some(Picoseconds(2_345_678_901)),
                warm_up: Some(Picoseconds(345_678_000)),
                windows: Some(17),
                events: 98_765_432,
                digest: Some(0x0123_4567_89ab_cdef),
                ..PointRow::default()
            };
            Point { label: label(series, number - 1), measured, ..Point::default() }
        })
        .collect()
}

pub fn label(series: &str, point: u32) -> Label {
    Label { series: series.into(), point, seed: 1, ..Label::default() }
}

/// Channels of a 4D torus, busier along x, and of its terminals.
pub fn torus_channels() -> Vec<ChannelRow> {
    let directions = ["+x", "+y", "+z", "+k", "-x", "-y", "-z", "-k"];
    let mut rows = Vec::new();
    for node in 0..64u32 {
        let place = format!("({},{},{},0)", node % 4, node / 4 % 4, node / 16);
        for (number, direction) in directions.iter().enumerate() {
            rows.push(ChannelRow {
                channel: format!("{place} {direction}"),
                utilisation: 0.62 - 0.09 * (number % 4) as f64 + f64::from(node * 37 % 64) * 0.003,
                stalled_no_credit: Some(0.125),
                flits: 4711,
                flits_vc0: Some(4711),
                ..ChannelRow::default()
            });
        }
        for (kind, name) in
            [(ChannelKind::Injection, "injection"), (ChannelKind::Ejection, "ejection")]
        {
            rows.push(ChannelRow {
                channel: format!("{place} {name}"),
                kind,
                utilisation: 0.31 + f64::from(node % 5) * 0.004,
                ..ChannelRow::default()
            });
        }
    }
    rows
}

pub fn three() -> Vec<Point> {
    [
        sweep("Direction order", 0.72, 610.0, 0.05),
        sweep("Single-source shortest path", 0.83, 590.0, 0.05),
        sweep("Adaptive", 0.93, 640.0, 0.05),
    ]
    .concat()
}

/// The two workloads of a point: a load that goes on and an exchange that ends.
pub fn workloads() -> Vec<WorkloadRow> {
    let load = PointRow {
        nodes: Some(48),
        offered_load: Some(0.3),
        accepted_load: Some(0.25),
        packet_latency_mean: Some(Picoseconds(700_125)),
        packet_latency_p99: Some(Picoseconds(1_200_000)),
        ..PointRow::default()
    };
    let exchange = PointRow {
        status: Status::Completed,
        nodes: Some(16),
        completion_time: Some(Picoseconds(12_345_678)),
        packet_latency_mean: Some(Picoseconds(900_000)),
        ..PointRow::default()
    };
    let row = |name: &str, kind: &str, measured| WorkloadRow {
        name: name.into(),
        kind: kind.into(),
        measured,
        ..WorkloadRow::default()
    };
    vec![row("background", "traffic", load), row("halo", "exchange", exchange)]
}

pub fn rows(points: &[Point]) -> ResultRows {
    ResultRows { points: points.into(), ..ResultRows::default() }
}

/// A point of which only the channels of a torus are known.
pub fn channels_of(series: &str) -> Point {
    Point { label: label(series, 0), channels: torus_channels(), ..Point::default() }
}

pub fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// What a shape of an SVG has as an attribute.
pub fn attribute<'a>(shape: &'a str, name: &str) -> &'a str {
    let (_, rest) = shape.split_once(&format!(" {name}=\"")).unwrap();
    rest.split_once('"').unwrap().0
}

/// A line of an SVG, in points.
pub struct Line<'a> {
    pub width: f64,
    pub colour: &'a str,
    pub places: Vec<(f64, f64)>,
}

pub fn lines(svg: &str) -> Vec<Line<'_>> {
    let place = |text: &str| {
        let (across, down) = text.split_once(',').unwrap();
        (across.parse().unwrap(), down.parse().unwrap())
    };
    let lines = svg.lines().filter(|shape| shape.starts_with("<polyline"));
    lines
        .map(|shape| Line {
            width: attribute(shape, "stroke-width").parse().unwrap(),
            colour: attribute(shape, "stroke"),
            places: attribute(shape, "points").split(' ').map(place).collect(),
        })
        .collect()
}

/// Curves of series, their dashes, and their samples in the legend, which have two places.
pub fn strokes(svg: &str) -> Vec<Line<'_>> {
    lines(svg).into_iter().filter(|line| line.width > 1.0).collect()
}

/// Curves that are drawn whole.
pub fn curves(svg: &str) -> Vec<Line<'_>> {
    strokes(svg).into_iter().filter(|line| line.places.len() > 2).collect()
}

/// Colours of the curves of series, in the order of an SVG, each once.
pub fn colours(svg: &str) -> Vec<&str> {
    let mut colours = Vec::new();
    for line in strokes(svg) {
        // Samples of what holds for all series are grey.
        if line.colour != "#787878" && !colours.contains(&line.colour) {
            colours.push(line.colour);
        }
    }
    colours
}

/// Colours of the bands of confidence intervals.
pub fn bands(svg: &str) -> Vec<&str> {
    let bands = svg.lines().filter(|it| it.starts_with("<polygon") && it.contains(" opacity="));
    bands.map(|band| attribute(band, "fill")).filter(|colour| *colour != "#FFFFFF").collect()
}

/// Where a text begins in an SVG, in points.
pub fn place_of(svg: &str, text: &str) -> (f64, f64) {
    let shape = svg.lines().find(|line| line.ends_with(&format!(">{text}</text>"))).unwrap();
    (attribute(shape, "x").parse().unwrap(), attribute(shape, "y").parse().unwrap())
}

/// The distribution of latencies and the windows of each steady point.
pub fn with_details(points: Vec<Point>) -> ResultRows {
    let mut rows = ResultRows { points, ..ResultRows::default() };
    for point in &mut rows.points {
        let mean = point.measured.packet_latency_mean.unwrap_or(Picoseconds::ZERO);
        point.latencies.extend((0..=50).map(|step| LatencyRow {
            packet_latency: mean / 2 + mean * step / 50,
            share: step as f64 / 50.0,
        }));
        point.windows.extend((0..12).map(|window| WindowRow {
            phase: if window < 4 { WindowPhase::WarmUp } else { WindowPhase::Measured },
            start: Picoseconds(window * 10_000_000),
            end: Picoseconds((window + 1) * 10_000_000),
            accepted_load: point.measured.accepted_load,
            packet_latency_mean: Some(mean + Picoseconds(window * 1000)),
            flits_under_way: Some(5000 + window * 10),
            utilisation_mean: Some(0.3),
            utilisation_busiest: Some(0.5),
            ..WindowRow::default()
        }));
    }
    rows
}

/// The texts of an SVG.
pub fn texts(svg: &str) -> Vec<&str> {
    let texts = svg.lines().filter(|line| line.starts_with("<text"));
    texts.map(|line| line.split(['<', '>']).nth(2).unwrap()).collect()
}

pub fn text_of(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.file(name)).unwrap()
}

/// The curve with the most points.
pub fn longest(svg: &str) -> Vec<(f64, f64)> {
    strokes(svg).into_iter().map(|line| line.places).max_by_key(Vec::len).unwrap()
}
