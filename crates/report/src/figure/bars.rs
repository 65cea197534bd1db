//! Horizontal bars with labels on the left, alone or in groups, each with a whisker from its least
//! to its most or a note behind its end.

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::font;
use super::legend::{Legend, SLACK};
use super::palette::{BLACK, Colour, GRID};
use super::plot::{MARGIN, TICK, title_lines};
use super::scene::{Anchor, Scene};
use super::sheet::Sheet;
use super::{AXIS_LINE, THIN_LINE};

/// Space between groups, between the bars of a group, and what the bar itself takes of the letters'
/// size.
const BETWEEN_GROUPS: f64 = 4.0;
const BETWEEN_BARS: f64 = 1.0;
const BAR: f64 = 0.92;

/// Space between a bar and its note.
const NOTE_GAP: f64 = 3.0;

/// Labels may take this share of the sheet's width; longer ones are shortened.
const LABELS: f64 = 0.45;

/// At most this many ticks beside that of 0.
pub(super) const TICKS: u32 = 5;

/// Bars from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BarChart {
    pub title: String,
    pub axis: Axis,
    pub groups: Vec<Group>,
    pub legend: Legend,
}

/// Bars with one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Group {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// A bar from 0 to `value`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bar {
    /// Its series, if a group has several.
    pub series: String,
    pub value: f64,
    pub whisker: Option<(f64, f64)>,
    pub colour: Colour,
    /// Text behind its end; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl Group {
    pub fn of_one(label: &str, value: f64, whisker: Option<(f64, f64)>, colour: Colour) -> Self {
        let bar = Bar { series: String::new(), value, whisker, colour, note: String::new() };
        Self { label: label.into(), bars: vec![bar] }
    }
}

/// The highest value or whisker.
pub(super) fn highest(groups: &[Group]) -> f64 {
    let bars = groups.iter().flat_map(|group| &group.bars);
    bars.map(|bar| bar.whisker.map_or(bar.value, |ends| ends.1.max(bar.value))).fold(0.0, f64::max)
}

pub(super) fn draw(chart: &BarChart, sheet: &Sheet) -> Scene {
    let BarChart { title, axis, groups, legend } = chart;
    let size = sheet.small_size();
    let row = BAR * size + BETWEEN_BARS;
    let room = sheet.width() * LABELS;
    let labels: Vec<String> =
        groups.iter().map(|group| font::shorten(&group.label, size, room)).collect();
    let widest = labels.iter().map(|label| font::width(label, size)).fold(0.0, f64::max) * SLACK;
    let left = MARGIN + widest + 4.0;
    let fits = |ticks: &[(f64, String)]| {
        let widths = ticks.iter().map(|tick| font::width(&tick.1, size) * SLACK + size * 0.5);
        widths.sum::<f64>() <= sheet.width() - MARGIN - left
    };
    let ticks = (1..=TICKS).rev().map(|most| axis.ticks(most)).find(|ticks| fits(ticks));
    let ticks = ticks.unwrap_or_else(|| axis.ticks(1));
    let last = ticks.last().map_or(0.0, |tick| font::width(&tick.1, size));
    let bars = groups.iter().flat_map(|group| &group.bars);
    let notes = bars.map(|bar| font::width(&bar.note, size)).fold(0.0, f64::max) * SLACK;
    let beyond = (last * SLACK / 2.0).max(if notes > 0.0 { notes + NOTE_GAP } else { 0.0 });
    let right = (sheet.width() - MARGIN - beyond).max(left + 10.0);
    let mut scene = Scene::new(sheet.width());
    let top = title_lines(&mut scene, sheet, title) + 4.0;
    let height = |group: &Group| group.bars.len() as f64 * row + BETWEEN_GROUPS;
    let bottom = top + groups.iter().map(height).sum::<f64>().max(row) + 2.0;
    let across = |value: f64| left + axis.share(value).clamp(0.0, 1.0) * (right - left);

    for (value, label) in &ticks {
        let x = across(*value);
        if *value > 0.0 {
            scene.line(&[(x, top), (x, bottom)], AXIS_LINE, GRID);
        }
        scene.line(&[(x, bottom), (x, bottom + TICK)], AXIS_LINE, BLACK);
        let place = (x, bottom + TICK + 2.0 + size * 0.8);
        scene.text(label, place, size, Anchor::Middle, BLACK);
    }
    let mut group_top = top + 1.0;
    for (group, label) in groups.iter().zip(&labels) {
        let middle = group_top + height(group) / 2.0;
        scene.text(label, (left - 4.0, middle + size * 0.36), size, Anchor::End, BLACK);
        for (number, bar) in (0..).zip(&group.bars) {
            let y = group_top + BETWEEN_GROUPS / 2.0 + row * (f64::from(number) + 0.5);
            if bar.value > 0.0 {
                let half = BAR * size / 2.0;
                scene.rectangle((left, y - half), (across(bar.value), y + half), bar.colour);
            }
            if let Some((low, high)) = bar.whisker {
                draw_whisker(&mut scene, (across(low), across(high)), y);
            }
            if !bar.note.is_empty() {
                let place = (across(bar.value) + NOTE_GAP, y + size * 0.36);
                scene.text(&bar.note, place, size, Anchor::Start, BLACK);
            }
        }
        group_top += height(group);
    }
    scene.line(&[(left, top), (left, bottom), (right, bottom)], AXIS_LINE, BLACK);
    let axis_title = bottom + TICK + 2.0 + size + 3.0 + sheet.axis_size();
    let text = font::shorten(&axis.title, sheet.axis_size(), right - MARGIN);
    let half = font::width(&text, sheet.axis_size()) / 2.0;
    let centre = f64::midpoint(left, right).min(right - half);
    scene.text(&text, (centre, axis_title), sheet.axis_size(), Anchor::Middle, BLACK);
    legend.end(scene, sheet, axis_title + 6.0)
}

fn draw_whisker(scene: &mut Scene, (low, high): (f64, f64), y: f64) {
    scene.line(&[(low, y), (high, y)], THIN_LINE, BLACK);
    for x in [low, high] {
        scene.line(&[(x, y - 2.0), (x, y + 2.0)], THIN_LINE, BLACK);
    }
}
