//! The one type of times and durations.

use std::fmt;
use std::iter::Sum;
use std::num::TryFromIntError;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A time or duration in whole picoseconds, at most [`Picoseconds::LAST`]: 213 days.
///
/// Sums and products never wrap. A result past [`Picoseconds::LAST`] is [`Picoseconds::BEYOND`]:
/// later than can be represented. It stays so whatever is added or subtracted.
/// [`Picoseconds::NEVER`] is later still. Files hold the bare number.
///
/// ```
/// use flitlab_base::units::Picoseconds;
/// let long = Picoseconds(u64::MAX / 2);
/// assert_eq!(long + long + long, Picoseconds::BEYOND);
/// assert_eq!(Picoseconds::BEYOND - long, Picoseconds::BEYOND);
/// assert_eq!((Picoseconds(7) - Picoseconds(3)) * 2, Picoseconds(8));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Picoseconds(pub u64);

impl Picoseconds {
    /// The start of time, and the empty duration.
    pub const ZERO: Self = Self(0);

    /// A nanosecond.
    pub const NANOSECOND: Self = Self(1_000);

    /// The latest time that can be represented.
    pub const LAST: Self = Self(u64::MAX - 2);

    /// A time later than [`LAST`](Self::LAST).
    pub const BEYOND: Self = Self(u64::MAX - 1);

    /// The time of events that are not going to happen, as far as is known.
    pub const NEVER: Self = Self(u64::MAX);

    /// Whether it is a time that can be represented: neither [`BEYOND`](Self::BEYOND) nor
    /// [`NEVER`](Self::NEVER).
    #[inline]
    pub const fn is_told(self) -> bool {
        self.0 <= Self::LAST.0
    }

    /// A time from a number of picoseconds that may be too large.
    pub fn from_wide(picoseconds: u128) -> Self {
        u64::try_from(picoseconds).map_or(Self::BEYOND, |number| Self(number).min(Self::BEYOND))
    }

    /// The sum; `None` if it can't be represented.
    #[inline]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let sum = self + other;
        sum.is_told().then_some(sum)
    }

    /// The quotient, rounded up. A part of a time that can't be represented can't be represented
    /// either.
    #[inline]
    pub fn div_ceil(self, parts: u64) -> Self {
        if self.is_told() { Self(self.0.div_ceil(parts)) } else { self }
    }

    /// The product; `None` if it can't be represented.
    #[inline]
    pub fn checked_mul(self, count: u64) -> Option<Self> {
        let product = self * count;
        product.is_told().then_some(product)
    }

    /// The time since `earlier`; `None` if that is later.
    #[inline]
    pub fn checked_sub(self, earlier: Self) -> Option<Self> {
        if self >= earlier { Some(self - earlier) } else { None }
    }

    /// The time since `earlier`; zero if that is later.
    #[inline]
    pub fn saturating_sub(self, earlier: Self) -> Self {
        self.checked_sub(earlier).unwrap_or(Self::ZERO)
    }
}

/// The result of adding two times of which one can't be represented, or whose sum can't.
#[cold]
fn untold(one: Picoseconds, other: Picoseconds) -> Picoseconds {
    one.max(other).max(Picoseconds::BEYOND)
}

impl Add for Picoseconds {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let sum = self.0.saturating_add(other.0);
        if sum <= Self::LAST.0 { Self(sum) } else { untold(self, other) }
    }
}

impl AddAssign for Picoseconds {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Picoseconds {
    type Output = Self;

    /// The time since `earlier`.
    ///
    /// # Panics
    /// If that is later: a bug of ours.
    #[inline]
    #[track_caller]
    fn sub(self, earlier: Self) -> Self {
        if !self.is_told() {
            return self;
        }
        match self.0.checked_sub(earlier.0) {
            Some(since) => Self(since),
            None => is_later(self, earlier),
        }
    }
}

#[cold]
#[track_caller]
fn is_later(time: Picoseconds, earlier: Picoseconds) -> ! {
    panic!("{} ps are not before {} ps", earlier.0, time.0)
}

impl SubAssign for Picoseconds {
    #[inline]
    #[track_caller]
    fn sub_assign(&mut self, earlier: Self) {
        *self = *self - earlier;
    }
}

impl Mul<u64> for Picoseconds {
    type Output = Self;

    /// The product. Zero times a time that can't be represented is zero.
    #[inline]
    fn mul(self, count: u64) -> Self {
        if !self.is_told() && count > 0 {
            return self;
        }
        Self(self.0.saturating_mul(count)).min(Self::BEYOND)
    }
}

impl Mul<Picoseconds> for u64 {
    type Output = Picoseconds;

    #[inline]
    fn mul(self, time: Picoseconds) -> Picoseconds {
        time * self
    }
}

impl Div<u64> for Picoseconds {
    type Output = Self;

    /// The quotient, rounded down. A part of a time that can't be represented can't be represented
    /// either.
    #[inline]
    fn div(self, parts: u64) -> Self {
        if self.is_told() { Self(self.0 / parts) } else { self }
    }
}

impl Div for Picoseconds {
    type Output = u64;

    /// The number of whole periods in the duration.
    #[inline]
    fn div(self, period: Self) -> u64 {
        self.0 / period.0
    }
}

impl Rem for Picoseconds {
    type Output = Self;

    /// The remainder after whole periods.
    #[inline]
    fn rem(self, period: Self) -> Self {
        if self.is_told() { Self(self.0 % period.0) } else { self }
    }
}

impl Sum for Picoseconds {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Self> for Picoseconds {
    fn sum<I: Iterator<Item = &'a Self>>(times: I) -> Self {
        times.copied().sum()
    }
}

impl From<u32> for Picoseconds {
    #[inline]
    fn from(picoseconds: u32) -> Self {
        Self(picoseconds.into())
    }
}

impl From<Picoseconds> for u64 {
    #[inline]
    fn from(time: Picoseconds) -> Self {
        time.0
    }
}

impl From<Picoseconds> for u128 {
    #[inline]
    fn from(time: Picoseconds) -> Self {
        time.0.into()
    }
}

impl From<Picoseconds> for i128 {
    fn from(time: Picoseconds) -> Self {
        time.0.into()
    }
}

impl TryFrom<Picoseconds> for u32 {
    type Error = TryFromIntError;

    #[inline]
    fn try_from(time: Picoseconds) -> Result<Self, TryFromIntError> {
        time.0.try_into()
    }
}

impl TryFrom<i128> for Picoseconds {
    type Error = TryFromIntError;

    /// The time; an error if it can't be represented.
    fn try_from(picoseconds: i128) -> Result<Self, TryFromIntError> {
        u64::try_from(picoseconds.saturating_add(2))?;
        u64::try_from(picoseconds).map(Self)
    }
}

impl fmt::Display for Picoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&super::time_text(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: [Picoseconds; 6] = [
        Picoseconds::ZERO,
        Picoseconds(1),
        Picoseconds(u64::MAX / 2),
        Picoseconds::LAST,
        Picoseconds::BEYOND,
        Picoseconds::NEVER,
    ];

    #[test]
    fn a_sum_is_exact_or_beyond_and_never_less_than_what_it_is_of() {
        for one in LIMITS {
            for other in LIMITS {
                let sum = one + other;
                assert_eq!(sum, other + one);
                assert!(sum >= one.max(other));
                let exact = u128::from(one.0) + u128::from(other.0);
                if exact <= u128::from(Picoseconds::LAST.0) {
                    assert_eq!(u128::from(sum.0), exact);
                    assert_eq!((sum - one, one.checked_add(other)), (other, Some(sum)));
                } else {
                    let never = [one, other].contains(&Picoseconds::NEVER);
                    let untold = if never { Picoseconds::NEVER } else { Picoseconds::BEYOND };
                    assert_eq!((sum, one.checked_add(other)), (untold, None));
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_told_stays_so() {
        for time in [Picoseconds::BEYOND, Picoseconds::NEVER] {
            for other in LIMITS {
                assert_eq!(time - other, time);
            }
            assert_eq!([time * 3, time / 3, time % Picoseconds(3)], [time; 3]);
            let none = 0;
            assert_eq!(time * none, Picoseconds::ZERO);
            assert_eq!(time.to_string(), "later than 213 days");
        }
        assert_eq!(Picoseconds(1 << 40) * (1 << 40), Picoseconds::BEYOND);
        assert_eq!(Picoseconds(1 << 40).checked_mul(1 << 24), None);
        assert_eq!(Picoseconds::from_wide(1 << 64), Picoseconds::BEYOND);
        assert_eq!(Picoseconds::from_wide(u128::from(u64::MAX)), Picoseconds::BEYOND);
        let times = [Picoseconds::LAST, Picoseconds(1), Picoseconds(5)];
        assert_eq!(times.iter().sum::<Picoseconds>(), Picoseconds::BEYOND);
    }

    #[test]
    #[should_panic(expected = "8 ps are not before 7 ps")]
    fn a_time_before_the_beginning_is_a_bug() {
        let _ = Picoseconds(7) - Picoseconds(8);
    }

    #[test]
    fn files_hold_the_bare_number() {
        let time = Picoseconds(1 << 40);
        assert_eq!(serde_json::to_string(&time).unwrap(), "1099511627776");
        assert_eq!(
            postcard::to_allocvec(&time).unwrap(),
            postcard::to_allocvec(&(1u64 << 40)).unwrap()
        );
    }
}
