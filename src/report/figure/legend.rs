//! The legend: below the plot, in as many columns as its labels leave room for.

use super::font;
use super::palette::{BLACK, Colour, GREY, Marker};
use super::scene::{Anchor, Scene};

/// What stands before a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    /// A line with a marker.
    Series(Colour, Marker),
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
    pub entries: Vec<(Sample, String)>,
    /// A line of text below the entries.
    pub note: Option<String>,
}

pub(super) const TEXT_SIZE: f64 = 7.0;
const ROW: f64 = 10.0;
const SAMPLE: f64 = 17.0;
const GAP: f64 = 4.0;
const BETWEEN: f64 = 10.0;

/// Viewers without the font may use one that is wider by about this factor.
pub(super) const SLACK: f64 = 1.1;

impl Legend {
    pub fn add(&mut self, sample: Sample, label: impl Into<String>) {
        self.entries.push((sample, label.into()));
    }

    /// The height that it takes in this width.
    pub fn height(&self, width: f64) -> f64 {
        let rows = self.entries.len().div_ceil(self.columns(width).0);
        (rows + usize::from(self.note.is_some())) as f64 * ROW
    }

    /// Number of columns, and the width of each.
    fn columns(&self, width: f64) -> (usize, f64) {
        let widest =
            self.entries.iter().map(|entry| font::width(&entry.1, TEXT_SIZE)).fold(0.0, f64::max);
        let column = (SAMPLE + GAP + widest * SLACK + BETWEEN).min(width);
        let count = ((width + BETWEEN) / column) as usize;
        (count.clamp(1, self.entries.len().max(1)), column)
    }

    /// Draws it into a box of the given width, centred.
    pub fn draw(&self, scene: &mut Scene, left: f64, top: f64, width: f64) {
        let (columns, column) = self.columns(width);
        if let Some(note) = &self.note {
            let place = (left + width / 2.0, top + self.height(width) - 3.0);
            let note = font::shorten(note, TEXT_SIZE, width);
            scene.text(&note, place, TEXT_SIZE, Anchor::Middle, GREY);
        }
        let left = left + ((width - columns as f64 * column + BETWEEN) / 2.0).max(0.0);
        for (number, (sample, label)) in self.entries.iter().enumerate() {
            let x = left + (number % columns) as f64 * column;
            let y = top + (number / columns) as f64 * ROW + ROW / 2.0;
            draw_sample(scene, *sample, x, y);
            let label = font::shorten(label, TEXT_SIZE, column - SAMPLE - GAP);
            let place = (x + SAMPLE + GAP, y + TEXT_SIZE * 0.35);
            scene.text(&label, place, TEXT_SIZE, Anchor::Start, BLACK);
        }
    }
}

fn draw_sample(scene: &mut Scene, sample: Sample, x: f64, y: f64) {
    let middle = (x + SAMPLE / 2.0, y);
    let ends = [(x, y), (x + SAMPLE, y)];
    match sample {
        Sample::Series(colour, marker) => {
            scene.line(&ends, super::LINE, colour);
            scene.marker(middle, marker, colour);
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
