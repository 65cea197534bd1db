//! From a chart to a scene: frames, axes, and where data lies in them.

use super::chart::{Bin, Chart, Curve, Markers, Panel, Rule, Sample, Stroke, side_by_side};
use super::figure_style::{Intervals, LegendPlace};
use super::font;
use super::frame::Frame;
use super::legend::{Legend, SLACK};
use super::palette::{AXIS_LINE, BAR, BLACK, Colour, GRID, LINE, Marker, THIN_LINE};
use super::scene::{Anchor, Place, Scene};
use super::sheet::{MARGIN, Sheet, TICK};
use super::title::title_lines;
use flitlab_base::narrow::rounded_down;

/// At most this many ticks beside that of 0.
const TICKS: u32 = 6;

/// Height of one of several panels, relative to that of a single one.
const PANEL: f64 = 0.5;

/// Height of a panel relative to a column's share of the width.
const ASPECT: f64 = 0.7;

/// A frame has at least this height.
const LOWEST: f64 = 24.0;

/// Space between panels.
const BETWEEN: f64 = 6.0;

/// A legend beside the plot takes at most this share of the width; one in it is so far from the
/// frame.
const LIST: f64 = 0.45;
const INSET: f64 = 5.0;

/// Radius of a small point.
const DOT: f64 = 0.9;

/// The height of a row of markers above a frame: no axis reaches there, so they can't be taken for
/// data.
const ABOVE: f64 = 9.0;

/// Draws a chart.
pub(super) fn draw(chart: &Chart, sheet: &Sheet) -> Scene {
    let place = legend_place(chart, sheet);
    drawn(&Chart { place, ..chart.clone() }, sheet).0
}

/// Where the legend goes: if the best place is wanted, the first corner without curves, or else
/// below.
pub(super) fn legend_place(chart: &Chart, sheet: &Sheet) -> LegendPlace {
    use LegendPlace::{Below, Best, BottomLeft, BottomRight, TopLeft, TopRight};
    if chart.place != Best {
        return chart.place;
    }
    let corners = [TopLeft, TopRight, BottomRight, BottomLeft].into_iter();
    let is_free =
        |place: &LegendPlace| drawn(&Chart { place: *place, ..chart.clone() }, sheet).1 == 0;
    { corners }.find(is_free).unwrap_or(Below)
}

/// Draws a chart; also, at how many places its legend covers data.
fn drawn(chart: &Chart, sheet: &Sheet) -> (Scene, usize) {
    let mut scene = Scene::new(sheet.width());
    let (columns, rows) = (chart.columns, chart.rows().max(1));
    let top = title_lines(&mut scene, sheet, &chart.title) + 5.0;
    let list = match chart.place {
        LegendPlace::Right => chart.legend.list_size(sheet, 1).0.min(sheet.width() * LIST),
        _ => 0.0,
    };
    let farthest = sheet.width() - MARGIN - if list > 0.0 { list + BETWEEN } else { 0.0 };
    let heads = heads(chart, sheet, farthest / columns as f64 - sheet.axis_size() * 3.0);
    let below = TICK + 2.0 + sheet.small_size() + 3.0 + sheet.axis_size();
    let legend = match chart.place {
        LegendPlace::Below => chart.legend.clone(),
        LegendPlace::Nowhere => Legend::default(),
        _ => chart.legend.note_only(),
    };
    let room = sheet.width() - 2.0 * MARGIN;
    let under = below + 6.0 + legend.height(sheet, room) + MARGIN;
    let above: f64 = heads.iter().map(|head| head.height).sum();
    let height = frame_height(sheet, (columns, rows), top + above + under);
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
    let right = (farthest - overhang * SLACK / 2.0).max(left + 10.0 * columns as f64);
    // The last label of a column and the first of the next are beside each other.
    let first =
        chart.x.ticks(TICKS).first().map_or(0.0, |it| font::width(&it.1, sheet.small_size()));
    let gap = if columns > 1 { (overhang + first) * SLACK / 2.0 + BETWEEN / 2.0 } else { 0.0 };
    let width = (right - left - gap * (columns - 1) as f64) / columns as f64;
    let bottom = top + above + rows as f64 * height + (rows - 1) as f64 * BETWEEN;
    let frame = |number: usize| {
        let (row, column) = (number / columns, number % columns);
        let left = left + column as f64 * (width + gap);
        let heads: f64 = heads[..=row].iter().map(|head| head.height).sum();
        let top = top + heads + row as f64 * (height + BETWEEN);
        let (right, bottom) = (left + width, top + height);
        Frame { left, top, right, bottom, x: &chart.x, y: &chart.panels[number].y }
    };
    for (number, panel) in chart.panels.iter().enumerate().filter(|(_, panel)| !panel.blank) {
        let (row, column) = (number / columns, number % columns);
        let frame = frame(number);
        let title = if column == 0 { y_title(panel, sheet, height) } else { Vec::new() };
        y_axis(&mut scene, sheet, &frame, (y_ticks, column == 0), &title);
        let is_lowest = chart.panels.get(number + columns).is_none_or(|below| below.blank);
        x_axis(&mut scene, sheet, &frame, is_lowest);
        draw_data(&mut scene, &frame, panel, chart.intervals);
        let corners =
            [(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)];
        scene.line(&corners, AXIS_LINE, BLACK);
        let middle = f64::midpoint(frame.left, frame.right);
        let size = sheet.axis_size();
        for (number, line) in (1..).zip(heads[row].lines(&panel.heading, size, width + gap / 2.0)) {
            let up = heads[row].height - f64::from(number) * (size + 1.0);
            scene.text(&line, (middle, frame.top - up), size, Anchor::Middle, BLACK);
        }
    }
    let text = font::shorten(&chart.x.title, sheet.axis_size(), room);
    let half = font::width(&text, sheet.axis_size()) * SLACK / 2.0;
    let place = (f64::midpoint(left, right).min(sheet.width() - MARGIN - half), bottom + below);
    scene.text(&text, place, sheet.axis_size(), Anchor::Middle, BLACK);
    let mut covered = 0;
    match chart.place {
        LegendPlace::Below | LegendPlace::Best | LegendPlace::Nowhere => {}
        _ if chart.panels.is_empty() => {}
        LegendPlace::Right => {
            let place = (farthest + BETWEEN, top + heads[0].height);
            chart.legend.draw_list(&mut scene, sheet, place, (list, 1));
        }
        corner => {
            let (panel, frame) = (&chart.panels[0], frame(0));
            let list = |columns: usize| {
                let (list, tall) = chart.legend.list_size(sheet, columns);
                let (list, tall) = (list.min(width - 2.0 * INSET), tall.min(height - INSET));
                let at_left = matches!(corner, LegendPlace::TopLeft | LegendPlace::BottomLeft);
                let at_top = matches!(corner, LegendPlace::TopLeft | LegendPlace::TopRight);
                let x = if at_left { left + INSET } else { left + width - INSET - list };
                let y = if at_top { frame.top + INSET } else { frame.bottom - INSET - tall };
                (
                    frame.covered(panel, (x - 2.0, y), (x + list + 2.0, y + tall)),
                    columns,
                    (x, y),
                    (list, tall),
                )
            };
            // Several columns, where they fit, if they cover less.
            let fits = |columns: &usize| {
                let (list, tall) = chart.legend.list_size(sheet, *columns);
                list <= width - 2.0 * INSET && tall <= height - 2.0 * INSET
            };
            let most = chart.legend.entries().len();
            let best = (1..=most).filter(fits).map(list).min_by_key(|list| (list.0, list.1));
            // A legend that fits nowhere covers everything.
            let (hidden, columns, (x, y), (wide, tall)) = best.unwrap_or_else(|| {
                let (_, columns, place, size) = list(1);
                (usize::MAX, columns, place, size)
            });
            covered = hidden;
            scene.veil((x - 2.0, y), (x + wide + 2.0, y + tall));
            chart.legend.draw_list(&mut scene, sheet, (x, y), (wide, columns));
        }
    }
    legend.draw(&mut scene, sheet, (MARGIN, bottom + below + 6.0), room);
    scene.height = (bottom + under).ceil();
    (scene, covered)
}

/// The space above a row of panels.
struct Head {
    height: f64,
    /// Of headings.
    lines: usize,
}

impl Head {
    fn lines(&self, text: &str, size: f64, room: f64) -> Vec<String> {
        match self.lines {
            0 | 1 if text.is_empty() => Vec::new(),
            0 | 1 => vec![font::shorten(text, size, room)],
            _ => font::two_lines(text, size, room),
        }
    }
}

/// The space above each row of panels: for headings, in two lines if one of about this width is too
/// short, and for markers above frames.
fn heads(chart: &Chart, sheet: &Sheet, room: f64) -> Vec<Head> {
    let size = sheet.axis_size();
    let head = |row: &[Panel]| {
        let headings = row.iter().map(|panel| panel.heading.as_str());
        let lines = headings.map(|text| font::two_lines(text, size, room).len()).max().unwrap_or(0);
        let marks = if row.iter().any(Panel::has_row) { ABOVE } else { 0.0 };
        let texts = lines as f64 * (size + 1.0) + if lines > 0 { 4.0 } else { 0.0 };
        Head { height: texts + marks, lines }
    };
    let heads: Vec<Head> = chart.panels.chunks(chart.columns).map(head).collect();
    if heads.is_empty() { vec![Head { height: 0.0, lines: 0 }] } else { heads }
}

/// Returns the height of a panel's frame; all else takes `else_taken` of the sheet's height.
fn frame_height(sheet: &Sheet, (columns, rows): (usize, usize), else_taken: f64) -> f64 {
    if let Some(height) = sheet.height() {
        let room = height - else_taken - (rows - 1) as f64 * BETWEEN;
        return (room / rows as f64).max(LOWEST);
    }
    let height = sheet.frame_height();
    match (columns, rows) {
        (1, 1) => height,
        (1, _) => height * PANEL,
        _ => (sheet.width() / columns as f64 * ASPECT).clamp(LOWEST, height),
    }
}

/// The title of a panel's axis, in two lines if the panel is too low for one.
fn y_title(panel: &Panel, sheet: &Sheet, height: f64) -> Vec<String> {
    font::two_lines(&panel.y.title, sheet.axis_size(), (height + BETWEEN) / SLACK)
}

fn y_axis(
    scene: &mut Scene,
    sheet: &Sheet,
    frame: &Frame<'_>,
    (most, labelled): (u32, bool),
    title: &[String],
) {
    let size = sheet.axis_size();
    for (number, line) in (0..).zip(title) {
        let half = font::width(line, size) * SLACK / 2.0;
        let middle = f64::midpoint(frame.top, frame.bottom).max(MARGIN + half);
        let across = MARGIN + size * 0.8 + f64::from(number) * (size + 1.0);
        scene.upwards(line, (across, middle), size, BLACK);
    }
    let size = sheet.small_size();
    for (value, label) in frame.y.ticks(most) {
        let y = frame.place(frame.x.low, value).1;
        if value > frame.y.low {
            scene.line(&[(frame.left, y), (frame.right, y)], AXIS_LINE, GRID);
        }
        scene.line(&[(frame.left - TICK, y), (frame.left, y)], AXIS_LINE, BLACK);
        if labelled {
            let place = (frame.left - TICK - 2.0, y + size * 0.36);
            scene.text(&label, place, size, Anchor::End, BLACK);
        }
    }
    for value in frame.y.minor_ticks() {
        let y = frame.place(frame.x.low, value).1;
        scene.line(&[(frame.left - TICK / 2.0, y), (frame.left, y)], AXIS_LINE, BLACK);
    }
}

/// As many ticks as have room for their labels.
fn x_axis(scene: &mut Scene, sheet: &Sheet, frame: &Frame<'_>, labelled: bool) {
    let size = sheet.small_size();
    let span = |(value, label): &(f64, String)| {
        let (x, half) =
            (frame.place(*value, frame.y.low).0, font::width(label, size) * SLACK / 2.0);
        (x - half, x + half + size * 0.5)
    };
    let fits =
        |ticks: &[(f64, String)]| ticks.windows(2).all(|pair| span(&pair[0]).1 <= span(&pair[1]).0);
    let ticks = (1..=TICKS).rev().map(|most| frame.x.ticks(most));
    let ticks = ticks.clone().find(|ticks| fits(ticks)).unwrap_or_else(|| frame.x.ticks(1));
    let mut free = f64::NEG_INFINITY;
    for tick in ticks {
        let x = frame.place(tick.0, frame.y.low).0;
        scene.line(&[(x, frame.bottom), (x, frame.bottom + TICK)], AXIS_LINE, BLACK);
        let (start, end) = span(&tick);
        // Ticks at given values may be as close as those are.
        if labelled && start >= free {
            free = end;
            let place = (x, frame.bottom + TICK + 2.0 + size * 0.8);
            scene.text(&tick.1, place, size, Anchor::Middle, BLACK);
        }
    }
    for value in frame.x.minor_ticks() {
        let x = frame.place(value, frame.y.low).0;
        scene.line(&[(x, frame.bottom), (x, frame.bottom + TICK / 2.0)], AXIS_LINE, BLACK);
    }
}

fn draw_data(scene: &mut Scene, frame: &Frame<'_>, panel: &Panel, intervals: Intervals) {
    for bin in &panel.bins {
        draw_bin(scene, frame, bin);
    }
    for rule in &panel.rules {
        draw_rule(scene, frame, rule);
    }
    let banded = panel.curves.iter().filter(|_| intervals == Intervals::Bands);
    for curve in banded {
        for band in bands(frame, curve) {
            scene.band(band, curve.colour);
        }
    }
    for curve in &panel.curves {
        draw_around(scene, frame, curve);
    }
    for curve in &panel.curves {
        draw_lines(scene, frame, curve);
    }
    for turn in in_turn(&panel.curves) {
        draw_marker(scene, frame, &turn, intervals);
    }
    let mut row = Vec::new();
    for mark in &panel.marks {
        match mark.y {
            Some(y) => {
                let place = frame.place(mark.x, y);
                if frame.holds(place) {
                    draw_mark(scene, place, mark.marker, mark.colour, mark.hollow);
                }
            }
            None => row.push((frame.place(mark.x, frame.y.low).0, mark)),
        }
    }
    row.retain(|(x, _)| frame.holds((*x, frame.top)));
    let wanted: Vec<f64> = row.iter().map(|(x, _)| *x).collect();
    for (x, (_, mark)) in side_by_side(&wanted).into_iter().zip(row) {
        let place = (x, frame.top - ABOVE / 2.0);
        draw_mark(scene, place, mark.marker, mark.colour, mark.hollow);
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
                Stroke::Full(dash) => scene.patterned(&part, dash.pattern(), LINE, curve.colour),
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

fn draw_marker(scene: &mut Scene, frame: &Frame<'_>, turn: &Turn<'_>, intervals: Intervals) {
    let Turn { curve, number, sample, alone } = *turn;
    let place = frame.place(sample.x, sample.y);
    let whiskered = match intervals {
        Intervals::Bands => alone,
        Intervals::Whiskers => true,
        Intervals::Nothing => false,
    };
    if let Some((low, high)) = sample.interval.filter(|_| whiskered) {
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

/// Outlines around samples, below all lines and markers.
fn draw_around(scene: &mut Scene, frame: &Frame<'_>, curve: &Curve) {
    let Markers::Around(marker) = curve.markers else { return };
    for sample in curve.runs.iter().flatten() {
        let place = frame.place(sample.x, sample.y);
        if frame.holds(place) {
            scene.marker_around(place, marker, curve.colour);
        }
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
    let places = rule.places(frame.x, frame.y);
    let ends: Vec<Place> = places.into_iter().map(|(x, y)| frame.place(x, y)).collect();
    for part in frame.clip(&ends) {
        scene.rule(&part, rule.dash, rule.colour);
    }
}

fn draw_bin(scene: &mut Scene, frame: &Frame<'_>, bin: &Bin) {
    let corner = frame.place(bin.from.max(0.0), bin.height);
    let opposite = frame.place(bin.to, frame.y.low);
    let gap = (opposite.0 - corner.0) * 0.06;
    scene.rectangle((corner.0 + gap, corner.1), (opposite.0 - gap, opposite.1), BAR);
}
