//! Mean times between messages as exact fractions, so that equal intervals never drift.

use flitlab_base::narrow::{narrow, rounded_down};
use flitlab_base::units::Picoseconds;

/// A mean time between messages, as an exact fraction of picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub(super) whole: u64,
    /// Below the denominator.
    pub(super) rest: u64,
    denominator: u64,
}

impl Interval {
    /// `numerator / denominator` picoseconds; saturates at `u64::MAX`, which is never. `None` if
    /// the denominator is 0 or, reduced, exceeds `u64`.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let whole = numerator.checked_div(denominator)?;
        let rest = numerator % denominator;
        let common = greatest_common_divisor(rest, denominator);
        let denominator = u64::try_from(denominator / common).ok()?;
        let whole = u64::try_from(whole).unwrap_or(u64::MAX);
        Some(Self { whole, rest: narrow(rest / common), denominator })
    }

    /// This many picoseconds, above 0, rounded down to a multiple of 2^-20; saturates as
    /// [`Self::new`] does.
    pub fn nearest(picoseconds: f64) -> Self {
        const PARTS: u32 = 1 << 20;
        const NEVER: f64 = (1u128 << 100) as f64;
        let parts = rounded_down((picoseconds * f64::from(PARTS)).min(NEVER));
        Self::new(parts, u128::from(PARTS)).expect("the denominator fits")
    }

    /// The interval in picoseconds.
    pub fn picoseconds(&self) -> f64 {
        self.whole as f64 + self.rest as f64 / self.denominator as f64
    }

    /// This many intervals, in whole picoseconds rounded down; saturates.
    pub(super) fn times(&self, count: u64) -> Picoseconds {
        let rest = u128::from(count) * u128::from(self.rest) / u128::from(self.denominator);
        let whole = u128::from(count) * u128::from(self.whole);
        Picoseconds::from_wide(whole + rest)
    }
}

/// The greatest common divisor; that of 0 and `b` is `b`.
pub(super) fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A fraction with small terms that is `value` when rounded to a float: 7 / 20 for 0.35, as the
/// user wrote it. The first convergent of the continued fraction to do so; `value` must be in 10^-9
/// to 10^6.
pub(super) fn simplest_fraction(value: f64) -> (u128, u128) {
    let (mut scaled, mut over, mut under) = (value, 0u128, 1u128);
    while scaled.fract() != 0.0 {
        scaled *= 2.0;
        under *= 2;
    }
    over += rounded_down::<u128>(scaled);
    let (mut before, mut now) = ((0, 1), (1, 0));
    while under != 0 {
        let quotient = over / under;
        (over, under) = (under, over % under);
        (before, now) = (now, (quotient * now.0 + before.0, quotient * now.1 + before.1));
        if now.0 as f64 / now.1 as f64 == value {
            break;
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_exact() {
        let third = Interval::new(10, 3).unwrap();
        assert_eq!((third.times(3), third.times(2)), (Picoseconds(10), Picoseconds(6)));
        assert_eq!(Interval::new(20, 6), Some(third));
        assert_eq!(Interval::new(1, 0), None);
        assert_eq!(Interval::new(1, u128::MAX), None);
        assert_eq!(Interval::nearest(2.5), Interval::new(5, 2).unwrap());
    }

    #[test]
    fn fractions_are_found_as_they_were_written() {
        for (value, fraction) in [
            (0.35, (7, 20)),
            (8.0 / 3.0, (8, 3)),
            (1.0, (1, 1)),
            (0.123_456, (1929, 15_625)),
            (1e-9, (1, 1_000_000_000)),
            (1000.0, (1000, 1)),
        ] {
            assert_eq!(simplest_fraction(value), fraction);
        }
        let (over, under) = simplest_fraction(std::f64::consts::PI);
        assert_eq!(over as f64 / under as f64, std::f64::consts::PI);
    }
}
