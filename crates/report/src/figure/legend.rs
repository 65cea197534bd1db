//! The legend: below the plot, in as many columns as its labels leave room for.

use serde::{Deserialize, Serialize};

use super::font;
use super::palette::{BLACK, Colour, Dash, GREY, LINE, Marker, OUTLINE, Pen, THIN_LINE, WHITE};
use super::scene::{Anchor, Scene};
use super::sheet::{MARGIN, Sheet};
use flitlab_base::narrow::rounded_down;

/// The sample that stands before a label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Sample {
    /// A line with a marker.
    Series(Pen),
    /// A translucent area.
    Band(Colour),
    /// A small point, for series of thousands.
    Dot(Colour),
    Line(Colour),
    Dashed(Colour),
    /// The line of a bound.
    Bound(Dash),
    /// A thin dashed line with a small point.
    Tail(Pen),
    Hollow(Colour, Marker),
    /// An outline that is larger than markers.
    Around(Colour, Marker),
    Cross(Colour),
    Bar(Colour),
    /// An outline.
    HollowBar(Colour),
    /// A whisker across.
    Whisker(Colour),
}

/// The meaning of the samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Legend {
    /// In reading order.
    pub series: Vec<LegendEntry>,
    /// Entries that hold for all series, in rows of their own below them.
    pub keys: Vec<LegendEntry>,
    /// A line of text below the entries.
    pub note: Option<String>,
}

/// A sample and its label.
pub(super) type LegendEntry = (Sample, String);

const SAMPLE: f64 = 17.0;
const GAP: f64 = 4.0;
const BETWEEN: f64 = 10.0;

/// Viewers without the font may use one that is wider by about this factor.
pub(super) const SLACK: f64 = 1.15;

impl Legend {
    pub fn series(&mut self, sample: Sample, label: impl Into<String>) {
        self.series.push((sample, label.into()));
    }

    pub fn key(&mut self, sample: Sample, label: impl Into<String>) {
        self.keys.push((sample, label.into()));
    }

    /// Adds a bound, drawn as a line in these dashes.
    pub fn bound(&mut self, dash: Dash, label: impl Into<String>) {
        self.keys.push((Sample::Bound(dash), label.into()));
    }

    /// As it is beside those of other panels: bounds are those of the panel with this heading.
    #[must_use]
    pub fn of_panel(mut self, heading: &str) -> Self {
        let bounds = self.keys.iter_mut().filter(|key| matches!(key.0, Sample::Bound(_)));
        bounds.for_each(|(_, label)| *label = format!("{heading}: {label}"));
        self
    }

    /// The height that it takes in this width.
    pub fn height(&self, sheet: &Sheet, width: f64) -> f64 {
        let rows = self.rows(sheet, width).len() + usize::from(self.note.is_some());
        rows as f64 * row_height(sheet)
    }

    /// In how many columns several series are in this width.
    pub fn columns(&self, sheet: &Sheet, width: f64) -> usize {
        columns(&self.series, sheet, width).first().map_or(1, Vec::len)
    }

    /// Adds what another legend says that this one does not say yet.
    pub fn join(&mut self, other: &Self) {
        let add = |own: &mut Vec<LegendEntry>, more: &[LegendEntry]| {
            for entry in more {
                if !own.iter().any(|known| known.1 == entry.1) {
                    own.push(entry.clone());
                }
            }
        };
        add(&mut self.series, &other.series);
        add(&mut self.keys, &other.keys);
        self.note = self.note.take().or_else(|| other.note.clone());
    }

    /// The note alone.
    pub fn note_only(&self) -> Self {
        Self { note: self.note.clone(), ..Self::default() }
    }

    /// All entries, one after another.
    pub fn entries(&self) -> Vec<&LegendEntry> {
        self.series.iter().chain(&self.keys).collect()
    }

    /// The width and the height of a list in so many columns, without the note.
    pub fn list_size(&self, sheet: &Sheet, columns: usize) -> (f64, f64) {
        let entries = self.entries();
        let steps = entries.iter().map(|entry| step(entry, sheet, f64::INFINITY));
        let width = (steps.fold(0.0, f64::max) * columns as f64 - BETWEEN).max(0.0);
        (width, entries.len().div_ceil(columns) as f64 * row_height(sheet))
    }

    /// Draws it as a list in so many columns, without the note.
    pub fn draw_list(
        &self,
        scene: &mut Scene,
        sheet: &Sheet,
        (left, top): (f64, f64),
        (width, columns): (f64, usize),
    ) {
        let step = (width + BETWEEN) / columns as f64;
        let entries = self.entries();
        let rows = entries
            .chunks(columns)
            .map(|row| (0..).zip(row).map(|(at, entry)| (f64::from(at) * step, *entry)).collect());
        draw_rows(scene, sheet, (left, top), step - BETWEEN, rows.collect());
    }

    /// Draws it into a box of the given width, centred.
    pub fn draw(&self, scene: &mut Scene, sheet: &Sheet, (left, top): (f64, f64), width: f64) {
        let (height, size) = (row_height(sheet), sheet.small_size());
        let top = draw_rows(scene, sheet, (left, top), width, self.rows(sheet, width));
        if let Some(note) = &self.note {
            let place = (left + width / 2.0, top + height - 3.0);
            let note = font::shorten(note, size, width);
            scene.text(&note, place, size, Anchor::Middle, GREY);
        }
    }

    /// Ends a scene with it: from so far down on, as wide as the sheet.
    pub fn end(&self, mut scene: Scene, sheet: &Sheet, top: f64) -> Scene {
        let room = sheet.width() - 2.0 * MARGIN;
        self.draw(&mut scene, sheet, (MARGIN, top), room);
        scene.height = (top + self.height(sheet, room) + MARGIN).ceil();
        scene
    }

    /// Where each entry begins, row by row: several series in columns of equal width, keys as they
    /// come.
    fn rows(&self, sheet: &Sheet, width: f64) -> Vec<Vec<(f64, &LegendEntry)>> {
        if self.series.len() > 1 {
            let mut rows = columns(&self.series, sheet, width);
            rows.extend(flow(self.keys.iter(), sheet, width));
            rows
        } else {
            flow(self.series.iter().chain(&self.keys), sheet, width)
        }
    }
}

/// Draws entries, each where it begins in its row; returns where they end.
fn draw_rows(
    scene: &mut Scene,
    sheet: &Sheet,
    (left, top): (f64, f64),
    width: f64,
    rows: Vec<Vec<(f64, &LegendEntry)>>,
) -> f64 {
    let (height, size) = (row_height(sheet), sheet.small_size());
    let mut top = top;
    for row in rows {
        for (x, (sample, label)) in row {
            let (x, y) = (left + x, top + height / 2.0);
            draw_sample(scene, *sample, x, y);
            let label = font::shorten(label, size, width - SAMPLE - GAP);
            let place = (x + SAMPLE + GAP, y + size * 0.35);
            scene.text(&label, place, size, Anchor::Start, BLACK);
        }
        top += height;
    }
    top
}

/// The width of an entry and the space after it.
fn step(entry: &LegendEntry, sheet: &Sheet, width: f64) -> f64 {
    let text = font::width(&entry.1, sheet.small_size()) * SLACK;
    (SAMPLE + GAP + text + BETWEEN).min(width + BETWEEN)
}

fn row_height(sheet: &Sheet) -> f64 {
    sheet.small_size() + 3.0
}

fn columns<'a>(
    entries: &'a [LegendEntry],
    sheet: &Sheet,
    width: f64,
) -> Vec<Vec<(f64, &'a LegendEntry)>> {
    let column = entries.iter().map(|entry| step(entry, sheet, width)).fold(1.0, f64::max);
    let most =
        rounded_down::<usize>(((width + BETWEEN) / column).max(0.0)).clamp(1, entries.len().max(1));
    // As many as fill the rows that there have to be.
    let rows = entries.len().div_ceil(most).max(1);
    let count = entries.len().div_ceil(rows).max(1);
    let left = (width - count as f64 * column + BETWEEN) / 2.0;
    entries
        .chunks(count)
        .map(|row| {
            (0..).zip(row).map(|(at, entry)| (left + f64::from(at) * column, entry)).collect()
        })
        .collect()
}

/// Entries one after another, each row centred.
fn flow<'a>(
    entries: impl Iterator<Item = &'a LegendEntry>,
    sheet: &Sheet,
    width: f64,
) -> Vec<Vec<(f64, &'a LegendEntry)>> {
    let mut rows: Vec<(f64, Vec<(f64, &LegendEntry)>)> = Vec::new();
    for entry in entries {
        let step = step(entry, sheet, width);
        match rows.last_mut() {
            Some((used, row)) if *used + step <= width + BETWEEN => {
                row.push((*used, entry));
                *used += step;
            }
            _ => rows.push((step, vec![(0.0, entry)])),
        }
    }
    rows.into_iter()
        .map(|(used, row)| {
            let left = (width - used + BETWEEN) / 2.0;
            row.into_iter().map(|(x, entry)| (left + x, entry)).collect()
        })
        .collect()
}

fn draw_sample(scene: &mut Scene, sample: Sample, x: f64, y: f64) {
    let middle = (x + SAMPLE / 2.0, y);
    let ends = [(x, y), (x + SAMPLE, y)];
    match sample {
        Sample::Series(pen) => {
            scene.patterned(&ends, pen.dash.pattern(), LINE, pen.colour);
            scene.marker(middle, pen.marker, pen.colour);
        }
        Sample::Band(colour) => {
            let corners = [(0.0, -2.5), (SAMPLE, -2.5), (SAMPLE, 2.5), (0.0, 2.5)];
            scene.band(corners.map(|corner| (x + corner.0, y + corner.1)).to_vec(), colour);
        }
        Sample::Dot(colour) => scene.disc(middle, 2.0, colour),
        Sample::Line(colour) => scene.line(&ends, THIN_LINE, colour),
        Sample::Dashed(colour) => scene.rule(&ends, Dash::Dashed, colour),
        Sample::Bound(dash) => scene.rule(&ends, dash, GREY),
        Sample::Tail(pen) => {
            scene.dashed(&ends, THIN_LINE, pen.colour);
            scene.disc(middle, 2.0, pen.colour);
        }
        Sample::Hollow(colour, marker) => scene.hollow_marker(middle, marker, colour),
        Sample::Around(colour, marker) => scene.marker_around(middle, marker, colour),
        Sample::Cross(colour) => scene.marker(middle, Marker::Cross, colour),
        Sample::Bar(colour) => scene.rectangle((x, y - 2.5), (x + SAMPLE, y + 2.5), colour),
        Sample::HollowBar(colour) => {
            let line = OUTLINE;
            scene.rectangle((x, y - 2.5), (x + SAMPLE, y + 2.5), colour);
            scene.rectangle((x + line, y - 2.5 + line), (x + SAMPLE - line, y + 2.5 - line), WHITE);
        }
        Sample::Whisker(colour) => {
            scene.line(&ends, THIN_LINE, colour);
            for (x, y) in ends {
                scene.line(&[(x, y - 2.0), (x, y + 2.0)], THIN_LINE, colour);
            }
        }
    }
}
