//! What a plot shows, in the units of its axes, before it is known how large it is and what it is
//! written as.

use super::axis::Axis;
use super::legend::Legend;
use super::palette::{Colour, Marker};

/// Plots over one x axis, one above another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chart {
    pub title: String,
    pub x: Axis,
    pub panels: Vec<Panel>,
    pub legend: Legend,
}

/// One plot. What comes later in this list covers what comes earlier.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Panel {
    pub y: Axis,
    pub bins: Vec<Bin>,
    pub rules: Vec<Rule>,
    pub curves: Vec<Curve>,
    pub marks: Vec<Mark>,
}

/// A line that is no data. Ends may lie at infinity, which is the frame's edge.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub ends: [(f64, f64); 2],
    pub colour: Colour,
    pub dashed: bool,
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bin {
    pub from: f64,
    pub to: f64,
    pub height: f64,
}

/// One quantity of one series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// What series and quantity it is, for tables of data.
    pub label: String,
    /// The name of its column in a table of data: a word.
    pub column: &'static str,
    pub colour: Colour,
    pub stroke: Stroke,
    pub markers: Markers,
    /// Samples of one run are connected.
    pub runs: Vec<Vec<Sample>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub x: f64,
    pub y: f64,
    /// A confidence interval.
    pub interval: Option<(f64, f64)>,
    /// No measurement of a steady state: a hollow marker.
    pub hollow: bool,
}

/// How samples are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Full,
    /// Thin and dashed.
    Dashed,
    /// Not at all.
    Nothing,
}

/// How samples are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markers {
    Nothing,
    All(Marker),
    /// Every so-manieth one, from the one with this number on.
    Some {
        marker: Marker,
        first: usize,
        step: usize,
    },
    /// Each with a small point, for thousands of them.
    Dots,
}

/// A marker that belongs to no line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub x: f64,
    /// At the frame's upper edge if `None`; several there at one place go below one another.
    pub y: Option<f64>,
    pub marker: Marker,
    pub colour: Colour,
    pub hollow: bool,
}

/// Whether an interval is wide enough to be seen as a band.
pub(super) fn is_visible((low, high): (f64, f64)) -> bool {
    high - low > 0.01 * high
}

impl Chart {
    /// A chart with one panel.
    pub fn single(title: &str, x: Axis, panel: Panel, legend: Legend) -> Self {
        Self { title: title.into(), x, panels: vec![panel], legend }
    }
}

impl Panel {
    pub fn new(y: Axis) -> Self {
        Self { y, bins: Vec::new(), rules: Vec::new(), curves: Vec::new(), marks: Vec::new() }
    }
}

impl Markers {
    /// The marker of the sample with this number.
    pub fn at(self, number: usize) -> Option<Marker> {
        match self {
            Self::All(marker) => Some(marker),
            Self::Some { marker, first, step } => {
                (number >= first && (number - first).is_multiple_of(step)).then_some(marker)
            }
            Self::Nothing | Self::Dots => None,
        }
    }
}

impl Sample {
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}
