//! The title at the top of a figure.

use super::font;
use super::legend::SLACK;
use super::palette::BLACK;
use super::scene::{Anchor, Scene};
use super::sheet::{MARGIN, Sheet};

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
