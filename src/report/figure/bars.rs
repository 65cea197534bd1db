//! Horizontal bars with labels on the left, each with a whisker from the least to the most.

use super::axis::Axis;
use super::font;
use super::legend::{Legend, SLACK};
use super::palette::{BLACK, Colour, GRID};
use super::plot::{MARGIN, TICK, title_lines};
use super::scene::{Anchor, Scene};
use super::{AXIS_LINE, AXIS_SIZE, THIN_LINE, TICK_SIZE, WIDTH};

/// Height of a row, and of the bar in it.
const ROW: f64 = 11.0;
const BAR: f64 = 6.5;

/// Labels may take this share of the sheet's width; longer ones are shortened.
const LABELS: f64 = 0.45;

/// A bar from 0 to `value`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bar {
    pub label: String,
    pub value: f64,
    pub whisker: Option<(f64, f64)>,
    pub colour: Colour,
}

/// The highest value or whisker.
pub(super) fn highest(bars: &[Bar]) -> f64 {
    bars.iter()
        .map(|bar| bar.whisker.map_or(bar.value, |ends| ends.1.max(bar.value)))
        .fold(0.0, f64::max)
}

pub(super) fn draw(title: &str, bars: &[Bar], axis: &Axis, legend: &Legend) -> Scene {
    let sheet = f64::from(WIDTH) - 2.0 * MARGIN;
    let room = f64::from(WIDTH) * LABELS;
    let labels: Vec<String> =
        bars.iter().map(|bar| font::shorten(&bar.label, TICK_SIZE, room)).collect();
    let widest =
        labels.iter().map(|label| font::width(label, TICK_SIZE)).fold(0.0, f64::max) * SLACK;
    let left = MARGIN + widest + 4.0;
    let last = axis.ticks.last().map_or(0.0, |tick| font::width(&tick.1, TICK_SIZE));
    let right = f64::from(WIDTH) - MARGIN - last * SLACK / 2.0;
    let mut scene = Scene { width: WIDTH, height: 0, shapes: Vec::new() };
    let top = title_lines(&mut scene, title) + 4.0;
    let bottom = top + ROW * bars.len().max(1) as f64 + 2.0;
    let axis_title = bottom + TICK + 2.0 + TICK_SIZE + 3.0 + AXIS_SIZE;
    let legend_top = axis_title + 6.0;
    scene.height = (legend_top + legend.height(sheet) + MARGIN).ceil() as u32;
    let across = |value: f64| left + axis.share(value).clamp(0.0, 1.0) * (right - left);

    for (value, label) in &axis.ticks {
        let x = across(*value);
        if *value > 0.0 {
            scene.line(&[(x, top), (x, bottom)], AXIS_LINE, GRID);
        }
        scene.line(&[(x, bottom), (x, bottom + TICK)], AXIS_LINE, BLACK);
        let place = (x, bottom + TICK + 2.0 + TICK_SIZE * 0.8);
        scene.text(label, place, TICK_SIZE, Anchor::Middle, BLACK);
    }
    for (number, (bar, label)) in bars.iter().zip(&labels).enumerate() {
        let y = top + ROW * (number as f64 + 0.5) + 1.0;
        scene.text(label, (left - 4.0, y + TICK_SIZE * 0.36), TICK_SIZE, Anchor::End, BLACK);
        if bar.value > 0.0 {
            let corner = (left, y - BAR / 2.0);
            scene.rectangle(corner, (across(bar.value), y + BAR / 2.0), bar.colour);
        }
        if let Some((low, high)) = bar.whisker {
            scene.line(&[(across(low), y), (across(high), y)], THIN_LINE, BLACK);
            for x in [across(low), across(high)] {
                scene.line(&[(x, y - 2.0), (x, y + 2.0)], THIN_LINE, BLACK);
            }
        }
    }
    scene.line(&[(left, top), (left, bottom), (right, bottom)], AXIS_LINE, BLACK);
    let text = font::shorten(&axis.title, AXIS_SIZE, right - MARGIN);
    let centre = f64::midpoint(left, right).min(right - font::width(&text, AXIS_SIZE) / 2.0);
    scene.text(&text, (centre, axis_title), AXIS_SIZE, Anchor::Middle, BLACK);
    legend.draw(&mut scene, MARGIN, legend_top, sheet);
    scene
}
