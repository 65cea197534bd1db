//! How many channels have which load.

use super::super::LoadRow;
use super::axis::Axis;
use super::legend::{Legend, Sample};
use super::palette::{BLACK, Colour};
use super::plot::Plot;
use super::{Figure, THIN_LINE};

const BAR: Colour = (86, 180, 233);

/// With more different loads than this, a bar stands for several.
const BARS: u32 = 50;

/// The number of channels at each load, or range of loads, from 0 to the highest.
#[must_use]
pub fn load_histogram(rows: &[LoadRow], title: &str) -> Figure {
    let highest = rows.iter().map(|row| row.load_routes).max().unwrap_or(0);
    let width = highest / BARS + 1;
    let mut channels = vec![0u32; (highest / width + 1) as usize];
    for row in rows {
        channels[(row.load_routes / width) as usize] += 1;
    }
    let most = channels.iter().copied().max().unwrap_or(0);
    let sum: f64 = rows.iter().map(|row| f64::from(row.load_routes)).sum();
    let mean = sum / rows.len().max(1) as f64;
    let mut legend = Legend::default();
    let loads = if width == 1 { "1 load".into() } else { format!("{width} loads") };
    legend.key(Sample::Bar(BAR), format!("channels, {loads} a bar"));
    legend.key(Sample::Dashed(BLACK), format!("mean {mean:.1}"));
    let right = f64::from((highest / width + 1) * width);
    let x = Axis::new("Routes through the channel", right, 5);
    let y = Axis::new("Channels", f64::from(most) * 1.05, 5);
    let mut plot = Plot::new(title, x, y, &legend);
    for (number, &count) in (0..).zip(&channels) {
        if count > 0 {
            let (from, to) = (f64::from(number * width), f64::from((number + 1) * width));
            // A bar for a load is centred on it.
            let shift = if width == 1 { 0.5 } else { 0.0 };
            let corner = plot.place((from - shift).max(0.0), f64::from(count));
            let opposite = plot.place(to - shift, 0.0);
            let gap = (opposite.0 - corner.0) * 0.06;
            plot.scene.rectangle((corner.0 + gap, corner.1), (opposite.0 - gap, opposite.1), BAR);
        }
    }
    let line = [plot.place(mean, 0.0), plot.upper_edge(mean)];
    plot.scene.dashed(&line, THIN_LINE, BLACK);
    Figure::of(plot.finish())
}

#[cfg(test)]
mod tests {
    use super::super::scene::Shape;
    use super::*;

    #[test]
    fn bars_hold_every_channel() {
        for highest in [0u32, 7, 49, 50, 51, 8_000] {
            let rows: Vec<LoadRow> = (0..=highest)
                .map(|load_routes| LoadRow { channel: String::new(), load_routes })
                .collect();
            let figure = load_histogram(&rows, "");
            let bars = figure
                .scene
                .shapes
                .iter()
                .filter(|shape| matches!(shape, Shape::Area { colour, .. } if *colour == BAR));
            // One in the legend.
            let width = highest / BARS + 1;
            assert_eq!(bars.count() as u32, highest / width + 2);
        }
    }
}
