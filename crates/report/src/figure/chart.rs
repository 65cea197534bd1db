//! A plot in the units of its axes, before its size and file format are known.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::axis::Axis;
use super::figure_style::{Intervals, LegendPlace};
use super::legend::Legend;
use super::palette::{Colour, Dash, FEW, Marker, Pen};

/// Plots over one x axis, in rows and columns. Those whose y axes have one title have the same y
/// axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Chart {
    pub title: String,
    pub x: Axis,
    pub columns: usize,
    /// Row by row.
    pub panels: Vec<Panel>,
    pub legend: Legend,
    pub place: LegendPlace,
    pub intervals: Intervals,
}

/// One plot. What comes later in this list covers what comes earlier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Panel {
    /// The heading above the plot; may be empty.
    pub heading: String,
    /// A place where nothing is drawn.
    pub blank: bool,
    pub y: Axis,
    pub bins: Vec<Bin>,
    pub rules: Vec<Rule>,
    pub curves: Vec<Curve>,
    pub marks: Vec<Mark>,
}

/// A line that is no data. Ends may lie at infinity, which is the frame's edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rule {
    #[serde(with = "or_edge")]
    pub ends: [(f64, f64); 2],
    pub colour: Colour,
    #[serde(alias = "dashed", deserialize_with = "dash")]
    pub dash: Dash,
}

/// Reads the dashes of a rule, of which earlier figures say only whether it has any.
fn dash<'de, D: Deserializer<'de>>(from: D) -> Result<Dash, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Any(bool),
        Dash(Dash),
    }
    Ok(match Written::deserialize(from)? {
        Written::Any(false) => Dash::Solid,
        Written::Any(true) => Dash::Dashed,
        Written::Dash(dash) => dash,
    })
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bin {
    pub from: f64,
    pub to: f64,
    pub height: f64,
}

/// One quantity of one series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Curve {
    /// The series and quantity of the curve, for tables of data.
    pub label: String,
    /// The name of its column in a table of data: a word.
    pub column: Cow<'static, str>,
    pub colour: Colour,
    pub stroke: Stroke,
    pub markers: Markers,
    /// Samples of one run are connected.
    pub runs: Vec<Vec<Sample>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sample {
    pub x: f64,
    pub y: f64,
    /// A confidence interval.
    pub interval: Option<(f64, f64)>,
    /// No measurement of a steady state: a hollow marker.
    pub hollow: bool,
}

/// How samples are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stroke {
    /// As a series' pen is.
    Full(Dash),
    /// Thin and dashed.
    Dashed,
    /// Not at all.
    Nothing,
}

/// How samples are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Markers {
    Nothing,
    All(Marker),
    /// Every `step`-th one, from the one with the number `first` on.
    Some {
        marker: Marker,
        first: usize,
        step: usize,
    },
    /// Each with a small point, for thousands of them.
    Dots,
    /// Each with an outline that is larger than other markers and below them, so that one at the
    /// same place is seen in it.
    Around(Marker),
}

/// Ends at infinity as JSON has them, which knows no such number: as none.
mod or_edge {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Ends<T> = [(T, T); 2];

    pub fn serialize<S: Serializer>(ends: &Ends<f64>, to: S) -> Result<S::Ok, S::Error> {
        let known = |value: f64| value.is_finite().then_some(value);
        ends.map(|(x, y)| (known(x), known(y))).serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Ends<f64>, D::Error> {
        let edge = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        Ok(Ends::<Option<f64>>::deserialize(from)?.map(|(x, y)| (edge(x), edge(y))))
    }
}

impl Markers {
    /// About eight on a curve of so many samples; those of different curves at different places.
    pub(super) fn few(marker: Marker, number: usize, samples: usize) -> Self {
        let step = (samples / 8).max(1);
        Self::Some { marker, first: step * (number % FEW) / FEW, step }
    }
}

/// A marker that belongs to no line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub x: f64,
    /// Above the frame if `None`, in a row in which several at one place are side by side.
    pub y: Option<f64>,
    pub marker: Marker,
    pub colour: Colour,
    pub hollow: bool,
}

/// Whether an interval is wide enough to be seen as a band.
pub(super) fn is_visible((low, high): (f64, f64)) -> bool {
    high - low > 0.01 * high
}

impl Rule {
    /// Returns the places on the line, with its ends in the plot: two, or as many as make a curve
    /// on a logarithmic axis.
    pub fn places(&self, x: &Axis, y: &Axis) -> Vec<(f64, f64)> {
        const STEPS: u32 = 64;
        let finite = |value: f64, high: f64| if value.is_finite() { value } else { high };
        let [from, to] = self.ends.map(|(across, up)| (finite(across, x.high), finite(up, y.high)));
        let steps = if x.scale == y.scale { 1 } else { STEPS };
        let place = |step: u32| {
            let share = f64::from(step) / f64::from(steps);
            (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
        };
        (0..=steps).map(place).collect()
    }
}

impl Chart {
    /// A chart with one panel.
    pub fn single(title: &str, x: Axis, panel: Panel, legend: Legend) -> Self {
        Self::stacked(title, x, vec![panel], legend)
    }

    /// A chart with panels one above another.
    pub fn stacked(title: &str, x: Axis, panels: Vec<Panel>, legend: Legend) -> Self {
        let (place, intervals) = (LegendPlace::default(), Intervals::default());
        let (title, columns) = (title.into(), 1);
        Self { title, x, columns, panels, legend, place, intervals }
    }

    /// The number of rows of panels.
    pub fn rows(&self) -> usize {
        self.panels.len().div_ceil(self.columns)
    }
}

impl Curve {
    /// A line with the pen's colour and dashes, and its marker at every sample.
    pub fn marked(label: &str, column: &'static str, pen: Pen, runs: Vec<Vec<Sample>>) -> Self {
        let Pen { colour, marker, dash } = pen;
        let (stroke, markers) = (Stroke::Full(dash), Markers::All(marker));
        Self { label: label.into(), column: column.into(), colour, stroke, markers, runs }
    }
}

/// Markers in a row are at least so far apart.
const APART: f64 = 6.0;

/// The places of markers in a row, in points: those that would overlap are side by side about their
/// mean.
pub(super) fn side_by_side(wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let ends = |group: &[usize]| {
        let mean = group.iter().map(|&at| wanted[at]).sum::<f64>() / group.len() as f64;
        let half = group.len() as f64 * APART / 2.0;
        (mean - half, mean + half)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let mut group = vec![at];
        while let Some(mut last) = groups.pop_if(|last| ends(last).1 > ends(&group).0) {
            last.append(&mut group);
            group = last;
        }
        groups.push(group);
    }
    let mut places = vec![0.0; wanted.len()];
    for group in groups {
        let start = ends(&group).0 + APART / 2.0;
        (0..).zip(group).for_each(|(at, member)| places[member] = start + f64::from(at) * APART);
    }
    places
}

impl Panel {
    /// Whether there are markers above its frame.
    pub fn has_row(&self) -> bool {
        self.marks.iter().any(|mark| mark.y.is_none())
    }

    pub fn new(y: Axis) -> Self {
        let (heading, blank) = (String::new(), false);
        let (bins, rules, curves, marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { heading, blank, y, bins, rules, curves, marks }
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
            Self::Nothing | Self::Dots | Self::Around(_) => None,
        }
    }
}

impl Sample {
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_at_one_place_are_side_by_side_in_a_row() {
        assert_eq!(side_by_side(&[]), Vec::<f64>::new());
        assert_eq!(side_by_side(&[50.0, 10.0]), [50.0, 10.0]);
        assert_eq!(side_by_side(&[10.0, 10.0, 10.0]), [4.0, 10.0, 16.0]);
        // The first two make room, and so does the third then.
        let places = side_by_side(&[10.0, 10.0, 14.0, 40.0]);
        let expected = [16.0 / 3.0, 34.0 / 3.0, 52.0 / 3.0, 40.0];
        assert!(places.iter().zip(expected).all(|(place, it)| (place - it).abs() < 1e-9));
    }
}
