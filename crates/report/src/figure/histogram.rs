//! How many channels have which load.

use super::super::LoadRow;
use super::axis::Axis;
use super::chart::{Bin, Chart, Panel, Rule};
use super::drawing::Figure;
use super::legend::{Legend, Sample};
use super::palette::{BAR, BLACK, Dash};
use flitlab_base::narrow::{narrow, rounded};

/// With more different loads than this, a bar stands for several.
const BARS: u64 = 50;

/// The number of channels at each load, or range of loads, from 0 to the highest. Loads are rounded
/// to whole numbers.
pub fn load_histogram(rows: &[LoadRow], title: &str) -> Figure {
    let load = |row: &LoadRow| rounded::<u64>(row.load_routes);
    let highest = rows.iter().map(load).max().unwrap_or(0);
    let width = highest / BARS + 1;
    let mut channels = vec![0u32; narrow(highest / width + 1)];
    for row in rows {
        channels[narrow::<usize>(load(row) / width)] += 1;
    }
    let most = channels.iter().copied().max().unwrap_or(0);
    let sum: f64 = rows.iter().map(|row| row.load_routes).sum();
    let mean = sum / rows.len().max(1) as f64;
    let mut legend = Legend::default();
    let loads = if width == 1 { "1 load".into() } else { format!("{width} loads") };
    legend.key(Sample::Bar(BAR), format!("channels, {loads} a bar"));
    legend.key(Sample::Dashed(BLACK), format!("mean {mean:.1}"));
    let right = ((highest / width + 1) * width) as f64;
    let x = Axis::new("Routes through the channel", right);
    let mut panel = Panel::new(Axis::new("Channels", f64::from(most) * 1.05));
    // A bar for a load is centred on it.
    let shift = if width == 1 { 0.5 } else { 0.0 };
    for (number, &count) in (0..).zip(&channels).filter(|(_, count)| **count > 0) {
        let (from, to) = ((number * width) as f64, ((number + 1) * width) as f64);
        panel.bins.push(Bin { from: from - shift, to: to - shift, height: f64::from(count) });
    }
    panel.rules.push(Rule {
        ends: [(mean, 0.0), (mean, f64::INFINITY)],
        colour: BLACK,
        dash: Dash::Dashed,
    });
    Figure::of_chart(Chart::single(title, x, panel, legend))
}

#[cfg(test)]
mod tests {
    use super::super::scene::Shape;
    use super::super::sheet::Sheet;
    use super::*;

    #[test]
    fn bars_hold_every_channel() {
        for highest in [0u64, 7, 49, 50, 51, 8_000] {
            let rows: Vec<LoadRow> = (0..=highest)
                .map(|load| LoadRow { channel: String::new(), load_routes: load as f64 })
                .collect();
            let figure = load_histogram(&rows, "");
            let scene = figure.scene(&Sheet::default());
            let bars = scene.shapes.iter();
            let bars =
                bars.filter(|shape| matches!(shape, Shape::Area { colour, .. } if *colour == BAR));
            // One in the legend.
            let width = highest / BARS + 1;
            assert_eq!(bars.count() as u64, highest / width + 2);
        }
    }
}
