//! Figures over a key of the sweep, such as the size of the network.

use super::super::folder::keys_of;
use super::super::{Label, Point, Status, SustainedLoad};
use super::axis::{Axis, TimeUnit};
use super::chart::{Chart, Curve, Panel, Sample, is_visible};
use super::curves::Quantity;
use super::drawing::Figure;
use super::figure_style::{FigureStyle, INTERVAL};
use super::kind::{Draw, FigureKind, FigureTask, Named};
use super::legend::{Legend, Sample as LegendSample};
use super::names::{self, series_of};
use super::palette::GREY;
use super::saturation::{Highest, Whisker, quantity, sustained};
use super::style::Pens;
use flitlab_base::registry::Row;
use flitlab_base::units::{parse_bytes, parse_time};
use flitlab_model::interval::half_width_95_of_few;

impl FigureKind {
    /// `scaling`.
    pub const SCALING: Row<Self> = Row::new(
        "scaling",
        "Completion time, saturation or accepted load over a key of the sweep.",
        Self::new("a key of the sweep that has two or more numbers as values", Draw::Result(draw)),
    );
}

/// A curve is drawn unasked over at least this many values.
const SCALES: usize = 3;

/// The key that the figures are over: the one that is wanted, or the only one, if it has enough
/// values.
pub(super) fn scaling_key(task: &FigureTask<'_>) -> Option<String> {
    let only_key = || {
        let mut keys = numeric_keys(task.points);
        let key = keys.pop().filter(|_| keys.is_empty())?;
        (values(task.points, &key) >= SCALES).then_some(key)
    };
    task.wish.over.clone().or_else(only_key)
}

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let Some(key) = scaling_key(task) else { return Vec::new() };
    let (points, found) = (task.points, task.saturation);
    let (usual, of_size) = (drawn(points, found), is_size(&key));
    let mut quantities = vec![("", usual)];
    // The cost of a size is best seen by time and by bandwidth.
    if usual == Drawn::CompletionTime && of_size {
        quantities.push(("-bandwidth", Drawn::Bandwidth));
    }
    if usual == Drawn::OperationLatency {
        quantities = vec![("-latency", usual), ("-rate", Drawn::OperationRate)];
        if of_size {
            quantities.push(("-bandwidth", Drawn::OperationBandwidth));
        }
    }
    // The cost of errors is seen by the latency long before it is by the load.
    let errs = points.iter().all(|row| row.measured.damaged_packets.is_some());
    if usual == Drawn::Accepted && errs {
        quantities.push(("-latency", Drawn::Latency));
    }
    let figure = |(name, drawn): (&str, Drawn)| {
        let how = (task.title, &task.wish.look);
        let chart = chart((points, found), &key, drawn, task.pens, how)?;
        Some((name.to_owned(), Figure::of_chart(chart)))
    };
    quantities.into_iter().filter_map(figure).collect()
}

/// Values are on a logarithmic axis if the highest is so many times the lowest.
const WIDE: f64 = 20.0;

/// The key that is no subject of a scaling curve where it makes a load curve.
pub(super) const LOAD: &str = "traffic.load";

/// The quantity drawn over the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drawn {
    CompletionTime,
    /// Of finite exchanges.
    Bandwidth,
    /// Of remote memory operations: the mean latency of one, and what all nodes have done together.
    OperationLatency,
    OperationBandwidth,
    OperationRate,
    Saturation,
    Accepted,
    /// Of packets, at the load that there is.
    Latency,
}

/// The identity of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CurveId {
    /// The series without what the key gives its name.
    name: String,
    /// The other keys with their values.
    others: Vec<(String, String)>,
}

/// One point of a scaling curve.
struct ScalingPoint {
    /// The key's value, as a number and for people.
    x: f64,
    label: String,
    curve: CurveId,
    y: f64,
    interval: Option<(f64, f64)>,
}

/// The keys of a sweep that figures can be drawn over: those with two or more different numbers as
/// values.
pub fn numeric_keys(points: &[Point]) -> Vec<String> {
    let keys = keys_of(points.iter().map(|point| &point.label));
    let varies = |key: &String| {
        let values: Option<Vec<f64>> = points.iter().map(|row| Some(value(row, key)?.0)).collect();
        values.is_some_and(|values| values.iter().any(|other| *other != values[0]))
    };
    let ends = points.iter().all(|row| row.measured.completion_time.is_some());
    keys.into_iter().filter(|key| (ends || key != LOAD) && varies(key)).collect()
}

/// How many different numbers a key has as values.
fn values(points: &[Point], key: &str) -> usize {
    let mut values: Vec<f64> = points.iter().filter_map(|row| Some(value(row, key)?.0)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}

/// Whether a key is the size of messages.
fn is_size(key: &str) -> bool {
    key.ends_with(".message")
}

/// Returns the quantity drawn over a key by default.
fn drawn(points: &[Point], found: &[SustainedLoad]) -> Drawn {
    let names = series_of(points.iter().map(|row| row.label.series.as_str()));
    if points.iter().all(|row| row.measured.operation_rate.is_some()) {
        Drawn::OperationLatency
    } else if points.iter().all(|row| row.measured.completion_time.is_some()) {
        Drawn::CompletionTime
    } else if !found.is_empty() {
        Drawn::Saturation
    } else {
        let sustained = sustained(points, found, Quantity::Load);
        let sought = sustained.len() == names.len() && sustained.iter().all(|it| it.several);
        if sought { Drawn::Saturation } else { Drawn::Accepted }
    }
}

/// Over a key of the sweep, such as `topology.torus.dimensions` (over the number of nodes) or
/// `exchange.message`: the completion time of finite exchanges, the highest sustained load of load
/// curves, or the accepted load if there is one load only. Several seeds are one point with its 95%
/// confidence interval. `None` if the key does not have numbers as values.
fn chart(
    (points, found): (&[Point], &[SustainedLoad]),
    key: &str,
    drawn: Drawn,
    pens: &Pens,
    (title, look): (&str, &FigureStyle),
) -> Option<Chart> {
    if !numeric_keys(points).iter().any(|other| other == key) {
        return None;
    }
    let quantity = quantity(points, look.loads);
    let entries = entries((points, found), key, drawn, quantity);
    let mut curves: Vec<&CurveId> = Vec::new();
    for entry in &entries {
        if !curves.contains(&&entry.curve) {
            curves.push(&entry.curve);
        }
    }
    let high = entries.iter().map(|entry| entry.y).fold(0.0, f64::max);
    let low = entries.iter().map(|entry| entry.y).fold(f64::INFINITY, f64::min);
    let y = y_axis(drawn, quantity, high * 1.06, look);
    let size = y.time.map_or(1.0, TimeUnit::size);
    // A time in proportion to a size is a straight line with both axes logarithmic.
    let proportional = matches!(
        drawn,
        Drawn::CompletionTime | Drawn::OperationLatency | Drawn::OperationBandwidth
    );
    let of_size = proportional && is_size(key);
    let wide = low > 0.0 && (of_size || high / low > WIDE);
    let y = if wide { y.logarithmic(low / size, high / size) } else { y };
    let x = if key == LOAD {
        let highest = entries.iter().map(|entry| entry.x).fold(0.0, f64::max);
        Axis::of_shares(x_title(key), highest * 1.06)
    } else {
        Axis::at(x_title(key), entries.iter().map(|it| (it.x, it.label.clone())).collect())
    };
    let mut panel = Panel::new(y);
    let mut legend = Legend::default();
    let pens = pens.among(curves.iter().map(|id| id.name.as_str()));
    for id in &curves {
        let own = entries.iter().filter(|entry| entry.curve == **id);
        let pen = pens.of(&id.name);
        if curves.len() > 1 {
            let label = if id.name.is_empty() { "unnamed" } else { &id.name };
            legend.series(LegendSample::Series(pen), label);
        }
        let sample = |entry: &ScalingPoint| Sample {
            x: entry.x,
            y: entry.y / size,
            interval: entry.interval.map(|(low, high)| (low / size, high / size)),
            hollow: false,
        };
        let mut samples: Vec<Sample> = own.map(sample).collect();
        samples.sort_by(|a, b| a.x.total_cmp(&b.x));
        panel.curves.push(Curve::marked(&id.name, "y", pen, vec![samples]));
    }
    if entries.iter().any(|entry| entry.interval.is_some_and(is_visible)) {
        let colour = panel.curves.first().map_or(GREY, |curve| curve.colour);
        legend.key(LegendSample::Band(colour), INTERVAL);
    }
    Some(Chart::single(title, x, panel, legend))
}

fn entries(
    (points, found): (&[Point], &[SustainedLoad]),
    key: &str,
    drawn: Drawn,
    quantity: Quantity,
) -> Vec<ScalingPoint> {
    let time = |row: &Point| row.measured.completion_time.map(|time| time.0 as f64 / 1000.0);
    let latency =
        |row: &Point| row.measured.message_latency_mean.map(|time| time.0 as f64 / 1000.0);
    match drawn {
        Drawn::OperationLatency => means(points, key, &latency),
        Drawn::OperationBandwidth => means(points, key, &|row| row.measured.bandwidth_total),
        Drawn::OperationRate => means(points, key, &|row| row.measured.operation_rate_total),
        Drawn::CompletionTime => means(points, key, &time),
        // An unsteady point has no latency: the longer it is measured, the longer it is.
        Drawn::Latency => means(points, key, &|row| {
            let steady = row.measured.status == Status::Steady;
            row.measured.packet_latency_mean.filter(|_| steady).map(|time| time.0 as f64 / 1000.0)
        }),
        Drawn::Bandwidth => means(points, key, &|row| row.measured.bandwidth),
        Drawn::Accepted => means(points, key, &|row| quantity.accepted(&row.measured)),
        Drawn::Saturation => highest(points, found, key, quantity),
    }
}

/// The highest sustained loads.
fn highest(
    points: &[Point],
    found: &[SustainedLoad],
    key: &str,
    quantity: Quantity,
) -> Vec<ScalingPoint> {
    let sustained = sustained(points, found, quantity);
    let name = |row: &Point| match found {
        [] => row.label.series.clone(),
        _ => row.label.series_without_seed(),
    };
    let all: Vec<String> = points.iter().map(name).collect();
    let names = series_of(all.iter().map(String::as_str));
    let entry = |(name, it): (&String, &Highest)| {
        let row = points.iter().zip(&all).find(|(_, own)| *own == name)?.0;
        let (x, label) = value(row, key)?;
        let interval = it.whisker.filter(|whisker| whisker.0 == Whisker::Interval);
        let interval = interval.map(|(_, ends)| ends);
        Some(ScalingPoint { x, label, curve: curve(row, key), y: it.load, interval })
    };
    names.iter().zip(&sustained).filter_map(entry).collect()
}

/// A mean over the rows that differ in nothing but their seeds.
fn means(points: &[Point], key: &str, of: &dyn Fn(&Point) -> Option<f64>) -> Vec<ScalingPoint> {
    let usable = |row: &&Point| row.measured.status != Status::Deadlock && of(row).is_some();
    let mut groups: Vec<(ScalingPoint, Vec<f64>)> = Vec::new();
    for row in points.iter().filter(usable) {
        let (Some((x, label)), Some(y)) = (value(row, key), of(row)) else { continue };
        let curve = curve(row, key);
        let same =
            |(entry, _): &&mut (ScalingPoint, Vec<f64>)| entry.x == x && entry.curve == curve;
        match groups.iter_mut().find(same) {
            Some((_, values)) => values.push(y),
            None => {
                let entry = ScalingPoint { x, label, curve, y, interval: None };
                groups.push((entry, vec![y]));
            }
        }
    }
    let entry = |(mut entry, values): (ScalingPoint, Vec<f64>)| {
        entry.y = values.iter().sum::<f64>() / values.len() as f64;
        let half = half_width_95_of_few(&values);
        entry.interval = half.map(|half| (entry.y - half, entry.y + half));
        entry
    };
    groups.into_iter().map(entry).collect()
}

/// The curve that a point belongs to.
fn curve(row: &Point, key: &str) -> CurveId {
    let Label { settings, .. } = &row.label;
    let ends = row.measured.completion_time.is_some();
    let is_other = |path: &str| path != key && (ends || path != LOAD);
    let series = row.label.series_without_seed();
    CurveId {
        name: names::without_value(&series, row.label.setting(key).unwrap_or_default()),
        others: settings.iter().filter(|(path, _)| is_other(path)).cloned().collect(),
    }
}

/// The value that a point has for a key, as a number above 0 and for people.
fn value(row: &Point, key: &str) -> Option<(f64, String)> {
    let text = row.label.setting(key)?;
    if key.ends_with(".dimensions") {
        let nodes = row.measured.nodes?;
        return Some((f64::from(nodes), nodes.to_string()));
    }
    let number = if let Ok(number) = text.parse::<f64>() {
        number
    } else if let Ok(bytes) = parse_bytes(text) {
        bytes.0 as f64
    } else if let Ok(time) = parse_time(text) {
        time.0 as f64
    } else {
        text.strip_suffix(" flits")?.parse().ok()?
    };
    (number.is_finite() && number > 0.0).then(|| (number, text.to_owned()))
}

fn x_title(key: &str) -> String {
    if key.ends_with(".dimensions") {
        return "Nodes".into();
    }
    // `exchange.message` is the message's size.
    let words = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn y_axis(drawn: Drawn, quantity: Quantity, high: f64, look: &FigureStyle) -> Axis {
    match drawn {
        Drawn::CompletionTime => {
            Axis::of_time("Completion time", high, look.unit_for_whole_runs(high))
        }
        Drawn::Latency => Axis::of_time("Packet latency", high, look.unit_for(high)),
        Drawn::Bandwidth => Axis::new("Bandwidth (GB/s of payload per node)", high),
        Drawn::OperationLatency => {
            Axis::of_time("Latency of an operation", high, look.unit_for(high))
        }
        Drawn::OperationBandwidth => Axis::new("Bandwidth (GB/s of payload)", high),
        Drawn::OperationRate => Axis::new("Operations (millions a second)", high),
        Drawn::Saturation => Axis::new(quantity.title("Highest sustained"), high),
        Drawn::Accepted => Axis::new(quantity.title("Accepted"), high),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::PointRow;
    use super::*;
    use flitlab_base::units::Picoseconds;

    fn row(series: &str, settings: &[(&str, &str)], nodes: u32, time: u64) -> Point {
        let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        let settings = settings.iter().map(owned).collect();
        Point {
            label: Label { series: series.into(), settings, ..Label::default() },
            measured: PointRow {
                nodes: Some(nodes),
                status: Status::Completed,
                completion_time: Some(Picoseconds(time)),
                ..PointRow::default()
            },
            ..Point::default()
        }
    }

    #[test]
    fn a_curve_is_what_differs_in_the_key_alone() {
        let mut rows = Vec::new();
        for (sizes, nodes) in [("[4, 4]", 16), ("[8, 8]", 64), ("[16, 16]", 256)] {
            for routing in ["ABR", "POR"] {
                rows.push(row(
                    &format!("dimensions {sizes}, {routing}"),
                    &[("topology.torus.dimensions", sizes), ("routing.angara", routing)],
                    nodes,
                    u64::from(nodes) * 1_000_000,
                ));
            }
        }
        assert_eq!(numeric_keys(&rows), ["topology.torus.dimensions"]);
        let chart = chart(
            (&rows, &[]),
            "topology.torus.dimensions",
            Drawn::CompletionTime,
            &Pens::default(),
            ("", &FigureStyle::default()),
        )
        .unwrap();
        let curves = &chart.panels[0].curves;
        let labels: Vec<&str> = curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(labels, ["ABR", "POR"]);
        let points: Vec<(f64, f64)> =
            curves[0].runs[0].iter().map(|sample| (sample.x, sample.y)).collect();
        assert_eq!(points, [(16.0, 16.0), (64.0, 64.0), (256.0, 256.0)]);
        assert_eq!(chart.panels[0].y.title, "Completion time (µs)");
        assert_eq!(
            super::chart(
                (&rows, &[]),
                "routing.angara",
                Drawn::CompletionTime,
                &Pens::default(),
                ("", &FigureStyle::default())
            ),
            None
        );
    }

    #[test]
    fn what_ends_beside_several_loads_is_a_curve_over_these() {
        let of = |series, load, time| row(series, &[(LOAD, load)], 16, time);
        let mut rows = vec![
            of("each", "0.1", 5),
            of("each", "0.2", 6),
            of("all", "0.1", 7),
            of("all", "0.2", 9),
        ];
        assert_eq!(numeric_keys(&rows), [LOAD]);
        assert!(!super::super::completion::has_bars(&rows));
        let drawn = drawn(&rows, &[]);
        let chart =
            chart((&rows, &[]), LOAD, drawn, &Pens::default(), ("", &FigureStyle::default()))
                .unwrap();
        assert_eq!(chart.panels[0].curves.len(), 2);
        // One load only: bars.
        rows.retain(|row| row.label.setting(LOAD) == Some("0.1"));
        assert!(super::super::completion::has_bars(&rows));
        // Loads that don't end make load curves.
        let mut rows = vec![of("each", "0.1", 5), of("each", "0.2", 6)];
        rows.iter_mut().for_each(|row| row.measured.completion_time = None);
        assert!(numeric_keys(&rows).is_empty());
    }

    #[test]
    fn values_with_units_are_numbers_and_seeds_make_an_interval() {
        let of =
            |size, time| row(&format!("message {size}"), &[("exchange.message", size)], 16, time);
        let rows = [of("512 B", 1_000_000), of("4 KiB", 5_000_000), of("4 KiB", 7_000_000)];
        let chart = chart(
            (&rows, &[]),
            "exchange.message",
            Drawn::CompletionTime,
            &Pens::default(),
            ("", &FigureStyle::default()),
        )
        .unwrap();
        let samples = &chart.panels[0].curves[0].runs[0];
        assert_eq!((samples[0].x, samples[1].x), (512.0, 4096.0));
        assert_eq!((samples[1].y, samples[1].interval.is_some()), (6.0, true));
        assert_eq!(chart.x.values[1].1, "4 KiB");
    }
}
