//! From a scene to a PNG.
//!
//! The bitmap backend neither smooths the edges of polygons nor keeps the spacing of letters, so it
//! only holds and encodes the pixels: each shape's coverage of each pixel is computed here, by the
//! rasteriser that also serves the font.

use std::path::Path;

use ab_glyph::{Font, ScaleFont, point};
use ab_glyph_rasterizer::Rasterizer;
use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters::style::{Color, RGBColor};

use super::font;
use super::palette::{Colour, WHITE};
use super::scene::{Anchor, Place, Scene, Shape};

/// Pixels in a point: 288 an inch.
const PIXELS: f64 = 4.0;

/// Corners of the polygon that stands for a circle.
const CORNERS: u32 = 48;

/// Writes the scene to a file whose name ends in `.png`.
pub(super) fn write(scene: &Scene, path: &Path) -> Result<(), String> {
    let size = (scene.width * PIXELS as u32, scene.height * PIXELS as u32);
    let mut canvas = Canvas { backend: BitMapBackend::new(path, size), size, failure: None };
    let (right, bottom) = (f64::from(size.0), f64::from(size.1));
    canvas.fill(&[vec![(0.0, 0.0), (right, 0.0), (right, bottom), (0.0, bottom)]], WHITE);
    for shape in &scene.shapes {
        canvas.draw(shape);
    }
    match canvas.failure {
        Some(failure) => Err(failure),
        None => canvas.backend.present().map_err(|error| error.to_string()),
    }
}

struct Canvas<'a> {
    backend: BitMapBackend<'a>,
    size: (u32, u32),
    /// The first error, if any.
    failure: Option<String>,
}

impl Canvas<'_> {
    fn draw(&mut self, shape: &Shape) {
        let pixels = |&(x, y): &Place| (x * PIXELS, y * PIXELS);
        match shape {
            Shape::Line { points, width, colour } => {
                let points: Vec<Place> = points.iter().map(pixels).collect();
                self.fill(&stroke(&points, width * PIXELS / 2.0), *colour);
            }
            Shape::Area { outline, colour } => {
                self.fill(&[outline.iter().map(pixels).collect()], *colour);
            }
            Shape::Disc { centre, radius, colour } => {
                self.fill(&[circle(pixels(centre), radius * PIXELS)], *colour);
            }
            Shape::Text { text, place, size, anchor, upwards, colour } => {
                let width = font::width(text, *size) * PIXELS;
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
                self.letters(text, pixels(place), size * PIXELS, before, *upwards, *colour);
            }
        }
    }

    /// Fills the union of polygons, all wound the same way, with soft edges.
    fn fill(&mut self, polygons: &[Vec<Place>], colour: Colour) {
        let corners = || polygons.iter().flatten();
        let left = corners().map(|corner| corner.0).fold(f64::INFINITY, f64::min).floor();
        let top = corners().map(|corner| corner.1).fold(f64::INFINITY, f64::min).floor();
        let right = corners().map(|corner| corner.0).fold(f64::NEG_INFINITY, f64::max).ceil();
        let bottom = corners().map(|corner| corner.1).fold(f64::NEG_INFINITY, f64::max).ceil();
        let limit = f64::from(self.size.0.max(self.size.1)) * 2.0;
        if !(right - left <= limit && bottom - top <= limit && right > left && bottom > top) {
            return;
        }
        let mut rasterizer =
            Rasterizer::new((right - left) as usize + 1, (bottom - top) as usize + 1);
        let local = |place: Place| point((place.0 - left) as f32, (place.1 - top) as f32);
        for polygon in polygons {
            for (number, &corner) in polygon.iter().enumerate() {
                let next = polygon[(number + 1) % polygon.len()];
                rasterizer.draw_line(local(corner), local(next));
            }
        }
        rasterizer.for_each_pixel_2d(|x, y, cover| {
            self.blend(left as i32 + x as i32, top as i32 + y as i32, cover, colour);
        });
    }

    /// Text whose base line runs through `place`, `before` of it on the near side.
    fn letters(
        &mut self,
        text: &str,
        place: Place,
        size: f64,
        before: f64,
        upwards: bool,
        colour: Colour,
    ) {
        let font = font::at(size);
        let mut along = -before;
        for letter in text.chars() {
            let mut glyph = font.scaled_glyph(letter);
            // The fraction of a pixel goes to the rasteriser, the rest is added below.
            let start = if upwards { along } else { place.0 + along };
            glyph.position = point((start - start.floor()) as f32, 0.0);
            along += f64::from(font.h_advance(glyph.id));
            let Some(outline) = font.font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            let (across, down) = (bounds.min.x as i32 + start.floor() as i32, bounds.min.y as i32);
            outline.draw(|x, y, cover| {
                let (across, down) = (across + x as i32, down + y as i32);
                let (x, y) = if upwards {
                    (place.0.round() as i32 + down, place.1.round() as i32 - across)
                } else {
                    (across, place.1.round() as i32 + down)
                };
                self.blend(x, y, cover, colour);
            });
        }
    }

    fn blend(&mut self, x: i32, y: i32, cover: f32, colour: Colour) {
        if cover <= 0.0 {
            return;
        }
        let colour = RGBColor(colour.0, colour.1, colour.2).mix(f64::from(cover.min(1.0)));
        if let Err(error) = self.backend.draw_pixel((x, y), colour.to_backend_color()) {
            self.failure.get_or_insert(error.to_string());
        }
    }
}

/// A line of the given half width with round joints, as polygons.
fn stroke(points: &[Place], half: f64) -> Vec<Vec<Place>> {
    let mut polygons = Vec::new();
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = ((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0)).sqrt();
        if length > 0.0 {
            let (dx, dy) = ((x1 - x0) / length * half, (y1 - y0) / length * half);
            polygons.push(vec![
                (x0 + dy, y0 - dx),
                (x1 + dy, y1 - dx),
                (x1 - dy, y1 + dx),
                (x0 - dy, y0 + dx),
            ]);
        }
    }
    if points.len() > 2 {
        polygons.extend(points[1..points.len() - 1].iter().map(|&joint| circle(joint, half)));
    }
    polygons
}

/// A polygon wound like those of [`stroke`].
fn circle(centre: Place, radius: f64) -> Vec<Place> {
    (0..CORNERS)
        .map(|corner| {
            let angle = f64::from(corner) * std::f64::consts::TAU / f64::from(CORNERS);
            (centre.0 + radius * libm::cos(angle), centre.1 + radius * libm::sin(angle))
        })
        .collect()
}
