//! From a scene to SVG: lengths in points, a line of the file for each shape.

use std::fmt::Write;

use super::font;
use super::palette::{Colour, WHITE};
use super::scene::{Anchor, Place, Scene, Shape};
use flitlab_base::printable::escaped;

/// Farther than any canvas, and few digits.
const FAR: f64 = 1e6;

pub(super) fn svg(scene: &Scene) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut text = format!(
        "<svg width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" font-family=\"{}\" stroke-linejoin=\"round\" \
         xml:space=\"preserve\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        font::FAMILY,
        hex(WHITE)
    );
    for shape in &scene.shapes {
        draw(&mut text, shape).expect("a string takes all that is written");
    }
    text + "</svg>\n"
}

fn draw(svg: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Line { points, width, colour } => {
            let (colour, width, points) = (hex(*colour), number(*width), places(points));
            writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
                 points=\"{points}\"/>"
            )
        }
        Shape::Area { outline, colour, opacity } => {
            let (colour, points) = (hex(*colour), places(outline));
            let opacity =
                if *opacity < 1.0 { format!(" opacity=\"{opacity}\"") } else { String::new() };
            writeln!(svg, "<polygon fill=\"{colour}\"{opacity} points=\"{points}\"/>")
        }
        Shape::Disc { centre: (x, y), radius, colour } => {
            let [x, y, radius] = [*x, *y, *radius].map(number);
            writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"/>",
                hex(*colour)
            )
        }
        Shape::Text { text, place: (x, y), size, anchor, upwards, colour } => {
            let [x, y, size] = [*x, *y, *size].map(number);
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turned = if *upwards {
                format!(" transform=\"rotate(-90 {x} {y})\"")
            } else {
                String::new()
            };
            let (colour, text) = (hex(*colour), escaped(text));
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\"{turned} font-size=\"{size}\" text-anchor=\"{anchor}\" \
                 fill=\"{colour}\">{text}</text>"
            )
        }
    }
}

fn places(points: &[Place]) -> String {
    let points: Vec<String> =
        points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
    points.join(" ")
}

/// A length to a hundredth of a point, which is finer than any printer.
///
/// Values may lie far outside the axes, so a length that is no number or too large becomes one of a
/// place off the canvas.
fn number(length: f64) -> f64 {
    let length = if length.is_nan() { -FAR } else { length.clamp(-FAR, FAR) };
    (length * 100.0).round() / 100.0
}

fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_no_file_can_hold_is_one_off_the_canvas() {
        assert_eq!([f64::NAN, -1e300, 1.234, f64::INFINITY].map(number), [-FAR, -FAR, 1.23, FAR]);
    }
}
