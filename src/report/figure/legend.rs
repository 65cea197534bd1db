//! The legend: below the plot, in as many columns as its labels leave room for.

use super::font;
use super::palette::{BLACK, Colour, GREY, Marker};
use super::scene::{Anchor, Scene, Shape};

/// What stands before a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    /// A line with a marker.
    Series(Colour, Marker),
    /// A small point, for series of thousands.
    Dot(Colour),
    Line(Colour),
    Dashed(Colour),
    Hollow(Colour, Marker),
    Cross(Colour),
    Bar(Colour),
    /// A whisker across.
    Whisker(Colour),
}

/// What the samples mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Legend {
    /// In reading order.
    pub series: Vec<Entry>,
    /// What holds for all series, in rows of its own below them.
    pub keys: Vec<Entry>,
    /// A line of text below the entries.
    pub note: Option<String>,
}

/// A sample and its label.
pub(super) type Entry = (Sample, String);

pub(super) const TEXT_SIZE: f64 = 7.0;
const ROW: f64 = 10.0;
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

    /// The height that it takes in this width.
    pub fn height(&self, width: f64) -> f64 {
        (self.rows(width).len() + usize::from(self.note.is_some())) as f64 * ROW
    }

    /// Draws it into a box of the given width, centred.
    pub fn draw(&self, scene: &mut Scene, left: f64, top: f64, width: f64) {
        let mut top = top;
        for row in self.rows(width) {
            for (x, (sample, label)) in row {
                let (x, y) = (left + x, top + ROW / 2.0);
                draw_sample(scene, *sample, x, y);
                let label = font::shorten(label, TEXT_SIZE, width - SAMPLE - GAP);
                let place = (x + SAMPLE + GAP, y + TEXT_SIZE * 0.35);
                scene.text(&label, place, TEXT_SIZE, Anchor::Start, BLACK);
            }
            top += ROW;
        }
        if let Some(note) = &self.note {
            let place = (left + width / 2.0, top + ROW - 3.0);
            let note = font::shorten(note, TEXT_SIZE, width);
            scene.text(&note, place, TEXT_SIZE, Anchor::Middle, GREY);
        }
    }

    /// Where each entry begins, row by row: several series in columns of equal width, keys as they
    /// come.
    fn rows(&self, width: f64) -> Vec<Vec<(f64, &Entry)>> {
        if self.series.len() > 1 {
            let mut rows = columns(&self.series, width);
            rows.extend(flow(self.keys.iter(), width));
            rows
        } else {
            flow(self.series.iter().chain(&self.keys), width)
        }
    }
}

/// The width of an entry and the space after it.
fn step(entry: &Entry, width: f64) -> f64 {
    (SAMPLE + GAP + font::width(&entry.1, TEXT_SIZE) * SLACK + BETWEEN).min(width + BETWEEN)
}

fn columns(entries: &[Entry], width: f64) -> Vec<Vec<(f64, &Entry)>> {
    let column = entries.iter().map(|entry| step(entry, width)).fold(1.0, f64::max);
    let count = (((width + BETWEEN) / column) as usize).clamp(1, entries.len().max(1));
    let left = (width - count as f64 * column + BETWEEN) / 2.0;
    entries
        .chunks(count)
        .map(|row| {
            (0..).zip(row).map(|(at, entry)| (left + f64::from(at) * column, entry)).collect()
        })
        .collect()
}

/// Entries one after another, each row centred.
fn flow<'a>(entries: impl Iterator<Item = &'a Entry>, width: f64) -> Vec<Vec<(f64, &'a Entry)>> {
    let mut rows: Vec<(f64, Vec<(f64, &Entry)>)> = Vec::new();
    for entry in entries {
        let step = step(entry, width);
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
        Sample::Series(colour, marker) => {
            scene.line(&ends, super::LINE, colour);
            scene.marker(middle, marker, colour);
        }
        Sample::Dot(colour) => {
            scene.shapes.push(Shape::Disc { centre: middle, radius: 2.0, colour });
        }
        Sample::Line(colour) => scene.line(&ends, super::THIN_LINE, colour),
        Sample::Dashed(colour) => scene.dashed(&ends, super::THIN_LINE, colour),
        Sample::Hollow(colour, marker) => scene.hollow_marker(middle, marker, colour),
        Sample::Cross(colour) => scene.marker(middle, Marker::Cross, colour),
        Sample::Bar(colour) => scene.rectangle((x, y - 2.5), (x + SAMPLE, y + 2.5), colour),
        Sample::Whisker(colour) => {
            scene.line(&ends, super::THIN_LINE, colour);
            for (x, y) in ends {
                scene.line(&[(x, y - 2.0), (x, y + 2.0)], super::THIN_LINE, colour);
            }
        }
    }
}
