//! Choices of users for the look of figures: in `[sweep.figures]`, and as options of `plot`.

use serde::{Deserialize, Serialize};

use std::fmt;
use std::str::FromStr;

use super::axis::{Axis, Scale, TimeUnit};
use super::names;
use super::style::SeriesStyle;
use flitlab_base::units::parse_time;

/// The key of confidence intervals in legends.
pub(super) const INTERVAL: &str = "95% confidence interval";

/// How figures look beside what they show. The default leaves all to what is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureStyle {
    /// Limits of x axes.
    pub x: Limits,
    /// Limits of y axes, and of the axis of bars.
    pub y: Limits,
    /// Of axes that can have it: accepted load, shares and bars are always linear.
    pub x_scale: Option<Scale>,
    pub y_scale: Option<Scale>,
    /// The unit of all times; if `None`, each figure has the unit that suits it.
    pub unit: Option<TimeUnit>,
    /// The unit of loads.
    pub loads: LoadsIn,
    /// The series that are shown, in this order, as they are called in legends or in points.csv;
    /// all if empty.
    pub series: Vec<String>,
    /// Other names for series, figures, or parts of their names: what they are called, and what
    /// they shall be.
    pub names: Vec<(String, String)>,
    /// Pens of series by the names that they have, or shall have.
    pub styles: Vec<(String, SeriesStyle)>,
    pub percentile: Tail,
    pub legend: LegendPlace,
    pub intervals: Intervals,
    /// Whether figures that differ in their names only are panels of one, with the same axes. Kinds
    /// that have loads as their x axis are then rows of it.
    pub panels: bool,
}

/// The unit of loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadsIn {
    /// Fractions of the fabric's capacity, where all points of a figure have the same one, else
    /// payload.
    #[default]
    Usual,
    /// Payload in GB/s a node that sends.
    Payload,
}

impl LoadsIn {
    /// To type.
    pub const NAMES: [(Self, &'static str); 2] =
        [(Self::Usual, "fraction"), (Self::Payload, "payload")];
}

/// Where the legend is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LegendPlace {
    #[default]
    Below,
    Right,
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
    /// In the first corner without curves, or else below.
    Best,
    Nowhere,
}

impl LegendPlace {
    /// To type.
    pub const NAMES: [(Self, &'static str); 8] = [
        (Self::Below, "below"),
        (Self::Right, "right"),
        (Self::TopLeft, "top-left"),
        (Self::TopRight, "top-right"),
        (Self::BottomLeft, "bottom-left"),
        (Self::BottomRight, "bottom-right"),
        (Self::Best, "best"),
        (Self::Nowhere, "none"),
    ];
}

/// The percentile of the packet latency that is drawn beside its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    Nothing,
    P95,
    #[default]
    P99,
}

impl Tail {
    /// To type.
    pub const NAMES: [(Self, &'static str); 3] =
        [(Self::Nothing, "none"), (Self::P95, "95"), (Self::P99, "99")];
}

/// How confidence intervals are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intervals {
    #[default]
    Bands,
    Whiskers,
    Nothing,
}

impl Intervals {
    /// To type.
    pub const NAMES: [(Self, &'static str); 3] =
        [(Self::Bands, "bands"), (Self::Whiskers, "whiskers"), (Self::Nothing, "none")];
}

/// The ends of an axis, where they are given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub low: Option<Limit>,
    pub high: Option<Limit>,
}

/// An end of an axis: of one that counts time, or of any other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// In nanoseconds.
    Time(f64),
    Number(f64),
}

impl fmt::Display for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |limit: Option<Limit>| match limit {
            None => String::new(),
            Some(Limit::Time(time)) => format!("{time} ns"),
            Some(Limit::Number(number)) => number.to_string(),
        };
        write!(formatter, "{}:{}", text(self.low), text(self.high))
    }
}

impl FromStr for Limits {
    type Err = String;

    /// Reads `0:0.6`, `200 ns:20 us`, or with one end left out `:20us` or `0.1:`.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some((low, high)) = text.split_once(':') else {
            return Err(format!("`{text}` is no range: write 0:0.6, 200ns:20us, :20us or 0.1:"));
        };
        let limits = Self { low: limit(low)?, high: limit(high)? };
        let empty = match (limits.low, limits.high) {
            (None, None) => return Err("a range has an end: write 0:0.6, :20us or 0.1:".into()),
            (Some(Limit::Time(low)), Some(Limit::Time(high)))
            | (Some(Limit::Number(low)), Some(Limit::Number(high))) => low >= high,
            (Some(Limit::Number(0.0)), Some(Limit::Time(_))) => false,
            (Some(_), Some(_)) => {
                return Err(format!("`{text}` has a time at one end only: write both with units"));
            }
            _ => false,
        };
        if empty {
            Err(format!("`{text}` is empty: write the lower end first"))
        } else {
            Ok(limits)
        }
    }
}

fn limit(text: &str) -> Result<Option<Limit>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(number) = text.parse::<f64>() {
        let finite = number.is_finite().then_some(Limit::Number(number));
        return finite.map(Some).ok_or_else(|| format!("`{text}` can't be the end of an axis"));
    }
    match parse_time(text) {
        Ok(time) => Ok(Some(Limit::Time(time.0 as f64 / 1e3))),
        Err(_) => Err(format!("`{text}` is neither a number nor a time: write 0.6 or 20us")),
    }
}

impl Limits {
    /// Whether an end can't be on a logarithmic axis.
    pub fn has_no_logarithm(&self) -> bool {
        [self.low, self.high].into_iter().flatten().any(|limit| match limit {
            Limit::Time(value) | Limit::Number(value) => value <= 0.0,
        })
    }

    /// Sets the ends that are given in what the axis counts.
    pub(super) fn apply(&self, axis: &mut Axis) {
        let value = |limit: Option<Limit>| match (limit?, axis.time) {
            (Limit::Time(time), Some(unit)) => Some(time / unit.size()),
            (Limit::Number(0.0), _) => Some(0.0),
            (Limit::Number(number), None) => Some(number),
            _ => None,
        };
        let (low, high) = (value(self.low), value(self.high));
        let low = low.filter(|&low| low > 0.0 || !axis.is_logarithmic());
        // An end that is given beyond the other one takes that along, so that it is always seen.
        let high = high.or_else(|| Some(2.0 * low.filter(|&low| low >= axis.high)?));
        let low = low.or_else(|| Some(high.filter(|&high| high <= axis.low)? / 2.0));
        let (low, high) = (low.unwrap_or(axis.low), high.unwrap_or(axis.high));
        if low < high {
            (axis.low, axis.high) = (low, high);
        }
    }
}

impl FigureStyle {
    /// The unit for times up to `high` ns, or as far as an axis shall go.
    pub(super) fn unit_for(&self, high: f64) -> TimeUnit {
        let limit = |limit| if let Some(Limit::Time(time)) = limit { Some(time) } else { None };
        let high = limit(self.y.high).or(limit(self.x.high)).unwrap_or(high);
        self.unit.unwrap_or_else(|| TimeUnit::of(high))
    }

    /// The unit for times of whole runs up to `high` ns: microseconds from the first on, as result
    /// files have them.
    pub(super) fn unit_for_whole_runs(&self, high: f64) -> TimeUnit {
        const SOONER: f64 = 10.0;
        self.unit_for(high * SOONER)
    }

    /// A name as it shall be: as a whole, or part by part.
    pub fn renamed(&self, name: &str) -> String {
        let other = |name: &str| {
            let found = self.names.iter().find(|(own, _)| own == name);
            found.map(|(_, other)| other.as_str())
        };
        if let Some(other) = other(name) {
            return other.to_owned();
        }
        let parts = names::parts(name).into_iter();
        let parts: Vec<&str> = parts.map(|part| other(part).unwrap_or(part)).collect();
        names::joined(&parts)
    }

    /// The styles that are of no series: of no name, and no parts of a name.
    pub fn unknown_styles<'r>(&self, series: impl Iterator<Item = &'r str> + Clone) -> Vec<&str> {
        let is_in = |style: &str, series: &str| {
            let (style, series) = (self.renamed(style), self.renamed(series));
            let parts = names::parts(&series);
            names::parts(&style).iter().all(|part| parts.contains(part))
        };
        let styles = self.styles.iter().map(|(name, _)| name.as_str());
        styles.filter(|style| !series.clone().any(|series| is_in(style, series))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_or_times_and_either_may_be_left_out() {
        let read = |text: &str| text.parse::<Limits>();
        let both = Limits { low: Some(Limit::Number(0.0)), high: Some(Limit::Number(0.6)) };
        assert_eq!(read("0:0.6"), Ok(both));
        let times = Limits { low: Some(Limit::Time(200.0)), high: Some(Limit::Time(20_000.0)) };
        assert_eq!(read("200ns:20us"), Ok(times));
        assert_eq!(read("200 ns : 20 us"), Ok(times));
        assert_eq!(times.to_string().parse(), Ok(times));
        assert_eq!(read(":20us"), Ok(Limits { low: None, ..times }));
        assert!(read("0:20us").is_ok());
        for wrong in ["", ":", "1", "0.6:0.1", "1:20us", "a:b", "nan:1", "1:1", "20us:2us"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_are_for_axes_that_count_the_same() {
        let limits: Limits = "200ns:20us".parse().unwrap();
        let mut axis = Axis::of_time("Latency", 5_000.0, TimeUnit::Microseconds);
        limits.apply(&mut axis);
        assert_eq!((axis.low, axis.high, axis.title.as_str()), (0.2, 20.0, "Latency (\u{b5}s)"));
        let mut axis = Axis::new("Share", 1.0);
        limits.apply(&mut axis);
        assert_eq!((axis.low, axis.high), (0.0, 1.0));
    }

    #[test]
    fn an_end_beyond_all_data_is_kept() {
        let ends = |limits: &str, mut axis: Axis| {
            limits.parse::<Limits>().unwrap().apply(&mut axis);
            (axis.low, axis.high)
        };
        assert_eq!(ends("2:", Axis::new("", 1.0)), (2.0, 4.0));
        assert_eq!(ends(":0.5", Axis::new("", 1.0).logarithmic(1.0, 10.0)), (0.25, 0.5));
        assert_eq!(ends("0.2:", Axis::new("", 1.0)), (0.2, 1.0));
    }

    #[test]
    fn names_change_as_a_whole_or_by_parts() {
        let names = [("matrix file halo.csv", "halo"), ("uniform, ABR", "both")];
        let names = names.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
        let look = FigureStyle { names, ..FigureStyle::default() };
        assert_eq!(look.renamed("matrix file halo.csv, ABR"), "halo, ABR");
        assert_eq!(look.renamed("uniform, ABR"), "both");
        assert_eq!(look.renamed("matrix file halo.csv 2"), "matrix file halo.csv 2");
    }
}
