//! Colours that people with any colour vision tell apart (Okabe and Ito, Color Universal Design, 2008)
//! and marker shapes that tell series apart in grey.

/// Red, green, blue.
pub(super) type Colour = (u8, u8, u8);

pub(super) const BLACK: Colour = (0, 0, 0);
pub(super) const WHITE: Colour = (255, 255, 255);
/// Lines that are no data: the diagonal, notes.
pub(super) const GREY: Colour = (120, 120, 120);
pub(super) const GRID: Colour = (228, 228, 228);

/// Okabe and Ito's palette without yellow, which is too faint for thin lines on white.
const SERIES: [Colour; 7] = [
    (0, 114, 178),   // blue
    (213, 94, 0),    // vermilion
    (0, 158, 115),   // bluish green
    (204, 121, 167), // reddish purple
    (230, 159, 0),   // orange
    (86, 180, 233),  // sky blue
    (0, 0, 0),
];

/// The shade of a value from 0 to 1: white to dark blue, darker for higher, in grey too.
pub(super) fn shade(value: f64) -> Colour {
    const STOPS: [Colour; 4] = [(244, 248, 252), (158, 202, 225), (49, 130, 189), (8, 40, 96)];
    let along = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let stop = (along as usize).min(STOPS.len() - 2);
    let (from, to, share) = (STOPS[stop], STOPS[stop + 1], along - stop as f64);
    let mix = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8
    };
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The shape of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The number of shapes and that of colours have no common divisor: 56 series pass before a pair
/// repeats.
const MARKERS: [Marker; 8] = [
    Marker::Circle,
    Marker::Square,
    Marker::Up,
    Marker::Diamond,
    Marker::Down,
    Marker::Hexagon,
    Marker::Left,
    Marker::Right,
];

/// The colour and the marker of the series with this number.
pub(super) fn of_series(number: usize) -> (Colour, Marker) {
    (SERIES[number % SERIES.len()], MARKERS[number % MARKERS.len()])
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
