//! From a scene to SVG text.
//!
//! The SVG backend rounds to whole units, so the vector figure is drawn on a canvas of 20 units a
//! point and scaled down by its view box.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::font;
use super::palette::{Colour, WHITE};
use super::precision::whole;
use super::scene::{Anchor, Place, Scene, Shape};
use flitlab_base::printable::printable;

/// SVG units in a point.
const UNITS: f64 = 20.0;

/// The SVG backend takes text by its upper edge, this far above the base line, in ems.
const SVG_ASCENT: f64 = 0.76;

/// The SVG backend divides font sizes by this.
const SVG_FONT_SIZE: f64 = 1.24;

pub(super) fn svg(scene: &Scene) -> Result<String, String> {
    let units = |points: f64| whole(points * UNITS);
    let size = (units(scene.width), units(scene.height));
    let mut text = String::new();
    let mut backend =
        SVGBackend::with_string(&mut text, (size.0.unsigned_abs(), size.1.unsigned_abs()));
    let drawn = backend
        .draw_rect((0, 0), size, &style(WHITE, 1.0), true)
        .map_err(|error| error.to_string())
        .and_then(|()| scene.shapes.iter().try_for_each(|shape| draw_svg(&mut backend, shape)))
        .and_then(|()| backend.present().map_err(|error| error.to_string()));
    drop(backend);
    drawn?;
    let units = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    let exact = |points: f64| (points * 1000.0).round() / 1000.0;
    let points = format!("width=\"{}pt\" height=\"{}pt\"", exact(scene.width), exact(scene.height));
    Ok(text.replacen(&units, &points, 1))
}

fn draw_svg(backend: &mut SVGBackend<'_>, shape: &Shape) -> Result<(), String> {
    let unit = |length: f64| whole(length * UNITS);
    let units = |&(x, y): &Place| (unit(x), unit(y));
    let drawn = match shape {
        Shape::Line { points, width, colour } => {
            backend.draw_path(points.iter().map(units), &style(*colour, width * UNITS))
        }
        Shape::Area { outline, colour, opacity } => {
            let style = rgb(*colour).mix(*opacity).filled();
            backend.fill_polygon(outline.iter().map(units), &style)
        }
        Shape::Disc { centre, radius, colour } => backend.draw_circle(
            units(centre),
            unit(*radius).unsigned_abs(),
            &style(*colour, 1.0),
            true,
        ),
        Shape::Text { text, place, size, anchor, upwards, colour } => {
            let horizontal = match anchor {
                Anchor::Start => HPos::Left,
                Anchor::Middle => HPos::Center,
                Anchor::End => HPos::Right,
            };
            let rise = SVG_ASCENT * size;
            let (transform, place) = if *upwards {
                (FontTransform::Rotate270, (place.0 - rise, place.1))
            } else {
                (FontTransform::None, (place.0, place.1 - rise))
            };
            let font = (font::FAMILY, size * UNITS * SVG_FONT_SIZE).into_font();
            let colour = rgb(*colour);
            let style = TextStyle::from(font)
                .transform(transform)
                .color(&colour)
                .pos(Pos::new(horizontal, VPos::Top));
            // XML has no control characters.
            backend.draw_text(&printable(text), &style, units(&place))
        }
    };
    drawn.map_err(|error| error.to_string())
}

fn rgb((red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

fn style(colour: Colour, width: f64) -> ShapeStyle {
    rgb(colour).stroke_width(whole(width).max(1).unsigned_abs())
}
