//! Axes: their range, round ticks, and the unit of a time.

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::{narrow, rounded, rounded_down};

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scale {
    Linear,
    Logarithmic,
}

/// Data whose highest value is less than so many times the lowest has a short logarithmic axis.
const SHORT: f64 = 5.0;

/// A unit in which figures count time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl TimeUnit {
    /// To type, in the order of the variants.
    pub const NAMES: [(Self, &'static str); 4] = [
        (Self::Nanoseconds, "ns"),
        (Self::Microseconds, "us"),
        (Self::Milliseconds, "ms"),
        (Self::Seconds, "s"),
    ];

    /// To read.
    pub(super) fn symbol(self) -> &'static str {
        if self == Self::Microseconds { "\u{b5}s" } else { Self::NAMES[self as usize].1 }
    }

    /// In nanoseconds.
    pub(super) fn size(self) -> f64 {
        match self {
            Self::Nanoseconds => 1.0,
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
            Self::Seconds => 1e9,
        }
    }

    /// The one for times up to `high` ns.
    pub(super) fn of(high: f64) -> Self {
        match high {
            high if high >= 1e10 => Self::Seconds,
            high if high >= 1e7 => Self::Milliseconds,
            high if high >= 1e4 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }
}

/// One axis of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Axis {
    pub title: String,
    pub scale: Scale,
    /// The value at the near end; above 0 for a logarithmic axis.
    pub low: f64,
    /// The value at the far end.
    pub high: f64,
    /// The values that have ticks, with labels, if not round ones.
    pub values: Vec<(f64, String)>,
    /// The unit of the values, if they are times.
    pub time: Option<TimeUnit>,
    /// Its values are loads or shares, which differences compare: it is never made logarithmic.
    pub of_shares: bool,
}

impl Axis {
    /// An axis from 0 to `high`. A `high` that is not above 0 is taken for 1.
    pub fn new(title: impl Into<String>, high: f64) -> Self {
        let high = if high.is_finite() && high > 1e-9 { high.min(1e15) } else { 1.0 };
        let (scale, values) = (Scale::Linear, Vec::new());
        let title = title.into();
        Self { title, scale, low: 0.0, high, values, time: None, of_shares: false }
    }

    /// An axis of times from 0 to `high` ns in a unit, which the title gets.
    pub fn of_time(title: &str, high: f64, unit: TimeUnit) -> Self {
        let axis = Self::new(format!("{title} ({})", unit.symbol()), high / unit.size());
        Self { time: Some(unit), ..axis }
    }

    /// An axis of loads or shares from 0 to `high`.
    pub fn of_shares(title: impl Into<String>, high: f64) -> Self {
        Self { of_shares: true, ..Self::new(title, high) }
    }

    /// Returns this axis as a logarithmic one, over 1, 2 or 5 times powers of ten that hold `low`
    /// and `high`.
    pub fn logarithmic(self, low: f64, high: f64) -> Self {
        let low = if low > 0.0 && low.is_finite() { low.clamp(1e-12, 1e15) } else { 1.0 };
        let high = if high.is_finite() { high.clamp(low, 1e15) } else { low };
        // The ends of a short axis are as near as can be.
        let any = high / low < SHORT;
        let of = |value: f64| {
            let steps = steps(value).filter(|(digit, _)| any || [1, 2, 5].contains(digit));
            steps.map(|(_, step)| step).collect::<Vec<f64>>()
        };
        let below =
            of(low).into_iter().filter(|&step| step <= low * (1.0 + 1e-9)).fold(0.0, f64::max);
        let above = |step: &f64| *step >= high * (1.0 - 1e-9) && *step > below;
        let above = of(high).into_iter().filter(above).fold(f64::INFINITY, f64::min);
        Self { scale: Scale::Logarithmic, low: below, high: above, ..self }
    }

    /// Extends the axis so that it ends at a tick, with up to so many ticks besides that of 0.
    pub fn up_to_a_tick(self, most: u32) -> Self {
        let ticks = self.ticks(most);
        let [.., before, last] = &ticks[..] else { return self };
        let high = last.0 + if last.0 < self.high * (1.0 - 1e-9) { last.0 - before.0 } else { 0.0 };
        Self { high, ..self }
    }

    /// Extends the axis below 0 to a value, and to a tick there.
    pub fn down_to(self, low: f64, most: u32) -> Self {
        let low = if low.is_finite() { low.clamp(-1e15, 0.0) } else { 0.0 };
        let axis = Self { low, ..self };
        let [first, next, ..] = &axis.ticks(most)[..] else { return axis };
        let low = first.0 - if first.0 > low { next.0 - first.0 } else { 0.0 };
        Self { low, ..axis }
    }

    /// A logarithmic axis with ticks at these values, which are above 0, each with its label.
    pub fn at(title: impl Into<String>, mut values: Vec<(f64, String)>) -> Self {
        const MARGIN: f64 = 0.06;
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|a, b| a.0 == b.0);
        let low = exponent(values.first().map_or(1.0, |first| first.0));
        let high = exponent(values.last().map_or(10.0, |last| last.0)).max(low + 0.1);
        let room = (high - low) * MARGIN;
        let (low, high) = (libm::exp10(low - room), libm::exp10(high + room));
        let scale = Scale::Logarithmic;
        Self { scale, low, high, values, ..Self::new(title, 1.0) }
    }

    pub fn is_logarithmic(&self) -> bool {
        self.scale == Scale::Logarithmic
    }

    /// Values with labels, in ascending order: at most `most` of them after the first.
    pub fn ticks(&self, most: u32) -> Vec<(f64, String)> {
        let within = |(value, _): &(f64, String)| {
            (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value)
        };
        if !self.values.is_empty() {
            return self.values.iter().filter(|tick| within(tick)).cloned().collect();
        }
        match self.scale {
            Scale::Linear => ticks(self.low, self.high, most),
            Scale::Logarithmic => self.powers(most),
        }
    }

    /// Ticks of a logarithmic axis: 1, 2 and 5 times powers of ten, or 1 and 3 times, or some
    /// powers, as there is room.
    fn powers(&self, most: u32) -> Vec<(f64, String)> {
        let (first, last): (i32, i32) =
            (rounded_down(exponent(self.low)), rounded(exponent(self.high).ceil()));
        let of = |digits: &'static [u32], step: usize| {
            let ticks = (first..=last).step_by(step).flat_map(move |at| {
                digits
                    .iter()
                    .map(move |&digit| (f64::from(digit) * ten_to(at), times_ten(digit, at)))
            });
            let within = (self.low * (1.0 - 1e-9))..=(self.high * (1.0 + 1e-9));
            ticks.filter(|tick| within.contains(&tick.0)).collect::<Vec<_>>()
        };
        let most = most.max(1) as usize;
        let fine = [of(&[1, 2, 5], 1), of(&[1, 3], 1)];
        let found = fine.into_iter().find(|ticks| (2..=most + 1).contains(&ticks.len()));
        let step = (last.abs_diff(first) as usize).div_ceil(most).max(1);
        let powers = || {
            Some(of(&[1], step)).filter(|powers| powers.len() > 1 || self.high / self.low > 10.0)
        };
        // Of less than a power of ten, round values.
        found.or_else(powers).unwrap_or_else(|| ticks(self.low, self.high, narrow::<u32>(most)))
    }

    /// Values without labels between the ticks of a logarithmic axis.
    pub fn minor_ticks(&self) -> Vec<f64> {
        if !self.is_logarithmic() || !self.values.is_empty() {
            return Vec::new();
        }
        let (first, last): (i32, i32) =
            (rounded_down(exponent(self.low)), rounded(exponent(self.high).ceil()));
        let all =
            (first..last).flat_map(|at| (2..10).map(move |digit| f64::from(digit) * ten_to(at)));
        all.filter(|value| (self.low..=self.high).contains(value)).collect()
    }

    /// Where a value lies: 0 at the near end, 1 at the far end.
    pub fn share(&self, value: f64) -> f64 {
        if self.is_logarithmic() {
            return libm::log10(value / self.low) / libm::log10(self.high / self.low);
        }
        (value - self.low) / (self.high - self.low)
    }
}

/// Multiples of the powers of ten about a value, each with its digit.
fn steps(value: f64) -> impl Iterator<Item = (u32, f64)> {
    let about: i32 = rounded_down(exponent(value));
    (about - 1..=about + 1).flat_map(|at| (1..10).map(move |it| (it, f64::from(it) * ten_to(at))))
}

fn ticks(low: f64, high: f64, most: u32) -> Vec<(f64, String)> {
    let (digits, exponent) = step(high - low, most);
    let decimals: usize = narrow(if digits == 25 { 1 - exponent } else { -exponent }.max(0));
    // The step is digits * 10^exponent, but 25 stands for 2.5.
    let places = if digits == 25 { exponent - 1 } else { exponent };
    let power = power(places.unsigned_abs());
    let value = |count: f64| {
        let multiple = count * f64::from(digits);
        // Not -0.
        0.0 + if places < 0 { multiple / power } else { multiple * power }
    };
    let first = (low / value(1.0) - 1e-9).ceil();
    (0..=most)
        .map(|count| value(first + f64::from(count)))
        .filter(|&value| value <= high * (1.0 + 1e-9))
        .map(|value| (value, format!("{value:.decimals$}")))
        .collect()
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that needs at most `most` steps to `high`.
fn step(high: f64, most: u32) -> (u32, i32) {
    for exponent in -10i32..=15 {
        for (digits, value) in [(1, 1.0), (2, 2.0), (25, 2.5), (5, 5.0)] {
            let power = power(exponent.unsigned_abs());
            let size = if exponent < 0 { value / power } else { value * power };
            if high <= size * (f64::from(most) + 1.0 - 1e-9) {
                return (digits, exponent);
            }
        }
    }
    (1, 15)
}

fn exponent(value: f64) -> f64 {
    libm::log10(value.clamp(1e-12, 1e15))
}

fn ten_to(exponent: i32) -> f64 {
    let power = power(exponent.unsigned_abs());
    if exponent < 0 { 1.0 / power } else { power }
}

/// `0.002`, `5000`, or `500k`, `5M`, `5G` and `5T` where zeros get too many.
fn times_ten(digit: u32, exponent: i32) -> String {
    let value = |exponent: i32| f64::from(digit) * ten_to(exponent);
    match exponent {
        ..0 => format!("{:.*}", exponent.unsigned_abs() as usize, value(exponent)),
        0..5 => value(exponent).to_string(),
        _ => {
            let thousands = exponent / 3;
            let prefix = ["k", "M", "G", "T"][narrow::<usize>(thousands.clamp(1, 4) - 1)];
            format!("{}{prefix}", value(exponent - 3 * thousands.min(4)))
        }
    }
}

/// A power of ten by products, which are exact up to 10^22 and the same on every machine.
fn power(exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|tick| tick.1).collect()
    }

    fn labels(high: f64, most: u32) -> Vec<String> {
        texts(Axis::new("", high).ticks(most))
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.13, 5), ["0.000", "0.025", "0.050", "0.075", "0.100", "0.125"]);
        assert_eq!(labels(9.0, 5), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels(11.0, 4), ["0.0", "2.5", "5.0", "7.5", "10.0"]);
        assert_eq!(labels(4321.0, 5), ["0", "1000", "2000", "3000", "4000"]);
        let cut = Axis { low: 0.15, ..Axis::new("", 0.6) };
        assert_eq!(texts(cut.ticks(5)), ["0.2", "0.3", "0.4", "0.5", "0.6"]);
        assert_eq!((cut.share(0.15), cut.share(0.6)), (0.0, 1.0));
    }

    #[test]
    fn a_logarithmic_axis_holds_its_range() {
        let axis = Axis::new("", 1.0).logarithmic(0.0021, 30.0);
        assert_eq!((axis.low, axis.high), (0.002, 50.0));
        assert_eq!(texts(axis.ticks(6)), ["0.01", "0.1", "1", "10"]);
        assert_eq!(texts(axis.ticks(3)), ["0.1", "10"]);
        assert_eq!((axis.share(0.002), axis.share(50.0)), (0.0, 1.0));
        let axis = Axis::new("", 1.0).logarithmic(600.0, 8_000.0);
        assert_eq!(texts(axis.ticks(6)), ["500", "1000", "2000", "5000", "10000"]);
        assert_eq!(axis.minor_ticks().len(), 13);
        let axis = Axis::new("", 1.0).logarithmic(3e5, 3e8);
        assert_eq!(texts(axis.ticks(4)), ["1M", "10M", "100M"]);
        assert_eq!(texts(axis.ticks(12))[..2], ["200k", "500k"]);
    }

    #[test]
    fn an_axis_has_ticks_at_its_values() {
        let values = [(4096.0, "4096"), (64.0, "64"), (512.0, "512"), (64.0, "64")];
        let values = values.map(|(value, label)| (value, label.to_owned()));
        let axis = Axis::at("", values.to_vec());
        assert_eq!(texts(axis.ticks(2)), ["64", "512", "4096"]);
        assert!((axis.share(512.0) - 0.5).abs() < 1e-9);
        assert!((0.0..0.1).contains(&axis.share(64.0)));
        let one = Axis::at("", vec![(7.0, "7".into())]);
        assert!((0.0..1.0).contains(&one.share(7.0)));
    }

    #[test]
    fn odd_ranges_give_an_axis() {
        for high in [0.0, -3.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            let count = Axis::new("", high).ticks(5).len();
            assert!((2..=6).contains(&count), "{high}: {count}");
            for low in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
                let axis = Axis::new("", 1.0).logarithmic(low, high);
                assert!(axis.low > 0.0 && axis.low < axis.high, "{low} {high}: {axis:?}");
                assert!(axis.high.is_finite() && !axis.ticks(5).is_empty(), "{low} {high}");
            }
        }
    }
}
