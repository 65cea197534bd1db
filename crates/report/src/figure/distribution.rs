//! How packet latencies are distributed.

use super::super::{LatencyRow, Point};
use super::axis::Axis;
use super::chart::{Chart, Curve, Markers, Panel, Sample};
use super::choice::{self, Has, Shown};
use super::figure_style::FigureStyle;
use super::kind::{Draw, FigureKind, FigureTask, Named, chart_if};
use super::legend::{Legend, Sample as LegendSample};
use super::names;
use super::palette::{FEW, of_series};
use super::style::Pens;
use flitlab_base::registry::Row;

impl FigureKind {
    /// `cdf`.
    pub const DISTRIBUTION: Row<Self> = Row::new(
        "cdf",
        "Distribution of the packet latency.",
        Self::new("packets that were measured", Draw::Group(draw)),
    );
}

/// With more series than this the figure is drawn only if asked for.
const MANY: usize = 8;

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let chart = chart(task.points, task.pens, task.wish.load, task.title, &task.wish.look);
    let curves = chart.panels[0].curves.len();
    chart_if(curves > 0 && (curves <= MANY || task.asked), || chart)
}

/// The axis ends where this share of the packets of every curve has arrived, or at so many times
/// the latency at which that is so for the first curve: close to saturation tails are long.
const SHOWN: f64 = 0.99;
const STRETCH: f64 = 6.0;

const HAS: Has = |point| !point.latencies.is_empty();

/// The share of packets that took at most so long. One series: at up to four loads, from its lowest
/// to its highest steady one. Several: at the highest load that is steady for all, or, if there is
/// none, each at its own highest steady load. With a load given, all at that load, or the nearest
/// they have.
fn chart(
    points: &[Point],
    pens: &Pens,
    load: Option<f64>,
    title: &str,
    look: &FigureStyle,
) -> Chart {
    let chosen = choice::loads(points, HAS, load, FEW);
    let end = |shown: &Shown<'_>| {
        let rows = &shown.point.latencies;
        let last = rows.iter().find(|row| row.share >= SHOWN).or(rows.last());
        last.map_or(0.0, nanoseconds)
    };
    let ends = chosen.iter().map(end);
    let first = ends.clone().fold(f64::INFINITY, f64::min);
    let high = ends.fold(0.0, f64::max).min(first * STRETCH) * 1.04;
    let unit = look.unit_for(high);
    let size = unit.size();
    let x = Axis::of_time("Packet latency", high, unit);
    let mut panel = Panel::new(Axis::of_shares("Share of packets", 1.0));
    let mut legend = Legend::default();
    let loads: Vec<&str> = chosen.iter().map(|shown| shown.load.as_str()).collect();
    let same_load = loads.windows(2).all(|pair| pair[0] == pair[1]);
    let name = |shown: &Shown<'_>| shown.point.label.series.clone();
    let single = chosen.windows(2).all(|pair| name(&pair[0]) == name(&pair[1]));
    for (number, shown) in chosen.iter().enumerate() {
        // Several loads of one series are told apart.
        let several = single && chosen.len() > 1;
        let pen = if several { of_series(number) } else { pens.of(&name(shown)) };
        let parts = [shown.point.label.series.as_str(), if same_load { "" } else { &shown.load }];
        let label = names::joined(&parts);
        let label = if label.is_empty() { "packets".into() } else { label };
        legend.series(LegendSample::Series(pen), label.clone());
        let samples = samples(&shown.point.latencies, high, size);
        let markers = Markers::few(pen.marker, number, samples.len());
        let curve = Curve::marked(&label, "share", pen, vec![samples]);
        panel.curves.push(Curve { markers, ..curve });
    }
    let load = loads.first().copied().filter(|_| same_load).unwrap_or_default();
    Chart::single(&names::joined(&[title, load]), x, panel, legend)
}

/// The curve up to the axis' end, from the least latency on.
fn samples(rows: &[LatencyRow], high: f64, size: f64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    if let Some(first) = rows.first() {
        samples.push(Sample::new(nanoseconds(first) / size, 0.0));
    }
    for row in rows {
        let (latency, share) = (nanoseconds(row), row.share);
        if latency <= high {
            samples.push(Sample::new(latency / size, share));
            continue;
        }
        if let Some(&last) = samples.last() {
            let along = (high / size - last.x) / (latency / size - last.x);
            samples.push(Sample::new(high / size, last.y + (share - last.y) * along));
        }
        break;
    }
    samples
}

fn nanoseconds(row: &LatencyRow) -> f64 {
    row.packet_latency.0 as f64 / 1000.0
}
