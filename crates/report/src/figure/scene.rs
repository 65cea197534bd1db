//! A figure as a list of shapes, in points (1/72 inch) from the upper left corner, before it
//! becomes a vector or a raster file.

use super::palette::{Colour, Dash, Marker, THIN_LINE, WHITE};

/// A place or a distance: right, down.
pub(super) type Place = (f64, f64);

/// Which point of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Line {
        points: Vec<Place>,
        width: f64,
        colour: Colour,
    },
    /// A filled polygon; opacity 1 hides what is below.
    Area {
        outline: Vec<Place>,
        colour: Colour,
        opacity: f64,
    },
    Disc {
        centre: Place,
        radius: f64,
        colour: Colour,
    },
    /// The place is on the base line; `upwards` text is read from below to above.
    Text {
        text: String,
        place: Place,
        size: f64,
        anchor: Anchor,
        upwards: bool,
        colour: Colour,
    },
}

/// A drawing of a given size; later shapes cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

/// Length of a dash of a thin line, and of the gap after it.
const THIN: [f64; 2] = [3.0, 1.8];

/// Opacity of a band of confidence.
pub(super) const BAND: f64 = 0.22;

/// Opacity of what is behind a legend in a plot.
const VEIL: f64 = 0.85;

/// Radius of a marker.
const MARKER: f64 = 2.2;

impl Scene {
    /// An empty drawing so wide, whose height is not known yet.
    pub fn new(width: f64) -> Self {
        Self { width, height: 0.0, shapes: Vec::new() }
    }

    pub fn line(&mut self, points: &[Place], width: f64, colour: Colour) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line { points: points.to_vec(), width, colour });
        }
    }

    /// The line in dashes, each a line of its own.
    pub fn dashed(&mut self, points: &[Place], width: f64, colour: Colour) {
        self.patterned(points, &THIN, width, colour);
    }

    /// A thin line that is no data.
    pub fn rule(&mut self, points: &[Place], dash: Dash, colour: Colour) {
        match dash {
            Dash::Dashed => self.dashed(points, THIN_LINE, colour),
            dash => self.patterned(points, dash.pattern(), THIN_LINE, colour),
        }
    }

    /// The line in dashes and gaps of these lengths, in turn; whole if there are none.
    pub fn patterned(&mut self, points: &[Place], pattern: &[f64], width: f64, colour: Colour) {
        if pattern.is_empty() {
            return self.line(points, width, colour);
        }
        for dash in dashes(points, pattern) {
            self.line(&dash, width, colour);
        }
    }

    pub fn rectangle(&mut self, corner: Place, opposite: Place, colour: Colour) {
        let (left, top, right, bottom) = (corner.0, corner.1, opposite.0, opposite.1);
        let outline = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        self.shapes.push(Shape::Area { outline, colour, opacity: 1.0 });
    }

    /// A white rectangle through which little is seen.
    pub fn veil(&mut self, corner: Place, opposite: Place) {
        self.rectangle(corner, opposite, WHITE);
        if let Some(Shape::Area { opacity, .. }) = self.shapes.last_mut() {
            *opacity = VEIL;
        }
    }

    /// A translucent polygon.
    pub fn band(&mut self, outline: Vec<Place>, colour: Colour) {
        self.shapes.push(Shape::Area { outline, colour, opacity: BAND });
    }

    pub fn disc(&mut self, centre: Place, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Disc { centre, radius, colour });
    }

    pub fn text(&mut self, text: &str, place: Place, size: f64, anchor: Anchor, colour: Colour) {
        let text = text.to_owned();
        self.shapes.push(Shape::Text { text, place, size, anchor, upwards: false, colour });
    }

    /// Text read from below to above, centred at the place.
    pub fn upwards(&mut self, text: &str, place: Place, size: f64, colour: Colour) {
        let text = text.to_owned();
        let anchor = Anchor::Middle;
        self.shapes.push(Shape::Text { text, place, size, anchor, upwards: true, colour });
    }

    /// A data point. A thin white rim keeps it apart from what it covers.
    pub fn marker(&mut self, centre: Place, marker: Marker, colour: Colour) {
        self.blot(centre, marker, MARKER + 0.5, WHITE);
        self.blot(centre, marker, MARKER, colour);
    }

    /// A data point that is no measurement of a steady state.
    pub fn hollow_marker(&mut self, centre: Place, marker: Marker, colour: Colour) {
        self.blot(centre, marker, MARKER + 0.35, colour);
        self.blot(centre, marker, MARKER * 0.65, WHITE);
    }

    /// The outline around a data point that may be drawn upon it.
    pub fn marker_around(&mut self, centre: Place, marker: Marker, colour: Colour) {
        self.blot(centre, marker, MARKER + 2.0, colour);
        self.blot(centre, marker, MARKER + 1.1, WHITE);
    }

    fn blot(&mut self, centre: Place, marker: Marker, radius: f64, colour: Colour) {
        self.shapes.push(match marker.outline() {
            None => Shape::Disc { centre, radius, colour },
            Some(outline) => {
                let place = |&(x, y): &Place| (centre.0 + radius * x, centre.1 + radius * y);
                let outline = outline.iter().map(place).collect();
                Shape::Area { outline, colour, opacity: 1.0 }
            }
        });
    }
}

/// Cuts a line into dashes; a dash goes on around corners.
fn dashes(points: &[Place], pattern: &[f64]) -> Vec<Vec<Place>> {
    let (mut done, mut current): (Vec<Vec<Place>>, Vec<Place>) = (Vec::new(), Vec::new());
    // Strokes have even places in the pattern, gaps odd ones.
    let (mut turn, mut left) = (0, pattern[0]);
    current.extend(points.first());
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = ((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0)).sqrt();
        let mut at = 0.0;
        while length - at > left {
            at += left;
            let place = (x0 + (x1 - x0) * at / length, y0 + (y1 - y0) * at / length);
            if turn % 2 == 0 {
                current.push(place);
                done.push(std::mem::take(&mut current));
            } else {
                current = vec![place];
            }
            turn = (turn + 1) % pattern.len();
            left = pattern[turn];
        }
        left -= length - at;
        if turn % 2 == 0 {
            current.push((x1, y1));
        }
    }
    done.push(current);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_around_corners() {
        let dashes = dashes(&[(0.0, 0.0), (2.0, 0.0), (2.0, 8.8)], &THIN);
        let expected: [&[Place]; 3] = [
            &[(0.0, 0.0), (2.0, 0.0), (2.0, 1.0)],
            &[(2.0, 2.8), (2.0, 5.8)],
            &[(2.0, 7.6), (2.0, 8.8)],
        ];
        assert_eq!(dashes.len(), expected.len());
        for (dash, expected) in dashes.iter().flatten().zip(expected.concat()) {
            assert!((dash.0 - expected.0).abs() + (dash.1 - expected.1).abs() < 1e-9);
        }
    }
}
