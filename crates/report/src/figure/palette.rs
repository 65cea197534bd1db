//! Colours that people with any colour vision tell apart (after \[colours\]), in an order in which
//! series that follow each other differ in lightness, so that they do in grey too; marker shapes
//! tell apart what colours don't.

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::{rounded, rounded_down};

/// Red, green, blue.
pub(super) type Colour = (u8, u8, u8);

pub(super) const BLACK: Colour = (0, 0, 0);
pub(super) const WHITE: Colour = (255, 255, 255);
/// Lines that are no data: the diagonal, notes.
pub(super) const GREY: Colour = (120, 120, 120);
pub(super) const GRID: Colour = (228, 228, 228);

/// Bars that are no series: light enough for a black whisker to be seen on them.
pub(super) const BAR: Colour = (86, 180, 233);

/// Okabe and Ito's palette with blue, green and vermilion darker, and without yellow, which is too
/// faint for thin lines on white.
pub(super) const SERIES: [(Colour, &str); 7] = [
    ((0, 84, 159), "blue"),
    ((230, 159, 0), "orange"),
    ((0, 145, 105), "green"),
    ((0, 0, 0), "black"),
    ((204, 121, 167), "purple"),
    ((190, 70, 0), "vermilion"),
    ((86, 180, 233), "sky-blue"),
];

/// Widths of lines.
pub(super) const LINE: f64 = 1.1;
pub(super) const THIN_LINE: f64 = 0.7;
pub(super) const AXIS_LINE: f64 = 0.6;

/// Up to this many series can have two lines each, and marks where they end.
pub(super) const FEW: usize = 4;

/// The width of a hollow bar's outline.
pub(super) const OUTLINE: f64 = 0.9;

/// The shade of a value from 0 to 1: white to dark blue, darker for higher, in grey too.
pub(super) fn shade(value: f64) -> Colour {
    const STOPS: [Colour; 4] = [(244, 248, 252), (158, 202, 225), (49, 130, 189), (8, 40, 96)];
    let along = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let stop = rounded_down::<usize>(along).min(STOPS.len() - 2);
    let (from, to, share) = (STOPS[stop], STOPS[stop + 1], along - stop as f64);
    let mix =
        |from: u8, to: u8| rounded(f64::from(from) + (f64::from(to) - f64::from(from)) * share);
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The shape of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Marker {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Hexagon,
    Left,
    Right,
    /// Kept for deadlocks.
    Cross,
}

impl Marker {
    /// To type. The number of shapes and that of colours have no common divisor: 56 series pass
    /// before a pair repeats. Before a colour repeats, the line's dashes change.
    pub(super) const NAMES: [(Self, &'static str); 8] = [
        (Self::Circle, "circle"),
        (Self::Square, "square"),
        (Self::Up, "triangle"),
        (Self::Diamond, "diamond"),
        (Self::Down, "down-triangle"),
        (Self::Hexagon, "hexagon"),
        (Self::Left, "left-triangle"),
        (Self::Right, "right-triangle"),
    ];
}

/// How the line of a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Dash {
    Solid,
    Dashed,
    Dotted,
    Alternating,
}

impl Dash {
    /// To type.
    pub(super) const NAMES: [(Self, &'static str); 4] = [
        (Self::Solid, "solid"),
        (Self::Dashed, "dashed"),
        (Self::Dotted, "dotted"),
        (Self::Alternating, "dash-dotted"),
    ];

    /// Lengths of strokes and of the gaps after them, in turn; nothing for a whole line.
    pub(super) fn pattern(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[5.0, 2.0],
            Self::Dotted => &[1.4, 1.6],
            Self::Alternating => &[5.0, 1.6, 1.4, 1.6],
        }
    }
}

/// The style that tells a series from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pen {
    pub colour: Colour,
    pub marker: Marker,
    pub dash: Dash,
}

/// The pen of the series with this number.
pub(super) fn of_series(number: usize) -> Pen {
    Pen {
        colour: SERIES[number % SERIES.len()].0,
        marker: Marker::NAMES[number % Marker::NAMES.len()].0,
        dash: Dash::NAMES[number / SERIES.len() % Dash::NAMES.len()].0,
    }
}

impl Marker {
    /// The outline around the origin, of about equal area for all shapes; `None` for the circle of
    /// radius 1.
    pub(super) fn outline(self) -> Option<&'static [(f64, f64)]> {
        match self {
            Self::Circle => None,
            Self::Square => Some(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]),
            Self::Up => Some(&[(0.0, -1.3), (1.2, 0.8), (-1.2, 0.8)]),
            Self::Down => Some(&[(0.0, 1.3), (1.2, -0.8), (-1.2, -0.8)]),
            Self::Diamond => Some(&[(0.0, -1.3), (1.15, 0.0), (0.0, 1.3), (-1.15, 0.0)]),
            Self::Left => Some(&[(-1.3, 0.0), (0.8, 1.2), (0.8, -1.2)]),
            Self::Right => Some(&[(1.3, 0.0), (-0.8, 1.2), (-0.8, -1.2)]),
            Self::Cross => Some(&[
                (-1.13, -0.57),
                (-0.57, -1.13),
                (0.0, -0.57),
                (0.57, -1.13),
                (1.13, -0.57),
                (0.57, 0.0),
                (1.13, 0.57),
                (0.57, 1.13),
                (0.0, 0.57),
                (-0.57, 1.13),
                (-1.13, 0.57),
                (-0.57, 0.0),
            ]),
            Self::Hexagon => Some(&[
                (-1.1, 0.0),
                (-0.55, -0.95),
                (0.55, -0.95),
                (1.1, 0.0),
                (0.55, 0.95),
                (-0.55, 0.95),
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE 1976 lightness, 0 for black to 100 for white: what is left of a colour in grey.
    fn lightness((red, green, blue): Colour) -> f64 {
        let linear = |level: u8| {
            let level = f64::from(level) / 255.0;
            if level <= 0.04045 { level / 12.92 } else { libm::pow((level + 0.055) / 1.055, 2.4) }
        };
        let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
        if luminance > 0.008_856 { 116.0 * libm::cbrt(luminance) - 16.0 } else { 903.3 * luminance }
    }

    #[test]
    fn series_that_follow_each_other_differ_in_grey() {
        for pair in SERIES.windows(2) {
            let difference = (lightness(pair[0].0) - lightness(pair[1].0)).abs();
            assert!(difference > 14.0, "{pair:?}: {difference}");
        }
        let mut first: Vec<f64> = SERIES[..4].iter().map(|row| lightness(row.0)).collect();
        first.sort_by(f64::total_cmp);
        assert!(first.windows(2).all(|pair| pair[1] - pair[0] > 15.0), "{first:?}");
        // Thin lines on white.
        assert!(SERIES.iter().all(|row| lightness(row.0) < 75.0));
    }

    #[test]
    fn no_colour_comes_twice_with_one_marker_or_one_dash() {
        let pens: Vec<Pen> = (0..56).map(of_series).collect();
        for (number, pen) in pens.iter().enumerate() {
            let same = |other: &Pen| other.colour == pen.colour && other.marker == pen.marker;
            assert!(!pens[..number].iter().any(same), "{number}");
            let same = |other: &Pen| other.colour == pen.colour && other.dash == pen.dash;
            assert!(number >= 28 || !pens[..number].iter().any(same), "{number}");
        }
    }

    #[test]
    fn the_page_of_a_report_has_the_same_colours() {
        let style = include_str!("../../../page/assets/page.css");
        let light = style.split("@media").next().unwrap();
        for (number, ((red, green, blue), _)) in SERIES.into_iter().enumerate() {
            let rule = format!("--series-{number}: #{red:02x}{green:02x}{blue:02x};");
            assert!(light.contains(&rule), "{rule}");
        }
    }

    #[test]
    fn shades_get_darker_with_the_value() {
        let steps: Vec<f64> = (0..=20).map(|at| lightness(shade(f64::from(at) / 20.0))).collect();
        assert!(steps.is_sorted_by(|a, b| a > b), "{steps:?}");
    }
}
