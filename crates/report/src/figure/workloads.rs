//! Packet latencies of the workloads of a point side by side.

use super::super::{Point, WorkloadRow};
use super::axis::Axis;
use super::bars::{Bar, BarChart, Group, TICKS, highest};
use super::curves::Percentile;
use super::drawing::Figure;
use super::figure_style::{FigureStyle, INTERVAL, Intervals};
use super::kind::{Draw, FigureKind};
use super::legend::{Legend, Sample};
use super::palette::{BAR, BLACK, Colour, FEW, of_series};
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;

impl FigureKind {
    /// `workloads`.
    pub const WORKLOADS: Row<Self> = Row::new(
        "workloads",
        "Mean and 99th percentile of the packet latency of each workload, as bars.",
        Self::new(
            "several workloads, packets of which were measured",
            Draw::Point {
                has: |point| point.workloads.iter().any(has_latency),
                most: FEW,
                draw: |point, title, look| Figure::of_bars(chart(point, title, look)),
            },
        ),
    );
}

fn has_latency(row: &WorkloadRow) -> bool {
    row.measured.packet_latency_mean.is_some()
}

/// A group for each workload whose packets have arrived: their mean latency, with its confidence
/// interval, and the percentile that is drawn beside means.
fn chart(point: &Point, title: &str, look: &FigureStyle) -> BarChart {
    let tail_colour = of_series(0).colour;
    let tail = Percentile::beside_mean(look.percentile);
    let nanoseconds = |time: Picoseconds| time.0 as f64 / 1000.0;
    let bar = |series: &str, value: f64, half: Option<f64>, colour: Colour| Bar {
        series: series.into(),
        value,
        whisker: half.map(|half| ((value - half).max(0.0), value + half)),
        colour,
        note: String::new(),
        hollow: false,
    };
    let group = |row: &WorkloadRow| {
        let measured = &row.measured;
        let half = measured.packet_latency_mean_ci95.map(nanoseconds);
        let half = half.filter(|_| look.intervals != Intervals::Nothing);
        let mean = measured.packet_latency_mean.map(nanoseconds);
        let mean = mean.map(|mean| bar(MEAN, mean, half, BAR));
        let tail = tail.and_then(|tail| {
            Some(bar(tail.name(), nanoseconds(tail.of(measured)?), None, tail_colour))
        });
        Group { label: row.name.clone(), bars: mean.into_iter().chain(tail).collect() }
    };
    let shown = point.workloads.iter().filter(|row| has_latency(row));
    let mut groups: Vec<Group> = shown.map(group).collect();

    let mut legend = Legend::default();
    legend.series(Sample::Bar(BAR), MEAN);
    if let Some(tail) = tail {
        legend.series(Sample::Bar(tail_colour), tail.name());
    }
    if groups.iter().flat_map(|group| &group.bars).any(|bar| bar.whisker.is_some()) {
        legend.key(Sample::Whisker(BLACK), INTERVAL);
    }
    let high = highest(&groups);
    let unit = look.unit_for(high);
    let axis = Axis::of_time("Packet latency", high, unit).up_to_a_tick(TICKS);
    for bar in groups.iter_mut().flat_map(|group| &mut group.bars) {
        bar.value /= unit.size();
        bar.whisker = bar.whisker.map(|(low, high)| (low / unit.size(), high / unit.size()));
    }
    BarChart { title: title.into(), axis, groups, legend }
}

const MEAN: &str = "mean";
