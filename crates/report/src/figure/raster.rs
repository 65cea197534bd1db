//! From a scene to a PNG: each shape's coverage of each pixel, by the rasteriser that also serves
//! the font.

use ab_glyph::{Font, ScaleFont, point};
use ab_glyph_rasterizer::Rasterizer;
use png::{
    BitDepth, ColorType, Compression, Encoder, EncodingError, Filter, PixelDimensions, Unit,
};

use super::font;
use super::palette::{Colour, WHITE};
use super::precision::{single, whole};
use super::scene::{Anchor, Place, Scene, Shape};
use flitlab_base::narrow::rounded;

/// Pixels in a point: 300 an inch.
const PIXELS: f64 = 300.0 / 72.0;

/// Pixels in a metre, for programs that place the picture.
const PIXELS_A_METRE: u32 = 11_811;

/// Corners of the polygon that stands for a circle.
const CORNERS: u32 = 48;

/// The bytes of a PNG file.
pub(super) fn png(scene: &Scene) -> Result<Vec<u8>, EncodingError> {
    let pixels = |points: f64| rounded::<u32>((points * PIXELS).max(1.0));
    let (width, height) = (pixels(scene.width), pixels(scene.height));
    let blank = [WHITE.0, WHITE.1, WHITE.2].repeat(width as usize * height as usize);
    let mut canvas = Canvas { width, height, pixels: blank };
    for shape in &scene.shapes {
        canvas.draw(shape);
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    // Lines and areas of one colour are smallest, and soonest written, as they are.
    encoder.set_compression(Compression::Balanced);
    encoder.set_filter(Filter::NoFilter);
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: PIXELS_A_METRE,
        yppu: PIXELS_A_METRE,
        unit: Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.pixels)?;
    writer.finish()?;
    Ok(file)
}

/// Three bytes a pixel, row by row.
struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        let pixels = |&(x, y): &Place| (x * PIXELS, y * PIXELS);
        match shape {
            Shape::Line { points, width, colour } => {
                let points: Vec<Place> = points.iter().map(pixels).collect();
                self.fill(&stroke(&points, width * PIXELS / 2.0), *colour, 1.0);
            }
            Shape::Area { outline, colour, opacity } => {
                self.fill(&[outline.iter().map(pixels).collect()], *colour, single(*opacity));
            }
            Shape::Disc { centre, radius, colour } => {
                self.fill(&[circle(pixels(centre), radius * PIXELS)], *colour, 1.0);
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
    fn fill(&mut self, polygons: &[Vec<Place>], colour: Colour, opacity: f32) {
        let corners = || polygons.iter().flatten();
        let left = corners().map(|corner| corner.0).fold(f64::INFINITY, f64::min).floor();
        let top = corners().map(|corner| corner.1).fold(f64::INFINITY, f64::min).floor();
        let right = corners().map(|corner| corner.0).fold(f64::NEG_INFINITY, f64::max).ceil();
        let bottom = corners().map(|corner| corner.1).fold(f64::NEG_INFINITY, f64::max).ceil();
        let limit = f64::from(self.width.max(self.height)) * 2.0;
        if !(right - left <= limit && bottom - top <= limit && right > left && bottom > top) {
            return;
        }
        let mut rasterizer =
            Rasterizer::new(rounded(right - left + 1.0), rounded(bottom - top + 1.0));
        let local = |place: Place| point(single(place.0 - left), single(place.1 - top));
        for polygon in polygons {
            for (number, &corner) in polygon.iter().enumerate() {
                let next = polygon[(number + 1) % polygon.len()];
                rasterizer.draw_line(local(corner), local(next));
            }
        }
        let (left, top) = (whole(left), whole(top));
        rasterizer.for_each_pixel_2d(|x, y, cover| {
            let cover = cover.min(1.0) * opacity;
            let (x, y) = (left.saturating_add_unsigned(x), top.saturating_add_unsigned(y));
            self.blend(x, y, cover, colour);
        });
    }

    /// Draws text whose base line runs through `place`, with `before` of its width on the near
    /// side.
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
            glyph.position = point(single(start - start.floor()), 0.0);
            along += f64::from(font.h_advance(glyph.id));
            let Some(outline) = font.font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            let across = whole(f64::from(bounds.min.x) + start.floor());
            let down = whole(f64::from(bounds.min.y));
            let (left, base) = (whole(place.0), whole(place.1));
            outline.draw(|x, y, cover| {
                let (across, down) =
                    (across.saturating_add_unsigned(x), down.saturating_add_unsigned(y));
                let (x, y) = if upwards {
                    (left.saturating_add(down), base.saturating_sub(across))
                } else {
                    (across, base.saturating_add(down))
                };
                self.blend(x, y, cover, colour);
            });
        }
    }

    fn blend(&mut self, x: i32, y: i32, cover: f32, colour: Colour) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
        if cover <= 0.0 || x >= self.width || y >= self.height {
            return;
        }
        let first = (y as usize * self.width as usize + x as usize) * 3;
        let cover = cover.min(1.0);
        for (level, new) in
            self.pixels[first..first + 3].iter_mut().zip([colour.0, colour.1, colour.2])
        {
            let mixed = f32::from(*level) + (f32::from(new) - f32::from(*level)) * cover;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between two levels"
            )]
            let mixed = mixed.round() as u8;
            *level = mixed;
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
