//! Horizontal bars with labels on the left, alone or in groups, each with a whisker from its least
//! to its most or a note behind its end.

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::font;
use super::legend::{Legend, SLACK};
use super::palette::{AXIS_LINE, BLACK, Colour, GRID, OUTLINE, THIN_LINE, WHITE};
use super::scene::{Anchor, Scene};
use super::sheet::{MARGIN, Sheet, TICK};
use super::title::title_lines;

/// Space between groups, between the bars of a group, and what the bar itself takes of the letters'
/// size.
const BETWEEN_GROUPS: f64 = 4.0;
const BETWEEN_BARS: f64 = 1.0;
const BAR: f64 = 0.92;

/// Space between a bar and its note.
const NOTE_GAP: f64 = 3.0;

/// Labels may take this share of the sheet's width; longer ones are in several lines, so far apart
/// in sizes of letters.
const LABELS: f64 = 0.45;
const LINE_HEIGHT: f64 = 1.1;

/// At most this many ticks beside that of 0.
pub(super) const TICKS: u32 = 5;

/// Bars from 0 on; differences may be below it.
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
    /// An outline alone, for what somebody else has published.
    #[serde(default)]
    pub hollow: bool,
}

impl Group {
    pub fn of_one(label: &str, value: f64, whisker: Option<(f64, f64)>, colour: Colour) -> Self {
        let bar = Bar {
            series: String::new(),
            value,
            whisker,
            colour,
            note: String::new(),
            hollow: false,
        };
        Self { label: label.into(), bars: vec![bar] }
    }
}

/// The highest value or whisker.
pub(super) fn highest(groups: &[Group]) -> f64 {
    let bars = groups.iter().flat_map(|group| &group.bars);
    bars.map(|bar| bar.whisker.map_or(bar.value, |ends| ends.1.max(bar.value))).fold(0.0, f64::max)
}

/// The lowest value or whisker, if it is below 0.
pub(super) fn lowest(groups: &[Group]) -> f64 {
    let bars = groups.iter().flat_map(|group| &group.bars);
    bars.map(|bar| bar.whisker.map_or(bar.value, |ends| ends.0.min(bar.value))).fold(0.0, f64::min)
}

pub(super) fn draw(chart: &BarChart, sheet: &Sheet) -> Scene {
    let BarChart { title, axis, groups, legend } = chart;
    let size = sheet.small_size();
    let row = BAR * size + BETWEEN_BARS;
    let room = sheet.width() * LABELS;
    let labels: Vec<Vec<String>> =
        groups.iter().map(|group| font::lines(&group.label, size, room)).collect();
    let widest = labels.iter().flatten().map(|line| font::width(line, size)).fold(0.0, f64::max);
    let widest = widest * SLACK;
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
    let of_lines = |label: &[String]| label.len() as f64 * size * LINE_HEIGHT;
    let height = |(group, label): (&Group, &Vec<String>)| {
        (group.bars.len() as f64 * row).max(of_lines(label)) + BETWEEN_GROUPS
    };
    let all = groups.iter().zip(&labels);
    let bottom = top + all.map(height).sum::<f64>().max(row) + 2.0;
    let across = |value: f64| left + axis.share(value).clamp(0.0, 1.0) * (right - left);

    for (value, label) in &ticks {
        let x = across(*value);
        if *value != 0.0 {
            scene.line(&[(x, top), (x, bottom)], AXIS_LINE, GRID);
        }
        scene.line(&[(x, bottom), (x, bottom + TICK)], AXIS_LINE, BLACK);
        let place = (x, bottom + TICK + 2.0 + size * 0.8);
        scene.text(label, place, size, Anchor::Middle, BLACK);
    }
    let mut group_top = top + 1.0;
    for (group, label) in groups.iter().zip(&labels) {
        let middle = group_top + height((group, label)) / 2.0;
        let first = middle - (label.len() as f64 - 1.0) * size * LINE_HEIGHT / 2.0;
        for (number, line) in (0..).zip(label) {
            let y = first + f64::from(number) * size * LINE_HEIGHT + size * 0.36;
            scene.text(line, (left - 4.0, y), size, Anchor::End, BLACK);
        }
        let first = middle - group.bars.len() as f64 * row / 2.0;
        for (number, bar) in (0..).zip(&group.bars) {
            let y = first + row * (f64::from(number) + 0.5);
            let half = BAR * size / 2.0;
            draw_bar(&mut scene, (across(0.0), across(bar.value)), (y - half, y + half), bar);
            if let Some((low, high)) = bar.whisker {
                let ends = (across(low), across(high));
                if bar.colour == BLACK {
                    draw_whisker(&mut scene, ends, y, (THIN_LINE * 3.0, WHITE));
                }
                draw_whisker(&mut scene, ends, y, (THIN_LINE, BLACK));
            }
            if !bar.note.is_empty() {
                let place = (across(bar.value) + NOTE_GAP, y + size * 0.36);
                scene.text(&bar.note, place, size, Anchor::Start, BLACK);
            }
        }
        group_top += height((group, label));
    }
    let zero = across(0.0);
    if zero > left {
        scene.line(&[(zero, top), (zero, bottom)], AXIS_LINE, BLACK);
        scene.line(&[(left, bottom), (right, bottom)], AXIS_LINE, BLACK);
    } else {
        scene.line(&[(left, top), (left, bottom), (right, bottom)], AXIS_LINE, BLACK);
    }
    let axis_title = bottom + TICK + 2.0 + size + 3.0 + sheet.axis_size();
    let text = font::shorten(&axis.title, sheet.axis_size(), right - MARGIN);
    let half = font::width(&text, sheet.axis_size()) / 2.0;
    let centre = f64::midpoint(left, right).min(right - half);
    scene.text(&text, (centre, axis_title), sheet.axis_size(), Anchor::Middle, BLACK);
    legend.end(scene, sheet, axis_title + 6.0)
}

fn draw_bar(scene: &mut Scene, (from, to): (f64, f64), (top, bottom): (f64, f64), bar: &Bar) {
    let (left, right) = (from.min(to), from.max(to));
    if left == right {
        return;
    }
    scene.rectangle((left, top), (right, bottom), bar.colour);
    if bar.hollow && right - left > 2.0 * OUTLINE {
        let (left, right) = (left + OUTLINE, right - OUTLINE);
        scene.rectangle((left, top + OUTLINE), (right, bottom - OUTLINE), WHITE);
    }
}

fn draw_whisker(
    scene: &mut Scene,
    (low, high): (f64, f64),
    y: f64,
    (width, colour): (f64, Colour),
) {
    scene.line(&[(low, y), (high, y)], width, colour);
    for x in [low, high] {
        scene.line(&[(x, y - 2.0), (x, y + 2.0)], width, colour);
    }
}
