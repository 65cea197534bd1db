//! From a chart to a scene: frames, axes, and where data lies in them.

use super::axis::Axis;
use super::chart::{Bin, Chart, Curve, Markers, Panel, Rule, Sample, Stroke};
use super::font;
use super::legend::SLACK;
use super::palette::{BAR, BLACK, Colour, GRID, Marker};
use super::scene::{Anchor, Place, Scene};
use super::sheet::Sheet;
use super::{AXIS_LINE, LINE, THIN_LINE};
use crate::narrow::rounded_down;

/// Free space at the sheet's edges.
pub(super) const MARGIN: f64 = 5.0;

/// Length of a tick.
pub(super) const TICK: f64 = 3.0;

/// At most this many ticks beside that of 0.
const TICKS: u32 = 6;

/// Height of one of several panels, relative to that of a single one.
const PANEL: f64 = 0.5;

/// Space between panels.
const BETWEEN: f64 = 6.0;

/// Radius of a small point.
const DOT: f64 = 0.9;

/// Markers at the upper edge are at least so far apart.
const APART: f64 = 6.0;

/// A panel's place on the sheet.
struct Frame<'c> {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    x: &'c Axis,
    y: &'c Axis,
}

/// Draws a chart.
pub(super) fn draw(chart: &Chart, sheet: &Sheet) -> Scene {
    let mut scene = Scene::new(sheet.width());
    let top = title_lines(&mut scene, sheet, &chart.title) + 5.0;
    let height = match chart.panels.len() {
        0 | 1 => sheet.frame_height(),
        _ => sheet.frame_height() * PANEL,
    };
    let y_ticks = TICKS.min(rounded_down((height / (sheet.small_size() * 2.2)).max(0.0))).max(1);
    let widest = |ticks: &[(f64, String)]| {
        let widths = ticks.iter().map(|tick| font::width(&tick.1, sheet.small_size()));
        widths.fold(0.0, f64::max) * SLACK
    };
    let labels = chart.panels.iter().map(|panel| widest(&panel.y.ticks(y_ticks)));
    let title_lines = chart.panels.iter().map(|panel| y_title(panel, sheet, height).len());
    let titles = title_lines.max().unwrap_or(1) as f64 * (sheet.axis_size() + 1.0) - 1.0;
    let left = MARGIN + titles + 4.0 + labels.fold(0.0, f64::max) + TICK + 2.0;
    let overhang =
        chart.x.ticks(TICKS).last().map_or(0.0, |last| font::width(&last.1, sheet.small_size()));
    let right = (sheet.width() - MARGIN - overhang * SLACK / 2.0).max(left + 10.0);
    let mut bottom = top;
    for (number, panel) in chart.panels.iter().enumerate() {
        let top = top + number as f64 * (height + BETWEEN);
        bottom = top + height;
        let frame = Frame { left, top, right, bottom, x: &chart.x, y: &panel.y };
        y_axis(&mut scene, sheet, &frame, y_ticks, &y_title(panel, sheet, height));
        let last = number + 1 == chart.panels.len();
        x_axis(&mut scene, sheet, &frame, last);
        draw_data(&mut scene, &frame, panel);
        let corners = [(left, top), (left, bottom), (right, bottom)];
        scene.line(&corners, AXIS_LINE, BLACK);
    }
    let x_title = bottom + TICK + 2.0 + sheet.small_size() + 3.0 + sheet.axis_size();
    let text = font::shorten(&chart.x.title, sheet.axis_size(), sheet.width() - 2.0 * MARGIN);
    let half = font::width(&text, sheet.axis_size()) * SLACK / 2.0;
    let farthest = sheet.width() - MARGIN - half;
    let place = (f64::midpoint(left, right).min(farthest), x_title);
    scene.text(&text, place, sheet.axis_size(), Anchor::Middle, BLACK);
    let legend_top = x_title + 6.0;
    let room = sheet.width() - 2.0 * MARGIN;
    chart.legend.draw(&mut scene, sheet, (MARGIN, legend_top), room);
    scene.height = (legend_top + chart.legend.height(sheet, room) + MARGIN).ceil();
    scene
}

/// The title of a panel's axis, in two lines if the panel is too low for one.
fn y_title(panel: &Panel, sheet: &Sheet, height: f64) -> Vec<String> {
    font::two_lines(&panel.y.title, sheet.axis_size(), (height + BETWEEN) / SLACK)
}

fn y_axis(scene: &mut Scene, sheet: &Sheet, frame: &Frame<'_>, most: u32, title: &[String]) {
    let size = sheet.axis_size();
    for (number, line) in (0..).zip(title) {
        let half = font::width(line, size) * SLACK / 2.0;
        let middle = f64::midpoint(frame.top, frame.bottom).max(MARGIN + half);
        let across = MARGIN + size * 0.8 + f64::from(number) * (size + 1.0);
        scene.upwards(line, (across, middle), size, BLACK);
    }
    let size = sheet.small_size();
    for (value, label) in frame.y.ticks(most) {
        let y = frame.place(0.0, value).1;
        if value > 0.0 {
            scene.line(&[(frame.left, y), (frame.right, y)], AXIS_LINE, GRID);
        }
        scene.line(&[(frame.left - TICK, y), (frame.left, y)], AXIS_LINE, BLACK);
        let place = (frame.left - TICK - 2.0, y + size * 0.36);
        scene.text(&label, place, size, Anchor::End, BLACK);
    }
}

/// As many ticks as have room for their labels.
fn x_axis(scene: &mut Scene, sheet: &Sheet, frame: &Frame<'_>, labelled: bool) {
    let size = sheet.small_size();
    let span = |(value, label): &(f64, String)| {
        let (x, half) = (frame.place(*value, 0.0).0, font::width(label, size) * SLACK / 2.0);
        (x - half, x + half + size * 0.5)
    };
    let fits =
        |ticks: &[(f64, String)]| ticks.windows(2).all(|pair| span(&pair[0]).1 <= span(&pair[1]).0);
    let ticks = (1..=TICKS).rev().map(|most| frame.x.ticks(most));
    let ticks = ticks.clone().find(|ticks| fits(ticks)).unwrap_or_else(|| frame.x.ticks(1));
    let mut free = f64::NEG_INFINITY;
    for tick in ticks {
        let x = frame.place(tick.0, 0.0).0;
        scene.line(&[(x, frame.bottom), (x, frame.bottom + TICK)], AXIS_LINE, BLACK);
        let (start, end) = span(&tick);
        // Ticks at given values may be as close as those are.
        if labelled && start >= free {
            free = end;
            let place = (x, frame.bottom + TICK + 2.0 + size * 0.8);
            scene.text(&tick.1, place, size, Anchor::Middle, BLACK);
        }
    }
}

fn draw_data(scene: &mut Scene, frame: &Frame<'_>, panel: &Panel) {
    for bin in &panel.bins {
        draw_bin(scene, frame, bin);
    }
    for rule in &panel.rules {
        draw_rule(scene, frame, rule);
    }
    for curve in &panel.curves {
        for band in bands(frame, curve) {
            scene.band(band, curve.colour);
        }
    }
    for curve in &panel.curves {
        draw_lines(scene, frame, curve);
    }
    for turn in in_turn(&panel.curves) {
        draw_marker(scene, frame, &turn);
    }
    let mut taken: Vec<f64> = Vec::new();
    for mark in &panel.marks {
        let place = match mark.y {
            Some(y) => frame.place(mark.x, y),
            None => {
                let x = frame.place(mark.x, 0.0).0;
                let before = taken.iter().filter(|&&other| (other - x).abs() < APART).count();
                taken.push(x);
                (x, frame.top + before as f64 * APART)
            }
        };
        if frame.holds(place) {
            draw_mark(scene, place, mark.marker, mark.colour, mark.hollow);
        }
    }
}

/// Outlines of the confidence intervals of samples that are connected, within the frame.
fn bands<'a>(frame: &'a Frame<'_>, curve: &'a Curve) -> impl Iterator<Item = Vec<Place>> + 'a {
    let runs = curve
        .runs
        .iter()
        .flat_map(|run| run.chunk_by(|a, b| a.interval.is_some() == b.interval.is_some()));
    runs.filter(|run| run.len() > 1 && curve.stroke != Stroke::Nothing).filter_map(|run| {
        let edge = |end: fn((f64, f64)) -> f64| {
            let place = |sample: &Sample| Some(frame.place(sample.x, end(sample.interval?)));
            run.iter().map(place).collect::<Option<Vec<Place>>>()
        };
        let (low, high) = (edge(|interval| interval.0)?, edge(|interval| interval.1)?);
        let mut outline = high;
        outline.extend(low.into_iter().rev());
        let outline = frame.clip_area(&outline);
        (outline.len() > 2).then_some(outline)
    })
}

fn draw_lines(scene: &mut Scene, frame: &Frame<'_>, curve: &Curve) {
    for run in &curve.runs {
        let places: Vec<Place> = run.iter().map(|sample| frame.place(sample.x, sample.y)).collect();
        for part in frame.clip(&places) {
            match curve.stroke {
                Stroke::Full => scene.line(&part, LINE, curve.colour),
                Stroke::Dashed => scene.dashed(&part, THIN_LINE, curve.colour),
                Stroke::Nothing => {}
            }
        }
    }
}

/// A sample to be marked.
struct Turn<'c> {
    curve: &'c Curve,
    /// Among the curve's samples.
    number: usize,
    sample: &'c Sample,
    /// Connected to no other.
    alone: bool,
}

/// All samples in an order for drawing: where curves coincide, each is on top in its turn.
fn in_turn(curves: &[Curve]) -> Vec<Turn<'_>> {
    let count = curves.len();
    let mut turns: Vec<((usize, usize), Turn<'_>)> = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        let samples =
            curve.runs.iter().flat_map(|run| run.iter().map(|sample| (run.len(), sample)));
        for (number, (length, sample)) in samples.enumerate() {
            let rank = (place + count - 1 - number % count) % count;
            let turn = Turn { curve, number, sample, alone: length == 1 };
            turns.push(((number, rank), turn));
        }
    }
    turns.sort_by_key(|(order, _)| *order);
    turns.into_iter().map(|(_, turn)| turn).collect()
}

fn draw_marker(scene: &mut Scene, frame: &Frame<'_>, turn: &Turn<'_>) {
    let Turn { curve, number, sample, alone } = *turn;
    let place = frame.place(sample.x, sample.y);
    if let Some((low, high)) = sample.interval.filter(|_| alone) {
        let ends = [low, high].map(|end| frame.place(sample.x, end.max(0.0)));
        for part in frame.clip(&ends) {
            whisker(scene, &part, curve.colour);
        }
    }
    if !frame.holds(place) {
        return;
    }
    match (curve.markers, curve.markers.at(number)) {
        (Markers::Dots, _) => scene.disc(place, DOT, curve.colour),
        (_, Some(marker)) => draw_mark(scene, place, marker, curve.colour, sample.hollow),
        (_, None) => {}
    }
}

fn draw_mark(scene: &mut Scene, place: Place, marker: Marker, colour: Colour, hollow: bool) {
    if hollow {
        scene.hollow_marker(place, marker, colour);
    } else {
        scene.marker(place, marker, colour);
    }
}

fn whisker(scene: &mut Scene, ends: &[Place], colour: Colour) {
    scene.line(ends, THIN_LINE, colour);
    for &(x, y) in ends {
        scene.line(&[(x - 1.5, y), (x + 1.5, y)], THIN_LINE, colour);
    }
}

fn draw_rule(scene: &mut Scene, frame: &Frame<'_>, rule: &Rule) {
    let finite = |value: f64, high: f64| if value.is_finite() { value } else { high };
    let ends =
        rule.ends.map(|(x, y)| frame.place(finite(x, frame.x.high), finite(y, frame.y.high)));
    for part in frame.clip(&ends) {
        if rule.dashed {
            scene.dashed(&part, THIN_LINE, rule.colour);
        } else {
            scene.line(&part, THIN_LINE, rule.colour);
        }
    }
}

fn draw_bin(scene: &mut Scene, frame: &Frame<'_>, bin: &Bin) {
    let corner = frame.place(bin.from.max(0.0), bin.height);
    let opposite = frame.place(bin.to, 0.0);
    let gap = (opposite.0 - corner.0) * 0.06;
    scene.rectangle((corner.0 + gap, corner.1), (opposite.0 - gap, opposite.1), BAR);
}

impl Frame<'_> {
    /// Where a value lies, which may be outside the frame.
    fn place(&self, x: f64, y: f64) -> Place {
        // A logarithmic axis has no 0.
        let x = if self.x.is_logarithmic() { x.max(self.x.low) } else { x };
        let y = if self.y.is_logarithmic() { y.max(self.y.low) } else { y };
        (
            self.left + self.x.share(x) * (self.right - self.left),
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        )
    }

    /// Whether a place is in the frame.
    fn holds(&self, (x, y): Place) -> bool {
        const ROUNDING: f64 = 1e-6;
        (self.left - ROUNDING..=self.right + ROUNDING).contains(&x)
            && (self.top - ROUNDING..=self.bottom + ROUNDING).contains(&y)
    }

    /// The parts of a line that are between the frame's upper and lower edge.
    fn clip(&self, points: &[Place]) -> Vec<Vec<Place>> {
        let mut parts: Vec<Vec<Place>> = Vec::new();
        for pair in points.windows(2) {
            let Some((start, end)) = self.clip_segment(pair[0], pair[1]) else { continue };
            match parts.last_mut() {
                Some(part) if part.last() == Some(&start) => part.push(end),
                _ => parts.push(vec![start, end]),
            }
        }
        parts
    }

    fn clip_segment(&self, from: Place, to: Place) -> Option<(Place, Place)> {
        let (mut start, mut end) = (from, to);
        for (edge, y) in self.edges() {
            match (edge(&from.1, &y), edge(&to.1, &y)) {
                (true, true) => return None,
                (true, false) => start = crossing(from, to, y),
                (false, true) => end = crossing(from, to, y),
                (false, false) => {}
            }
        }
        Some((start, end))
    }

    /// The part of a polygon that is between the frame's upper and lower edge.
    fn clip_area(&self, outline: &[Place]) -> Vec<Place> {
        let mut outline = outline.to_vec();
        for (edge, y) in self.edges() {
            let mut inside = Vec::new();
            for (number, &corner) in outline.iter().enumerate() {
                let next = outline[(number + 1) % outline.len()];
                if !edge(&corner.1, &y) {
                    inside.push(corner);
                }
                if edge(&corner.1, &y) != edge(&next.1, &y) {
                    inside.push(crossing(corner, next, y));
                }
            }
            outline = inside;
        }
        outline
    }

    /// The upper and the lower edge, each with what tells that a place is beyond it.
    fn edges(&self) -> [(Beyond, f64); 2] {
        [(f64::lt, self.top), (f64::gt, self.bottom)]
    }
}

/// Whether a height is beyond another.
type Beyond = fn(&f64, &f64) -> bool;

/// Where a line is at a height.
fn crossing(from: Place, to: Place, y: f64) -> Place {
    (from.0 + (to.0 - from.0) * (y - from.1) / (to.1 - from.1), y)
}

/// Puts the title at the top of the sheet and returns where the space below it begins.
pub(super) fn title_lines(scene: &mut Scene, sheet: &Sheet, title: &str) -> f64 {
    let size = sheet.title_size();
    let mut bottom = MARGIN;
    let room = (sheet.width() - 2.0 * MARGIN) / SLACK;
    for line in font::two_lines(title, size, room) {
        let place = (sheet.width() / 2.0, bottom + size * 0.85);
        scene.text(&line, place, size, Anchor::Middle, BLACK);
        bottom += size + 2.0;
    }
    bottom
}
