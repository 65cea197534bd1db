//! Axes: their range, round ticks, and the unit of a time.

use crate::narrow::{narrow, rounded, rounded_down};

/// One axis of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub title: String,
    /// The value at the near end: 0, or above 0 for a logarithmic axis.
    pub low: f64,
    /// The value at the far end.
    pub high: f64,
    /// The values that have ticks, with labels, if not round ones.
    pub values: Vec<(f64, String)>,
}

impl Axis {
    /// An axis from 0 to `high`. A `high` that is not above 0 is taken for 1.
    pub fn new(title: impl Into<String>, high: f64) -> Self {
        let high = if high.is_finite() && high > 1e-9 { high.min(1e15) } else { 1.0 };
        Self { title: title.into(), low: 0.0, high, values: Vec::new() }
    }

    /// A logarithmic axis over the powers of ten that hold `low` and `high`.
    pub fn logarithmic(title: impl Into<String>, low: f64, high: f64) -> Self {
        let first = rounded_down::<i32>(exponent(low));
        let last = rounded::<i32>(exponent(high).ceil()).max(first + 1);
        let (low, high) = (ten_to(first), ten_to(last));
        Self { title: title.into(), low, high, values: Vec::new() }
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
        Self { title: title.into(), low, high, values }
    }

    pub fn is_logarithmic(&self) -> bool {
        self.low > 0.0
    }

    /// Values with labels, in ascending order; on an axis from 0 at most `most` of them after 0.
    pub fn ticks(&self, most: u32) -> Vec<(f64, String)> {
        if !self.values.is_empty() {
            return self.values.clone();
        }
        if self.is_logarithmic() {
            let (first, last) =
                (rounded::<i32>(exponent(self.low)), rounded::<i32>(exponent(self.high)));
            let step = last.abs_diff(first).div_ceil(most.max(1)).max(1) as usize;
            let powers = (first..=last).step_by(step);
            return powers.map(|at| (ten_to(at), ten_text(at))).collect();
        }
        ticks(self.high, most)
    }

    /// Where a value lies: 0 at the near end, 1 at the far end.
    pub fn share(&self, value: f64) -> f64 {
        if self.is_logarithmic() {
            return libm::log10(value / self.low) / libm::log10(self.high / self.low);
        }
        value / self.high
    }
}

fn ticks(high: f64, most: u32) -> Vec<(f64, String)> {
    let (digits, exponent) = step(high, most);
    let decimals: usize = narrow(if digits == 25 { 1 - exponent } else { -exponent }.max(0));
    // The step is digits * 10^exponent, but 25 stands for 2.5.
    let places = if digits == 25 { exponent - 1 } else { exponent };
    let power = power(places.unsigned_abs());
    let value = |count: u32| {
        let multiple = f64::from(count * digits);
        if places < 0 { multiple / power } else { multiple * power }
    };
    (0..=most)
        .map(value)
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

/// `0.001`, `1000`, or `1e6` where zeros get too many.
fn ten_text(exponent: i32) -> String {
    match exponent {
        -3..0 => format!("{:.*}", exponent.unsigned_abs() as usize, ten_to(exponent)),
        0..4 => format!("{}", ten_to(exponent)),
        _ => format!("1e{exponent}"),
    }
}

/// A power of ten by products, which are exact up to 10^22 and the same on every machine.
fn power(exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * 10.0)
}

/// The unit for times up to `high` ns: its name and its size in ns.
pub(super) fn time_unit(high: f64) -> (&'static str, f64) {
    match high {
        high if high >= 1e10 => ("s", 1e9),
        high if high >= 1e7 => ("ms", 1e6),
        high if high >= 1e4 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(high: f64, most: u32) -> Vec<String> {
        Axis::new("", high).ticks(most).into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.13, 5), ["0.000", "0.025", "0.050", "0.075", "0.100", "0.125"]);
        assert_eq!(labels(9.0, 5), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels(11.0, 4), ["0.0", "2.5", "5.0", "7.5", "10.0"]);
        assert_eq!(labels(4321.0, 5), ["0", "1000", "2000", "3000", "4000"]);
    }

    #[test]
    fn a_logarithmic_axis_holds_its_range() {
        let axis = Axis::logarithmic("", 0.002, 30.0);
        let labels = |most| axis.ticks(most).into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(labels(6), ["0.001", "0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(3), ["0.001", "0.1", "10"]);
        assert!((axis.share(0.1) - 0.4).abs() < 1e-12);
        assert_eq!((axis.share(0.001), axis.share(100.0)), (0.0, 1.0));
    }

    #[test]
    fn an_axis_has_ticks_at_its_values() {
        let values = [(4096.0, "4096"), (64.0, "64"), (512.0, "512"), (64.0, "64")];
        let values = values.map(|(value, label)| (value, label.to_owned()));
        let axis = Axis::at("", values.to_vec());
        let ticks = axis.ticks(2);
        let labels: Vec<&str> = ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(labels, ["64", "512", "4096"]);
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
        }
    }
}
